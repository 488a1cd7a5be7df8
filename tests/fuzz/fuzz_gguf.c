/* steno: fuzzing of the GGUF reader. SPDX-License-Identifier: MIT
 *
 * The input is a file: it is opened, every tensor read, every list walked to its end. */
#include <stdlib.h>
#include <string.h>
#include "fuzz/input/weights.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int take(void *user, uint64_t i, const char *s, size_t n)
{
    size_t *sum = user;
    (void)i;
    for (size_t k = 0; k < n; k++) *sum += (uint8_t)s[k];
    return STENO_OK;
}

static void lists_try(const uint8_t *bytes, size_t n)
{
    struct file f;
    struct weights w;
    steno_error e = { 0 };
    file_from_memory(&f, "fuzz.gguf", bytes, n);
    if (weights_open(&w, &f, &e)) return;
    size_t sum = 0;
    for (uint32_t i = 0; i < w.meta.n_lists; i++) {
        const struct meta_list *l = &w.meta.list[i];
        double x;
        if (meta_find_list(&w.meta, l->key) != l) abort();
        if (l->type == META_LIST_TEXT) meta_list_texts(l, 1 << 12, take, &sum, &e);
        else if (l->n && meta_list_numbers(l, l->n - 1, 1, &x, &e)) abort();
    }
    weights_close(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    uint8_t *bytes = n ? malloc(n) : NULL; /* without room behind it, so that reading past the end is seen */
    if (!bytes) return 0;
    memcpy(bytes, data, n);
    weights_try("fuzz.gguf", bytes, n);
    lists_try(bytes, n);
    free(bytes);
    return 0;
}
