/* steno: identifies speakers by the loudness of two channels. SPDX-License-Identifier: MIT
 *
 * If two people are recorded on a channel each (interviews, telephone), the louder channel identifies the speaker. The channels are read
 * one at a time, and only their loudness is kept: two numbers per 10 ms, 3 MB per hour. */
#ifndef STENO_OUT_DIARIZE_H
#define STENO_OUT_DIARIZE_H
#include <steno/steno.h>
#include <stddef.h>

enum { DIARIZE_UNKNOWN = -1 }; /* otherwise 0 or 1: the speaker of the first or second channel */

struct diarize {
    float (*level)[2]; /* [cap][2] sums of |sample| over 10 ms, per channel; 0 where that channel was not read */
    size_t n, cap;     /* entries [0, n) are valid */
};

/* Discards the data and keeps the memory. */
void diarize_reset(struct diarize *d);
void diarize_free(struct diarize *d);

/* Reads channel 0 or 1 from a source to its end. @return STENO_OK, STENO_ENOMEM, or the status of the read that failed */
int diarize_listen(struct diarize *d, int channel, const steno_source *src);

/* Speaker of the words in [t0_ms, t1_ms): the one whose channel is louder by more than a tenth. DIARIZE_UNKNOWN if neither is, if a time is
 * not known (< 0), or if nothing was read. */
int diarize_speaker(const struct diarize *d, int64_t t0_ms, int64_t t1_ms);
#endif
