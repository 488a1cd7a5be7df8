/* steno: who speaks, by the loudness of two channels. SPDX-License-Identifier: MIT
 *
 * Where two people were recorded on a channel each (interviews, telephone), the louder channel says whose words they are. The channels are
 * heard one after the other and only their loudness is kept, two numbers per 10 ms: 3 MB an hour. */
#ifndef STENO_OUT_DIARIZE_H
#define STENO_OUT_DIARIZE_H
#include <steno/steno.h>
#include <stddef.h>

enum { DIARIZE_UNKNOWN = -1 }; /* else 0 or 1: the speaker of the first or of the second channel */

struct diarize {
    float (*level)[2]; /* [cap][2] sums of |sample| over 10 ms, by channel; 0 where that was not heard */
    size_t n, cap;     /* those of [0, n) count */
};

/* Forget everything, keep the memory. */
void diarize_reset(struct diarize *d);
void diarize_free(struct diarize *d);

/* Hear channel 0 or 1 from a source to its end. @return STENO_OK, STENO_ENOMEM, or the status of the read that failed */
int diarize_listen(struct diarize *d, int channel, const steno_source *src);

/* Whose words lie in [t0_ms, t1_ms): the speaker whose channel is louder by more than a tenth. DIARIZE_UNKNOWN where neither is, where a
 * time is not known (< 0), and where nothing was heard. */
int diarize_speaker(const struct diarize *d, int64_t t0_ms, int64_t t1_ms);
#endif
