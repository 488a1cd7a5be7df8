/* steno: Whisper's special tokens and non-speech set. SPDX-License-Identifier: MIT
 *
 * Every id follows from the size of the vocabulary. Reference: openai-whisper 20250625, whisper/tokenizer.py. */
#ifndef STENO_MODEL_WHISPER_TOKENS_H
#define STENO_MODEL_WHISPER_TOKENS_H
#include "model/token_roles.h"
#include "text/bpe.h"

enum {
    WHISPER_VOCAB_ENGLISH = 51864, /* English-only models; they reserve the ids of 99 languages */
    WHISPER_VOCAB_99 = 51865,      /* 99 languages */
    WHISPER_VOCAB_100 = 51866,
    WHISPER_SPECIAL = 1608         /* special ids of both; WHISPER_VOCAB_100 has one more */
};

/* Any other n_vocab follows the same rules (for small test models). STENO_EFORMAT if there is no room for the special ids. */
int whisper_tokens_init(struct token_roles *t, int32_t n_vocab, steno_error *e);
/* Text of an id that the file does not store: "<|endoftext|>", "<|en|>", "<|transcribe|>", "<|1.08|>", …; n receives its length. Memory
 * from the arena. */
const char *whisper_token_text(const struct token_roles *t, int32_t id, struct arena *a, uint32_t *n);
/* Appends the non-speech ids in ascending order, as int32_t. */
int whisper_non_speech(const struct bpe *b, struct buf *ids, steno_error *e);
#endif
