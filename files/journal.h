/* steno: what is known of a file that is in hand. SPDX-License-Identifier: MIT
 *
 * A journal is a key, which says what it is about, and pieces of bytes behind it, each written at once. Whoever is killed leaves whole
 * pieces and perhaps the beginning of one, which does not count. A journal of another key is as none. At last it may say that all is
 * done. */
#ifndef STENO_FILES_JOURNAL_H
#define STENO_FILES_JOURNAL_H
#include <stddef.h>
#include <stdint.h>

enum journal_found { JOURNAL_NONE, JOURNAL_OTHER /* of another key, or no journal */, JOURNAL_BEGUN, JOURNAL_DONE };

struct journal {
    int fd;          /* -1: it is not open */
    char *data;      /* [n] the pieces that it had, one behind the other */
    size_t n;
    int64_t synced_s; /* when it was last made to stay */
};

/* What there is at `path`; JOURNAL_BEGUN: the pieces, malloc'd. Nothing is changed. @return enum journal_found, or -1 with errno set */
int journal_read(struct journal *j, const char *path, const char *key);

/* Open it to add pieces: behind those that journal_read found, or, begun 0, behind none. Folders are made.
 * @return 0, or -1 with errno set */
int journal_open(struct journal *j, const char *path, const char *key, int begun);
int journal_add(struct journal *j, const void *data, size_t n);
void journal_close(struct journal *j); /* and free what was read */

int journal_finish(const char *path, const char *key); /* all is done: so it says from now on. Closed before. As journal_open */
#endif
