/* steno-hub: which files of a repository are wanted. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_WANTED_H
#define STENO_HUB_WANTED_H
#include "listing.h"

/* Those that were asked for by name, or, of none, what a loader reads, by exact names: a repository may hold the same weights three times.
 * @param take  [l->n], receives 1 for each file that is wanted
 * @return HUB_OK; HUB_EABSENT: there is no such file, no model, or several of which one has to be named */
int hub_wanted(char *take, const struct hub_listing *l, const char *const *files, size_t n_files, const char *id, struct hub_error *e);

/* Is it a model in one file, by its name? */
int hub_is_single(const char *path);
#endif
