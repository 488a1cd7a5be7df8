/* steno-media: another sampling rate to 16 kHz, without FFmpeg. SPDX-License-Identifier: MIT
 *
 * A windowed sinc, which cuts at 0.46 of the lower rate. Output m stands at second m / 16000 and is a function of the inputs around it; so
 * it does not depend on the sizes of reads, or on where reading began. */
#ifndef STENO_MEDIA_RATE_H
#define STENO_MEDIA_RATE_H
#include "media.h"

enum { MEDIA_RATE_LEAST = 4000, MEDIA_RATE_MOST = 192000 };

struct media_rate;

int media_rate_open(struct media_rate **out, int hz, const char *name, steno_error *e); /* begins at sample 0. @return a status */
void media_rate_close(struct media_rate *r); /* r may be NULL */

/* Begin at output m; what was added is dropped. @return the first input sample to add */
int64_t media_rate_seek(struct media_rate *r, int64_t m);

/* Room for the next n input samples; after they are written, count the valid ones with add. @return NULL: out of memory */
float *media_rate_room(struct media_rate *r, size_t n);
void media_rate_add(struct media_rate *r, size_t n);
void media_rate_end(struct media_rate *r); /* no sample follows */

/* The next output samples, rounded to 16 bits, at most n. @return their number; 0: input is missing, or all were taken */
int64_t media_rate_take(struct media_rate *r, float *pcm, int64_t n);

int64_t media_rate_length(const struct media_rate *r, int64_t n); /* outputs of n input samples */
#endif
