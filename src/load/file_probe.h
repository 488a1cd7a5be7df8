/* steno: what a file or a folder is, by its content. SPDX-License-Identifier: MIT
 *
 * The only place that recognises files. Readers of models and vocabularies, and the search for models on the machine, call it before they
 * read. A form that is recognised but not read comes with advice on what to get instead. */
#ifndef STENO_LOAD_FILE_PROBE_H
#define STENO_LOAD_FILE_PROBE_H
#include "load/model_source.h"

enum probe_form {
    PROBE_UNKNOWN,
    PROBE_EMPTY,
    PROBE_TEXT,        /* perhaps a vocabulary, a configuration or a list */
    PROBE_JSON,        /* perhaps a vocabulary or a configuration, or the index of a sharded model */
    PROBE_OTHER,       /* recognised, not usable */
    PROBE_ONNX,        /* recognised, usable if it is a voice activity model */
    PROBE_GGML,        /* a whisper.cpp .bin file */
    PROBE_GGML_TDT,    /* a whisper.cpp file of a transducer */
    PROBE_GGML_VAD,    /* a whisper.cpp file of a voice activity model */
    PROBE_TORCH,       /* a zip archive as torch.save writes it */
    PROBE_SAFETENSORS,
    PROBE_NPZ,         /* a zip archive of NumPy arrays, as MLX also writes it */
    PROBE_CT2,         /* CTranslate2's model.bin, unless its specification is known not to be of use */
    PROBE_NEMO,        /* a tar archive with NeMo's model_config.yaml */
    PROBE_GGUF         /* readable if its architecture is supported */
};

struct file_probe {
    enum probe_form form;
    int readable;      /* 1: a model or one of its files, in a form that is read; it may still be damaged or of an unknown family */
    char what[160];    /* "a GGUF file of the architecture llama" */
    char advice[320];  /* what to get instead; "" when readable */
    char file[208];    /* of a folder: the file that the other members describe; "" if they describe the folder */
};

/* Advice on a model in a form that is not read; it lists the forms that are. */
extern const char probe_take[];
/* Fails only if the bytes cannot be read. */
int probe_file(struct file_probe *k, const struct file *f, steno_error *e);
int probe_source(struct file_probe *k, const struct model_source *p, steno_error *e); /* identifies a folder by the names in it */
/* Whether a file of this name in a folder is its weights. probe_source prefers such a file. */
int probe_is_weights(const char *name);
/* "NAME: WHAT; ADVICE", or "NAME: FILE is WHAT; ADVICE". @return STENO_EUNSUPPORTED for PROBE_OTHER, PROBE_ONNX and PROBE_GGUF, else
 * STENO_EFORMAT */
int probe_refuse(const struct file_probe *k, const char *name, steno_error *e);
/* As probe_refuse, for a file that is PROBE_OTHER or PROBE_ONNX: no reader of settings, vocabularies or shards may parse it. */
int probe_check(const struct file *f, steno_error *e);
#endif
