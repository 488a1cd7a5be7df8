/* steno: divides audio into equal parts. SPDX-License-Identifier: MIT
 *
 * This is whisper.cpp's use of several processors: the audio is divided into parts of equal length at arbitrary places, and each part is
 * transcribed separately. Audio before the offset belongs to the first part. */
#ifndef STENO_JOB_PARTS_H
#define STENO_JOB_PARTS_H
#include <steno/media.h>

struct parts {
    int n;            /* number of parts; 0: the audio is not divided */
    int at;           /* the current part, from 0 */
    int64_t samples;  /* length of the audio */
    int64_t offset;   /* samples before the range that is divided */
    /* The current part as a source. */
    steno_source from;
    steno_media *media; /* the object that `from` reads, which can skip audio; NULL: `from` is read up to the part */
    int64_t pos;      /* samples read from `from` */
    int64_t next;     /* next sample of the audio */
};

/* First sample of part k of n; k from 0 to n. An offset beyond the audio counts as its end. */
int64_t parts_edge(int64_t samples, int64_t offset, int n, int k);

/* Length of the source, which is read to its end and rewound. `stops` is called from time to time. @return samples, or a status below 0 */
int64_t parts_count(const steno_source *from, int (*stops)(void *user), void *user);

/* `from` must be at its beginning and stays in use. */
void parts_begin(struct parts *p, int n, int64_t samples, int64_t offset, const steno_source *from, steno_media *media);
void parts_enter(struct parts *p, int k); /* makes part k the current one */
int64_t parts_start(const struct parts *p); /* the first sample of the current part */
int64_t parts_end(const struct parts *p);   /* the sample after its last one */
steno_source parts_source(struct parts *p);
#endif
