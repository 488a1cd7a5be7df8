/* steno: what KV_INT promises beyond what shapes show. SPDX-License-Identifier: MIT */
#include "check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 64, GROUP = 32, BLOCK = 84 * HEAD };

/* ---- kv_put ---------------------------------------------------------------------------------------------------------------------- */
/* Position `slot` of a block that was filled with canary bytes: its second 32 d are x, the first are numbers like others. */
static void check_numbers(struct check *c, const char *what, const float x[GROUP], size_t slot)
{
    uint8_t block[BLOCK + 64], mine[BLOCK + 64] = { 0 };
    const struct kv_view view = { block, sizeof block, NULL };
    float both[HEAD];
    for (size_t d = 0; d < GROUP; d++) both[d] = (float)d - 11, both[GROUP + d] = x[d];
    memset(block, 0xa5, sizeof block);
    c->kern->kv_put[KV_INT](&view, (uint32_t)slot, both, both, HEAD);
    for (int value = 0; value < 2; value++) {
        kv_fill(KV_INT, mine, slot, HEAD, value, 1);
        for (size_t d = 0; d < HEAD; d++) {
            float want[HEAD], max = 0;
            int is_number = 1;
            for (size_t i = d / GROUP * GROUP; i < d / GROUP * GROUP + GROUP; i++) {
                is_number &= isfinite(both[i]) != 0;
                max = fmaxf(max, fabsf(both[i]));
            }
            memcpy(want, both, sizeof want);
            kv_round(KV_INT, want, HEAD, value);
            const double got = kv_read(KV_INT, block, slot, d, HEAD, value), scale = kv_scale(KV_INT, block, slot, d, HEAD, value);
            const int of = value ? 127 : 2039, is_zero = max < 0x1p-111f;
            if (!is_number) {
                check(c, isnan(scale), "kv_put %s, value %d: a scale of %g", what, value, scale);
                continue;
            }
            check(c, is_zero ? scale == 0 && got == 0 : scale * of >= max * (1 - 0x1p-24) && scale * of <= max * (1 + 0x1p-7),
                  "kv_put %s, value %d: a scale of %g for %g", what, value, scale, (double)max);
            check(c, fabs(got) <= scale * of && (is_zero || fabs(got - both[d]) <= 0.5002 * scale) && want[d] == (float)got,
                  "kv_put %s, value %d, d %zu: %.9g becomes %.9g, not %.9g, with a scale of %g", what, value, d, (double)both[d], got,
                  (double)want[d], scale);
        }
    }
    for (size_t i = 0; i < sizeof block; i++)
        if (!check(c, mine[i] || block[i] == 0xa5, "kv_put %s: position %zu writes to byte %zu", what, slot, i)) break;
}

static void check_put(struct check *c)
{
    static const struct { const char *name; float max, one; } odd[] = {
        { "of zeros", 0, 0 },             { "of less than 2^-111", 0x1.fffffep-112f, 0 }, { "of 2^-111", 0x1p-111f, 0 },
        { "of subnormals", 0x1p-140f, 0 }, { "of 3e38", 3e38f, 0 },                       { "of FLT_MAX", FLT_MAX, FLT_MAX },
        { "with NaN", 1, NAN },           { "with inf", 1, INFINITY },                    { "with -inf", 1, -INFINITY },
        { "with FLT_MAX", 1, FLT_MAX },   { "with 1e-3", 1, 1e-3f },
    };
    float x[GROUP];
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        for (size_t d = 0; d < GROUP; d++) x[d] = odd[i].max * (float)((int)(d * 7 % 63) - 31) / 31;
        if (odd[i].one != 0) x[13] = odd[i].one;
        check_numbers(c, odd[i].name, x, i * 5 % 32);
    }
    for (int e = -110; e < 128; e += c->quick ? 7 : 1) { /* m from 2^e to 2^(e + 1) */
        const float m = ldexpf(1 + (float)(rnd() >> 8) * 0x1p-24f, e);
        for (size_t d = 0; d < GROUP; d++) x[d] = m * ((float)(int32_t)rnd() * 0x1p-31f);
        x[rnd() % GROUP] = rnd() % 2 ? m : -m;
        check_numbers(c, "of some magnitude", x, rnd() % 32);
    }
    for (int of = 127; of <= 2039; of += 2039 - 127) { /* a scale of 1, and ties */
        for (size_t d = 0; d < GROUP; d++) x[d] = (float)((int)(rnd() % (unsigned)(2 * of)) - of) + 0.5f;
        x[3] = (float)of;
        check_numbers(c, "of ties", x, rnd() % 32);
    }
}

/* ---- scores have the bits of the twin -------------------------------------------------------------------------------------------------
 * They are 4000, and differ by about 1: weights show a difference of 2^-12, the last bit of such a number. */
static void check_scores(struct check *c, size_t d_head, size_t rows)
{
    enum { N = 40, ROWS = 13, D = 256 };
    static float q[ROWS * D], out[ROWS * N], want[ROWS * N];
    char *kv = aligned_alloc_64(2 * kv_block_sz(KV_INT, d_head));
    float base[D], k[D], v[D] = { 0 };
    struct attn a = { .out = out, .ld_out = N, .q = q, .ld_q = d_head, .kv = { kv, kv_block_sz(KV_INT, d_head), NULL }, .n_keys = N,
                      .rows = (uint32_t)rows, .d_head = (uint32_t)d_head, .scale = 4000 / (float)d_head };
    for (size_t d = 0; d < d_head; d++) base[d] = rnd() % 2 ? 1 : -1;
    for (size_t i = 0; i < rows * d_head; i++) q[i] = base[i % d_head] + rnd_normal() * 0.3f;
    for (size_t j = 0; j < N; j++) {
        for (size_t d = 0; d < d_head; d++) k[d] = base[d] + rnd_normal() * 2.5e-4f * sqrtf((float)d_head);
        c->kern->kv_put[KV_INT](&a.kv, (uint32_t)j, k, v, (uint32_t)d_head);
    }
    c->kern->attn_weights[KV_INT](&a, c->scratch);
    a.out = want;
    c->ref->attn_weights[KV_INT](&a, c->scratch);
    for (size_t r = 0; r < rows; r++) {
        float max = 0;
        for (size_t j = 0; j < N; j++) max = fmaxf(max, want[r * N + j]);
        for (size_t j = 0; j < N; j++)
            check(c, fabsf(out[r * N + j] - want[r * N + j]) <= 1e-5f * max,
                  "scores of integers, d_head %zu, %zu rows: row %zu key %zu weighs %.9g, the twin's %.9g", d_head, rows, r, j,
                  (double)out[r * N + j], (double)want[r * N + j]);
    }
    free(kv);
}

/* ---- no numbers ---------------------------------------------------------------------------------------------------------------------- */
enum { NAN_KEYS = 300, NAN_ROWS = 13 };
struct nan_case {
    const char *what;
    size_t from, to; /* positions that are no numbers */
    int key, value;  /* whether the keys are, or the values: all of their first 32 d, or one of the second */
    int row;         /* of q, -1: none */
};

/* What becomes NaN does, all else keeps its bits. */
static void check_nan(struct check *c, const struct nan_case *t)
{
    static float out[2][NAN_ROWS * HEAD], parts[NAN_ROWS * 2 * (HEAD + 32)];
    const size_t block = kv_block_sz(KV_INT, HEAD), len = attn_partial_len(HEAD);
    char *kv = aligned_alloc_64((NAN_KEYS + 31) / 32 * block);
    float q[NAN_ROWS * HEAD], k[HEAD], v[HEAD];
    int32_t seen[NAN_ROWS];
    struct attn a = { .ld_out = HEAD, .q = q, .ld_q = HEAD, .kv = { kv, block, NULL }, .len = seen, .rows = NAN_ROWS, .d_head = HEAD,
                      .scale = 0.125f };
    rnd_floats(q, NAN_ROWS * HEAD, 1);
    for (size_t r = 0; r < NAN_ROWS; r++) seen[r] = (int32_t)(r * NAN_KEYS / (NAN_ROWS - 1));
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t j = 0; j < NAN_KEYS; j++) {
            const int bad = pass && j >= t->from && j < t->to;
            for (size_t d = 0; d < HEAD; d++) k[d] = sinf((float)(j * HEAD + d)), v[d] = cosf((float)(j * HEAD + d));
            if (bad && t->key) k[5] = NAN, k[40] = -INFINITY;
            if (bad && t->value) v[7] = INFINITY;
            c->kern->kv_put[KV_INT](&a.kv, (uint32_t)j, k, v, HEAD);
        }
        if (pass && t->row >= 0) q[(size_t)t->row * HEAD + 33] = INFINITY;
        a.out = out[pass];
        c->kern->attn[KV_INT](&a, c->scratch);
    }
    for (int whole = 1; whole >= 0; whole--) {
        for (size_t i = 0; i < NAN_ROWS * HEAD; i++) {
            const size_t r = i / HEAD, sees = (size_t)seen[r] > t->from;
            const int bad = (sees && (t->key || (t->value && i % HEAD < GROUP))) || ((int)r == t->row && seen[r]);
            check(c, bad ? isnan(out[1][i]) : same_bits(out[1] + i, out[0] + i, 1), "%s%s: row %zu (len %d) d %zu is %g, was %g", t->what,
                  whole ? "" : ", of partials", r, (int)seen[r], i % HEAD, (double)out[1][i], (double)out[0][i]);
        }
        for (size_t b = 0; b < 2 && whole; b++) c->kern->attn_partial[KV_INT](&a, b, parts + b * len, 2 * len, c->scratch);
        if (whole) c->kern->attn_merge(&a, parts, 2 * len, 2);
    }
    free(kv);
}

void check_kv_ints(struct check *c)
{
    static const struct nan_case cases[] = {
        { "a NaN among keys", 40, 41, 1, 0, -1 },       { "NaN among the keys of a later block", 290, 291, 1, 0, -1 },
        { "a block of NaN keys", 256, 300, 1, 1, -1 },  { "nothing but NaN keys", 0, 300, 1, 0, -1 },
        { "an infinite value", 40, 41, 0, 1, -1 },      { "infinite values in a later block", 260, 262, 0, 1, -1 },
        { "a row with an infinity", 300, 300, 0, 0, 7 }, { "the last row with an infinity", 300, 300, 0, 0, 12 },
    };
    check_put(c);
    for (size_t d_head = 32; d_head <= 256; d_head += 32) {
        check_scores(c, d_head, 1);
        check_scores(c, d_head, 13);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_nan(c, &cases[i]);
}
