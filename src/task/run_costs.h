/* steno: what runs of few rows take, as measured. SPDX-License-Identifier: MIT
 *
 * A guess costs a row more in a run, and how much that is depends on the weights' type, the processor, the threads and on who else is at
 * work. So runs are timed as they come. Up to some rows reading the weights is what they take, beyond those each row takes as long as any
 * other: the larger of two lines. What is learnt decides how many ids are guessed, and so how long a text takes, never what it says. */
#ifndef STENO_TASK_RUN_COSTS_H
#define STENO_TASK_RUN_COSTS_H
#include "plan/run.h"

enum { COSTS_ROWS = 16 }; /* more are not few rows (plan/replay.h) */

struct run_costs {
    double one;                      /* ns of a run of one row; 0: there was none yet */
    double w, x, y, xx, xy;          /* of longer ones: weighted sums for a line */
    int32_t n, seen[COSTS_ROWS + 1]; /* runs so far; which was the last with so many rows, 0: none */
    int64_t began_ns;                /* when the run at hand did */
};

void run_costs_begin(struct run_costs *c); /* now */
/* The run at hand has ended, and so has choosing from its rows, `rows` of them (run_costs_rows). The next one begins. */
void run_costs_end(struct run_costs *c, uint32_t rows);
/* A run of so many rows, none of which is a prompt's, has taken ns. */
void run_costs_learn(struct run_costs *c, uint32_t rows, int64_t ns);
/* What a run would take; 0: nothing is known yet. */
double run_costs_of(const struct run_costs *c, int32_t rows);
/* Is it time to see what a run of so many rows takes, by one without guesses? */
int run_costs_want(const struct run_costs *c, int32_t rows);
/* Rows of a run that has none of a prompt; 0: it has. */
uint32_t run_costs_rows(const struct run *r);
#endif
