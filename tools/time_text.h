/* steno: times as people write them. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_TIME_TEXT_H
#define STENO_TOOLS_TIME_TEXT_H
#include <stdint.h>

/* "MM:SS" or "HH:MM:SS", both perhaps with ".mmm" behind them, to the end of the text or a comma; only the first number may be 60 and more.
 * @return the end, or NULL: it is no such time */
const char *time_read(const char *text, int64_t *ms);
#endif
