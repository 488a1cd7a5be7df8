/* steno: what a file or a folder is, by its content. SPDX-License-Identifier: MIT
 *
 * The one place that recognises. Readers of models and vocabularies, and whoever looks for a model on the machine, ask here before they
 * read; what is named but not read comes with what to get instead. */
#ifndef STENO_LOAD_KIND_H
#define STENO_LOAD_KIND_H
#include "load/model_source.h"

enum kind_form {
    KIND_UNKNOWN,
    KIND_EMPTY,
    KIND_TEXT,        /* which may be a vocabulary, a configuration, a list */
    KIND_JSON,        /* likewise, or the index of a sharded model */
    KIND_OTHER,       /* recognised, and of no use here */
    KIND_ONNX,        /* recognised, and of use where it is voice activity */
    KIND_GGML,        /* a whisper.cpp .bin file */
    KIND_GGML_VAD,    /* one of its for voice activity */
    KIND_TORCH,       /* a zip archive as torch.save writes it */
    KIND_SAFETENSORS,
    KIND_NPZ,         /* a zip archive of NumPy arrays, as MLX writes it, too */
    KIND_GGUF         /* readable where its architecture may hear */
};

struct kind {
    enum kind_form form;
    int readable;      /* 1: a model, or one of its files, in a form that is read; it may still be damaged, or of an unknown family */
    char what[160];    /* "a GGUF file of the architecture llama" */
    char advice[320];  /* what to get instead; "" where it is readable */
    char file[208];    /* of a folder: the file that the others speak of; "" where they speak of the folder */
};

/* A status only where the bytes cannot be read. */
int kind_of_file(struct kind *k, const struct file *f, steno_error *e);
int kind_of_source(struct kind *k, const struct model_source *p, steno_error *e); /* a folder by the names in it */
/* Whether a folder's file of this name is its weights; kind_of_source names such a one first. */
int kind_is_weights(const char *name);
/* "NAME: WHAT; ADVICE", or "NAME: FILE is WHAT; ADVICE". @return STENO_EUNSUPPORTED for KIND_OTHER, KIND_ONNX and KIND_GGUF, else
 * STENO_EFORMAT */
int kind_refuse(const struct kind *k, const char *name, steno_error *e);
/* kind_refuse's for a file that is KIND_OTHER or KIND_ONNX, so that no reader of settings, vocabularies or shards puzzles over it. */
int kind_check(const struct file *f, steno_error *e);
#endif
