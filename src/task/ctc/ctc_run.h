/* steno: clips of several requests through the encoder and its head together. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_CTC_CTC_RUN_H
#define STENO_TASK_CTC_CTC_RUN_H
#include "task/ctc/ctc_session.h"

/* The clips of the run at hand through the encoder, and the most probable id of each of their rows. A status of the executor's. */
int ctc_run(struct steno_batch *b);

/* Is shown the logits of a row of a window, and their most probable id. */
typedef void ctc_row_fn(steno_session *s, int row, const float *logits, const struct best *best);
/* The head once more over the rows of one window; likewise. */
int ctc_run_again(struct steno_batch *b, const struct ctc_window *w, ctc_row_fn *show);
#endif
