/* steno: hashes of the inputs of a batch. SPDX-License-Identifier: MIT
 *
 * Many inputs may be ranges of one file, which is hashed once. */
#ifndef STENO_TOOLS_BATCH_INPUT_HASH_H
#define STENO_TOOLS_BATCH_INPUT_HASH_H
#include "digest.h"
#include <sys/stat.h>

enum { INPUT_HASHES = 1024 };
struct input_hashes {
    struct input_hash {
        char hex[SHA_HEX_SZ]; /* "": free */
        struct stat of;       /* the file before it was hashed */
    } of_file[INPUT_HASHES];
};

/* SHA-256 of a regular file: by sha256_file, or the hash of an earlier call if the file has not changed since.
 * @return a text valid until the next call; NULL if there is none */
const char *input_hash(struct input_hashes *h, const char *path);
#endif
