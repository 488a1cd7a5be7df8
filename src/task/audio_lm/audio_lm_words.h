/* steno: word times for a text from an audio language model. SPDX-License-Identifier: MIT
 *
 * The text is tokenized with the vocabulary of the CTC head and aligned with the encoder's rows, one clip at a time. */
#ifndef STENO_TASK_AUDIO_LM_WORDS_H
#define STENO_TASK_AUDIO_LM_WORDS_H
#include "task/audio_lm/audio_lm_session.h"

/* Adds the words of text[n], the text of window w, to the segment, whose text is already stored. If the text cannot be aligned, no words
 * are added. A status */
int audio_lm_words_add(steno_session *s, const struct clip_window *w, const char *text, size_t n, struct segment *g);
#endif
