/* steno: draft tokens from the text that a session found last. SPDX-License-Identifier: MIT
 *
 * An update of a live turn decodes the audio of the update before and some more, so its text begins as the last one did. The ids of that
 * text are draft tokens (decode/prompt_lookup.h): the decoder checks several of them in one run, and the text does not change. Requests of
 * the classes STENO_PRIORITY_LIVE and STENO_PRIORITY_END_OF_TURN do so, if their audio begins as that of the request before. */
#ifndef STENO_TASK_AR_DRAFT_TEXT_H
#define STENO_TASK_AR_DRAFT_TEXT_H
#include "task/ar/window_decoder.h"

void draft_text_begin(struct window_decoder *w);     /* call when a search begins, after draft_windows_begin */
void draft_text_keep(struct window_decoder *w);      /* call when a window's text is accepted */
/* Before a replay: draft tokens of all texts that have some. */
void draft_texts_choose(struct steno_batch *b);
#endif
