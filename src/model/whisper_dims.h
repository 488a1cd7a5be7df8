/* steno: the ten numbers that define a Whisper model. SPDX-License-Identifier: MIT
 *
 * Names follow openai/whisper's ModelDimensions. Each form of a model stores them elsewhere: in the header of a whisper.cpp file, in the
 * dictionary "dims" of an OpenAI file, in config.json of transformers or of MLX, which uses the names themselves, or in the shapes of
 * CTranslate2's variables. The ranges are the same. */
#ifndef STENO_MODEL_WHISPER_DIMS_H
#define STENO_MODEL_WHISPER_DIMS_H
#include "load/weights.h"
#include "model/token_roles.h"
#include "text/bpe.h"

struct whisper_dims {
    int32_t n_mels, n_audio_ctx, n_audio_state, n_audio_head, n_audio_layer;
    int32_t n_vocab, n_text_ctx, n_text_state, n_text_head, n_text_layer;
};

enum { WHISPER_DIMS = 10 };
/* at: offset in struct whisper_dims; transformers: name in its config.json */
struct whisper_dim { const char *name, *transformers; int32_t max; size_t at; };
extern const struct whisper_dim whisper_dim[WHISPER_DIMS]; /* in the order of a whisper.cpp header */

/* Where a file has its ten numbers. WHISPER_PLAIN: under their names, as in the header of a whisper.cpp file, and in MLX. WHISPER_CT2: in
 * the shapes of its tensors, until whisper_respell. */
enum whisper_spelling { WHISPER_NOWHERE, WHISPER_PLAIN, WHISPER_OPENAI, WHISPER_TRANSFORMERS, WHISPER_CT2 };
enum whisper_spelling whisper_spelling_of(const struct weights *w);

/* Reads them. STENO_EFORMAT if the kernels do not support them: ranges, 80 or 128 mels, equal widths, heads that divide these.
 * STENO_EUNSUPPORTED for contexts above the limits of the family, and for transformers' networks that differ from Whisper's. */
int whisper_dims_read(struct whisper_dims *d, const struct weights *w, steno_error *e);

/* ---- named models ----------------------------------------------------------------------------------------------------------------- */

/* The published models, which differ in size. */

/* Dimensions of a named shape. STENO_EARG: the message lists the names. */
int whisper_shape(const char *name, struct whisper_dims *d, steno_error *e);
const char *whisper_shape_name(const struct whisper_dims *d); /* "custom": not a published shape */
/* 1: several published models have these dimensions: large-v1 and large-v2. */
int whisper_shape_is_shared(const struct whisper_dims *d);
/* Name of the published model whose list of alignment heads fits. large-v1 and large-v2 have the same shape, so the path decides between
 * them ("large-v2.pt", "ggml-large_v1.bin"; the last name in it counts). "custom": not known */
const char *whisper_official_name(const struct whisper_dims *d, const char *path);

/* ---- special tokens and the non-speech set ---------------------------------------------------------------------------------------- */

/* Every id follows from the size of the vocabulary. Reference: openai-whisper 20250625, whisper/tokenizer.py. */

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
