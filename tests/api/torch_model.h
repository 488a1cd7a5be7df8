/* steno tests: a Whisper model as a PyTorch file. SPDX-License-Identifier: MIT
 *
 * The tensors of another spelling are put into an archive as OpenAI's files have them, with the dimensions in a dictionary and without
 * filters and vocabulary. */
#ifndef STENO_TESTS_TORCH_MODEL_H
#define STENO_TESTS_TORCH_MODEL_H
#include <stdio.h>
#include "stored_dims.h"
#include "unit/torch_file.h"

/* Tensors as items of a dictionary; bytes of tensor i are entry data/i. */
static inline void put_state(struct buf *b, const struct weights *w)
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
        put_tensor(b, &p);
    }
}

/* {"dims": {…}, "model_state_dict": {…}} */
static inline void put_pickle(struct buf *b, const struct weights *w)
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
    put_state(b, w);
    buf_str(b, "uu.");
}

/* The archive of a pickle, which is freed, and the weights, which lie in the file f. */
static inline struct buf torch_archive(struct buf *pickle, const struct weights *w, const struct file *f)
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
        entry[i + 1] = (struct put_entry){ .name = name[i], .data = bytes + w->tensor[i].offset, .n = w->tensor[i].size };
    }
    put_zip(&b, entry, w->n_tensors + 1, &(struct put_end){ .zip64 = 1 });
    free(bytes);
    buf_free(pickle);
    return b;
}

/* f: the file of the weights */
static inline struct buf torch_model(const struct weights *w, const struct file *f)
{
    struct buf pickle = { 0 };
    put_pickle(&pickle, w);
    return torch_archive(&pickle, w, f);
}
#endif
