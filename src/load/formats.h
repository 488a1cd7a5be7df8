/* steno: the formats of weights that are read. SPDX-License-Identifier: MIT
 *
 * A format is one file with a reader, and one row in open.c. kind.c has identified the file before. */
#ifndef STENO_LOAD_FORMATS_H
#define STENO_LOAD_FORMATS_H
#include <string.h>
#include "load/file_probe.h"
#include "load/weights.h"

struct format {
    const char *name; /* for messages */
    int (*match)(const struct file_probe *k, const struct file *f);
    int (*read)(struct weights *w, const struct file *f, steno_error *e); /* reads the file's whole index, settings and vocabulary */
};

static inline int file_name_ends(const struct file *f, const char *end)
{
    const size_t n = strlen(f->name), m = strlen(end);
    return n >= m && !strcmp(f->name + n - m, end);
}

/* The first format that accepts the file; NULL: none. */
const struct format *format_find(const struct file_probe *k, const struct file *f);

extern const struct format format_ggml, format_ggml_tdt, format_ggml_vad, format_onnx, format_ct2, format_nemo;
extern const struct format format_gguf, format_torch, format_npz, format_safetensors, format_safetensors_index;
#endif
