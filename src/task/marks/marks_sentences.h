/* steno: sentences of a transcript. SPDX-License-Identifier: MIT
 *
 * What lies between two marks, with the times of its words, as FunASR's sentence_info has it. */
#ifndef STENO_TASK_MARKS_MARKS_SENTENCES_H
#define STENO_TASK_MARKS_MARKS_SENTENCES_H
#include "task/marks/marks_run.h"

/* A word of a segment, and what stands behind it. `chosen`: the mark that the model put there, which is not written where one stands
 * already. */
struct placed { const char *text; uint32_t n; int32_t chosen; const char *mark; };

/* Where sentences come from: words in the order of the text, those of segment i from first[i] on; the transcript as it was before. */
struct sentence_source {
    const struct placed *word;
    const size_t *first; /* [segments + 1] */
    const struct result *result;
    const struct marks_model *model;
    int is_bare;         /* sentences are written of the transcript's words; else they are the text as it stands */
    size_t text_at;      /* where `text` will be in the result's */
};

struct sentence_sink { struct buf *text, *sentences, *times; };

/* Nothing is made where words have no times. Buffers' err tell whether there was room. */
void sentences_make(const struct sentence_sink *to, const struct sentence_source *s);
#endif
