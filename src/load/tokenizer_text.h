/* steno: tokenizers of language models, as their files say them. SPDX-License-Identifier: MIT
 *
 * GGUF files list tokens, scores, types and pairs among their keys (tokenizer.ggml.*); Hugging Face folders have a tokenizer.json. Both
 * become one description: bytes of each token, whatever alphabet the file writes them in, and how text becomes tokens. */
#ifndef STENO_LOAD_TOKENIZER_TEXT_H
#define STENO_LOAD_TOKENIZER_TEXT_H
#include "load/weights.h"

enum { TOKENIZER_ENDS = 16, TOKENIZER_TEMPLATES = 32 };
enum tokenizer_form {
    TOKENIZER_BYTES, /* text is cut by a pattern, bytes are joined */
    TOKENIZER_PIECES, /* characters are joined; a space is part of pieces (SentencePiece) */
    TOKENIZER_WORDS  /* words are taken apart; a space is part of pieces that begin one (WordPiece) */
};

/* What is done to text before it is cut into words. */
struct tokenizer_words {
    int32_t cleans, splits_han, lowers;
    int32_t strips;               /* -1: as lowers */
    int32_t most_chars;           /* of a word that may be known */
};
extern struct tokenizer_words const tokenizer_words_usual;

/* A way to cut text into pieces: what GGUF files call it, and the regular expression of a tokenizer.json. */
#define TOKENIZER_DIGITS "Digits" /* in its place: GPT-2's, of what lies between digits, each of which is a piece */
struct tokenizer_cut { const char *name, *regex, *pattern; int whole_first, adds_bos; };
/* What whoever reads such models knows. */
struct tokenizer_names {
    const char *bytes, *pieces, *words; /* the forms, as GGUF calls them; NULL: none of that form is its */
    const struct tokenizer_cut *cut; /* the last one has no name */
    const char *known;               /* of the cuts, for messages */
};

struct tokenizer_pair { const uint8_t *s; uint32_t left, right; }; /* bytes of both, one behind the other */

struct tokenizer_file {
    const struct tokenizer_names *names;
    enum tokenizer_form form;
    const char *pattern;          /* TOKENIZER_BYTES: a name of text/pretokenizer.h */
    struct vocab_entry *entry;    /* [n] */
    uint32_t n;
    struct tokenizer_pair *pair;  /* [n_pairs] joined in this order; NULL: by score */
    uint32_t n_pairs;
    struct tokenizer_words words; /* TOKENIZER_WORDS */
    int composes;                 /* text is composed first (NFC) */
    int whole_first;              /* what is a token by itself is taken as it is */
    int space_first;              /* a space goes before text at the start, and behind special tokens */
    int adds_bos, adds_eos;
    int32_t bos, eos, eot, eom;   /* -1: there is none */
    int32_t end[TOKENIZER_ENDS];  /* [n_ends] other ids that end a text */
    int n_ends;
    const char *chat_template;    /* NULL: there is none */
};

/* ---- the forms */
int tokenizer_read_gguf(struct tokenizer_file *t, struct weights *w, steno_error *e);
/* vocab.txt, a token in each line, with tokenizer_config.json beside it. */
int tokenizer_read_txt(struct tokenizer_file *t, const struct file *f, struct weights *w, steno_error *e);
int tokenizer_read_json(struct tokenizer_file *t, const struct file *f, struct weights *w, steno_error *e);

/* Pairs on their way to the description. */
struct tokenizer_pairs { struct buf bytes, items; };
struct tokenizer_text { char *s; size_t n; };
/* Both as files write them; decoded where they lie. A pair of what no text has is left out. */
int tokenizer_pair_add(struct tokenizer_pairs *p, enum tokenizer_form form, struct tokenizer_text left, struct tokenizer_text right,
                       steno_error *e);
int tokenizer_pairs_done(struct tokenizer_file *t, const struct tokenizer_pairs *p, struct weights *w, steno_error *e);
void tokenizer_pairs_free(struct tokenizer_pairs *p);

/* Pieces as Hugging Face's files write them: w->vocab has a space before those that begin a word then, and others have lost their mark,
 * "##" where nothing is said. */
int tokenizer_words_decode(struct weights *w, const char *mark, steno_error *e);

/* The bytes of a token as files write it, decoded where it lies. @return their number; -1: it is none of the form */
int64_t tokenizer_bytes(enum tokenizer_form form, enum vocab_type type, char *s, size_t n);
#endif
