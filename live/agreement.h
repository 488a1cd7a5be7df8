/* steno: local agreement. SPDX-License-Identifier: MIT
 *
 * Each pass over a growing turn gives words. Words on which two consecutive passes agree, from the start on, are final. Final words never
 * change and are never removed, whatever later passes give (Machacek et al. 2023). */
#ifndef STENO_LIVE_AGREEMENT_H
#define STENO_LIVE_AGREEMENT_H
#include "live_words.h"

struct agreement {
    struct words known, heard; /* final words; words of the last pass after them */
    size_t cut;                /* final words before the current cut */
    int64_t disagreements;     /* final words that the last passes of turns did not have; never reset */
};

void agreement_clear(struct agreement *a); /* begins another turn */
void agreement_free(struct agreement *a);

/* Adds the words of a pass over the audio after the cut; with is_last all become final. New final words are known.w[*first] and so on.
 * @return STENO_OK, STENO_ENOMEM */
int agreement_hear(struct agreement *a, const struct words *w, int is_last, size_t *first);

void agreement_forget(struct agreement *a); /* drops the final words before the cut, which are not compared any more */

int64_t agreement_end_ms(const struct agreement *a); /* end of the last final word with a time, -1: none */

/* Chooses a time after after_ms up to which audio is not decoded again. The last few final words stay after it, to align later passes.
 * @return the time, -1: no cut is possible */
int64_t agreement_cut(struct agreement *a, int64_t after_ms);
#endif
