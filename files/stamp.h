/* steno: stamps: what a result was made of. SPDX-License-Identifier: MIT
 *
 * A result file has a stamp in an extended attribute, so no additional file is needed. The stamp has the file's length and hash, its name
 * and number among the results of its input, and a hash of each part of a key, which describes input, model and options. File systems
 * without extended attributes, copies, and programs that rewrite a file lose it. */
#ifndef STENO_FILES_STAMP_H
#define STENO_FILES_STAMP_H
#include <stddef.h>
#include <stdint.h>

#define STAMP_ATTRIBUTE "user.steno.made"

/* Length and hash of a file, computed while the file is written. */
struct stamp_bytes { int64_t n; uint64_t hash; };
struct stamp_bytes stamp_no_bytes(void);
void stamp_add(struct stamp_bytes *b, const void *data, size_t n);

/* What a stamp records beside the bytes. */
struct stamp_origin {
    const char *key;  /* lines of text; the first word of a line names its part */
    const char *name; /* of the result, where the parts that only its run knows have no value yet */
    int at, n;        /* number of the result, from 0, among the n results of its input */
};

enum stamp_found {
    STAMP_SAME,    /* content, key and name are the stamped ones */
    STAMP_OTHER,   /* the key differs */
    STAMP_CHANGED, /* the content differs */
    STAMP_NONE,    /* there is no readable stamp */
    STAMP_RENAMED, /* the name differs: it is a result of something else */
    STAMP_MISSING  /* the file does not exist */
};

/* Stamps a written file, which is not read. A file that cannot be stamped is no error, and stays without a stamp. */
void stamp_put(const char *path, const struct stamp_bytes *bytes, const struct stamp_origin *origin);

/* Compares key and name; STAMP_SAME: at and n receive the stamped ones. The file is read only if these agree. word: receives the name of
 * the part that differs if the key differs, else ""; truncated if longer */
enum { STAMP_WORD_SZ = 32 };
enum stamp_found stamp_look(const char *path, struct stamp_origin *origin, char word[STAMP_WORD_SZ]);
#endif
