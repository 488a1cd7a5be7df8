/* steno: binding the weights of ops. SPDX-License-Identifier: MIT */
#include "plan/bind.h"
#include <math.h>
#include <stdio.h>
#include "plan/emit.h"
#include "plan/packing.h"
#include "plan/precision.h"

static struct tensor *tensor_get(struct build *b, const char *part, uint64_t d0, uint64_t d1, uint64_t d2)
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
    struct tensor *t = part ? tensor_get(b, part, d0, d1, 0) : NULL;
    if (t && t->widened) return t->widened;
    float *dst = t ? packed_take(b, (size_t)(d0 * (d1 ? d1 : 1)) * sizeof(float)) : NULL;
    if (dst && !b->p.store->dry) b->status = tensor_read_f32(t, dst, b->e);
    if (t && !b->status) t->widened = dst;
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

/* An earlier plan has packed these tensors, and in this order. */
static int is_packed(struct tensor *const *part, int n_parts)
{
    for (int i = 0; i < n_parts; i++)
        if (!part[i]->packed || part[i]->packed != part[0]->packed || part[i]->packed_at != i || part[i]->n_packed != n_parts) return 0;
    return 1;
}

static void remember(struct tensor *const *part, int n_parts, const void *packed, enum packed_type type)
{
    for (int i = 0; i < n_parts; i++) {
        part[i]->packed = packed;
        part[i]->packed_type = type;
        part[i]->packed_at = i;
        part[i]->n_packed = n_parts;
    }
}

/* As pack_parts, or what an earlier plan packed. */
static const void *pack(struct build *b, struct tensor *const *part, int n_parts, uint64_t n, uint64_t k, uint32_t taps)
{
    if (b->status) return NULL;
    if (is_packed(part, n_parts)) return part[0]->packed;
    const enum packed_type wanted = precision_of(b, part, n_parts, n, k), type = wanted ? wanted : packed_as_stored(part[0]->type);
    const void *packed = pack_parts(b, part, n_parts, n, k, taps, type, NULL);
    if (!b->status) remember(part, n_parts, packed, type);
    return packed;
}

/* Biases under each other as their weights are, the first of which remembers them. */
static const float *bias_of(struct build *b, int n_parts, struct tensor *first, const char *const *bias, uint64_t n)
{
    if (first->bias) return first->bias;
    float *all = packed_take(b, (size_t)(n * (uint64_t)n_parts) * sizeof(float));
    for (int i = 0; i < n_parts && all; i++) { /* pages are zeroed: a missing bias is zeros */
        struct tensor *t = bias[i] ? tensor_get(b, bias[i], n, 0, 0) : NULL;
        if (t && !b->p.store->dry) b->status = tensor_read_f32(t, all + (uint64_t)i * n, b->e);
    }
    if (!b->status) first->bias = all;
    return all;
}

uint16_t bind_linear(struct build *b, int n_parts, const char *const *w, const char *const *bias, uint64_t n, uint64_t k)
{
    struct tensor *part[4] = { 0 };
    for (int i = 0; i < n_parts; i++) part[i] = tensor_get(b, w[i], n, k, 0);
    const void *packed = pack(b, part, n_parts, n, k, 1);
    const uint64_t rows = n * (uint64_t)n_parts;
    const float *all = bias && !b->status ? bias_of(b, n_parts, part[0], bias, n) : NULL;
    const uint16_t id = bind_add(b);
    if (!b->status)
        b->bind[id] = (struct bind){ .w = packed, .bias = all, .n = (uint32_t)rows, .k = (uint32_t)k, .n_y = (uint32_t)rows,
                                     .type = (uint8_t)part[0]->packed_type, .stride = 1 };
    return id;
}

uint16_t bind_approx(struct build *b, const char *w, uint64_t n, uint64_t k)
{
    struct tensor *t = tensor_get(b, w, n, k, 0);
    if (!t || (t->type != DT_F32 && t->type != DT_F16 && t->type != DT_BF16)) return NO_BIND;
    const enum packed_type type = approx_type(b->p.kern);
    struct approx_panel *approx = packed_take(b, pack_panels((size_t)n) * sizeof *approx);
    const void *packed = b->status ? NULL : pack_parts(b, &t, 1, n, k, 1, type, approx);
    const uint16_t id = bind_add(b);
    if (!b->status)
        b->bind[id] = (struct bind){ .w = packed, .n = (uint32_t)n, .k = (uint32_t)k, .n_y = (uint32_t)n, .type = (uint8_t)type,
                                     .stride = 1, .approx = approx };
    return id;
}

uint16_t bind_conv(struct build *b, const char *w, const char *bias, uint64_t n, uint64_t channels, int stride)
{
    struct tensor *t = tensor_get(b, w, n, channels, 3);
    const void *packed = pack(b, &t, 1, n, 3 * channels, 3);
    const float *v = bind_vector(b, bias, n);
    const uint16_t id = bind_add(b);
    if (!b->status)
        b->bind[id] = (struct bind){ .w = packed, .bias = v, .n = (uint32_t)n, .k = (uint32_t)(3 * channels), .n_y = (uint32_t)n,
                                     .type = (uint8_t)t->packed_type, .stride = (uint16_t)stride };
    return id;
}

uint16_t bind_norm(struct build *b, const char *weight, const char *bias, uint64_t n, float eps)
{
    const float *g = bind_vector(b, weight, n), *v = bind_vector(b, bias, n);
    const uint16_t id = bind_add(b);
    if (!b->status) b->bind[id] = (struct bind){ .norm_weight = g, .bias = v, .n = (uint32_t)n, .k = (uint32_t)n, .eps = eps };
    return id;
}

uint16_t bind_scale(struct build *b, float scale, const float *positions, uint64_t n)
{
    const uint16_t id = bind_add(b);
    if (!b->status) b->bind[id] = (struct bind){ .positions = positions, .n = (uint32_t)n, .k = (uint32_t)n, .scale = scale };
    return id;
}

/* Filters are stored channel by channel and used tap by tap: the kernel walks channels side by side. */
uint16_t bind_fsmn(struct build *b, const char *w, uint64_t n, uint32_t taps, uint32_t left, uint32_t heads)
{
    if (!b->status && (taps < 1 || taps > FSMN_TAPS || left >= taps || n % heads))
        b->status = err_set(b->e, STENO_EUNSUPPORTED, "%s: a memory of %u taps, %u of them before, over %u heads; up to %d taps are served",
                            b->p.weights->name, taps, left, heads, FSMN_TAPS);
    const struct tensor *t = tensor_get(b, w, n, taps, 0);
    const size_t sz = (size_t)n * taps * sizeof(float), wide = (size_t)n / heads;
    float *stored = t ? arena_alloc(&b->scratch_arena, sz) : NULL, *turned = stored ? packed_take(b, sz) : NULL;
    if (t && !stored) b->status = err_nomem(b->e, sz, "a filter");
    if (turned) b->status = tensor_read_f32(t, stored, b->e);
    for (size_t c = 0; c < n && turned && !b->status && !b->p.store->dry; c++)
        for (size_t j = 0; j < taps; j++) turned[(c / wide * taps + j) * wide + c % wide] = stored[c * taps + j];
    const uint16_t id = bind_add(b);
    if (!b->status)
        b->bind[id] = (struct bind){ .filter = turned, .n = (uint32_t)n, .k = (uint32_t)n, .heads = (uint16_t)heads,
                                     .d_head = (uint16_t)wide, .taps = (uint16_t)taps, .left = (uint16_t)left };
    return id;
}

uint16_t bind_attn(struct build *b, uint32_t heads, uint32_t d_head)
{
    if (!b->status && (d_head < 4 || d_head > HEAD_MAX || d_head % 4 || heads > UINT16_MAX))
        b->status = err_set(b->e, STENO_EUNSUPPORTED, "%s: attention of %u heads of %u; heads are multiples of 4 up to %d",
                            b->p.weights->name, heads, d_head, HEAD_MAX);
    const uint16_t id = bind_add(b);
    if (!b->status)
        b->bind[id] = (struct bind){ .heads = (uint16_t)heads, .d_head = (uint16_t)d_head, .n = heads * d_head, .k = heads * d_head,
                                     .scale = 1 / sqrtf((float)d_head) };
    return id;
}
