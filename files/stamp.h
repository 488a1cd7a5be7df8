/* steno: stamps: what a result was made of. SPDX-License-Identifier: MIT
 *
 * A result file has a stamp in an extended attribute, so no additional file is needed. The stamp has the file's length and hash, and a hash
 * of each part of a key, which describes input, model and options. File systems without extended attributes, copies, and programs that
 * rewrite a file lose it. */
#ifndef STENO_FILES_STAMP_H
#define STENO_FILES_STAMP_H
#include <stddef.h>

#define STAMP_ATTRIBUTE "user.steno.made"

enum stamp_found {
    STAMP_SAME,    /* content and key are the stamped ones */
    STAMP_OTHER,   /* the key differs */
    STAMP_CHANGED, /* the content differs */
    STAMP_NONE,    /* there is no readable stamp */
    STAMP_MISSING  /* the file does not exist */
};

/* A key consists of lines of text; the first word of a line names its part. A file that cannot be stamped is no error, and stays without a
 * stamp. */
void stamp_put(const char *path, const char *key);

/* word: receives the name of the part that differs if the key differs, else ""; truncated if longer */
enum { STAMP_WORD_SZ = 32 };
enum stamp_found stamp_look(const char *path, const char *key, char word[STAMP_WORD_SZ]);
#endif
