/* steno: text that is left out of the result. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_LEAVE_OUT_H
#define STENO_TASK_AR_LEAVE_OUT_H
#include "task/ar/window_decoder.h"

/* Stores the text beside the result, except with STENO_GUARDS_OFF. whole: 1 if the whole window counts as silence */
void leave_out(struct window_decoder *w, int64_t t0_ms, int64_t t1_ms, const int32_t *ids, int32_t n_ids, int whole);
#endif
