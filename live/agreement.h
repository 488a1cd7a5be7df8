/* steno: local agreement. SPDX-License-Identifier: MIT
 *
 * Passes over a turn that grows each give words. Those on which two passes in a row agree, from the front on, are final: they never change
 * and never go, whatever later passes have in their place (Machacek et al. 2023). */
#ifndef STENO_LIVE_AGREEMENT_H
#define STENO_LIVE_AGREEMENT_H
#include "live_words.h"

struct agreement {
    struct words known, heard; /* final words; what the last pass had behind them */
    size_t cut;                /* final words before what is heard now */
    int64_t disagreements;     /* final words that last passes did not have; never cleared */
};

void agreement_clear(struct agreement *a); /* another turn */
void agreement_free(struct agreement *a);

/* Words of a pass over what lies behind the cut; of the last one all become final. New final words are known.w[*first] and so on.
 * @return STENO_OK, STENO_ENOMEM */
int agreement_hear(struct agreement *a, const struct words *w, int is_last, size_t *first);

void agreement_forget(struct agreement *a); /* the final words before the cut, which nothing is compared with any more */

int64_t agreement_end_ms(const struct agreement *a); /* of the last final word that has a time, -1: none has */

/* What was heard up to some time behind after_ms will not be heard again: all but the last few final words, by which later passes are
 * aligned. @return the time, -1: there is nothing to cut */
int64_t agreement_cut(struct agreement *a, int64_t after_ms);
#endif
