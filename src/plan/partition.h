/* steno: partitions: how a linear and an attention are cut into items. SPDX-License-Identifier: MIT
 *
 * Threads take items from a counter, so an op ends when the last item does. Where rows are many, items are as high as the second-level
 * cache allows, unless lower ones share better among the threads: 1500 rows by 96 are 16 items, of which one of three threads has six,
 * where 18 of 84 rows are six for each. Rows that are rounded are rounded by each thread that has panels of theirs: two threads take 86
 * and 85 of 171 rows, with all panels. Where even low items are fewer than threads, or the last rows would keep some waiting, panels are
 * cut as well: four threads take half of the panels of 86 rows each where there are 171. No bit depends on any of it. */
#ifndef STENO_PLAN_PARTITION_H
#define STENO_PLAN_PARTITION_H
#include "kern/kern.h"

struct partition { size_t rows, panels; }; /* of an item; the last ones may have less */

/* Panels of an item are all that there are, or a multiple of this. */
enum { PANELS_STEP = 4 /* panels that linear takes together */ };

/* Few rows, which go together: weights are a stream that the threads share. step: a multiple of PANELS_STEP. */
struct partition partition_few(size_t rows, size_t panels, int threads, size_t step);

/* Many rows. fine: panels of an item at most, a multiple of `step` or all; anew: what an item spends on its rows of x however few its
 * panels are, in panels. */
struct partition partition_many(size_t rows, size_t panels, int threads, struct slices s, size_t fine, size_t anew, size_t step);

/* Attention of rows that see the same keys: rows of an item, `max` or half of them. */
size_t partition_heads(size_t rows, size_t max, size_t heads, int threads);
#endif
