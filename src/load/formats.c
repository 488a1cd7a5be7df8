/* steno: the formats of weights that are read. SPDX-License-Identifier: MIT */
#include "load/formats.h"

static const struct format *const formats[] = {
    &format_ggml_vad, &format_ggml, &format_gguf, &format_torch, &format_npz, &format_onnx, &format_safetensors_index, &format_safetensors,
};

const struct format *format_find(const struct kind *k, const struct file *f)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i]->match(k, f)) return formats[i];
    return NULL;
}
