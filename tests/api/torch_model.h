/* steno tests: a Whisper model as a PyTorch file. SPDX-License-Identifier: MIT
 *
 * The tensors of another spelling are put into an archive as OpenAI's files have them, with the dimensions in a dictionary and without
 * filters and vocabulary. Some of OpenAI's own files (tiny.en) have their matrices column by column. */
#ifndef STENO_TESTS_TORCH_MODEL_H
#define STENO_TESTS_TORCH_MODEL_H
#include <stdio.h>
#include "stored_dims.h"
#include "unit/torch_file.h"

static inline int is_by_columns(const struct tensor *t, int by_columns)
{
    return by_columns && t->n_dims == 2 && strstr(t->name, ".weight");
}

/* Tensors as items of a dictionary; bytes of tensor i are entry data/i. */
static inline void put_state(struct buf *b, const struct weights *w, int by_columns)
{
    for (uint32_t i = 0; i < w->n_tensors; i++) {
        const struct tensor *t = &w->tensor[i];
        char key[16];
        snprintf(key, sizeof key, "%u", (unsigned)i);
        struct put_tensor p = { .name = t->name, .key = key, .storage = t->type == DT_F16 ? "HalfStorage" : "FloatStorage", .n_stored = 1,
                                .n_size = (size_t)t->n_dims, .n_stride = (size_t)t->n_dims };
        assert_true(t->type == DT_F16 || t->type == DT_F32);
        for (int k = t->n_dims; k-- > 0;) {
            p.size[k] = (int64_t)t->dim[k];
            p.stride[k] = p.n_stored;
            p.n_stored *= p.size[k];
        }
        if (is_by_columns(t, by_columns)) {
            p.stride[0] = 1;
            p.stride[1] = p.size[0];
        }
        put_tensor(b, &p);
    }
}

/* {"dims": {…}, "model_state_dict": {…}} */
static inline void put_pickle(struct buf *b, const struct weights *w, int by_columns)
{
    put_begin(b);
    buf_str(b, "}(");
    put_text(b, "dims");
    buf_str(b, "}(");
    const struct whisper_dims d = stored_dims(w);
    for (int i = 0; i < WHISPER_DIMS; i++) {
        int32_t v;
        memcpy(&v, (const char *)&d + whisper_dim[i].at, sizeof v);
        put_text(b, whisper_dim[i].name);
        put_int(b, v);
    }
    buf_str(b, "u");
    put_text(b, "model_state_dict");
    buf_str(b, "}(");
    put_state(b, w, by_columns);
    buf_str(b, "uu.");
}

/* A matrix is stored column by column. */
static inline void turn_matrix(uint8_t *bytes, const struct tensor *t)
{
    const size_t rows = t->dim[0], columns = t->dim[1], elem = t->type == DT_F16 ? 2 : 4;
    uint8_t *row_by_row = malloc(t->size);
    assert_non_null(row_by_row);
    memcpy(row_by_row, bytes, t->size);
    for (size_t i = 0; i < rows * columns; i++) memcpy(bytes + (i % columns * rows + i / columns) * elem, row_by_row + i * elem, elem);
    free(row_by_row);
}

/* The archive of a pickle, which is freed, and the weights, which lie in the file f. */
static inline struct buf torch_archive(struct buf *pickle, const struct weights *w, const struct file *f, int by_columns)
{
    enum { MOST = 400 };
    char name[MOST][24];
    struct put_entry entry[MOST] = { { .name = "m/data.pkl", .data = pickle->p, .n = pickle->len } };
    struct buf b = { 0 };
    steno_error e;
    assert_true(w->n_tensors < MOST);
    uint8_t *bytes = malloc(f->size);
    assert_non_null(bytes);
    assert_int_equal(file_read(f, 0, bytes, f->size, &e), 0);
    for (uint32_t i = 0; i < w->n_tensors; i++) {
        snprintf(name[i], sizeof name[i], "m/data/%u", (unsigned)i);
        if (is_by_columns(&w->tensor[i], by_columns)) turn_matrix(bytes + w->tensor[i].offset, &w->tensor[i]);
        entry[i + 1] = (struct put_entry){ .name = name[i], .data = bytes + w->tensor[i].offset, .n = w->tensor[i].size };
    }
    put_zip(&b, entry, w->n_tensors + 1, &(struct put_end){ .zip64 = 1 });
    free(bytes);
    buf_free(pickle);
    return b;
}

/* f: the file of the weights */
static inline struct buf torch_model(const struct weights *w, const struct file *f, int by_columns)
{
    struct buf pickle = { 0 };
    put_pickle(&pickle, w, by_columns);
    return torch_archive(&pickle, w, f, by_columns);
}
#endif
