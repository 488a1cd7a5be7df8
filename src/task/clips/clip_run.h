/* steno: phases of an encoder over clips of several requests. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_CLIPS_CLIP_RUN_H
#define STENO_TASK_CLIPS_CLIP_RUN_H
#include "task/clips/clip_session.h"

/* A phase over the clips of the run at hand, and its time to those whose rows they are, or to the one that it is for (NULL: to all). A
 * status of the executor's. */
int clip_run_phase(struct steno_batch *b, int phase, steno_session *only);

/* Is shown the logits of a row of a window, and their most probable id. */
typedef void clip_row_fn(steno_session *s, int row, const float *logits, const struct best *best);
/* The most probable ids of rows [from, to) of the table, by a phase: logits exist for a few rows at a time. w: whose they are, NULL: those
 * of all windows; show NULL: nobody looks at logits; panels: bits of those that are looked at, where ids are known already (run.h), NULL:
 * all. Likewise. */
struct clip_head { int phase; const struct clip_window *w; clip_row_fn *show; const uint32_t *panels; };
int clip_run_head(struct steno_batch *b, uint32_t from, uint32_t to, const struct clip_head *h);
#endif
