/* steno tests: a Whisper model with fewer decoder layers. SPDX-License-Identifier: MIT
 *
 * Layers are removed from a whisper.cpp file. The resulting model recognises the same audio with lower accuracy, and its vocabulary is
 * unchanged. */
#ifndef STENO_TESTS_CUT_MODEL_H
#define STENO_TESTS_CUT_MODEL_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api/model_bytes.h"
#include "harness.h"

struct cut_file { uint8_t *p; size_t n; };

static inline int32_t cut_int(const uint8_t *p)
{
    int32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* End of the record of the tensor at `at`. */
static inline size_t cut_record(const uint8_t *p, size_t at, char name[128])
{
    const int32_t n_dims = cut_int(p + at), n_name = cut_int(p + at + 4), type = cut_int(p + at + 8);
    size_t n = 1;
    assert_true(n_dims >= 1 && n_dims <= 3 && n_name > 0 && n_name < 128 && (type == 0 || type == 1));
    for (int32_t i = 0; i < n_dims; i++) n *= (size_t)cut_int(p + at + 12 + 4 * (size_t)i);
    at += 12 + 4 * (size_t)n_dims;
    memcpy(name, p + at, (size_t)n_name);
    name[n_name] = '\0';
    return at + (size_t)n_name + n * (type ? 2 : 4);
}

/* The first `layers` decoder layers of an f16 or f32 file; malloc'd. */
static inline struct cut_file cut_model(const char *path, int layers)
{
    enum { TEXT_LAYERS = 9, N_HEAD = 12 };
    const struct model_bytes whole = model_bytes_read(path, 0);
    struct cut_file c = { whole.p, 0 };
    const int32_t cut = layers;
    memcpy(c.p + 4 * TEXT_LAYERS, &cut, sizeof cut);
    size_t at = 4 * N_HEAD;
    at += 8 + 4 * (size_t)cut_int(c.p + at) * (size_t)cut_int(c.p + at + 4); /* mel filters */
    const int32_t n_vocab = cut_int(c.p + at);
    at += 4;
    for (int32_t i = 0; i < n_vocab; i++) at += 4 + (size_t)cut_int(c.p + at);
    c.n = at;
    while (at < whole.n) {
        char name[128];
        int layer = -1;
        const size_t end = cut_record(c.p, at, name);
        if (sscanf(name, "decoder.blocks.%d.", &layer) != 1 || layer < layers) {
            memmove(c.p + c.n, c.p + at, end - at);
            c.n += end - at;
        }
        at = end;
    }
    return c;
}
#endif
