/* steno: what a file or a folder is, by its content. SPDX-License-Identifier: MIT
 *
 * The only place that recognises files. Readers of models and vocabularies, and the search for models on the machine, call it before they
 * read. A form that is recognised but not read comes with advice on what to get instead. */
#ifndef STENO_LOAD_KIND_H
#define STENO_LOAD_KIND_H
#include "load/model_source.h"

enum kind_form {
    KIND_UNKNOWN,
    KIND_EMPTY,
    KIND_TEXT,        /* perhaps a vocabulary, a configuration or a list */
    KIND_JSON,        /* perhaps a vocabulary or a configuration, or the index of a sharded model */
    KIND_OTHER,       /* recognised, not usable */
    KIND_ONNX,        /* recognised, usable if it is a voice activity model */
    KIND_GGML,        /* a whisper.cpp .bin file */
    KIND_GGML_VAD,    /* a whisper.cpp file of a voice activity model */
    KIND_TORCH,       /* a zip archive as torch.save writes it */
    KIND_SAFETENSORS,
    KIND_NPZ,         /* a zip archive of NumPy arrays, as MLX also writes it */
    KIND_GGUF         /* readable if its architecture is supported */
};

struct kind {
    enum kind_form form;
    int readable;      /* 1: a model or one of its files, in a form that is read; it may still be damaged or of an unknown family */
    char what[160];    /* "a GGUF file of the architecture llama" */
    char advice[320];  /* what to get instead; "" when readable */
    char file[208];    /* of a folder: the file that the other members describe; "" if they describe the folder */
};

/* Fails only if the bytes cannot be read. */
int kind_of_file(struct kind *k, const struct file *f, steno_error *e);
int kind_of_source(struct kind *k, const struct model_source *p, steno_error *e); /* identifies a folder by the names in it */
/* Whether a file of this name in a folder is its weights. kind_of_source prefers such a file. */
int kind_is_weights(const char *name);
/* "NAME: WHAT; ADVICE", or "NAME: FILE is WHAT; ADVICE". @return STENO_EUNSUPPORTED for KIND_OTHER, KIND_ONNX and KIND_GGUF, else
 * STENO_EFORMAT */
int kind_refuse(const struct kind *k, const char *name, steno_error *e);
/* As kind_refuse, for a file that is KIND_OTHER or KIND_ONNX, so that no reader of settings, vocabularies or shards tries to parse it. */
int kind_check(const struct file *f, steno_error *e);
#endif
