/* steno: runs the punctuation network over the words of a text, and writes the text with its marks. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_PUNCTUATION_PUNCTUATION_RUN_H
#define STENO_TASK_PUNCTUATION_PUNCTUATION_RUN_H
#include "engine/task.h"
#include "model/parts.h"
#include "text/jieba.h"

/* Bytes [at, at + n) of the output are a word. Its position in the input is [from, to). */
typedef void punctuation_word(void *user, size_t at, size_t n, size_t from, size_t to);

/* State in a session. */
struct punctuation_session {
    struct front_time time;  /* always zero */
    struct buf text, words;  /* words: struct marked_word; a continued text begins with the unsettled ones */
    size_t n_before, before; /* number of unsettled words before the new ones, and of their bytes */
    size_t settled;          /* words that the next call does not need */
    int32_t block_words;
};

static inline struct punctuation_session *punctuation_of(const steno_session *s) { return s->part; }
static inline const struct punctuation_model *punctuation_model_of(const steno_session *s) { return s->model->part; }
static inline struct marked_word *marked_words(const struct punctuation_session *q)
{
    return (struct marked_word *)(void *)q->words.p;
}
static inline size_t marked_count(const struct punctuation_session *q) { return q->words.len / sizeof(struct marked_word); }

/* Begins a text, or continues after the unsettled words of the last one. */
void punctuation_begin(steno_session *s, const steno_punctuate_params *p);
/* Adds the words of text[n], which is copied. joins: Chinese words may continue across spaces. STENO_EARG: the text is not UTF-8 */
int punctuation_add(steno_session *s, const char *text, size_t n, int joins);
/* Chooses a mark for each word. A status */
int punctuation_decide(steno_session *s);
/* "mark": times a run of n arbitrary words. @return microseconds, or a status */
int64_t punctuation_bench(steno_session *s, const char *phase, int n);
/* The mark as written after a word: half-width after ASCII, "" if there is none. */
const char *punctuation_text(const struct punctuation_model *m, int32_t mark, char first_of_word);

/* Appends all words with their marks to out. If the text does not end with an end of a sentence, the last mark becomes one. */
void punctuation_write(struct buf *out, struct punctuation_session *q, const struct punctuation_model *m);
/* Appends only words [from, to), with their marks. */
void punctuation_write_some(struct buf *out, const struct punctuation_session *q, const struct punctuation_model *m, size_t from,
                            size_t to);
/* Appends the new words, preceded by the mark of the last earlier word. The mark of the last new word is not known yet. Sets q->settled. */
void punctuation_write_more(struct buf *out, struct punctuation_session *q, const struct punctuation_model *m);
#endif
