/* steno-serve: how many passes of live sessions were late lately. SPDX-License-Identifier: MIT */
#include "live_delays.h"

enum { US = 1000000, LEAST = 4, PART = 4 };

void live_delays_add(struct live_delays *d, int64_t now_us, int is_late)
{
    const int64_t now_s = now_us / US;
    const int i = (int)(now_s % LIVE_DELAYS_MOST_S);
    if (d->second[i].at_s != now_s) {
        d->second[i].at_s = now_s;
        d->second[i].n = d->second[i].n_late = 0;
    }
    d->second[i].n++;
    d->second[i].n_late += is_late != 0;
}

int live_delays_exceed(const struct live_delays *d, int64_t now_us)
{
    int64_t n = 0, n_late = 0;
    for (int64_t age = 0; age < LIVE_DELAYS_MOST_S && (age < LIVE_DELAYS_S || n < LEAST); age++) {
        const int64_t at_s = now_us / US - age;
        const int i = (int)(at_s % LIVE_DELAYS_MOST_S);
        if (at_s < 0 || d->second[i].at_s != at_s) continue;
        n += d->second[i].n;
        n_late += d->second[i].n_late;
    }
    return n >= LEAST && PART * n_late > n;
}
