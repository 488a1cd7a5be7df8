/* steno: words of tokens found by integrate-and-fire. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_CIF_WORDS_H
#define STENO_TASK_CIF_WORDS_H
#include "task/clips/clip_request.h"

struct cif_words {
    struct buf bytes, words; /* struct token_word */
    struct buf text;
};
void cif_words_close(struct cif_words *c);

static inline const struct token_word *cif_word(const struct cif_words *c) { return (const struct token_word *)(const void *)c->words.p; }
static inline size_t cif_words_n(const struct cif_words *c) { return c->words.len / sizeof(struct token_word); }

/* Words of ids[n]; *open as families say (struct cif). 0, or not: no memory */
int cif_words_make(struct cif_words *c, const steno_model *m, const int32_t *ids, int32_t n, int32_t *open);
/* The text of words [from, to), in c->text. Likewise */
int cif_words_text(struct cif_words *c, size_t from, size_t to);
/* Those words into the results of s, for segment *g, with times span[token] in seconds behind `at`, and what was sampled for each token. */
struct cif_timed { const double (*span)[2]; double at; const struct sampled_token *tokens; };
void cif_words_add(steno_session *s, const struct cif_words *c, size_t from, size_t to, const struct cif_timed *t, struct segment *g);
/* The segment begins and ends with its words [from, to). */
void cif_words_place(const struct cif_words *c, size_t from, size_t to, const struct cif_timed *t, struct segment *g);
#endif
