/* steno: output of a model: one file, or a folder of files. SPDX-License-Identifier: MIT
 *
 * The output is complete or does not exist. In a folder, all files except the last are small and are kept in memory until the last one,
 * the weights, is written. They are then put in place first. */
#ifndef STENO_TOOLS_MODEL_OUT_H
#define STENO_TOOLS_MODEL_OUT_H
#include "atomic_file.h"
#include <stdint.h>

struct model_out {
    const char *to;
    struct atomic_file file;
    struct model_out_part *part; /* [n_parts] files of a folder */
    int n_parts, is_folder, made;
    int64_t n;                   /* total size in bytes */
    int failed;                  /* errno of the first failure */
};

/* @return 0, or -1 with errno set, and then model_out_end is not called. ENOTEMPTY: the folder already has files */
int model_out_open(struct model_out *o, const char *to, int is_folder);
int model_out_file(struct model_out *o, const char *name);                /* begin the next file of a folder; 0, or errno */
int model_out_write(struct model_out *o, const void *data, size_t n);     /* 0, or errno */
int model_out_end(struct model_out *o, int keep); /* put the output in place, or with keep 0 remove it; 0, or -1 with errno set */
#endif
