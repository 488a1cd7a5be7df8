/* steno: find results of which the names are not fully known. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_RESUME_FIND_H
#define STENO_TOOLS_RESUME_FIND_H
#include "out_name.h"

/* The names in folders, each read once; {0} is empty. */
struct resume_folders {
    struct resume_folder { char *path, **name; size_t n; } *folder; /* [n]; names are sorted */
    size_t n;
};

struct resume_paths { char **path; size_t n; }; /* {0} is empty */

/* Finds the paths below `dir` that match a pattern. A name without unknown parts is returned, whether it exists or not.
 * @return 0, or -1: no memory; call resume_paths_free in any case */
int resume_find(struct resume_paths *found, struct resume_folders *folders, const char *dir, const struct out_pattern *p);
void resume_paths_free(struct resume_paths *p);
void resume_folders_free(struct resume_folders *f);
#endif
