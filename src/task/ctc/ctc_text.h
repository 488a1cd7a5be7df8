/* steno: the text of a clip's ids. SPDX-License-Identifier: MIT
 *
 * Tags are separate from the text, part of the text, or converted to symbols. Symbols depend on the tags of earlier clips, so in that mode
 * the whole transcript is built once from all clips. */
#ifndef STENO_TASK_CTC_CTC_TEXT_H
#define STENO_TASK_CTC_CTC_TEXT_H
#include "model/family.h"

struct ctc_text { struct buf bytes, text; };
struct ctc_ids { const int32_t *ids; int32_t n; };

/* Valid until the next clip. text[n]: text of the segment. whole[n_whole]: what it adds to the whole transcript. */
struct ctc_shown { const char *text, *whole; size_t n, n_whole; };

void ctc_text_free(struct ctc_text *t);
/* tags: enum steno_tags. @return STENO_OK, STENO_ENOMEM */
int ctc_text_make(struct ctc_text *t, const steno_model *m, const struct ctc_ids *ids, int32_t tags, struct ctc_tags *told,
                  struct ctc_shown *out);
/* Completes the whole transcript after the last clip. Running out of memory sets whole->err. */
void ctc_text_whole(struct ctc_text *t, const steno_model *m, int32_t tags, struct buf *whole);
#endif
