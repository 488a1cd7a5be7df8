/* steno: windows whose text begins with a prefix. SPDX-License-Identifier: MIT
 *
 * The reference requires a timestamp right after the prefix. Most models then end the text, because their training data has no timestamp in
 * that place. So 0.00 is placed before the prefix, as in training and in faster-whisper. STENO_GUARDS_OFF selects the behaviour of the
 * reference. Decoding continues after the prefix, and the window's text includes the prefix. */
#ifndef STENO_TASK_AR_BEGUN_H
#define STENO_TASK_AR_BEGUN_H
#include "task/ar/window_decoder.h"

int is_begun(const struct window_decoder *w); /* the prompt has 0.00 before the prefix */
/* Splits the first n of w->ids by their timestamps, as if 0.00 and the prefix were in front of them. *advance, *single_end: see struct
 * speech. */
void begun_advance(struct window_decoder *w, int32_t n, int32_t *advance, int *single_end);
/* Inserts 0.00 and the prefix before the n tokens of w->ids and of the result's lane. @return the number of inserted tokens */
int32_t begun_hold(struct window_decoder *w, int32_t n);
#endif
