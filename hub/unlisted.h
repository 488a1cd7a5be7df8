/* steno-hub: the files of a repository where nobody lists them. SPDX-License-Identifier: MIT
 *
 * A mirror may serve files and no list. Their names come from the caller, or from what is said of the revision; size and hash of each come
 * from its own header fields. */
#ifndef STENO_HUB_UNLISTED_H
#define STENO_HUB_UNLISTED_H
#include "pull.h"

/* Those that p wants and that are there, of Hugging Face's hub. @param commit  of the revision `rev`, or "": receives it */
int hub_list_unlisted(struct hub_listing *l, char commit[HUB_REV_SZ], const struct hub_pull *p, const char *rev, struct hub_error *e);
#endif
