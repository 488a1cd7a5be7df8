/* steno-hub: requests to the hubs' APIs. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_HUB_API_H
#define STENO_HUB_HUB_API_H
#include "http.h"
#include "hub_env.h"
#include "listing.h"

/* The current commit of `rev`. ModelScope's revisions are names, and are returned unchanged. */
int hub_ask_commit(char commit[HUB_REV_SZ], struct http *h, const struct hub_env *env, int hub, const char *id, const char *rev,
                   struct hub_error *e);
int hub_ask_listing(struct hub_listing *l, struct http *h, const struct hub_env *env, int hub, const char *id, const char *commit,
                    struct hub_error *e);
/* Hugging Face's data of a revision: its commit, and the names of its files. Sizes and hashes are not known. */
int hub_ask_names(struct hub_listing *l, char commit[HUB_REV_SZ], struct http *h, const struct hub_env *env, const char *id,
                  const char *rev, struct hub_error *e);

/* Size and hash of a file, from the header fields of its URL. @param commit  if "", receives that of the revision @return HUB_OK;
 * HUB_EABSENT also if the hub has no such file, with *there 0 */
int hub_ask_file(struct hub_file *f, char commit[HUB_REV_SZ], int *there, struct http *h, const struct hub_env *env, const char *id,
                 const char *rev, struct hub_error *e);

/* Names of repositories, by number of downloads. @return their number, or -1 */
int hub_ask_search(struct hub_hit *hits, int most, struct http *h, const struct hub_env *env, int hub, const char *text,
                   struct hub_error *e);

/* URL of a file. @return malloc'd text, or NULL */
char *hub_file_url(const struct hub_env *env, int hub, const char *id, const char *commit, const char *path);
#endif
