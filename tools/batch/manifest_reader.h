/* steno: reads the inputs of a manifest one by one. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_BATCH_MANIFEST_READER_H
#define STENO_TOOLS_BATCH_MANIFEST_READER_H
#include "batch/manifest.h"
#include "cli/text_file.h"
#include "digest.h"

struct manifest_reader {
    const char *path;   /* "-": standard input */
    struct text_lines lines;
    int code;           /* exit code of a failure, after a message; EXIT_OK: none */
};

/* @return an exit code, after a message */
int manifest_reader_open(struct manifest_reader *r, const char *path);
/* Begin again, and read only what was read so far, although the file may have grown. @return as above */
int manifest_reader_again(struct manifest_reader *r);
int manifest_reader_is_pipe(const struct manifest_reader *r); /* 1: it cannot be read twice */

/* The next input, and its line, which is valid until the next call. @return 1, or 0 at the end, or after a failure; see r->code */
int manifest_reader_next(struct manifest_reader *r, struct manifest_item *it, const char **line);

/* Report that an earlier line has the same id. @return EXIT_USAGE */
int manifest_reader_twice(const struct manifest_reader *r, const char *id);
void manifest_reader_close(struct manifest_reader *r); /* {0} is allowed */

/* SHA-256 of the first n bytes of a file. @return their number, less than n if it is shorter, or -1 with errno set */
int64_t manifest_hash(char hex[SHA_HEX_SZ], const char *path, int64_t n);
#endif
