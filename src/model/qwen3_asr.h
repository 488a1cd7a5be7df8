/* steno: Qwen3-ASR and its forced aligner: the parts of their description. SPDX-License-Identifier: MIT */
#ifndef STENO_MODEL_QWEN3_ASR_H
#define STENO_MODEL_QWEN3_ASR_H
#include "model/family.h"

enum { QWEN3_ASR_STACK = 8 /* frames of a row */ };

struct qwen3_asr_shape {
    int32_t d, layers, heads, d_ff, n_mels, channels, d_out;
    int32_t half_chunk, window;  /* frames: half of a chunk of the stem, and a window of attention */
    int32_t audio_token;
    int32_t clip_s, segment_s, run_s; /* seconds: of a clip, of a segment of speech, of a run that clips share */
    int32_t ctx_most;                 /* positions of prompt and text */
    int32_t classes, class_ms, mark_token; /* of the forced aligner; else 0 */
};

extern const char qwen3_asr_architecture[]; /* of its GGUF files, and before the audio part's settings in them */
int qwen3_asr_read_shape(struct qwen3_asr_shape *s, struct weights *w, steno_error *e);
/* Passes each setting of the audio part by its name. */
void qwen3_asr_each_setting(const struct qwen3_asr_shape *s, void (*put)(void *user, const char *name, int32_t v), void *user);
/* Gives settings and tensors the names of the original files, without "thinker.", and layers those that the plan uses. */
int qwen3_asr_respell(struct weights *w, steno_error *e);
/* The networks of both: s has all sizes, and names have been respelled. */
int qwen3_asr_describe(steno_model *m, const struct qwen3_asr_shape *s, struct weights *w, steno_error *e);
int qwen3_asr_is_aligner(const struct weights *w);
/* The id of a text that is one token; *id -1: it is not. */
int qwen3_asr_find_id(int32_t *id, const steno_model *m, const char *text, steno_error *e);
/* STENO_EFORMAT: the tokenizer lacks a token of the prompt, or has another id for it than the settings. */
int qwen3_asr_check_tokens(const steno_model *m, const struct qwen3_asr_shape *s, const char *name, steno_error *e);

extern const struct audio_lm qwen3_asr_lm;

/* ---- its texts */

/* The English name of a language in the prompt, given by code or name in any spelling; NULL: the model does not know it. */
const char *qwen3_asr_language(const char *language);
int qwen3_asr_language_index(const steno_model *m, const char *language); /* -1: the model does not know it */
int qwen3_asr_refuse_language(const char *language, steno_error *e); /* STENO_EARG, with the languages that it knows */
/* A character more than 20 times in a row becomes one, and so does a group of up to 20 characters at least 20 times in a row. */
void qwen3_asr_unloop(const char *s, size_t n, struct buf *out);
/* Splits "language English<asr_text>Hello." into text and language. forced: the language of the prompt, may be NULL. */
void qwen3_asr_text(const char *s, size_t n, const char *forced, struct buf *text, struct buf *language);
#endif
