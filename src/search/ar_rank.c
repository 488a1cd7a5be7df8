/* steno: the rank of finished sequences. SPDX-License-Identifier: MIT */
#include <math.h>
#include "search/ar.h"

double ar_rank(double sum_logprob, int32_t n, double penalty)
{
    if (isnan(penalty)) return n ? sum_logprob / n : -INFINITY;
    return sum_logprob / pow((5 + n) / 6.0, penalty);
}

double ar_avg_logprob(const struct lane *l)
{
    return l->sampler.sum_logprob / (l->sampler.n + 1);
}
