/* steno: writes a text with its marks as the reference does. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_PUNCTUATION_PUNCTUATION_WRITE_H
#define STENO_TASK_PUNCTUATION_PUNCTUATION_WRITE_H
#include "task/punctuation/punctuation_run.h"

/* Appends all words with their marks to out. If the text does not end with an end of a sentence, the last mark becomes one. */
void marks_write(struct buf *out, struct marks_session *q, const struct marks_model *m);
/* Appends only words [from, to), with their marks. */
void marks_write_some(struct buf *out, const struct marks_session *q, const struct marks_model *m, size_t from, size_t to);
/* Appends the new words, preceded by the mark of the last earlier word. The mark of the last new word is not known yet. Sets q->settled. */
void marks_write_more(struct buf *out, struct marks_session *q, const struct marks_model *m);
#endif
