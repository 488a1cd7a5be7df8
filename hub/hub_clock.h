/* steno-hub: monotonic time. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_HUB_CLOCK_H
#define STENO_HUB_HUB_CLOCK_H

double hub_now_s(void); /* seconds since an arbitrary moment */
#endif
