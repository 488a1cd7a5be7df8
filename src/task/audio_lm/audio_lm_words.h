/* steno: times of words of a text that a language model has written. SPDX-License-Identifier: MIT
 *
 * The text is cut into ids of the CTC head beside it, which are aligned with the rows of the encoder, one clip after the other. */
#ifndef STENO_TASK_AUDIO_LM_WORDS_H
#define STENO_TASK_AUDIO_LM_WORDS_H
#include "task/audio_lm/audio_lm_session.h"

/* Words of text[n], what was written in the window w, which lie behind the segment's text. A text that cannot be aligned has none. A
 * status */
int audio_lm_words_add(steno_session *s, const struct clip_window *w, const char *text, size_t n, struct segment *g);
#endif
