/* steno: what made a result. SPDX-License-Identifier: MIT
 *
 * A file of a result carries what it was made of and by: its own length and hash, and a hash of each part of a key, in an extended
 * attribute, so that nothing lies beside it. File systems without such attributes, copies, and programs that write a file anew lose it. */
#ifndef STENO_FILES_STAMP_H
#define STENO_FILES_STAMP_H
#include <stddef.h>

#define STAMP_ATTRIBUTE "user.steno.made"

enum stamp_found {
    STAMP_SAME,    /* its bytes are those that were stamped, and the key is the same */
    STAMP_OTHER,   /* of another key */
    STAMP_CHANGED, /* its bytes are others */
    STAMP_NONE,    /* there is none that can be read */
    STAMP_MISSING  /* there is no file */
};

/* A key is lines of text; the first word of a line names its part. Nothing is said where it cannot be stamped: it is then as any file. */
void stamp_put(const char *path, const char *key);

/* word: receives the name of the part that differs, where the key is another, else ""; cut where it is longer */
enum { STAMP_WORD_SZ = 32 };
enum stamp_found stamp_look(const char *path, const char *key, char word[STAMP_WORD_SZ]);
#endif
