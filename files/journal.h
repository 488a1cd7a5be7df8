/* steno: journals of unfinished results. SPDX-License-Identifier: MIT
 *
 * A journal has a key, which identifies its subject, followed by pieces of bytes. Each piece is written at once, with a checksum. A killed
 * process leaves complete pieces and perhaps an incomplete one, which is ignored. Everything after a damaged piece is ignored. Finally a
 * journal may be marked as complete. */
#ifndef STENO_FILES_JOURNAL_H
#define STENO_FILES_JOURNAL_H
#include <stddef.h>
#include <stdint.h>

enum { JOURNAL_MAX = 256 << 20 /* maximum size; larger ones are neither written nor read */ };

enum journal_found {
    JOURNAL_NONE,
    JOURNAL_OTHER,   /* has another key */
    JOURNAL_VERSION, /* has another version of this format */
    JOURNAL_DAMAGED, /* its start is damaged, or it is not a journal */
    JOURNAL_BEGUN,
    JOURNAL_DONE
};

struct journal {
    int fd;           /* -1: not open */
    char *data;       /* [n] its pieces, concatenated */
    size_t n;
    char *other;      /* JOURNAL_OTHER: its key; malloc'd, like data */
    int damaged;      /* JOURNAL_BEGUN: there was more data, which is damaged */
    int64_t spent_us; /* time spent on the pieces, as stated with the last one */
    int64_t size;     /* of the open file */
    int64_t synced_s; /* time of the last sync */
};

/* Reads the journal at `path`; JOURNAL_BEGUN and JOURNAL_DONE: with its pieces. Nothing is changed. EINVAL: not a plain file, EFBIG: larger
 * than JOURNAL_MAX. @return enum journal_found, or -1 with errno set; call journal_close in any case */
int journal_read(struct journal *j, const char *path, const char *key);
int journal_take(struct journal *j, char *file, size_t n, const char *key); /* the same for n malloc'd bytes, which j takes over or frees */

/* Opens it to add pieces: after those that journal_read found, or after none with begun 0. Folders are created. Only plain files are
 * written. @return 0, or -1 with errno set */
int journal_open(struct journal *j, const char *path, const char *key, int begun);
/* @return as above; EFBIG: it would exceed JOURNAL_MAX */
int journal_add(struct journal *j, const void *data, size_t n, int64_t spent_us);
void journal_close(struct journal *j); /* also frees what was read */

/* Marks a closed journal as complete, with one piece, data[n]. @return as journal_add; on failure the old journal stays */
int journal_finish(const char *path, const char *key, const void *data, size_t n);
#endif
