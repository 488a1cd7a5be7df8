/* steno: sums of probabilities. SPDX-License-Identifier: MIT */
#ifndef STENO_SEARCH_LOG_ADD_H
#define STENO_SEARCH_LOG_ADD_H
#include <math.h>

/* Log of the sum of two probabilities, from their logs. -INFINITY: zero. */
static inline double log_add(double a, double b)
{
    const double high = a > b ? a : b, low = a > b ? b : a;
    return low > -(double)INFINITY ? high + log1p(exp(low - high)) : high;
}
#endif
