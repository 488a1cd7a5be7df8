/* steno-serve: how many passes of live sessions were late lately. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_LIVE_DELAYS_H
#define STENO_SERVE_LIVE_DELAYS_H
#include <stdint.h>

enum { LIVE_DELAYS_S = 10, LIVE_DELAYS_MOST_S = 30 }; /* passes count for this time; for more, if there were fewer than four */

struct live_delays { struct { int64_t at_s; int n, n_late; } second[LIVE_DELAYS_MOST_S]; };

/* now_us: monotonic, not before that of the call before */
void live_delays_add(struct live_delays *d, int64_t now_us, int is_late);
/* 1: more than a quarter of the passes were late, and there were at least four. A pass alone may wait for a file's window */
int live_delays_exceed(const struct live_delays *d, int64_t now_us);
#endif
