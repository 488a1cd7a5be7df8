/* steno: a fuzzer's bytes as a model's weights. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_FUZZ_WEIGHTS_INPUT_H
#define STENO_TESTS_FUZZ_WEIGHTS_INPUT_H
#include <stdlib.h>
#include "load/weights.h"

/* Open the bytes, look names up and read every tensor in both ways: every byte that a tensor lays claim to is in the file, and a refusal
 * has a reason. */
static inline void weights_try(const char *name, const uint8_t *bytes, size_t n)
{
    struct file f;
    struct weights w;
    steno_error e = { 0 };
    file_from_memory(&f, name, bytes, n);
    if (weights_open(&w, &f, &e)) {
        if (!e.status || !e.text[0]) abort();
        return;
    }
    if (w.n_tensors && weights_find(&w, w.tensor[w.n_tensors - 1].name) != &w.tensor[w.n_tensors - 1]) abort();
    struct tensor *found;
    weights_get(&w, "encoder.conv1.bias", (const uint64_t[4]) { 8, 0, 0, 0 }, &found, &e);
    weights_check_used(&w, NULL, &e);
    for (uint32_t i = 0; i < w.n_tensors; i++) {
        const struct tensor *t = &w.tensor[i];
        const uint64_t values = t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3];
        const size_t rows_sz = dtype_row_sz(t->type, (size_t)values);
        if (!t->size || (t->form == FORM_STORED && t->size != rows_sz)) abort();
        float *all = malloc(values * sizeof *all);
        uint8_t *rows = malloc(rows_sz);
        if (all) tensor_read_f32(t, all, &e);
        if (rows && tensor_read_rows(t, 0, t->dim[0], rows, &e)) abort();
        free(all);
        free(rows);
    }
    weights_close(&w);
}
#endif
