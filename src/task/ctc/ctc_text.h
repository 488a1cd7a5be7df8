/* steno: what the ids of a clip say. SPDX-License-Identifier: MIT
 *
 * Tags are apart from the text, in it, or made into signs. Signs depend on the tags of clips before; so of them the whole text is made
 * once, of what all clips say. */
#ifndef STENO_TASK_CTC_CTC_TEXT_H
#define STENO_TASK_CTC_CTC_TEXT_H
#include "model/family.h"

struct ctc_text { struct buf bytes, text; };
struct ctc_ids { const int32_t *ids; int32_t n; };

/* Of a clip, until the next one: text[n] of its segment; whole[n_whole], what it adds to the whole text. */
struct ctc_shown { const char *text, *whole; size_t n, n_whole; };

void ctc_text_free(struct ctc_text *t);
/* tags: enum steno_tags. @return STENO_OK, STENO_ENOMEM */
int ctc_text_make(struct ctc_text *t, const steno_model *m, const struct ctc_ids *ids, int32_t tags, struct ctc_tags *told,
                  struct ctc_shown *out);
/* The whole text, once all clips have added to it; want of memory is left in *whole. */
void ctc_text_whole(struct ctc_text *t, const steno_model *m, int32_t tags, struct buf *whole);
#endif
