/* steno: windows whose text a prefix begins. SPDX-License-Identifier: MIT
 *
 * The reference asks for a time right behind a prefix, and most models then end the text: they have never seen one there. Unless
 * STENO_GUARDS_OFF asks for the reference's text, the time 0.00 stands before the prefix, as in training and as in faster-whisper. The text
 * goes on behind the prefix, and the window's text holds both. */
#ifndef STENO_TASK_AR_BEGUN_H
#define STENO_TASK_AR_BEGUN_H
#include "task/ar/window_decoder.h"

int is_begun(const struct window_decoder *w); /* 0.00 stands before the prefix */
/* The first n of w->ids cut by their times, as if 0.00 and the prefix stood before them; *advance, *single_end: see struct speech. */
void begun_advance(struct window_decoder *w, int32_t n, int32_t *advance, int *single_end);
/* 0.00 and the prefix go before the n tokens of w->ids and of the result's lane. @return how many they are */
int32_t begun_hold(struct window_decoder *w, int32_t n);
#endif
