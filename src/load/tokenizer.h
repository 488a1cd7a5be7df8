/* steno: tokenizers of language models, as stored in their files. SPDX-License-Identifier: MIT
 *
 * GGUF files list tokens, scores, types and pairs among their keys (tokenizer.ggml.*). Hugging Face folders have a tokenizer.json. Both
 * are read into one description: the bytes of each token, independent of the file's alphabet, and the rules that turn text into tokens. */
#ifndef STENO_LOAD_TOKENIZER_H
#define STENO_LOAD_TOKENIZER_H
#include "load/weights.h"

enum { TOKENIZER_ENDS = 16, TOKENIZER_TEMPLATES = 32 };
enum tokenizer_form {
    TOKENIZER_BYTES, /* text is cut by a pattern, bytes are joined */
    TOKENIZER_PIECES, /* characters are joined; a space is part of pieces (SentencePiece) */
    TOKENIZER_WORDS  /* words are split into pieces; a space is part of pieces that begin a word (WordPiece) */
};

/* Preprocessing of text before it is cut into words. */
struct tokenizer_words {
    int32_t cleans, splits_han, lowers;
    int32_t strips;               /* -1: same as lowers */
    int32_t most_chars;           /* longest word, in characters, that is looked up; a longer one is unknown */
};
extern struct tokenizer_words const tokenizer_words_usual;

/* A pattern that cuts text into pieces: its name in GGUF files, and its regular expression in a tokenizer.json. */
#define TOKENIZER_DIGITS "Digits" /* used as regex: GPT-2's pattern for the text between digits; each digit is a piece */
struct tokenizer_cut {
    const char *name, *regex, *pattern;
    int whole_first, adds_bos;
    const char *class_name;          /* tokenizer_class of folders without a tokenizer.json, with or without "Fast"; NULL: none */
    int composes;                    /* of that class */
};
/* The names that a family of models knows. */
struct tokenizer_names {
    const char *bytes, *pieces, *words; /* the GGUF names of the forms; NULL: form not supported */
    const struct tokenizer_cut *cut; /* ends with an entry without a name */
    const char *known;               /* the names of the cuts, for messages */
};

struct tokenizer_pair { const uint8_t *s; uint32_t left, right; }; /* bytes of both parts in sequence */

struct tokenizer_file {
    const struct tokenizer_names *names;
    enum tokenizer_form form;
    const char *pattern;          /* TOKENIZER_BYTES: a name of text/bpe.h */
    struct vocab_entry *entry;    /* [n] */
    uint32_t n;
    struct tokenizer_pair *pair;  /* [n_pairs] in the order of joining; NULL: pairs are joined by score */
    uint32_t n_pairs;
    struct tokenizer_words words; /* TOKENIZER_WORDS */
    int composes;                 /* text is composed first (NFC) */
    int whole_first;              /* text that equals a token becomes that token directly */
    int space_first;              /* a space is inserted at the start of text and after special tokens */
    int adds_bos, adds_eos;
    int32_t bos, eos, eot, eom;   /* -1: none */
    int32_t end[TOKENIZER_ENDS];  /* [n_ends] further ids that end a text */
    int n_ends;
    const char *chat_template;    /* may be NULL */
};

/* ---- the forms */
int tokenizer_read_gguf(struct tokenizer_file *t, struct weights *w, steno_error *e);
/* vocab.txt, one token per line, with tokenizer_config.json in the same folder. */
int tokenizer_read_txt(struct tokenizer_file *t, const struct file *f, struct weights *w, steno_error *e);
int tokenizer_read_json(struct tokenizer_file *t, const struct file *f, struct weights *w, steno_error *e);
/* vocab.json, with merges.txt and tokenizer_config.json in the same folder. */
int tokenizer_read_merges(struct tokenizer_file *t, const struct file *f, struct weights *w, steno_error *e);
int32_t tokenizer_id_of(const struct weights *w, const char *text); /* id of this text in w->vocab; -1: none, or text is NULL */
void tokenizer_ends_find(struct tokenizer_file *t, const struct weights *w);

/* Pairs collected for the description. */
struct tokenizer_pairs { struct buf bytes, items; };
struct tokenizer_text { char *s; size_t n; };
/* Add a pair. Both parts are in the file's spelling and are decoded in place. A pair that cannot occur in text is skipped. */
int tokenizer_pair_add(struct tokenizer_pairs *p, enum tokenizer_form form, struct tokenizer_text left, struct tokenizer_text right,
                       steno_error *e);
int tokenizer_pairs_done(struct tokenizer_file *t, const struct tokenizer_pairs *p, struct weights *w, steno_error *e);
void tokenizer_pairs_free(struct tokenizer_pairs *p);

/* Decode pieces in Hugging Face's spelling: in w->vocab, pieces that begin a word then have a space in front, and others have lost their
 * mark. mark NULL: "##". */
int tokenizer_words_decode(struct weights *w, const char *mark, steno_error *e);

/* Decode a token in the file's spelling in place. @return the number of bytes; -1: not a token of this form */
int64_t tokenizer_bytes(enum tokenizer_form form, enum vocab_type type, char *s, size_t n);

/* ---- reading ---------------------------------------------------------------------------------------------------------------------- */

int tokenizer_is_there(const struct weights *w, steno_error *e); /* does the model have a tokenizer? 0, 1, or a status */
/* Memory comes from the arena of w. STENO_ENOVOCAB if there is none; STENO_EUNSUPPORTED names a kind that is not supported. */
int tokenizer_read(struct tokenizer_file *t, struct weights *w, const struct tokenizer_names *names, steno_error *e);
#endif
