/* steno: tokenizers of language models. SPDX-License-Identifier: MIT
 *
 * Special tokens are cut out of a text first, if the caller asks for it. The rest becomes tokens by byte-pair encoding (bpe.h), over bytes
 * or over characters including spaces, or is split into words and their pieces (wordpiece.h). Text that a user has written is never
 * searched for control tokens: only a caller that wrote the markers itself asks for that. */
#ifndef STENO_TEXT_TOKENIZER_H
#define STENO_TEXT_TOKENIZER_H
#include "base/arena.h"
#include "base/utf8.h"

enum token_role {
    TOKEN_TEXT,
    TOKEN_BYTE,    /* of a character that is no token */
    TOKEN_USER,    /* cut out of any text */
    TOKEN_CONTROL, /* cut out and shown only on request */
    TOKEN_UNKNOWN, /* cut out and shown only on request */
    TOKEN_UNUSED   /* never produced, never shown */
};
struct token_def { const uint8_t *s; uint32_t n; float score; enum token_role role; };
struct token_pair { const uint8_t *s; uint32_t left, right; }; /* bytes of both parts in sequence */

enum { TOKENIZER_MORE_ENDS = 24 };
struct tokenizer_desc {
    const struct token_def *token;  /* [n] */
    int32_t n;
    int by_chars;                   /* 1: characters are joined; 0: bytes of the pattern's pieces */
    const char *pattern;            /* bpe.h */
    const struct token_pair *pair;  /* [n_pairs] in the order of joining; by_chars without pairs: by descending score */
    int32_t n_pairs;
    int whole_first, space_first, adds_bos, adds_eos;
    int composes;                   /* text is composed first (NFC) */
    int by_words;                   /* text is split into words */
    unsigned word_flags;            /* flags of wordpiece.h */
    uint32_t word_chars;            /* longest word, in characters */
    int32_t bos, eos;               /* -1: none */
    int32_t end[TOKENIZER_MORE_ENDS]; /* [n_ends] ids that end a text; -1 entries are ignored */
    int n_ends;
};

struct tokenizer; /* immutable, shared by threads */
/* The data behind the description's pointers must stay in place. Memory comes from the arena, and partly from the system until
 * tokenizer_close. */
int tokenizer_open(struct tokenizer **out, struct arena *a, const struct tokenizer_desc *d, steno_error *e);
void tokenizer_close(struct tokenizer *t); /* t may be NULL */

enum tokenize_flags {
    TOKENIZE_SPECIAL = 1, /* control tokens in the text become their ids */
    TOKENIZE_WHOLE = 2    /* add the tokens that the model puts before and after a whole text */
};
/* Append the ids of text[n], any bytes, to ids as int32_t. STENO_ENOMEM; STENO_EARG: text that cannot be encoded */
int tokenizer_encode(const struct tokenizer *t, const char *text, size_t n, unsigned flags, struct buf *ids, steno_error *e);

/* Encode a text of several parts. In the program's parts, control tokens become ids; in a user's parts they do not. The ids are those of
 * the whole text: text between special tokens is encoded as a unit, even across parts. */
struct token_part { size_t end; int special; }; /* the part ends before this byte of the text, and begins at the end of the previous one */
int tokenizer_encode_parts(const struct tokenizer *t, const char *text, const struct token_part *part, size_t n_parts, unsigned flags,
                           struct buf *ids, steno_error *e);

/* The bytes of a token; 0 bytes if it is not shown. show_special: control tokens are shown, too */
size_t tokenizer_piece(const struct tokenizer *t, int32_t id, int show_special, const uint8_t **s);
int32_t tokenizer_bos(const struct tokenizer *t); /* the token that begins a text; -1: none */
int32_t tokenizer_eos(const struct tokenizer *t);
int tokenizer_adds(const struct tokenizer *t); /* number of ids that TOKENIZE_WHOLE adds to a text */
int tokenizer_ends(const struct tokenizer *t); /* the number of those after the text */
int tokenizer_is_end(const struct tokenizer *t, int32_t id); /* 1: the id ends a text */
int32_t tokenizer_end_at(const struct tokenizer *t, int i);  /* the i-th such id, duplicates possible; -1 past the last */
enum token_role tokenizer_role(const struct tokenizer *t, int32_t id);

/* Ids to text, one by one. Only whole characters are written, so a few bytes may wait for the next id. is_string: the text is given out as
 * a C string, so U+0000 becomes U+FFFD. */
struct token_stream { const struct tokenizer *t; int show_special, began, is_string; uint32_t n_held; uint8_t held[4]; };
void token_stream_begin(struct token_stream *s, const struct tokenizer *t, int show_special);
void token_stream_push(struct token_stream *s, int32_t id, struct buf *text);
/* bytes of a token that is not from the tokenizer */
void token_stream_push_bytes(struct token_stream *s, const uint8_t *p, size_t n, struct buf *text);
void token_stream_end(struct token_stream *s, struct buf *text); /* held bytes, an incomplete character, become U+FFFD */
/* Convert all ids at once, as bytes. */
void tokenizer_decode(const struct tokenizer *t, const int32_t *ids, int32_t n, int show_special, struct buf *bytes);
#endif
