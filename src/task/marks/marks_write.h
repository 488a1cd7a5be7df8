/* steno: a text with its marks, as the reference writes it. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_MARKS_MARKS_WRITE_H
#define STENO_TASK_MARKS_MARKS_WRITE_H
#include "task/marks/marks_run.h"

/* Append all words with their marks to out; the last mark becomes the end of a sentence where the text does not end so. */
void marks_write(struct buf *out, struct marks_session *q, const struct marks_model *m);
/* Words [from, to) alone, with the marks that they have. */
void marks_write_some(struct buf *out, const struct marks_session *q, const struct marks_model *m, size_t from, size_t to);
/* Append the words that came last, behind the mark of the one before them; the last one's mark is not known yet. What is not settled is
 * noted. */
void marks_write_more(struct buf *out, struct marks_session *q, const struct marks_model *m);
#endif
