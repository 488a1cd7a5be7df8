/* steno: one index over the tensors of a model file. SPDX-License-Identifier: MIT
 *
 * Every reader (ggml.c, later gguf.c, safetensors.c, torch.c) fills the same table: name, stored type, extents, place in the file.
 * Nothing is read until it is asked for. Readers also hand over what the file says about the model: hyper-parameters, vocabulary, mel
 * filters. Whoever binds a tensor names the shape it wants, and gets an error a person can act on when the file differs. */
#ifndef STENO_LOAD_WEIGHTS_H
#define STENO_LOAD_WEIGHTS_H
#include "base/arena.h"
#include "base/file.h"
#include "kern/kern.h"

struct tensor {
    const char *name;
    enum dtype type;
    int n_dims;           /* 1..4 */
    uint64_t dim[4];      /* slowest first, as PyTorch prints a shape; unused ones are 1 */
    uint64_t offset, size; /* bytes in the file */
    uint32_t used;        /* set by weights_find, for reporting names nobody asked for */
};

struct vocab_entry { const uint8_t *s; uint32_t n; };

/* Hyper-parameters as the file gives them; readers check each one's range. Names follow openai/whisper's ModelDimensions. */
struct whisper_dims {
    int32_t n_mels, n_audio_ctx, n_audio_state, n_audio_head, n_audio_layer;
    int32_t n_vocab, n_text_ctx, n_text_state, n_text_head, n_text_layer;
};

struct weights {
    struct arena arena;         /* names, table, vocabulary, filters */
    struct file *file;          /* not owned */
    const char *format;         /* "whisper.cpp .bin" */
    enum dtype matrix_type;     /* type that 2-D matrices must have, by the file's header */
    struct tensor *tensor;      /* [n_tensors] */
    uint32_t n_tensors;
    struct whisper_dims whisper;
    float *mel_filters;         /* [n_mels, 201] or NULL: to be computed */
    struct vocab_entry *vocab;  /* [n_vocab_entries] raw bytes by id; special ids may be missing */
    uint32_t n_vocab_entries;
    uint32_t *hash;             /* open addressing over names; private to weights.c */
    uint32_t hash_mask;
};

/* Read the header and index of a model file, whatever its format. STENO_EFORMAT names the place and the cause.
 * On failure *w is left empty. */
int weights_open(struct weights *w, struct file *f, steno_error *e);
void weights_close(struct weights *w);

struct tensor *weights_find(struct weights *w, const char *name); /* NULL: none */
/* As weights_find, but absence or another shape is an error naming the file, the tensor, what is there and what is wanted. Pass 0 for
 * dimensions past the rank. */
int weights_get(struct weights *w, const char *name, const uint64_t dim[4], struct tensor **out, steno_error *e);
/* A whole tensor widened to f32; STENO_EFORMAT for a value that is not finite. */
int weights_read_f32(const struct weights *w, const struct tensor *t, float *dst, steno_error *e);
/* Rows [row, row + n) as stored, of a tensor seen as [dim[0], everything else]. dst: n * dtype_row_sz. */
int weights_read_rows(const struct weights *w, const struct tensor *t, uint64_t row, uint64_t n, void *dst, steno_error *e);
/* Error naming the first tensor nobody asked for, or STENO_OK. */
int weights_check_used(const struct weights *w, steno_error *e);

/* Readers: return 1 when the first bytes are theirs. */
int ggml_match(const uint8_t *head, size_t n);
int ggml_read(struct weights *w, steno_error *e);
#endif
