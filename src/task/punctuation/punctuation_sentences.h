/* steno: sentences of a transcript. SPDX-License-Identifier: MIT
 *
 * A sentence is the text between two marks, with the times of its words, as in FunASR's sentence_info. */
#ifndef STENO_TASK_PUNCTUATION_PUNCTUATION_SENTENCES_H
#define STENO_TASK_PUNCTUATION_PUNCTUATION_SENTENCES_H
#include "model/parts.h"
#include "task/punctuation/punctuation_run.h"

/* A word of a segment, and the text after it. `chosen`: the mark that the model chose, which is not written where the text already has
 * one. */
struct placed { const char *text; uint32_t n; int32_t chosen; const char *mark; };

/* Input of sentences: words in text order (those of segment i from first[i] on), and the transcript without the new marks. */
struct sentence_source {
    const struct placed *word;
    const size_t *first; /* [segments + 1] */
    const struct result *result;
    const struct punctuation_model *model;
    int is_bare;         /* 1: sentences are built from the transcript's words; 0: they are parts of the text */
    size_t text_at;      /* future offset of `text` in the result's text */
};

struct sentence_sink { struct buf *text, *sentences, *times; };

/* Makes no sentences if words have no times. Running out of memory sets the buffers' err. */
void sentences_make(const struct sentence_sink *to, const struct sentence_source *s);
#endif
