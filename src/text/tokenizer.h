/* steno: tokenizers of language models. SPDX-License-Identifier: MIT
 *
 * Special tokens are cut out of a text first, where that is asked for; what is left becomes tokens by byte-pair encoding (bpe.h), over
 * bytes or over characters with spaces among them, or as words and their pieces (wordpiece.h). Text that a user has written is never looked
 * through for control tokens: only the caller who wrote the markers himself asks for that. */
#ifndef STENO_TEXT_TOKENIZER_H
#define STENO_TEXT_TOKENIZER_H
#include "base/arena.h"
#include "base/utf8.h"

enum token_role {
    TOKEN_TEXT,
    TOKEN_BYTE,    /* of a character that is no token */
    TOKEN_USER,    /* cut out of any text */
    TOKEN_CONTROL, /* cut out where that is asked for, and not shown unless that is asked for */
    TOKEN_UNKNOWN, /* likewise */
    TOKEN_UNUSED   /* never made, never shown */
};
struct token_def { const uint8_t *s; uint32_t n; float score; enum token_role role; };
struct token_pair { const uint8_t *s; uint32_t left, right; }; /* bytes of both, one behind the other */

enum { TOKENIZER_MORE_ENDS = 24 };
struct tokenizer_desc {
    const struct token_def *token;  /* [n] */
    int32_t n;
    int by_chars;                   /* characters are joined, else bytes of what the pattern cuts */
    const char *pattern;            /* pretokenizer.h */
    const struct token_pair *pair;  /* [n_pairs] joined in this order; by_chars without any: by score, the highest first */
    int32_t n_pairs;
    int whole_first, space_first, adds_bos, adds_eos;
    int composes;                   /* text is composed first (NFC) */
    int by_words;                   /* words are taken apart, */
    unsigned word_flags;            /* as wordpiece.h has them, */
    uint32_t word_chars;            /* of so many characters at most */
    int32_t bos, eos;               /* -1: there is none */
    int32_t end[TOKENIZER_MORE_ENDS]; /* [n_ends] ids that end a text; -1 is nothing */
    int n_ends;
};

struct tokenizer; /* immutable, shared by threads */
/* What the description points at stays where it is. Memory from the arena, and some that tokenizer_close gives back. */
int tokenizer_open(struct tokenizer **out, struct arena *a, const struct tokenizer_desc *d, steno_error *e);
void tokenizer_close(struct tokenizer *t); /* NULL is allowed */

enum tokenize_flags {
    TOKENIZE_SPECIAL = 1, /* control tokens in the text become their ids */
    TOKENIZE_WHOLE = 2    /* with what the model puts before and behind a whole text */
};
/* Ids of text[n], any bytes, appended to ids as int32_t. STENO_ENOMEM; STENO_EARG: text that has no tokens */
int tokenizer_encode(const struct tokenizer *t, const char *text, size_t n, unsigned flags, struct buf *ids, steno_error *e);

/* Text of which some parts are the program's, whose control tokens become ids, and others a user's, whose do not. Ids are those of the
 * whole text: a run of text between special tokens is encoded as one, however many parts it has. */
struct token_part { size_t end; int special; }; /* the part ends before this byte of the text, and begins where the one before ends */
int tokenizer_encode_parts(const struct tokenizer *t, const char *text, const struct token_part *part, size_t n_parts, unsigned flags,
                           struct buf *ids, steno_error *e);

/* The bytes of a token; 0 of them where it is not shown. show_special: control tokens are, too */
size_t tokenizer_piece(const struct tokenizer *t, int32_t id, int show_special, const uint8_t **s);
int32_t tokenizer_bos(const struct tokenizer *t); /* the token that begins a text, that ends it; -1: there is none */
int32_t tokenizer_eos(const struct tokenizer *t);
int tokenizer_adds(const struct tokenizer *t); /* how many ids TOKENIZE_WHOLE puts around a text */
int tokenizer_ends(const struct tokenizer *t); /* and how many of them behind it */
int tokenizer_is_end(const struct tokenizer *t, int32_t id); /* does a text end with it? */
int32_t tokenizer_end_at(const struct tokenizer *t, int i);  /* such an id, which may come twice; -1 past the last one */
enum token_role tokenizer_role(const struct tokenizer *t, int32_t id);

/* Ids to text, one by one: whole characters alone, so a few bytes may wait for the next id. */
struct token_stream { const struct tokenizer *t; int show_special, began; uint32_t n_held; uint8_t held[4]; };
void token_stream_begin(struct token_stream *s, const struct tokenizer *t, int show_special);
void token_stream_push(struct token_stream *s, int32_t id, struct buf *text);
void token_stream_push_bytes(struct token_stream *s, const uint8_t *p, size_t n, struct buf *text); /* of a token without a tokenizer */
void token_stream_end(struct token_stream *s, struct buf *text); /* what is held is no character: U+FFFD */
/* All of it at once, as bytes. */
void tokenizer_decode(const struct tokenizer *t, const int32_t *ids, int32_t n, int show_special, struct buf *bytes);
#endif
