/* steno: the prefix of the first window, for the Python package. SPDX-License-Identifier: MIT */
#include "prefix.h"
#include <math.h>

void steno_prefix_filter(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    const steno_prefix *p = user;
    (void)tokens;
    if (at->at_ms || n >= p->n) {
        for (int32_t i = 0; i < p->n_banned; i++) logits[p->banned[i]] = -INFINITY;
        return;
    }
    for (int32_t i = 0; i < at->n_vocab; i++) logits[i] = -INFINITY;
    logits[p->ids[n]] = 0;
}
