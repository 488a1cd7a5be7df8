/* steno: fuzzing of the .bin reader. SPDX-License-Identifier: MIT
 *
 * Opens the input as a model file and reads every tensor in both ways. */
#include "fuzz/model_input.h"
#include "load/weights.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void read_all(const struct weights *w)
{
    for (uint32_t i = 0; i < w->n_tensors; i++) {
        const struct tensor *t = &w->tensor[i];
        const uint64_t n = t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3];
        steno_error e;
        float *all = malloc(n * sizeof *all);
        uint8_t *rows = malloc(t->size);
        if (all) tensor_read_f32(t, all, &e);
        if (rows && tensor_read_rows(t, 0, t->dim[0], rows, &e)) abort();
        free(all);
        free(rows);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    size_t size;
    uint8_t *bytes = model_input(data, n, &size);
    if (!bytes) return 0;
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
