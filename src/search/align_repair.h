/* steno: times of an alignment that do not fall. SPDX-License-Identifier: MIT
 *
 * A model that chooses each time by itself can go back. The longest sequence of times that never falls is kept. One or two other times in
 * a row take the value of the nearer neighbour that is kept, of the earlier one if both are as near. More lie on the line between both.
 * Reference: qwen-asr 0.0.6, Qwen3ForceAlignProcessor.fix_timestamp. */
#ifndef STENO_SEARCH_ALIGN_REPAIR_H
#define STENO_SEARCH_ALIGN_REPAIR_H
#include "base/buf.h"

/* Repairs ms[n] in place; scratch is memory that is reused. STENO_OK, STENO_ENOMEM */
int align_repair(int32_t *ms, int32_t n, struct buf *scratch);
#endif
