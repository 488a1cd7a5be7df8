/* steno: fuzzing of the safetensors reader. SPDX-License-Identifier: MIT
 *
 * First byte: what the rest is. Even: a file, opened and read in both ways. Odd: the header alone, given its length and as much data as
 * the next two bytes say, so that a seed is readable text. 2 of 4: an index, which has no files beside it. */
#include <stdlib.h>
#include <string.h>
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

static uint8_t *make_file(const uint8_t *data, size_t n, size_t *size)
{
    const int header = (data[0] & 1) && n >= 3;
    const size_t tail = header ? (size_t)(data[1] | data[2] << 8) : 0, skip = header ? 3 : 1, text = n - skip;
    *size = text + tail + (header ? 8 : 0);
    uint8_t *bytes = calloc(*size ? *size : 1, 1);
    if (!bytes) return NULL;
    for (int i = 0; header && i < 8; i++) bytes[i] = (uint8_t)(text >> 8 * i);
    memcpy(bytes + (header ? 8 : 0), data + skip, text);
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    size_t size = 0;
    uint8_t *bytes = n ? make_file(data, n, &size) : NULL;
    if (!bytes) return 0;
    struct file f;
    struct weights w;
    steno_error e = { 0 };
    file_from_memory(&f, "fuzz.safetensors", bytes, size);
    if (!weights_open(&w, &f, &e)) {
        weights_check_used(&w, &e);
        read_all(&w);
        weights_close(&w);
    } else if (!e.status || !e.text[0]) {
        abort(); /* a refusal without a reason */
    }
    free(bytes);
    return 0;
}
