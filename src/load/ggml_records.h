/* steno: tensors of whisper.cpp's files. SPDX-License-Identifier: MIT
 *
 * Behind the header of its models stand records up to the end of the file: rank, length of the name, type, extents with the fastest first,
 * name, data. What a header says is its reader's affair. */
#ifndef STENO_LOAD_GGML_RECORDS_H
#define STENO_LOAD_GGML_RECORDS_H
#include "base/rd.h"
#include "load/weights.h"

/* A file at work. */
struct ggml {
    struct weights *w;
    const char *path;
    steno_error *e;
    struct rd r;
    int32_t n_vocab, n_mels; /* of a recogniser's header */
    int32_t least_dims;      /* of a record; 0: a tensor may be one number */
    /* The type that a tensor must have, where its record says `type`. */
    enum dtype (*wanted)(const struct weights *w, const struct tensor *t, enum dtype type);
    const char *wanted_why;  /* ends the sentence about another one */
};

/* The reader's failure in words: it was inside `where`. @return a status */
int ggml_cut(struct ggml *g, const char *where);
/* From here to the end of the file. */
int ggml_read_records(struct ggml *g);
#endif
