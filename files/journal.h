/* steno: what is known of a file that is in hand. SPDX-License-Identifier: MIT
 *
 * A journal is a key, which says what it is about, and pieces of bytes behind it, each written at once, with its checksum. Whoever is
 * killed leaves whole pieces and perhaps the beginning of one, which does not count; behind a damaged piece nothing counts. At last a
 * journal may say that all is done. */
#ifndef STENO_FILES_JOURNAL_H
#define STENO_FILES_JOURNAL_H
#include <stddef.h>
#include <stdint.h>

enum { JOURNAL_MOST = 256 << 20 /* bytes of one; more are neither written nor read */ };

enum journal_found {
    JOURNAL_NONE,
    JOURNAL_OTHER,   /* of another key */
    JOURNAL_VERSION, /* of another version of this form */
    JOURNAL_DAMAGED, /* its beginning is: it is no journal any more, or never was */
    JOURNAL_BEGUN,
    JOURNAL_DONE
};

struct journal {
    int fd;           /* -1: it is not open */
    char *data;       /* [n] the pieces that it had, one behind the other */
    size_t n;
    char *other;      /* JOURNAL_OTHER: its key; malloc'd, as data is */
    int damaged;      /* JOURNAL_BEGUN: there was more, and it is damaged */
    int64_t spent_us; /* on what the pieces have, as whoever added the last one said */
    int64_t size;     /* of the file that is open */
    int64_t synced_s; /* when it was last made to stay */
};

/* What there is at `path`; JOURNAL_BEGUN, JOURNAL_DONE: with the pieces. Nothing is changed. EINVAL: it is no plain file, EFBIG: there is
 * more than JOURNAL_MOST. @return enum journal_found, or -1 with errno set; journal_close in any case */
int journal_read(struct journal *j, const char *path, const char *key);
int journal_take(struct journal *j, char *file, size_t n, const char *key); /* the same of n bytes, malloc'd, which are j's or freed */

/* Open it to add pieces: behind those that journal_read found, or, begun 0, behind none. Folders are made. Nothing but a plain file is
 * written. @return 0, or -1 with errno set */
int journal_open(struct journal *j, const char *path, const char *key, int begun);
int journal_add(struct journal *j, const void *data, size_t n, int64_t spent_us); /* the same; EFBIG: it would be more than JOURNAL_MOST */
void journal_close(struct journal *j); /* and free what was read */

/* All is done: so it says from now on, with one piece, data[n]. Closed before. As journal_add; what was there stays then */
int journal_finish(const char *path, const char *key, const void *data, size_t n);
#endif
