/* steno: words from the tokens of integrate-and-fire. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_CIF_WORDS_H
#define STENO_TASK_CIF_WORDS_H
#include "model/parts.h"
#include "task/clips/clip_session.h"

struct cif_words {
    struct buf bytes, words; /* struct token_word */
    struct buf text;
};
void cif_words_close(struct cif_words *c);

static inline const struct token_word *cif_word(const struct cif_words *c) { return (const struct token_word *)(const void *)c->words.p; }
static inline size_t cif_words_n(const struct cif_words *c) { return c->words.len / sizeof(struct token_word); }

/* Builds the words of ids[n]. *open: see struct cif. Returns 0, or non-zero if there is no memory. */
int cif_words_make(struct cif_words *c, const steno_model *m, const int32_t *ids, int32_t n, int32_t *open);
/* Builds the text of words [from, to) in c->text. Returns as above. */
int cif_words_text(struct cif_words *c, size_t from, size_t to);
/* Adds these words to the results of s, for segment *g. span[token]: times in seconds after `at`. tokens: the sampled token of each id. */
struct cif_timed { const double (*span)[2]; double at; const struct sampled_token *tokens; };
void cif_words_add(steno_session *s, const struct cif_words *c, size_t from, size_t to, const struct cif_timed *t, struct segment *g);
/* Sets the start and end of the segment to those of its words [from, to). */
void cif_words_place(const struct cif_words *c, size_t from, size_t to, const struct cif_timed *t, struct segment *g);
#endif
