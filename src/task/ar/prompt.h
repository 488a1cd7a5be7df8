/* steno: the prompt of a window. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_PROMPT_H
#define STENO_TASK_AR_PROMPT_H
#include "task/ar/window_decoder.h"

int prompt_begin(struct window_decoder *w);                            /* sets the initial prompt and the prefix */
int32_t prompt_make(struct window_decoder *w, int previous, int *sot); /* writes w->prompt; previous 0: without the text of earlier
                                                                        * windows */
int prompt_has_previous(const struct window_decoder *w);
void history_add(struct window_decoder *w, const int32_t *ids, int32_t n);
void prompt_forget(struct window_decoder *w); /* including a carried prompt */
void history_forget(struct window_decoder *w);
#endif
