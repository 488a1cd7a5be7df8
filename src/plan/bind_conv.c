/* steno: binding the weights of convolutional layers. SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/os.h"
#include "plan/bind.h"
#include "plan/build.h"
#include "plan/packing.h"

/* A tensor of floats in scratch memory; NULL: it failed, or the store is dry. */
static const float *read_scratch(struct build *b, const struct tensor *t, size_t n)
{
    float *x = t && !b->status ? arena_array(&b->scratch_arena, n, sizeof *x) : NULL;
    if (t && !b->status && !x) b->status = err_nomem(b->e, n * sizeof *x, "a filter");
    if (x && !b->p.store->dry) b->status = tensor_read_f32(t, x, b->e);
    return b->status || b->p.store->dry ? NULL : x;
}

static const float *norm_part(struct build *b, const char *norm, const char *part, uint64_t n)
{
    char name[NAME_MAX_LEN];
    snprintf(name, sizeof name, "%s.%s", norm, part);
    return read_scratch(b, bind_tensor(b, name, n, 0, 0), (size_t)n);
}

const float *bind_deviations_of_norm(struct build *b, enum linear_role role, const char *name, uint64_t n)
{
    if (!precision_is_estimated(b, role)) return NULL;
    const float *weight = norm_part(b, name, "weight", n), *bias = norm_part(b, name, "bias", n);
    return precision_of_norm(b, weight, bias, n);
}

/* Normalisation as y = gain x + shift. */
struct affine { const float *weight, *bias, *mean, *variance; float eps; };

static double gain_of(const struct affine *a, size_t i)
{
    return a->weight ? (double)a->weight[i] / sqrt((double)a->variance[i] + (double)a->eps) : 1;
}

/* The filter and its bias with the normalisation after it, computed in double. */
static void fold(float *filter, float *shift, const struct filter_desc *f, const float *w, const float *bias, const struct affine *a)
{
    for (size_t c = 0; c < f->n; c++) {
        const double gain = gain_of(a, c), own = bias ? (double)bias[c] : 0;
        for (size_t j = 0; j < f->taps; j++) filter[j * f->n + c] = (float)(gain * (double)w[c * f->taps + j]);
        shift[c] = (float)(a->weight ? (double)a->bias[c] + (own - (double)a->mean[c]) * gain : own);
    }
}

uint16_t bind_filter(struct build *b, const struct filter_desc *f)
{
    const struct tensor *t = f->is_square ? bind_tensor(b, f->weight, f->n, 3, 3) : bind_tensor(b, f->weight, f->n, f->taps, 0);
    const float *w = read_scratch(b, t, (size_t)f->n * f->taps);
    const float *bias = f->bias ? read_scratch(b, bind_tensor(b, f->bias, f->n, 0, 0), (size_t)f->n) : NULL;
    struct affine a = { .eps = f->eps };
    if (f->norm) {
        a.weight = norm_part(b, f->norm, "weight", f->n);
        a.bias = norm_part(b, f->norm, "bias", f->n);
        a.mean = norm_part(b, f->norm, "running_mean", f->n);
        a.variance = norm_part(b, f->norm, "running_var", f->n);
    }
    float *filter = packed_take(b, (size_t)f->n * f->taps * sizeof *filter), *shift = packed_take(b, (size_t)f->n * sizeof *shift);
    for (size_t i = 0; a.variance && i < f->n && !b->status; i++)
        if (a.variance[i] < 0)
            b->status = err_set(b->e, STENO_EFORMAT, "%s: %s.running_var: value %zu is %g, want 0 or more", b->p.weights->name, f->norm, i,
                                (double)a.variance[i]);
    if (!b->status && !b->p.store->dry) fold(filter, shift, f, w, bias, &a);
    const uint16_t id = bind_add(b);
    if (!b->status)
        b->bind[id] = (struct bind){ .filter = filter, .bias = shift, .n = (uint32_t)f->n, .k = (uint32_t)f->n, .heads = 1,
                                     .d_head = (uint16_t)f->n, .taps = (uint16_t)f->taps, .left = (uint16_t)f->left,
                                     .act = (uint8_t)f->act };
    return id;
}

static uint16_t bind_packed(struct build *b, const void *packed, enum packed_type type, const float *bias, uint64_t n, uint64_t k)
{
    const uint16_t id = bind_add(b);
    if (!b->status)
        b->bind[id] = (struct bind){ .w = packed, .bias = bias, .n = (uint32_t)n, .k = (uint32_t)k, .n_y = (uint32_t)n,
                                     .type = (uint8_t)type, .stride = 1 };
    return id;
}

uint16_t bind_squares(struct build *b, const char *w, const char *bias, uint64_t n)
{
    struct tensor *t = bind_tensor(b, w, n, 3, 3);
    const struct matrices m = { .tensor = { t }, .n = { n }, .k = 9, .n_parts = 1, .taps = 1 };
    const enum packed_type type = t ? packed_as_stored(t->type) : PK_F32;
    const void *packed = b->status ? NULL : pack_shared(b, &m, type);
    return bind_packed(b, packed, type, bind_vector(b, bias, n), n, 9);
}

/* A tensor of [n, channels, 3, 3]; NULL: the build has failed. */
static struct tensor *squares_of_all(struct build *b, const char *w, uint64_t n, uint64_t channels)
{
    char name[NAME_MAX_LEN];
    const uint64_t dim[4] = { n, channels, 3, 3 };
    struct tensor *t = NULL;
    snprintf(name, sizeof name, "%s%s%s", b->prefix, *b->prefix ? "." : "", w);
    if (!b->status) b->status = weights_get(b->p.weights, name, dim, &t, b->e);
    return b->status ? NULL : t;
}

/* Blocks of weights cannot be put in another order, so their numbers are packed: as f32, or in a type of low precision. */
static const void *pack_blocks_turned(struct build *b, const struct tensor *t, enum packed_type type, uint64_t n, uint64_t channels,
                                      uint32_t columns)
{
    const size_t k = (size_t)(channels * columns);
    const float *w = read_scratch(b, t, (size_t)n * k);
    float *panel = arena_array(&b->scratch_arena, PANEL * k, sizeof *panel);
    uint8_t *packed = packed_take(b, pack_sz(type, (size_t)n, k));
    if (!b->status && !panel) b->status = err_nomem(b->e, PANEL * k * sizeof *panel, "a matrix");
    for (size_t p = 0; p < pack_panels((size_t)n) && w && !b->status; p++) {
        const void *rows[PANEL] = { 0 };
        for (size_t i = 0; i < PANEL && p * PANEL + i < n; i++) {
            float *row = panel + i * k;
            for (size_t c = 0; c < channels; c++)
                for (size_t f = 0; f < columns; f++) row[f * channels + c] = w[(p * PANEL + i) * k + c * columns + f];
            rows[i] = row;
        }
        b->p.kern->pack(packed + p * pack_panel_sz(type, k), NULL, type, DT_F32, rows, k);
    }
    return packed;
}

static uint16_t bind_turned(struct build *b, struct tensor *t, enum linear_role role, const char *bias, uint64_t n, uint64_t channels,
                            uint32_t columns)
{
    const uint64_t k = channels * columns;
    const float *v = bias ? bind_vector(b, bias, n) : NULL;
    if (!t || b->status) return 0;
    const struct matrices m = { .tensor = { t }, .n = { n }, .k = k, .n_parts = 1, .taps = columns };
    const enum packed_type lower = precision_of(b, role, &m, 0, &(struct linear_input){ NULL, 0 });
    const int in_blocks = dtype_block(t->type) > 1;
    const enum packed_type type = lower ? lower : in_blocks ? PK_F32 : packed_as_stored(t->type);
    const void *packed = in_blocks ? pack_blocks_turned(b, t, type, n, channels, columns) : pack_shared(b, &m, type);
    return bind_packed(b, packed, type, v, n, k);
}

uint16_t bind_by_columns(struct build *b, const char *w, const char *bias, uint64_t n, uint64_t channels, uint32_t columns)
{
    return bind_turned(b, bind_tensor(b, w, n, channels * columns, 0), LINEAR_OTHER, bias, n, channels, columns);
}

uint16_t bind_squares_of_all(struct build *b, const char *w, const char *bias, uint64_t n, uint64_t channels)
{
    return bind_turned(b, squares_of_all(b, w, n, channels), LINEAR_UP, bias, n, channels, 9);
}

uint16_t bind_identity(struct build *b, uint32_t n)
{
    uint8_t *packed = packed_take(b, pack_sz(PK_F32, n, n));
    float *row = arena_array(&b->scratch_arena, (size_t)PANEL * n, sizeof *row);
    if (!b->status && !row) b->status = err_nomem(b->e, (size_t)PANEL * n * sizeof *row, "a matrix");
    for (size_t p = 0; p < pack_panels(n) && !b->status && !b->p.store->dry; p++) {
        const void *rows[PANEL] = { 0 };
        memset(row, 0, (size_t)PANEL * n * sizeof *row);
        for (size_t i = 0; i < PANEL && p * PANEL + i < n; i++) rows[i] = row + i * n, row[i * n + p * PANEL + i] = 1;
        b->p.kern->pack(packed + p * pack_panel_sz(PK_F32, n), NULL, PK_F32, DT_F32, rows, n);
    }
    return bind_packed(b, packed, PK_F32, NULL, n, n);
}

enum { ANGLES = 8 }; /* of a row that are filled together: a cache line */

/* Sines and cosines of the distances -(most - 1) to most - 1, a row each. Both signs of a distance share their numbers. */
static void distances_fill(float *table, uint32_t most, uint32_t n)
{
    for (size_t from = 0; from < n / 2; from += ANGLES) {
        const size_t k = n / 2 - from < ANGLES ? n / 2 - from : ANGLES;
        double each[ANGLES];
        for (size_t i = 0; i < k; i++) each[i] = pow(10000, -2.0 * (double)(from + i) / n);
        for (size_t r = 0; r < most; r++) {
            float *after = table + (most - 1 + r) * n + 2 * from, *before = table + (most - 1 - r) * n + 2 * from;
            for (size_t i = 0; i < k; i++) {
                const float sine = (float)sin((double)r * each[i]);
                before[2 * i] = -sine;
                after[2 * i] = sine;
                after[2 * i + 1] = before[2 * i + 1] = (float)cos((double)r * each[i]);
            }
        }
    }
}

uint16_t bind_distances(struct build *b, uint32_t most, uint32_t n)
{
    const size_t rows = 2 * (size_t)most - 1;
    float *table = packed_take(b, rows * n * sizeof *table);
    if (!b->status && !b->p.store->dry) distances_fill(table, most, n);
    const uint16_t id = bind_add(b);
    if (!b->status) b->bind[id] = (struct bind){ .positions = table, .n = n, .k = most - 1 };
    return id;
}

/* y[rows, n] = x[rows, n] w^T in f32. memory: that of the packed w, then a kernel's. */
static void rows_times(struct build *b, float *y, const float *x, const float *w, size_t rows, size_t n, uint8_t *memory)
{
    const struct kern *k = b->p.kern;
    for (size_t p = 0; p < pack_panels(n); p++) {
        const void *row[PANEL] = { 0 };
        for (size_t i = 0; i < PANEL && p * PANEL + i < n; i++) row[i] = w + (p * PANEL + i) * n;
        k->pack(memory + p * pack_panel_sz(PK_F32, n), NULL, PK_F32, DT_F32, row, n);
    }
    const struct linear l = { .w = memory, .n = (uint32_t)n, .k = (uint32_t)n, .n_y = (uint32_t)n, .x = x, .ld_x = n, .y = y, .ld_y = n };
    k->linear[PK_F32](&l, 0, rows, 0, pack_panels(n), memory + ((pack_sz(PK_F32, n, n) + 63) & ~(size_t)63));
}

const float *bind_distance_rows(struct build *b, const char *name, uint32_t most, uint32_t n)
{
    const size_t rows = 2 * (size_t)most - 1, packed = (pack_sz(PK_F32, n, n) + 63) & ~(size_t)63;
    const size_t sz = (packed + kern_linear_scratch(b->p.kern, PK_F32, n, rows) + 63) & ~(size_t)63;
    const struct tensor *t = bind_tensor(b, name, n, n, 0);
    float *table = packed_take(b, rows * n * sizeof *table);
    if (b->status || b->p.store->dry) return table;
    float *w = malloc(((size_t)n + rows) * n * sizeof *w);
    uint8_t *memory = os_aligned_alloc(64, sz);
    b->status = w && memory ? tensor_read_f32(t, w, b->e) : err_nomem(b->e, sz, name);
    if (!b->status) distances_fill(w + (size_t)n * n, most, n);
    if (!b->status) rows_times(b, table, w + (size_t)n * n, w, rows, n, memory);
    os_aligned_free(memory);
    free(w);
    return table;
}
