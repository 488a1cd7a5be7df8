/* steno: near-ties of fast arithmetic are decided in f32. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_VERIFY_H
#define STENO_TASK_AR_VERIFY_H
#include "task/ar/window_decoder.h"

int verify_needed(const struct window_decoder *w, const struct attempt *a);
/* Replaces the result of the search that ended by that of f32. Sets a->verified and a->corrected. */
int verify_attempt(struct window_decoder *w, struct attempt *a);
struct steno_batch *verify_encoded(const struct window_decoder *w); /* the exact batch if the window is encoded there, else NULL */
#endif
