/* steno: the prompt of a window, and texts that begin with a prefix. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_PROMPT_H
#define STENO_TASK_AR_PROMPT_H
#include "task/ar/window_decoder.h"

int is_begun(const struct window_decoder *w); /* the prompt has 0.00 before the prefix */
/* Splits the first n of w->attempts.ids by their timestamps, as if 0.00 and the prefix were in front of them. *advance, *single_end: see
 * struct speech. */
void begun_advance(struct window_decoder *w, int32_t n, int32_t *advance, int *single_end);
/* Inserts 0.00 and the prefix before the n tokens of w->attempts.ids and of the result's lane. @return the number of inserted tokens */
int32_t begun_hold(struct window_decoder *w, int32_t n);

int prompt_begin(struct window_decoder *w);                            /* sets the initial prompt and the prefix */
int32_t prompt_make(struct window_decoder *w, int previous, int *sot); /* writes w->context.prompt; previous 0: without the text of earlier
                                                                        * windows */
int prompt_has_previous(const struct window_decoder *w);
void history_add(struct window_decoder *w, const int32_t *ids, int32_t n);
void prompt_forget(struct decoder_context *context); /* including a carried prompt */
void history_forget(struct decoder_context *context);
#endif
