/* steno: partitions of a linear and an attention into items. SPDX-License-Identifier: MIT
 *
 * Threads take items from a counter, so an op ends with its last item. With many rows, items are as high as the second-level cache allows,
 * unless lower ones share better among the threads. Example: 1500 rows by 96 are 16 items, of which one of three threads computes six; 18
 * items of 84 rows are six for each. Low-precision rows are rounded by each thread that computes panels of them: two threads take 86 and 85
 * of 171 rows, with all panels. If even low items are fewer than the threads, or the last rows would make some threads wait, panels are cut
 * as well: four threads take half of the panels of 86 or 85 of 171 rows. No bit depends on the partition. */
#ifndef STENO_PLAN_PARTITION_H
#define STENO_PLAN_PARTITION_H
#include "kern/kern.h"

struct partition { size_t rows, panels; }; /* of an item; the last ones may have less */

/* An item has all panels, or a multiple of this number. */
enum { PANELS_STEP = 4 /* panels that linear computes together */ };

/* Few rows, which are computed together: weights are a stream that the threads share. step: a multiple of PANELS_STEP. */
struct partition partition_few(size_t rows, size_t panels, int threads, size_t step);

/* Many rows. fine: most panels of an item, a multiple of `step` or all; anew: the cost of rounding the item's rows of x, in panels,
 * independent of its number of panels. */
struct partition partition_many(size_t rows, size_t panels, int threads, struct slices s, size_t fine, size_t anew, size_t step);

/* Attention of rows with the same keys. @return rows of an item, `max` or half of them */
size_t partition_heads(size_t rows, size_t max, size_t heads, int threads);
#endif
