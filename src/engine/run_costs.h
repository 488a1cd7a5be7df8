/* steno: measured time of runs with few rows. SPDX-License-Identifier: MIT
 *
 * A draft token costs one more row in a run. That cost depends on the type of the weights, the processor, the threads and other load, so
 * runs are timed as they come. Up to some number of rows a run takes the time to read the weights; beyond it, each row adds the same time.
 * So the cost is the larger of two lines. It decides the number of draft tokens, and so the speed, but never the text. */
#ifndef STENO_ENGINE_RUN_COSTS_H
#define STENO_ENGINE_RUN_COSTS_H
#include "plan/run.h"

enum { COSTS_ROWS = 16, DRAFT_MAX = COSTS_ROWS - 1 }; /* rows of a run, draft tokens beside one row; with more rows the cost per row
                                                       * rises (plan/replay.h) */

struct run_costs {
    double one;                      /* ns of a run of one row; 0: not measured */
    double w, x, y, xx, xy;          /* of longer runs: weighted sums for a line */
    int32_t n, seen[COSTS_ROWS + 1]; /* number of runs; seen[rows]: last run with that number of rows, 0: none */
    int64_t began_ns;                /* start of the current run */
};

void run_costs_begin(struct run_costs *c); /* starts the clock */
/* Ends the current run, including sampling from its `rows` rows (run_costs_rows). The next one begins. */
void run_costs_end(struct run_costs *c, uint32_t rows);
/* Adds a measurement: a run of `rows` rows without prompt rows took ns. */
void run_costs_learn(struct run_costs *c, uint32_t rows, int64_t ns);
/* Estimated time of a run; 0: not known yet. */
double run_costs_of(const struct run_costs *c, int32_t rows);
/* Should the next run go without draft tokens, to measure a run of `rows` rows? */
int run_costs_needs(const struct run_costs *c, int32_t rows);
/* Rows of a run without prompt rows; 0: it has some. */
uint32_t run_costs_rows(const struct run *r);
#endif
