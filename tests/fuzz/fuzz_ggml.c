/* steno: fuzzing of the .bin reader. SPDX-License-Identifier: MIT
 *
 * Opens the input as a model file and reads every tensor in both ways. The mel filters are 64 KB of numbers that teach a fuzzer nothing:
 * when the first byte is odd, they are put in after the header's 56 bytes, so that a seed is a few hundred bytes; when it is even, the
 * rest is the file as it is. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "load/weights.h"

enum { HEADER = 56, FILTERS = 80 * 201 * 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void read_all(const struct weights *w)
{
    for (uint32_t i = 0; i < w->n_tensors; i++) {
        const struct tensor *t = &w->tensor[i];
        const uint64_t n = t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3];
        steno_error e;
        float *all = malloc(n * sizeof *all);
        uint8_t *rows = malloc(t->size);
        if (all) weights_read_f32(w, t, all, &e);
        if (rows && weights_read_rows(w, t, 0, t->dim[0], rows, &e)) abort();
        free(all);
        free(rows);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (!n) return 0;
    const int with_filters = *data & 1 && n > HEADER;
    const size_t size = n - 1 + (with_filters ? FILTERS : 0);
    uint8_t *bytes = calloc(size ? size : 1, 1); /* its own block, so that reading past the end is seen */
    if (!bytes) return 0;
    if (with_filters) {
        memcpy(bytes, data + 1, HEADER);
        memcpy(bytes + HEADER + FILTERS, data + 1 + HEADER, n - 1 - HEADER);
    } else {
        memcpy(bytes, data + 1, n - 1);
    }

    struct file f;
    struct weights w;
    steno_error e = { 0 };
    file_from_memory(&f, "fuzz.bin", bytes, size);
    if (!weights_open(&w, &f, &e)) {
        struct tensor *t;
        if (w.n_tensors && weights_find(&w, w.tensor[w.n_tensors - 1].name) != &w.tensor[w.n_tensors - 1]) abort();
        weights_get(&w, "encoder.conv1.bias", (const uint64_t[4]) { 8, 0, 0, 0 }, &t, &e);
        weights_check_used(&w, &e);
        read_all(&w);
        weights_close(&w);
    } else if (!e.status || !e.text[0]) {
        abort(); /* a refusal without a reason */
    }
    free(bytes);
    return 0;
}
