/* steno: byte-pair encoding. SPDX-License-Identifier: MIT
 *
 * Text is cut by the vocabulary's pattern. A piece that is a token is used directly; otherwise its parts are merged in pairs, lowest rank
 * first, leftmost on ties (Sennrich et al. 2016). Ranks are indices in the vocabulary's list of merges, or ids if it has none (tiktoken).
 * With by_chars text is not cut and characters are joined, lowest rank first, as in SentencePiece. */
#ifndef STENO_TEXT_BPE_H
#define STENO_TEXT_BPE_H
#include "text/vocab.h"

/* ---- patterns that cut text into pieces -------------------------------------------------------------------------------------- */

/* A pattern belongs to a vocabulary. The vocabulary's file names it (GGUF's tokenizer.ggml.pre, with names of its own), or it is known from
 * the vocabulary's training. */

/* Perl-compatible patterns. "gpt2"; "gpt2-digits-1", the same for the text between digits, with each digit a piece (SmolLM); "digits-1" and
 * "digits-3", newer ones (of Qwen, of Llama 3) that split numbers into pieces of at most 1 or 3 digits. NULL: unknown name. */
const char *pretokenizer_pattern(const char *name);

/* ---- encoding ---------------------------------------------------------------------------------------------------------------- */

struct bpe; /* compiled pattern; immutable, shared by threads */
int bpe_open(struct bpe **out, const struct vocab *v, steno_error *e);
void bpe_close(struct bpe *b); /* b may be NULL */
const struct vocab *bpe_vocab(const struct bpe *b); /* the vocabulary of bpe_open */

/* Append the ids of text[n] (any bytes; ill-formed UTF-8 is encoded byte by byte) to ids as int32_t. STENO_ENOMEM, or STENO_EARG when a
 * byte or character is not in the vocabulary. */
int bpe_encode(const struct bpe *b, const char *text, size_t n, struct buf *ids, steno_error *e);

/* ---- pairs of a vocabulary --------------------------------------------------------------------------------------------------- */

/* Where ids are ranks (tiktoken), the pair that forms a token is the result of joining its bytes with the tokens below it. The list of
 * merges of other programs therefore follows from the vocabulary. */

/* Append int32_t pairs of ids, in ascending order of the joined ids. Tokens that are not a pair of others, such as bytes, are skipped. */
int merges_of_ranks(const struct vocab *v, struct buf *pairs, steno_error *e);

/* ---- the longest match ------------------------------------------------------------------------------------------------------- */

/* whisper.cpp cuts prompts this way: pieces by GPT-2's pattern, in which only ASCII letters and digits count. From each piece the longest
 * matching token is taken repeatedly. Bytes that begin no token are dropped. */
void longest_encode(const struct vocab *v, const char *text, struct buf *ids); /* ids: int32_t, appended */
#endif
