/* steno: fuzzing of the safetensors reader. SPDX-License-Identifier: MIT
 *
 * First byte: what the rest is. Even: a file, opened and read in both ways. Odd: the header alone, given its length and as much data as
 * the next two bytes say, so that a seed is readable text. 2 of 4: an index of shards, which are not there. */
#include <string.h>
#include "fuzz/input/weights.h"
#include "load/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

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

static void index_try(const uint8_t *text, size_t n)
{
    struct file f;
    struct weights w = { .name = "fuzz.json" };
    steno_error e = { 0 };
    arena_init(&w.arena);
    meta_init(&w.meta, &w.arena);
    file_from_memory(&f, w.name, text, n);
    if (format_safetensors_index.read(&w, &f, &e) && (!e.status || !e.text[0])) abort();
    weights_close(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n && (data[0] & 3) == 2) {
        uint8_t *text = n > 1 ? malloc(n - 1) : NULL; /* without room behind it, so that reading past the end is seen */
        if (text) memcpy(text, data + 1, n - 1);
        if (text) index_try(text, n - 1);
        free(text);
        return 0;
    }
    size_t size = 0;
    uint8_t *bytes = n ? make_file(data, n, &size) : NULL;
    if (bytes) weights_try("fuzz.safetensors", bytes, size);
    free(bytes);
    return 0;
}
