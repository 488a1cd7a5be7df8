/* steno: near-ties of the fast arithmetic, decided in f32. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_VERIFY_H
#define STENO_TASK_AR_VERIFY_H
#include "task/ar/window_decoder.h"

int verify_wanted(const struct window_decoder *w, const struct attempt *a);
/* The search that has ended is that of f32 from here on; a->verified, a->corrected. */
int verify_attempt(struct window_decoder *w, struct attempt *a);
struct steno_batch *verify_heard(const struct window_decoder *w); /* the exact batch where the window is encoded there, else NULL */
#endif
