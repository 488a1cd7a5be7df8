/* steno-hub: what is asked of the hubs. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_HUB_API_H
#define STENO_HUB_HUB_API_H
#include "http.h"
#include "hub_env.h"
#include "listing.h"

/* The commit that `rev` is now; ModelScope's revisions are names, and stay what they are. */
int hub_ask_commit(char commit[HUB_REV_SZ], struct http *h, const struct hub_env *env, int hub, const char *id, const char *rev,
                   struct hub_error *e);
int hub_ask_listing(struct hub_listing *l, struct http *h, const struct hub_env *env, int hub, const char *id, const char *commit,
                    struct hub_error *e);
/* Hugging Face's answer about a revision: its commit, and the names of its files, whose sizes and hashes stay unknown. */
int hub_ask_names(struct hub_listing *l, char commit[HUB_REV_SZ], struct http *h, const struct hub_env *env, const char *id,
                  const char *rev, struct hub_error *e);

/* Size and hash of a file, from the header fields of its address. @param commit  receives the revision's, where it is ""
 * @return HUB_OK; HUB_EABSENT also where the hub has no such file, with *there 0 */
int hub_ask_file(struct hub_file *f, char commit[HUB_REV_SZ], int *there, struct http *h, const struct hub_env *env, const char *id,
                 const char *rev, struct hub_error *e);

/* Names of repositories by how often they are fetched. @return how many, or -1 */
int hub_ask_search(struct hub_hit *hits, int most, struct http *h, const struct hub_env *env, int hub, const char *text,
                   struct hub_error *e);

/* Where a file is fetched from. @return malloc'd text, or NULL */
char *hub_file_url(const struct hub_env *env, int hub, const char *id, const char *commit, const char *path);
#endif
