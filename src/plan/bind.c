/* steno: binding the weights of ops. SPDX-License-Identifier: MIT */
#include "plan/bind.h"
#include <math.h>
#include <stdio.h>
#include "plan/emit.h"
#include "plan/packing.h"
#include "plan/precision.h"

struct tensor *bind_tensor(struct build *b, const char *part, uint64_t d0, uint64_t d1, uint64_t d2)
{
    if (b->status) return NULL;
    char name[NAME_MAX_LEN];
    const uint64_t dim[4] = { d0, d1, d2, 0 };
    struct tensor *t = NULL;
    snprintf(name, sizeof name, "%s%s%s", b->prefix, *b->prefix ? "." : "", part);
    b->status = weights_get(b->p.weights, name, dim, &t, b->e);
    return b->status ? NULL : t;
}

static const float *tensor_f32(struct build *b, const char *part, uint64_t d0, uint64_t d1)
{
    const struct tensor *t = part ? bind_tensor(b, part, d0, d1, 0) : NULL;
    if (!t) return NULL;
    struct stored what = { .tensor = { tensor_number(b, t) }, .n_parts = 1, .as = STORED_F32, .n = d0 * (d1 ? d1 : 1) };
    what.data = weight_store_find(b->p.store, &what);
    if (what.data) return what.data;
    float *dst = packed_take(b, (size_t)what.n * sizeof *dst);
    what.data = dst;
    if (dst && !b->p.store->dry) b->status = tensor_read_f32(t, dst, b->e);
    packed_remember(b, &what);
    return dst;
}

const float *bind_vector(struct build *b, const char *part, uint64_t n)
{
    return tensor_f32(b, part, n, 0);
}

const float *bind_table(struct build *b, const char *name, uint64_t rows, uint64_t n)
{
    return tensor_f32(b, name, rows, n);
}

const float *bind_table_and_row(struct build *b, const char *name, uint64_t rows, const char *other, uint64_t others, uint64_t n)
{
    const float *table = bind_table(b, name, rows, n), *row = bind_table(b, other, others, n);
    float *sum = packed_take(b, (size_t)(rows * n) * sizeof *sum);
    for (size_t i = 0; sum && !b->status && !b->p.store->dry && i < rows * n; i++) sum[i] = table[i] + row[i % n];
    return sum;
}

void sinusoids_row(float *y, uint32_t width, int64_t position)
{
    const uint32_t half = width / 2;
    const float step = (float)(log(10000.0) / (half - 1));
    for (uint32_t i = 0; i < half; i++) {
        const float angle = (float)position * expf(-(float)i * step);
        y[i] = sinf(angle);
        y[half + i] = cosf(angle);
    }
}

const float *bind_sinusoids(struct build *b, uint32_t rows, uint32_t width)
{
    float *t = packed_take(b, (size_t)rows * width * sizeof *t);
    for (uint32_t r = 0; t && !b->p.store->dry && r < rows; r++) sinusoids_row(t + (size_t)r * width, width, r + 1);
    return t;
}

static uint16_t bind_approx_as(struct build *b, enum packed_type type, const char *w, uint64_t n, uint64_t k)
{
    struct tensor *t = bind_tensor(b, w, n, k, 0);
    if (!t || (t->type != DT_F32 && t->type != DT_F16 && t->type != DT_BF16)) return NO_BIND;
    const struct matrices m = { .tensor = { t }, .n = { n }, .k = k, .n_parts = 1, .taps = 1 };
    struct approx_panel *approx = packed_take(b, pack_panels((size_t)n) * sizeof *approx);
    const void *packed = b->status ? NULL : pack_matrices(b, &m, type, approx);
    const uint16_t id = bind_add(b);
    if (!b->status)
        b->bind[id] = (struct bind){ .w = packed, .n = (uint32_t)n, .k = (uint32_t)k, .n_y = (uint32_t)n, .type = (uint8_t)type,
                                     .stride = 1, .approx = approx };
    return id;
}

uint16_t bind_approx(struct build *b, const char *w, uint64_t n, uint64_t k)
{
    return bind_approx_as(b, approx_type(b->p.kern), w, n, k);
}

uint16_t bind_screen(struct build *b, const char *w, uint64_t n, uint64_t k)
{
    const enum packed_type head = b->p.precision.by_role[LINEAR_LM_HEAD];
    if (!head || head == PK_I8_QUAD || k > LOWP_K_MAX || !kern_gains(b->p.kern->level, PK_I8_QUAD)) return NO_BIND;
    return bind_approx_as(b, PK_I8_QUAD, w, n, k);
}

uint16_t bind_conv(struct build *b, const char *w, const char *bias, uint64_t n, uint64_t channels, int stride)
{
    struct tensor *t = bind_tensor(b, w, n, channels, 3);
    const struct matrices m = { .tensor = { t }, .n = { n }, .k = 3 * channels, .n_parts = 1, .taps = 3 };
    const enum packed_type lower = t ? precision_of(b, LINEAR_OTHER, &m, 0, &(struct linear_input){ NULL, 0 }) : 0;
    const enum packed_type type = lower || !t ? lower : packed_as_stored(t->type);
    const void *packed = pack_shared(b, &m, type);
    const float *v = bind_vector(b, bias, n);
    const uint16_t id = bind_add(b);
    if (!b->status)
        b->bind[id] = (struct bind){ .w = packed, .bias = v, .n = (uint32_t)n, .k = (uint32_t)m.k, .n_y = (uint32_t)n,
                                     .type = (uint8_t)type, .stride = (uint16_t)stride };
    return id;
}

/* Output (j, o) is stored as column (o, j): the matrix is read as a whole, transposed, and packed as f32. */
static void *pack_turned(struct build *b, const struct tensor *t, uint64_t n, uint64_t channels, uint32_t times)
{
    const size_t outputs = (size_t)(n * times), sz = outputs * (size_t)channels * sizeof(float);
    float *stored = arena_alloc(&b->scratch_arena, sz), *panel = arena_alloc(&b->scratch_arena, PANEL * (size_t)channels * sizeof *panel);
    uint8_t *packed = packed_take(b, pack_sz(PK_F32, outputs, (size_t)channels));
    if (!b->status && (!stored || !panel)) b->status = err_nomem(b->e, sz, "a transposed convolution");
    if (b->status || b->p.store->dry) return packed;
    b->status = tensor_read_f32(t, stored, b->e);
    for (size_t p = 0; p < pack_panels(outputs) && !b->status; p++) {
        const void *rows[PANEL] = { 0 };
        for (size_t i = 0; i < PANEL && p * PANEL + i < outputs; i++) {
            const size_t at = p * PANEL + i, o = at % (size_t)n, j = at / (size_t)n;
            float *row = panel + i * (size_t)channels;
            for (size_t c = 0; c < channels; c++) row[c] = stored[(c * (size_t)n + o) * times + j];
            rows[i] = row;
        }
        b->p.kern->pack(packed + p * pack_panel_sz(PK_F32, (size_t)channels), NULL, PK_F32, DT_F32, rows, (size_t)channels);
    }
    return packed;
}

uint16_t bind_upsample(struct build *b, const char *w, const char *bias, uint64_t n, uint64_t channels, uint32_t times)
{
    const struct tensor *t = bind_tensor(b, w, channels, n, times);
    const float *v = bind_vector(b, bias, n);
    void *packed = t ? pack_turned(b, t, n, channels, times) : NULL;
    float *all = packed_take(b, (size_t)(n * times) * sizeof *all);
    for (size_t i = 0; i < n * times && !b->status && !b->p.store->dry; i++) all[i] = v[i % n];
    const uint16_t id = bind_add(b);
    if (!b->status)
        b->bind[id] = (struct bind){ .w = packed, .bias = all, .n = (uint32_t)(n * times), .k = (uint32_t)channels,
                                     .n_y = (uint32_t)(n * times), .type = PK_F32, .stride = (uint16_t)times };
    return id;
}

uint16_t bind_norm(struct build *b, const char *weight, const char *bias, uint64_t n, float eps)
{
    const float *g = bind_vector(b, weight, n), *v = bind_vector(b, bias, n);
    const uint16_t id = bind_add(b);
    if (!b->status) b->bind[id] = (struct bind){ .norm_weight = g, .bias = v, .n = (uint32_t)n, .k = (uint32_t)n, .eps = eps };
    return id;
}

uint16_t bind_norm_rms(struct build *b, const char *weight, uint64_t n, float eps, int less_one)
{
    const uint16_t id = bind_norm(b, weight, NULL, n, eps);
    float *whole = less_one ? packed_take(b, (size_t)n * sizeof *whole) : NULL;
    if (b->status) return id;
    b->bind[id].norm_kind = NORM_RMS;
    for (size_t i = 0; whole && i < n && !b->p.store->dry; i++) whole[i] = b->bind[id].norm_weight[i] + 1;
    if (whole) b->bind[id].norm_weight = whole;
    return id;
}

uint16_t bind_norm_heads(struct build *b, const char *weight, uint32_t heads, uint32_t d_head, float eps, int less_one)
{
    const uint16_t id = bind_norm_rms(b, weight, d_head, eps, less_one);
    if (b->status) return id;
    b->bind[id].heads = (uint16_t)heads;
    b->bind[id].d_head = (uint16_t)d_head;
    return id;
}

/* Angles are computed in double, because they are products of a large position and a small frequency. */
uint16_t bind_rope(struct build *b, const struct rope *r, uint32_t heads, uint32_t d_head)
{
    if (!b->status && (r->n % 2 || r->n > d_head || heads > UINT16_MAX))
        b->status = err_set(b->e, STENO_EUNSUPPORTED, "%s: rotary positions of %u numbers of %u heads of %u", b->p.weights->name, r->n,
                            heads, d_head);
    float *turn = packed_take(b, (size_t)r->positions * r->n * sizeof *turn);
    for (size_t p = 0; p < r->positions && !b->status && !b->p.store->dry; p++)
        for (size_t j = 0; j < r->n / 2; j++) {
            const double divide = r->divide ? (double)r->divide[j] : 1, gain = r->gain > 0 ? r->gain : 1;
            const double angle = (double)p * (r->frequency ? r->frequency[j] : pow(r->base, -2.0 * (double)j / r->n) * r->scale / divide);
            turn[p * r->n + j] = (float)(gain * cos(angle));
            turn[p * r->n + r->n / 2 + j] = (float)(gain * sin(angle));
        }
    const uint16_t id = bind_add(b);
    if (!b->status)
        b->bind[id] = (struct bind){ .positions = turn, .n = r->n, .k = heads * d_head, .heads = (uint16_t)heads,
                                     .d_head = (uint16_t)d_head, .neighbours = (uint8_t)r->neighbours };
    return id;
}

uint16_t bind_scale(struct build *b, float scale, const float *positions, uint64_t n)
{
    const uint16_t id = bind_add(b);
    if (!b->status) b->bind[id] = (struct bind){ .positions = positions, .n = (uint32_t)n, .k = (uint32_t)n, .scale = scale };
    return id;
}

/* Filters are stored by channels or by taps, and used by taps: the kernel processes adjacent channels together. */
uint16_t bind_fsmn(struct build *b, const char *w, uint64_t n, uint32_t taps, uint32_t left, uint32_t heads)
{
    if (!b->status && (taps < 1 || taps > FSMN_TAPS || left >= taps || n % heads))
        b->status = err_set(b->e, STENO_EUNSUPPORTED, "%s: a memory of %u taps, %u of them before, over %u heads; up to %d taps are served",
                            b->p.weights->name, taps, left, heads, FSMN_TAPS);
    const int taps_first = b->p.weights->taps_first;
    const struct tensor *t = taps_first ? bind_tensor(b, w, taps, n, 0) : bind_tensor(b, w, n, taps, 0);
    const size_t sz = (size_t)n * taps * sizeof(float), wide = (size_t)n / heads;
    float *stored = t ? arena_alloc(&b->scratch_arena, sz) : NULL, *turned = stored ? packed_take(b, sz) : NULL;
    if (t && !stored) b->status = err_nomem(b->e, sz, "a filter");
    if (turned) b->status = tensor_read_f32(t, stored, b->e);
    for (size_t c = 0; c < n && turned && !b->status && !b->p.store->dry; c++)
        for (size_t j = 0; j < taps; j++)
            turned[(c / wide * taps + j) * wide + c % wide] = stored[taps_first ? j * n + c : c * taps + j];
    const uint16_t id = bind_add(b);
    if (!b->status)
        b->bind[id] = (struct bind){ .filter = turned, .n = (uint32_t)n, .k = (uint32_t)n, .heads = (uint16_t)heads,
                                     .d_head = (uint16_t)wide, .taps = (uint16_t)taps, .left = (uint16_t)left };
    return id;
}

uint16_t bind_attn(struct build *b, uint32_t heads, uint32_t kv_heads, uint32_t d_head)
{
    if (!b->status && (d_head < 1 || d_head > HEAD_MAX || heads > UINT16_MAX))
        b->status = err_set(b->e, STENO_EUNSUPPORTED, "%s: attention of %u heads of %u; heads of 1 to %d are served",
                            b->p.weights->name, heads, d_head, HEAD_MAX);
    if (!b->status && (!kv_heads || heads % kv_heads))
        b->status = err_set(b->e, STENO_EUNSUPPORTED, "%s: %u heads of queries do not share %u heads of keys and values evenly",
                            b->p.weights->name, heads, kv_heads);
    const uint16_t id = bind_add(b);
    const uint32_t room = head_room(d_head);
    if (!b->status)
        b->bind[id] = (struct bind){ .heads = (uint16_t)heads, .kv_heads = (uint16_t)kv_heads, .d_head = (uint16_t)room,
                                     .n = heads * room, .k = heads * room, .scale = 1 / sqrtf((float)d_head) };
    return id;
}
