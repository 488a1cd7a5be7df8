/* steno: whole numbers of a range, as rules. SPDX-License-Identifier: MIT */
#ifndef STENO_SEARCH_JSON_RANGE_H
#define STENO_SEARCH_JSON_RANGE_H
#include <stdint.h>
#include "base/buf.h"

/* Elements of a grammar for the decimal numbers lo to hi, written as JSON has them: INT64_MIN, INT64_MAX: there is no bound. */
void json_range_write(struct buf *out, int64_t lo, int64_t hi);
#endif
