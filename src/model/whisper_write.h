/* steno: Whisper models in other forms. SPDX-License-Identifier: MIT
 *
 * What the forms have in common: the list of tensors, the type that each gets, the vocabulary. A form is a way to write them down. */
#ifndef STENO_MODEL_WHISPER_WRITE_H
#define STENO_MODEL_WHISPER_WRITE_H
#include "load/tensor_write.h"
#include "model/family.h"
#include "model/whisper_dims.h"
#include "model/whisper_names.h"

struct whisper_file {
    struct weights *w;
    const struct convert_order *o;
    struct byte_writer b;
    struct whisper_dims d;
    struct token_roles roles;
    struct whisper_tensors list;
    int keeps;               /* no type is wished for: numbers stay as they are stored */
    enum dtype type;         /* of the matrices of a form that has one type for them all */
    steno_error *e;
};

enum whisper_part { WHISPER_MATRIX, WHISPER_FILTER, WHISPER_OTHER };
enum whisper_part whisper_part_of(const struct tensor *t);

/* What all forms begin with. is_bin: whisper.cpp's file, whose matrices have one type. */
int whisper_file_begin(struct whisper_file *f, struct weights *w, const struct convert_order *o, const struct model_sink *to, int is_bin,
                       steno_error *e);
/* The vocabulary, wherever it is. */
int whisper_file_vocab(struct whisper_file *f);
/* Tensor i of the list as `change` says, after it was told. */
int whisper_file_tensor(struct whisper_file *f, uint32_t i, const struct tensor_change *change);

/* What becomes of tensor t, of a form where tensors have types of their own: pt, hf. */
struct tensor_change whisper_change_free(const struct whisper_file *f, const struct tensor *t);
int whisper_rank(const struct tensor *t); /* in the forms of others: whisper.cpp's biases of convolutions have one dimension more */
uint64_t whisper_tensor_sz(const struct tensor *t, enum dtype type);
#endif
