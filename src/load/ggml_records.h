/* steno: tensors of whisper.cpp's files. SPDX-License-Identifier: MIT
 *
 * After the header, a file has records up to its end: rank, length of the name, type, extents with the fastest first, name, data. The
 * header is read by the reader of the model. */
#ifndef STENO_LOAD_GGML_RECORDS_H
#define STENO_LOAD_GGML_RECORDS_H
#include "base/rd.h"
#include "load/weights.h"

/* A file during reading. */
struct ggml {
    struct weights *w;
    const char *path;
    steno_error *e;
    struct rd r;
    int32_t n_vocab, n_mels; /* from the header of a speech recognition model */
    int32_t least_dims;      /* minimum rank of a record; 0: a tensor may be one number */
    /* The type that a tensor must have when its record gives `type`. */
    enum dtype (*wanted)(const struct weights *w, const struct tensor *t, enum dtype type);
    const char *wanted_why;  /* ends the error message about any other type */
};

/* Report a failed read inside `where`. @return a status */
int ggml_cut(struct ggml *g, const char *where);
/* Read records from the current position to the end of the file. */
int ggml_read_records(struct ggml *g);
#endif
