/* steno-hub: addresses of a hub's pages as names of models. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_PAGE_H
#define STENO_HUB_PAGE_H
#include "hub_env.h"
#include "model_find.h"

/* What a page is about, as people copy it from a browser: a model, a revision of it, or a file. What stands behind a question mark is left
 * out, but for the name of a file there (ModelScope).
 * @return NULL, with *s and *hub, or the reason why it is no such page; the address is not in it */
const char *hub_page_read(struct hub_spec *s, int *hub, const struct hub_env *env, const char *url);
#endif
