/* steno: a file computed from a seed. SPDX-License-Identifier: MIT
 *
 * A weight is a function of the seed and its index, so any thread can compute any range of the file alone. */
#include "convert/random_file.h"

#include <string.h>

enum { MAX_BLOCK = 256 };

/* SplitMix64 of one counter: any weight can be computed alone. */
static uint64_t mix(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint16_t half_of(float x)
{
    return f16_from_f32(x);
}

static void put_half(uint8_t *p, float x)
{
    const uint16_t h = half_of(x);
    memcpy(p, &h, 2);
}

/* Scales of a K-type block whose other bytes are random. sigma: the ratio of its weights' standard deviation at d = 1 to that of uniform
 * numbers in +-1; ratio: the dmin / d that moves their mean to 0. */
static void scale_k_block(uint8_t *out, const struct random_piece *p)
{
    static const struct { float sigma, ratio; uint8_t d_at, min_at; } k_type[DT_COUNT] = {
        [DT_Q2_K] = { 24, 1.5f, 80, 82 }, [DT_Q3_K] = { 75, 0, 108, 0 },   [DT_Q4_K] = { 447, 7.5f, 0, 2 },
        [DT_Q5_K] = { 913, 15.5f, 0, 2 }, [DT_Q6_K] = { 2366, 0, 208, 0 },
        [DT_IQ4_XS] = { 2158, 0, 0, 0 },
    };
    const float d = p->spread / k_type[p->type].sigma;
    put_half(out + k_type[p->type].d_at, d);
    if (k_type[p->type].min_at) put_half(out + k_type[p->type].min_at, d * k_type[p->type].ratio);
}

/* Make block or element i of a piece. Quants are uniform; the scale makes the largest one mean + spread. */
static void make_block(uint8_t *out, const struct random_piece *p, uint64_t seed, uint64_t i, size_t sz)
{
    const uint64_t base = p->off + i * MAX_BLOCK;
    const float u = (float)(mix(seed, base) >> 40) * 0x1p-23f - 1;
    const float x = p->mean + p->spread * u;
    if (p->type == DT_F32) {
        memcpy(out, &x, 4);
    } else if (p->type == DT_F16 || p->type == DT_BF16) {
        const uint16_t h = p->type == DT_F16 ? half_of(x) : bf16_from_f32(x);
        memcpy(out, &h, 2);
    } else {
        static const uint8_t top[DT_COUNT] = { [DT_Q4_0] = 8, [DT_Q4_1] = 15, [DT_Q5_0] = 16, [DT_Q5_1] = 31, [DT_Q8_0] = 127 };
        const int offset = p->type == DT_Q4_1 || p->type == DT_Q5_1;
        const uint16_t scale = half_of((offset ? 2 : 1) * p->spread / (float)top[p->type]), low = half_of(p->mean - p->spread);
        for (size_t at = 0; at < sz; at += 8) {
            const uint64_t z = mix(seed, base + 1 + at);
            memcpy(out + at, &z, sz - at < 8 ? sz - at : 8);
        }
        if (dtype_block(p->type) == KBLOCK) {
            scale_k_block(out, p);
            return;
        }
        memcpy(out, &scale, 2);
        if (offset) memcpy(out + 2, &low, 2);
    }
}

static void make_range(const struct random_piece *p, uint64_t seed, uint64_t from, uint8_t *dst, size_t n)
{
    const size_t sz = dtype_row_sz(p->type, (size_t)dtype_block(p->type));
    uint8_t block[MAX_BLOCK];
    while (n) {
        const size_t skip = (size_t)(from % sz), take = sz - skip < n ? sz - skip : n;
        make_block(block, p, seed, from / sz, sz);
        memcpy(dst, block + skip, take);
        dst += take;
        from += take;
        n -= take;
    }
}

static int random_read(const void *user, uint64_t off, void *dst, size_t n, steno_error *e)
{
    (void)e;
    const struct random_file *r = user;
    uint32_t lo = 0, hi = r->n; /* the last piece that begins at or before off */
    while (hi - lo > 1) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (r->piece[mid].off <= off) lo = mid;
        else hi = mid;
    }
    uint8_t *out = dst;
    for (uint32_t i = lo; n && i < r->n; i++) {
        const struct random_piece *p = &r->piece[i];
        const uint64_t from = off - p->off;
        const size_t take = p->size - from < n ? (size_t)(p->size - from) : n;
        if (p->bytes) memcpy(out, p->bytes + from, take);
        else make_range(p, r->seed, from, out, take);
        out += take;
        off += take;
        n -= take;
    }
    return STENO_OK;
}

void random_file_init(struct random_file *r, struct arena *a, uint32_t cap, uint64_t seed)
{
    *r = (struct random_file){ .piece = arena_array(a, cap, sizeof *r->piece), .cap = cap, .seed = seed, .arena = a };
}

static void add_piece(struct random_file *r, struct random_piece p)
{
    if (!r->piece || r->n == r->cap || !p.size) return;
    p.off = r->size;
    r->piece[r->n++] = p;
    r->size += p.size;
}

uint8_t *random_file_bytes(struct random_file *r, size_t n)
{
    uint8_t *bytes = arena_alloc(r->arena, n);
    if (!bytes) r->piece = NULL; /* random_file_end reports the error */
    add_piece(r, (struct random_piece){ .bytes = bytes, .size = n });
    return bytes;
}

void random_file_shorten(struct random_file *r, size_t n)
{
    if (!r->piece || !r->n) return;
    r->size -= r->piece[r->n - 1].size - n;
    r->piece[r->n - 1].size = n;
}

void random_file_weights(struct random_file *r, enum dtype type, float mean, float spread, uint64_t n)
{
    add_piece(r, (struct random_piece){ .type = type, .mean = mean, .spread = spread, .size = dtype_row_sz(type, (size_t)n) });
}

int random_file_end(const struct random_file *r, struct file *f, const char *name, steno_error *e)
{
    if (!r->piece) return err_nomem(e, r->cap * sizeof *r->piece, name);
    *f = (struct file){ .name = name, .size = r->size, .fd = -1, .read = random_read, .user = r };
    return STENO_OK;
}
