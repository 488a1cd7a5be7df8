/* steno: fuzzing of models in two files. SPDX-License-Identifier: MIT
 *
 * The length of the first file in four bytes, that file, then the other, which the first names as its language model:
 * the result is that both are a model, or the reason why not. Files that are neither one nor the other cost little. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "steno/steno.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int put(const char *path, const uint8_t *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    const int bad = !f || (n && fwrite(bytes, 1, n, f) != n);
    return (f && fclose(f)) || bad;
}

static void look(const uint8_t *bytes, size_t n, const char *llm)
{
    steno_model_params p;
    steno_model *m;
    steno_error e = { 0 };
    steno_model_info info = { .size = sizeof info };
    steno_model_params_init(&p);
    p.index_only = 1;
    p.llm = llm;
    if (steno_model_open_memory(&m, bytes, n, &p, &e)) {
        if (!e.status || !e.text[0]) abort();
        return;
    }
    if (steno_model_info_get(m, &info) || info.parameters < 0) abort();
    steno_model_close(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char path[64];
    if (n < 4) return 0;
    const size_t said = (size_t)data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16 | (size_t)data[3] << 24;
    const size_t first = said < n - 4 ? said : n - 4;
    uint8_t *own = malloc(first ? first : 1); /* a block of its own: reading past its end is seen */
    snprintf(path, sizeof path, "/tmp/steno-fuzz-join-%ld.gguf", (long)getpid());
    if (own && !put(path, data + 4 + first, n - 4 - first)) {
        memcpy(own, data + 4, first);
        look(own, first, path);
    }
    unlink(path);
    free(own);
    return 0;
}
