/* steno: a sound in equal parts. SPDX-License-Identifier: MIT
 *
 * What whisper.cpp does with several processors: the sound is cut into parts of equal length, wherever that falls, and each is transcribed
 * as a sound by itself. What lies before the offset belongs to the first part. */
#ifndef STENO_JOB_PARTS_H
#define STENO_JOB_PARTS_H
#include "steno_media.h"

struct parts {
    int n;            /* number of parts; 0: the sound is not cut */
    int at;           /* the current part, from 0 */
    int64_t samples;  /* of the sound */
    int64_t offset;   /* samples before what is to be cut */
    /* The current part as a source. */
    steno_source from;
    steno_media *media; /* which `from` reads and which may pass over sound; NULL: `from` is read up to the part */
    int64_t pos;      /* samples taken from `from` */
    int64_t next;     /* the sound's sample that comes next */
};

/* The k-th part of n goes from this sample of the sound to that of k + 1; k from 0 to n. An offset behind the sound counts as its end. */
int64_t parts_edge(int64_t samples, int64_t offset, int n, int k);

/* How long the source is; it is read to its end and rewound. `stops` is asked now and then. @return samples, or a status below 0 */
int64_t parts_count(const steno_source *from, int (*stops)(void *user), void *user);

/* `from` is at its beginning and stays in use. */
void parts_begin(struct parts *p, int n, int64_t samples, int64_t offset, const steno_source *from, steno_media *media);
void parts_enter(struct parts *p, int k); /* the k-th part becomes the current one */
int64_t parts_start(const struct parts *p); /* the first sample of the current part */
int64_t parts_end(const struct parts *p);   /* the one behind its last */
steno_source parts_source(struct parts *p);
#endif
