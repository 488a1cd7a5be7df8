/* steno: parts of the files of Parakeet models. SPDX-License-Identifier: MIT */
#ifndef STENO_CONVERT_PARAKEET_H
#define STENO_CONVERT_PARAKEET_H
#include "convert/export.h"
#include "model/parakeet.h"
#include "model/parts.h"

/* A model that is written, with its tensors under NeMo's names. */
struct parakeet_model {
    struct weights *w;
    struct parakeet_shape s;
    enum parakeet_head head;
    struct transducer_stream stream; /* of a model of streams, s.is_causal */
    struct vocab_entry *piece;       /* [s.n_vocab] in SentencePiece's spelling */
};

int parakeet_model_read(struct parakeet_model *m, enum parakeet_head head, int is_stream, struct weights *w, steno_error *e);
/* A matrix that is multiplied, which may have any type; else a filter or an embedding; else another tensor, which is f32. */
enum parakeet_part { PARAKEET_MATRIX, PARAKEET_FILTER, PARAKEET_OTHER };
enum parakeet_part parakeet_part_of(const char *name);
int parakeet_is_written(const char *name); /* 0: a tensor that only training uses, or that follows from the sizes */
/* Gives a tensor the extents that NeMo's modules have, and returns their number. */
int parakeet_extents(const char *name, uint64_t dim[4], int n_dims);
/* The filters and the window of the front end: those of the file, or computed ones in *own. */
struct parakeet_front { const struct tensor *filters, *window; struct tensor own; struct file memory; };
int parakeet_front_find(struct parakeet_front *f, const struct parakeet_model *m, steno_error *e);
#endif
