/* steno: keeps audio as long as it is needed. SPDX-License-Identifier: MIT */
#ifndef STENO_LIVE_KEPT_H
#define STENO_LIVE_KEPT_H
#include <steno/steno.h>

struct kept { float *pcm; int64_t at, n, cap; }; /* pcm: [n], starting with sample `at` of the whole audio */

int kept_add(struct kept *k, const float *pcm, int64_t n); /* @return STENO_OK, STENO_ENOMEM */
int64_t kept_end(const struct kept *k);                    /* the sample after the last one */
const float *kept_from(const struct kept *k, int64_t at);  /* at: within the kept audio */
void kept_drop(struct kept *k, int64_t before);            /* earlier samples may be dropped */
int64_t kept_quietest(const struct kept *k, int64_t from, int64_t end); /* within [from, end]; `end` if all of it is silent */
double kept_loudest(const struct kept *k, int64_t from, int64_t end);   /* power of its loudest 20 ms, with low frequencies weakened */
void kept_free(struct kept *k);
#endif
