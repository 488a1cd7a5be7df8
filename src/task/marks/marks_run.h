/* steno: words of a text through a network that says which mark stands behind each. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_MARKS_MARKS_RUN_H
#define STENO_TASK_MARKS_MARKS_RUN_H
#include "task/task.h"

/* In a session. */
struct marks_session {
    struct front_time time;  /* none is heard */
    struct buf text, words;  /* struct marked_word; of a text that goes on first those that are not settled */
    size_t n_before, before; /* so many, and their bytes */
    size_t settled;          /* words that the next call has no use for */
    int32_t block_words;
};

static inline struct marks_session *marks_of(const steno_session *s) { return s->part; }
static inline const struct marks_model *marks_model_of(const steno_session *s) { return s->model->part; }
static inline struct marked_word *marked_words(const struct marks_session *q)
{
    return (struct marked_word *)(void *)q->words.p;
}
static inline size_t marked_count(const struct marks_session *q) { return q->words.len / sizeof(struct marked_word); }

/* A text begins, or goes on behind what is not settled of the last one. */
void marks_begin(steno_session *s, const steno_punctuate_params *p);
/* Words of text[n], which is copied. joins: words of Chinese may go over spaces. STENO_EARG: it is not UTF-8 */
int marks_add(steno_session *s, const char *text, size_t n, int joins);
/* A mark for each word. A status */
int marks_decide(steno_session *s);
/* "mark": a run of n words, whichever, for measuring. @return microseconds, or a status */
int64_t marks_bench(steno_session *s, const char *phase, int n);
/* The mark as it stands behind a word: with half the width behind ASCII; "": none. */
const char *marks_text(const struct marks_model *m, int32_t mark, char first_of_word);
#endif
