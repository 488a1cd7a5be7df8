/* steno-hub: URLs of a hub's web pages as names of models. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_PAGE_H
#define STENO_HUB_PAGE_H
#include "hub_env.h"
#include "model_find.h"

/* Parses a URL copied from a browser: the page of a model, a revision of it, or a file. The query is ignored, except for the name of a file
 * (ModelScope). @return NULL, with *s and *hub, or the reason why it is not such a page, which does not contain the URL */
const char *hub_page_read(struct hub_spec *s, int *hub, const struct hub_env *env, const char *url);
#endif
