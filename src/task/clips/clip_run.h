/* steno: phases of an encoder over clips of several requests, and their benchmarks. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_CLIPS_CLIP_RUN_H
#define STENO_TASK_CLIPS_CLIP_RUN_H
#include "task/clips/clip_session.h"

/* Runs a phase over the clips of the current run. Its time is added to the sessions by their rows, or to `only`, which may be NULL. Returns
 * a status of the executor. */
int clip_run_phase(struct steno_batch *b, int phase, steno_session *only);

/* The same with the draft model of the batch, whose table has the same rows. Its time is not added. */
int clip_run_draft_phase(struct steno_batch *b, int phase);

/* Receives the logits of a row of a window and their most probable id. */
typedef void clip_row_fn(steno_session *s, int row, const float *logits, const struct best *best);
/* Runs the head over rows [from, to) of the table, a few rows at a time, and finds their most probable ids. w: the window of the rows;
 * NULL: rows of all windows. show may be NULL if logits are not needed. panels: bit set of the panels to compute if the ids are already
 * known (run.h); NULL: all. Returns a status of the executor. */
struct clip_head { int phase; const struct clip_window *w; clip_row_fn *show; const uint32_t *panels; };
int clip_run_head(struct steno_batch *b, uint32_t from, uint32_t to, const struct clip_head *h);

/* A phase after the encoder. n: argument of steno_bench_phase. Returns a status of the executor. */
struct clip_bench_phase {
    const char *name;
    int (*run)(struct steno_batch *b, int n);
    int is_of_tokens;  /* 1: n is the number of tokens, for CLIP_BENCH_S seconds of frames; 0: n is seconds */
};
enum { CLIP_BENCH_S = 30 };

/* Begin a run without clips, and add a clip of s, in the lane of its number, whose rows the caller fills. */
void clips_begin(struct steno_batch *b);
struct sequence clip_add(struct steno_batch *b, steno_session *s, uint32_t rows);

/* Prepares a run of up to `most` clips of n samples, as many as fit. @return their number, or a status */
int clip_bench_read(steno_session *s, int64_t n, uint32_t most);

/* Times "features" or "encode" of n seconds, or one of the phases in `own`, a list that ends with a NULL name. @return microseconds, or a
 * status */
int64_t clip_bench(steno_session *s, const char *phase, int n, const struct clip_bench_phase *own);
#endif
