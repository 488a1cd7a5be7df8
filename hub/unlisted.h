/* steno-hub: the files of a repository without a listing. SPDX-License-Identifier: MIT
 *
 * A mirror may serve files without a listing. Their names come from the caller, or from the data of the revision; size and hash of each
 * come from its own header fields. */
#ifndef STENO_HUB_UNLISTED_H
#define STENO_HUB_UNLISTED_H
#include "pull.h"

/* Lists the files that p requests and that exist, on Hugging Face's hub. @param commit  of the revision `rev`; if "", receives it */
int hub_list_unlisted(struct hub_listing *l, char commit[HUB_REV_SZ], const struct hub_pull *p, const char *rev, struct hub_error *e);
#endif
