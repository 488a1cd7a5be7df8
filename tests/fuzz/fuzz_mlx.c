/* steno: fuzzing of folders that MLX has quantised. SPDX-License-Identifier: MIT
 *
 * Settings up to a zero byte, then the header of a safetensors file, of as much data as its last two bytes say; all tensors are read, of
 * Whisper models once more with the names and the layout that these have elsewhere. */
#include <stdlib.h>
#include <string.h>
#include "load/array.h"
#include "load/formats.h"
#include "model/align_heads.h"
#include "model/whisper_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int read_both(struct weights *w, const struct file *settings, const struct file *f, steno_error *e)
{
    int rc = meta_read_json(&w->meta, NULL, settings, e);
    if (!rc) rc = format_safetensors.read(w, f, e);
    if (!rc) rc = mlx_join(w, e);
    if (!rc) rc = weights_index(w, e);
    return rc ? rc : weights_settle(w, e);
}

static void read_tensors(const struct weights *w)
{
    for (uint32_t i = 0; i < w->n_tensors; i++) {
        const struct tensor *t = &w->tensor[i];
        const uint64_t count = t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3];
        float *y = count <= 1 << 20 ? malloc((size_t)count * sizeof *y) : NULL;
        uint8_t *rows = y ? malloc((size_t)count * sizeof *y) : NULL;
        steno_error e;
        if (y) tensor_read_f32(t, y, &e);
        if (rows && !tensor_read_rows(t, 0, t->dim[0], rows, &e))
            tensor_check_rows(t, 0, t->dim[0], rows, &e);
        free(y);
        free(rows);
    }
}

static void respell(struct weights *w)
{
    struct whisper_dims d;
    struct align_heads heads;
    steno_error e = { 0 };
    if (whisper_spelling_of(w) == WHISPER_NOWHERE) return;
    int rc = whisper_dims_read(&d, w, &e);
    if (!rc) rc = whisper_respell(w, &d, &e);
    if (!rc) rc = align_heads_find(&heads, &w->arena, &d, "custom", NULL, &w->meta, &e);
    if (rc && (!e.status || !e.text[0])) abort();
    if (!rc) read_tensors(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const uint8_t *end = n ? memchr(data, 0, n) : NULL;
    const size_t at = end ? (size_t)(end - data) : 0, text = end && n - at > 3 ? n - at - 3 : 0;
    const size_t tail = text ? (size_t)(data[n - 2] | data[n - 1] << 8) : 0;
    uint8_t *bytes = text ? calloc(8 + text + tail, 1) : NULL;
    if (!bytes) return 0;
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)((uint64_t)text >> 8 * i);
    memcpy(bytes + 8, end + 1, text);
    for (size_t i = 0; i < tail; i++) bytes[8 + text + i] = (uint8_t)(i * 37 + text);
    struct file settings, f;
    struct weights w = { .name = "fuzz.safetensors" };
    steno_error e = { 0 };
    arena_init(&w.arena);
    meta_init(&w.meta, &w.arena);
    file_from_memory(&settings, "config.json", data, at);
    file_from_memory(&f, w.name, bytes, 8 + text + tail);
    const int rc = read_both(&w, &settings, &f, &e);
    if (rc && (!e.status || !e.text[0])) abort();
    if (!rc) read_tensors(&w);
    if (!rc) respell(&w);
    weights_close(&w);
    free(bytes);
    return 0;
}
