/* steno: Whisper's special tokens and non-speech set. SPDX-License-Identifier: MIT
 *
 * Every id follows from the size of the vocabulary (51864 English-only, 51865 with 99 languages, 51866 with 100).
 * Reference: openai-whisper 20250625, whisper/tokenizer.py. */
#ifndef STENO_TEXT_SPECIAL_H
#define STENO_TEXT_SPECIAL_H
#include "text/bpe.h"
#include "text/language.h"

struct special_tokens {
    int32_t n_vocab, n_languages;   /* n_languages 0: English-only */
    int32_t eot, sot, first_lang, translate, transcribe, solm, prev, nospeech, notimestamps, timestamp_begin;
    int32_t blank;                  /* id of " ", or -1 */
};

/* n_vocab of the three families; any other count is treated by the same rules (for small test models); STENO_EFORMAT when there is no
 * room for the special ids. */
int special_tokens_init(struct special_tokens *t, int32_t n_vocab, steno_error *e);
/* Bytes of an id that the file does not store: "<|endoftext|>", "<|en|>", "<|transcribe|>", "<|1.08|>", …; n receives the length.
 * Memory from the arena. */
const char *special_token_text(const struct special_tokens *t, int32_t id, struct arena *a, uint32_t *n);
/* Non-speech ids in rising order, appended as int32_t. */
int non_speech_ids(const struct bpe *b, struct buf *ids, steno_error *e);
#endif
