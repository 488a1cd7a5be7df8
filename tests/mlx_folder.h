/* steno tests: a Whisper model in MLX's form. SPDX-License-Identifier: MIT
 *
 * Writes the content of a whisper.cpp file as a folder of config.json and arrays, in safetensors or npz. Names, layout and the rounding
 * of groups are implemented a second time here, for the writer's side. */
#ifndef STENO_TESTS_MLX_FOLDER_H
#define STENO_TESTS_MLX_FOLDER_H
#include <math.h>
#include "spell.h"
#include "unit/zip_deflate.h"

struct mlx_how {
    int type;            /* DT_F32, DT_F16 or DT_BF16 */
    int bits, group;     /* 0: matrices are not quantised */
    int dequantised;     /* 1: matrices are rounded to groups, and stored as the rounded numbers */
    int npz;             /* 1: stored, 2: deflated */
    const char *leave;   /* name of an array that is left out */
};

struct mlx_arrays { struct buf head, data, npz; struct put_entry entry[256]; size_t n; int is_npz; };

/* ---- arrays -------------------------------------------------------------------------------------------------------------------- */

static inline void mlx_put(struct mlx_arrays *m, const char *name, const char *type, const uint64_t *dim, int n_dims, const struct buf *b)
{
    static const char *const npy[][2] = { { "F32", "<f4" }, { "F16", "<f2" }, { "BF16", "<V2" }, { "U32", "<u4" }, { "I64", "<i8" } };
    const size_t begin = m->data.len;
    if (!m->is_npz) {
        buf_fmt(&m->head, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", m->head.len ? "," : "{", name, type);
        for (int i = 0; i < n_dims; i++) buf_fmt(&m->head, i ? ",%llu" : "%llu", (unsigned long long)dim[i]);
        buf_add(&m->data, b->p, b->len);
        buf_fmt(&m->head, "],\"data_offsets\":[%zu,%zu]}", begin, m->data.len);
        return;
    }
    size_t k = 0;
    while (strcmp(npy[k][0], type) != 0) k++;
    struct buf text = { 0 }, all = { 0 };
    buf_fmt(&text, "{'descr': '%s', 'fortran_order': False, 'shape': (", npy[k][1]);
    for (int i = 0; i < n_dims; i++) buf_fmt(&text, i ? " %llu," : "%llu,", (unsigned long long)dim[i]);
    buf_str(&text, "), }");
    while ((text.len + 11) % 64) buf_str(&text, " ");
    buf_str(&text, "\n");
    buf_add(&all, "\x93NUMPY\1", 8);
    put_le(&all, text.len, 2);
    buf_add(&all, text.p, text.len);
    buf_add(&all, b->p, b->len);
    char *file = malloc(strlen(name) + 5);
    assert_true(file && m->n < sizeof m->entry / sizeof *m->entry && !all.err);
    sprintf(file, "%s.npy", name);
    m->entry[m->n++] = (struct put_entry){ .name = file, .data = all.p, .n = all.len };
    buf_free(&text);
}

static inline void mlx_numbers(struct buf *to, const float *x, uint64_t n, int type)
{
    for (uint64_t i = 0; i < n; i++) {
        const uint16_t h = type == DT_BF16 ? bf16_from_f32(x[i]) : f16_from_f32(x[i]);
        buf_add(to, type == DT_F32 ? (const void *)&x[i] : (const void *)&h, type == DT_F32 ? 4 : 2);
    }
}

/* The value of a number after it is stored in a type. */
static inline float mlx_stored(float x, int type)
{
    return type == DT_F32 ? x : type == DT_BF16 ? bf16_to_f32(bf16_from_f32(x)) : f16_to_f32(f16_from_f32(x));
}

static inline const char *mlx_type(int type)
{
    return type == DT_F32 ? "F32" : type == DT_BF16 ? "BF16" : "F16";
}

/* Quantize the numbers of a group between its minimum and maximum. x: receives the values they then represent */
static inline void mlx_round(float *x, const struct mlx_how *h, float *scale, float *offset, uint32_t *q)
{
    float lo = x[0], hi = x[0];
    for (int i = 1; i < h->group; i++) lo = x[i] < lo ? x[i] : lo, hi = x[i] > hi ? x[i] : hi;
    const float most = (float)((1 << h->bits) - 1);
    *offset = mlx_stored(lo, h->type);
    *scale = mlx_stored((hi - lo) / most, h->type);
    for (int i = 0; i < h->group; i++) {
        const float place = *scale > 0 ? roundf((x[i] - *offset) / *scale) : 0;
        q[i] = (uint32_t)(place < 0 ? 0 : place > most ? most : place);
        x[i] = *scale * (float)q[i] + *offset;
    }
}

static inline void mlx_matrix(struct mlx_arrays *m, const char *name, float *x, const uint64_t dim[2], const struct mlx_how *h)
{
    struct buf words = { 0 }, scales = { 0 }, offsets = { 0 };
    char other[160];
    const size_t n_module = strlen(name) - strlen("weight");
    uint64_t held = 0;
    int n_held = 0;
    for (uint64_t i = 0; i < dim[0] * dim[1]; i += (uint64_t)h->group) {
        float scale, offset;
        uint32_t q[128];
        mlx_round(x + i, h, &scale, &offset, q);
        mlx_numbers(&scales, &scale, 1, h->type);
        mlx_numbers(&offsets, &offset, 1, h->type);
        for (int k = 0; k < h->group; k++) {
            held |= (uint64_t)q[k] << n_held;
            for (n_held += h->bits; n_held >= 8; n_held -= 8, held >>= 8) buf_add(&words, &(uint8_t){ (uint8_t)held }, 1);
        }
    }
    if (h->dequantised) {
        struct buf plain = { 0 };
        mlx_numbers(&plain, x, dim[0] * dim[1], DT_F32);
        mlx_put(m, name, "F32", dim, 2, &plain);
        buf_free(&plain);
    } else {
        const uint64_t of_words[2] = { dim[0], dim[1] * (uint64_t)h->bits / 32 }, of_groups[2] = { dim[0], dim[1] / (uint64_t)h->group };
        mlx_put(m, name, "U32", of_words, 2, &words);
        for (int i = 0; i < 2; i++) {
            snprintf(other, sizeof other, "%.*s%s", (int)n_module, name, i ? "biases" : "scales");
            if (!h->leave || strcmp(h->leave, other) != 0) mlx_put(m, other, mlx_type(h->type), of_groups, 2, i ? &offsets : &scales);
        }
    }
    buf_free(&words);
    buf_free(&scales);
    buf_free(&offsets);
}

/* Copy [n, channels, taps] as [n, taps, channels]. */
static inline void mlx_turn(float *to, const float *from, const uint64_t dim[3])
{
    for (uint64_t r = 0; r < dim[0]; r++)
        for (uint64_t c = 0; c < dim[1]; c++)
            for (uint64_t t = 0; t < dim[2]; t++) to[(r * dim[2] + t) * dim[1] + c] = from[(r * dim[1] + c) * dim[2] + t];
}

static inline void mlx_tensor(struct mlx_arrays *m, const struct tensor *t, const struct mlx_how *h)
{
    char name[160];
    steno_error e;
    struct buf b = { 0 };
    const uint64_t n = t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3];
    uint64_t dim[3] = { t->dim[0], t->dim[1], t->dim[2] };
    int rank = strstr(t->name, ".bias") ? 1 : t->n_dims;
    snprintf(name, sizeof name, "%s", t->name);
    spell_replace(name, sizeof name, ".mlp.0.", ".mlp1.");
    spell_replace(name, sizeof name, ".mlp.2.", ".mlp2.");
    if (!strcmp(name, "encoder.positional_embedding") || (h->leave && !strcmp(h->leave, name))) return;
    float *x = malloc(n * sizeof *x), *turned = malloc(n * sizeof *x);
    assert_true(x && turned);
    if (tensor_read_f32(t, x, &e)) fail_msg("%s", e.text);
    if (rank == 3) {
        mlx_turn(turned, x, dim);
        dim[1] = t->dim[2], dim[2] = t->dim[1];
    }
    if (h->bits && rank == 2 && strstr(name, ".weight")) mlx_matrix(m, name, x, dim, h);
    else {
        mlx_numbers(&b, rank == 3 ? turned : x, n, h->type);
        mlx_put(m, name, mlx_type(h->type), dim, rank, &b);
    }
    buf_free(&b);
    free(x);
    free(turned);
}

/* ---- the folder ---------------------------------------------------------------------------------------------------------------- */

static inline void mlx_config(const struct folder *d, const struct weights *w, const struct mlx_how *h)
{
    const struct whisper_dims dims = stored_dims(w), *m = &dims;
    struct buf b = { 0 };
    buf_fmt(&b, "{\n \"n_mels\": %d, \"n_audio_ctx\": %d, \"n_audio_state\": %d, \"n_audio_head\": %d, \"n_audio_layer\": %d,\n", m->n_mels,
            m->n_audio_ctx, m->n_audio_state, m->n_audio_head, m->n_audio_layer);
    buf_fmt(&b, " \"n_vocab\": %d, \"n_text_ctx\": %d, \"n_text_state\": %d, \"n_text_head\": %d, \"n_text_layer\": %d", m->n_vocab,
            m->n_text_ctx, m->n_text_state, m->n_text_head, m->n_text_layer);
    if (h->bits && !h->dequantised) buf_fmt(&b, ",\n \"quantization\": {\"group_size\": %d, \"bits\": %d}", h->group, h->bits);
    buf_str(&b, ",\n \"model_type\": \"whisper\"\n}\n");
    folder_put(d, "config.json", b.p, b.len);
    buf_free(&b);
}

static inline void mlx_file(const struct folder *d, struct mlx_arrays *m)
{
    struct buf file = { 0 };
    if (m->is_npz) {
        for (size_t i = 0; i < m->n && m->is_npz == 2; i++) {
            struct buf packed = { 0 };
            void *plain = (void *)(uintptr_t)m->entry[i].data;
            put_deflated(&m->entry[i], &packed); /* the entry owns it from here on */
            free(plain);
        }
        put_zip(&file, m->entry, m->n, NULL);
        for (size_t i = 0; i < m->n; i++) {
            free((void *)(uintptr_t)m->entry[i].name);
            free((void *)(uintptr_t)m->entry[i].data);
        }
    } else {
        buf_str(&m->head, "}");
        put_le(&file, m->head.len, 8);
        buf_add(&file, m->head.p, m->head.len);
        buf_add(&file, m->data.p, m->data.len);
    }
    assert_false(file.err || m->head.err || m->data.err);
    folder_put(d, m->is_npz ? "weights.npz" : "weights.safetensors", file.p, file.len);
    buf_free(&file);
    buf_free(&m->head);
    buf_free(&m->data);
}

/* heads: [n_heads] pairs of layer and head, may be empty. */
static inline void mlx_model(const struct folder *d, const struct weights *w, const struct mlx_how *h, const int64_t (*heads)[2],
                             uint64_t n_heads)
{
    struct mlx_arrays m = { .is_npz = h->npz };
    mlx_config(d, w, h);
    for (uint32_t i = 0; i < w->n_tensors; i++) mlx_tensor(&m, &w->tensor[i], h);
    if (n_heads) {
        struct buf b = { 0 };
        for (uint64_t i = 0; i < 2 * n_heads; i++) put_le(&b, (uint64_t)heads[i / 2][i % 2], 8);
        mlx_put(&m, "alignment_heads", "I64", (const uint64_t[]){ n_heads, 2 }, 2, &b);
        buf_free(&b);
    }
    mlx_file(d, &m);
}
#endif
