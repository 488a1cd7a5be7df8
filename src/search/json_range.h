/* steno: grammar rules for ranges of whole numbers. SPDX-License-Identifier: MIT */
#ifndef STENO_SEARCH_JSON_RANGE_H
#define STENO_SEARCH_JSON_RANGE_H
#include <stdint.h>
#include "base/buf.h"

/* Append grammar elements for the decimal numbers lo to hi in JSON spelling. INT64_MIN, INT64_MAX: no bound. */
void json_range_write(struct buf *out, int64_t lo, int64_t hi);
#endif
