/* steno: converts Whisper models to other file forms. SPDX-License-Identifier: MIT
 *
 * Common to all forms: the list of tensors, the type of each, the vocabulary. A form is a way to write them. */
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
    int keeps;               /* no type was requested: numbers stay as stored */
    enum dtype type;         /* type of all matrices, in a form with a single type */
    steno_error *e;
};

enum whisper_part { WHISPER_MATRIX, WHISPER_FILTER, WHISPER_OTHER };
enum whisper_part whisper_part_of(const struct tensor *t);

/* Called first by all forms. is_bin: whisper.cpp's file, whose matrices have one type. */
int whisper_file_begin(struct whisper_file *f, struct weights *w, const struct convert_order *o, const struct model_sink *to, int is_bin,
                       steno_error *e);
/* Finds the vocabulary, wherever it is. */
int whisper_file_vocab(struct whisper_file *f);
/* Writes tensor i of the list, converted as `change` describes, and reports it. */
int whisper_file_tensor(struct whisper_file *f, uint32_t i, const struct tensor_change *change);

/* Conversion of tensor t in a form where each tensor has its own type: pt, hf. */
struct tensor_change whisper_change_free(const struct whisper_file *f, const struct tensor *t);
int whisper_rank(const struct tensor *t); /* in other forms; in whisper.cpp's, biases of convolutions have one more dimension */
uint64_t whisper_tensor_sz(const struct tensor *t, enum dtype type);
#endif
