/* steno-hub: selects the files of a repository to download. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_WANTED_H
#define STENO_HUB_WANTED_H
#include "listing.h"

/* Selects the files requested by name. Without names, selects those that a loader reads, by exact names, because a repository may hold the
 * same weights three times. @param take  [l->n], receives 1 for each selected file @return HUB_OK; HUB_EABSENT: there is no such file, no
 * model, or several of which one must be named */
int hub_wanted(char *take, const struct hub_listing *l, const char *const *files, size_t n_files, const char *id, struct hub_error *e);

/* Is it a single-file model, by its name? */
int hub_is_single(const char *path);
#endif
