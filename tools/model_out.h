/* steno: a model that is written: one file, or a folder of files. SPDX-License-Identifier: MIT
 *
 * Either is there as a whole or not at all. Of a folder all files but the last, which are small, are kept until the last one, the weights,
 * is written; then they are put in place first. */
#ifndef STENO_TOOLS_MODEL_OUT_H
#define STENO_TOOLS_MODEL_OUT_H
#include "atomic_file.h"
#include <stdint.h>

struct model_out {
    const char *to;
    struct atomic_file file;
    struct model_out_part *part; /* [n_parts] of a folder */
    int n_parts, is_folder, made;
    int64_t n;                   /* bytes in all */
    int failed;                  /* errno of what went wrong */
};

/* @return 0, or -1 with errno set; then there is nothing to end. ENOTEMPTY: a folder that has files in it already */
int model_out_open(struct model_out *o, const char *to, int is_folder);
int model_out_file(struct model_out *o, const char *name);                /* of a folder: the next one begins; 0, or errno */
int model_out_write(struct model_out *o, const void *data, size_t n);     /* 0, or errno */
int model_out_end(struct model_out *o, int keep); /* put it in place, or, with keep 0, leave nothing. 0, or -1 with errno set */
#endif
