/* steno: writers of the families. SPDX-License-Identifier: MIT */
#ifndef STENO_CONVERT_FAMILIES_H
#define STENO_CONVERT_FAMILIES_H
#include "convert/export.h"

extern const struct model_form whisper_forms[], parakeet_forms[]; /* the last one has no name */

model_writer sensevoice_to_gguf, paraformer_to_gguf, vad_to_gguf, ct_to_gguf, nano_to_gguf; /* funasr_families.c */
model_writer parakeet_ctc_to_gguf, parakeet_transducer_to_gguf, parakeet_stream_to_gguf;    /* parakeet_gguf.c */
model_writer qwen3_asr_to_gguf;                                                             /* qwen3_asr.c */
model_writer llama_to_gguf, qwen3_to_gguf, gemma_to_gguf, gemma3_to_gguf, bert_to_gguf;     /* lm_families.c */

/* ---- random models of the usual sizes */
int sensevoice_random_file(struct random_file *r, struct file *f, struct arena *a, enum dtype type, uint64_t seed, steno_error *e);
int paraformer_random_file(struct random_file *r, struct file *f, struct arena *a, enum dtype type, uint64_t seed, steno_error *e);
int nano_random_file(struct random_file *r, struct file *f, struct arena *a, enum dtype type, uint64_t seed, steno_error *e);
int silero_random_file(struct random_file *r, struct file *f, struct arena *a, enum dtype type, uint64_t seed, steno_error *e);

struct parakeet_size;
const struct parakeet_size *parakeet_size_find(const char *name); /* "parakeet-tdt-0.6b-v3"; NULL: unknown */
extern const char parakeet_size_names[];                          /* list of all names, for messages */
int parakeet_random_file(struct random_file *r, struct file *f, struct arena *a, const struct parakeet_size *s, enum dtype type,
                         uint64_t seed, steno_error *e);

struct qwen3_asr_size;
const struct qwen3_asr_size *qwen3_asr_size_find(const char *name); /* "qwen3-asr-0.6b"; NULL: unknown */
extern const char qwen3_asr_size_names[];                           /* list of all names, for messages */
int qwen3_asr_random_file(struct random_file *r, struct file *f, struct arena *a, const struct qwen3_asr_size *s, enum dtype type,
                          uint64_t seed, steno_error *e);

struct funasr_random;
struct lm_shape;
const struct lm_shape *lm_shape_find(const char *name); /* "qwen3-0.6b"; NULL: unknown shape */
extern const char lm_shape_names[];                     /* list of all names, for messages */
/* Makes a GGUF file without a tokenizer. Memory comes from the arena, which must outlive *f, as must *r. */
int lm_random_file(struct random_file *r, struct file *f, struct arena *a, const struct lm_shape *s, enum dtype type, uint64_t seed,
                   steno_error *e);
/* Adds the settings and tensors to a file with other content. */
void lm_random_add(struct funasr_random *w, const struct lm_shape *s);
#endif
