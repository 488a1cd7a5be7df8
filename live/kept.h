/* steno: sound that is kept as long as somebody needs it. SPDX-License-Identifier: MIT */
#ifndef STENO_LIVE_KEPT_H
#define STENO_LIVE_KEPT_H
#include <steno/steno.h>

struct kept { float *pcm; int64_t at, n, cap; }; /* pcm: [n], from sample `at` of the whole on */

int kept_add(struct kept *k, const float *pcm, int64_t n); /* @return STENO_OK, STENO_ENOMEM */
int64_t kept_end(const struct kept *k);                    /* the sample behind the last one */
const float *kept_from(const struct kept *k, int64_t at);  /* at: within what is kept */
void kept_drop(struct kept *k, int64_t before);            /* samples before that one may go */
int64_t kept_quietest(const struct kept *k, int64_t from, int64_t end); /* within [from, end]; where it is silent all over, `end` */
double kept_loudest(const struct kept *k, int64_t from, int64_t end);   /* power of the loudest 20 ms of it, low tones weakened */
void kept_free(struct kept *k);
#endif
