/* steno: checks of attention in int8 and of what packs its keys and values. SPDX-License-Identifier: MIT */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 254, HEADS_MAX = 256 };

struct net {
    size_t rows, d_head, n_keys, ld;
    float *q, *kv;                 /* [rows, ld], [n_keys, 2 ld]: keys, then values */
    float *less;                   /* what is taken off keys */
    void *keys, *values;
};

/* ---- packing */

static size_t keys_sz(const struct net *t) { return pack_sz(PK_I8_QUAD, t->n_keys, t->d_head); }
static size_t values_sz(const struct net *t) { return pack_sz(PK_I8_QUAD, t->d_head, t->n_keys); }

static void pack_net(const struct kern *k, const struct net *t, void *keys, void *values)
{
    for (size_t i = 0; i < t->n_keys; i += PANEL)
        k->pack_keys_i8((char *)keys + i / PANEL * pack_panel_sz(PK_I8_QUAD, t->d_head), t->kv + i * 2 * t->ld, 2 * t->ld,
                        t->n_keys - i < PANEL ? t->n_keys - i : PANEL, t->d_head, t->less);
    for (size_t i = 0; i < t->d_head; i += PANEL)
        k->pack_values_i8((char *)values + i / PANEL * pack_panel_sz(PK_I8_QUAD, t->n_keys), t->kv + t->ld + i, 2 * t->ld, t->n_keys,
                          t->d_head - i < PANEL ? t->d_head - i : PANEL);
}

/* The twin's bits, and the twin is what pack makes of keys as weights. */
static void check_packing(struct check *c, const struct net *t)
{
    char *keys = guarded((keys_sz(t) + 63) & ~(size_t)63), *values = guarded((values_sz(t) + 63) & ~(size_t)63);
    float *rows = malloc(t->n_keys * t->d_head * sizeof *rows);
    pack_net(c->ref, t, keys, values);
    check(c, !memcmp(keys, t->keys, keys_sz(t)), "pack_keys_i8 d_head %zu keys %zu: not the twin's", t->d_head, t->n_keys);
    check(c, !memcmp(values, t->values, values_sz(t)), "pack_values_i8 d_head %zu keys %zu: not the twin's", t->d_head, t->n_keys);
    for (size_t i = 0; i < t->n_keys * t->d_head; i++)
        rows[i] = t->kv[i / t->d_head * 2 * t->ld + i % t->d_head] - t->less[i % t->d_head];
    void *as_weights = pack_as(rows, PK_I8_QUAD, DT_F32, t->n_keys, t->d_head);
    check(c, !memcmp(as_weights, keys, keys_sz(t)), "pack_keys_i8 d_head %zu keys %zu: not as weights", t->d_head, t->n_keys);
    free(as_weights);
    free(rows);
}

/* ---- attention */

/* Number `which` of those before the integers of an output: its scale, and of values what they are counted from. */
static float packed_f32(const void *panels, size_t k, size_t out, size_t which)
{
    float x;
    memcpy(&x, (const char *)panels + out / PANEL * pack_panel_sz(PK_I8_QUAD, k) + (which * PANEL + out % PANEL) * 4, 4);
    return x;
}

static int packed_int(const void *panels, size_t k, size_t out, size_t at)
{
    const char *panel = (const char *)panels + out / PANEL * pack_panel_sz(PK_I8_QUAD, k) + PANEL * 8;
    return (int8_t)panel[(at / 4 * PANEL + out % PANEL) * 4 + at % 4];
}

/* The formula in double. weight: what each key weighs; doubt: 1 where it is near a tie. @return their sum */
static double weigh(const struct net *t, const float *x, float scale, double *weight, double *doubt)
{
    double most = 0, max = -INFINITY, sum = 0;
    int q[HEADS_MAX];
    for (size_t d = 0; d < t->d_head; d++) most = fmax(most, fabs((double)x[d]));
    for (size_t d = 0; d < t->d_head; d++) q[d] = (int)rintf(x[d] * (float)(127 / (float)most));
    for (size_t j = 0; j < t->n_keys; j++) {
        double s = 0;
        for (size_t d = 0; d < t->d_head; d++) s += q[d] * packed_int(t->keys, t->d_head, j, d);
        weight[j] = s * (double)packed_f32(t->keys, t->d_head, j, 0) * (most / 127) * (double)scale;
        max = fmax(max, weight[j]);
    }
    for (size_t j = 0; j < t->n_keys; j++) {
        const double w = MOST * exp(weight[j] - max);
        weight[j] = rint(w);
        doubt[j] = fabs(fabs(w - weight[j]) - 0.5) <= 1.5e-4 * w;
        sum += weight[j];
    }
    return sum;
}

static void check_row(struct check *c, const struct net *t, const struct attn_i8 *a, size_t r)
{
    double *weight = malloc(2 * t->n_keys * sizeof *weight), *doubt = weight + t->n_keys;
    const double sum = weigh(t, a->q + r * a->ld_q, a->scale, weight, doubt);
    int ok = 1;
    for (size_t d = 0; d < t->d_head && ok; d++) {
        const double scale = packed_f32(t->values, t->n_keys, d, 0), middle = packed_f32(t->values, t->n_keys, d, 1);
        double want = 0, max = 0;
        for (size_t j = 0; j < t->n_keys; j++) want += weight[j] * packed_int(t->values, t->n_keys, d, j);
        for (size_t j = 0; j < t->n_keys; j++)
            max += doubt[j] * fabs(packed_int(t->values, t->n_keys, d, j) - want / sum);
        const double off = a->out[r * a->ld_out + d] - (want / sum * scale + middle);
        ok = check(c, fabs(off) <= (1.1 * max / sum + 127 * 3e-6) * scale + 1e-6 * fabs(middle),
                   "attn_i8 rows %zu d_head %zu keys %zu row %zu d %zu: %.9g not %.9g", t->rows, t->d_head, t->n_keys, r, d,
                   (double)a->out[r * a->ld_out + d], want / sum * scale + middle);
    }
    free(weight);
}

static void check_alone(struct check *c, const struct net *t, const struct attn_i8 *a, size_t r)
{
    float *out = guarded_floats(t->d_head);
    struct attn_i8 one = *a;
    one.rows = 1, one.q = a->q + r * a->ld_q, one.out = out;
    memset(c->scratch, 0xff, kern_attn_i8_scratch(t->n_keys));
    c->kern->attn_i8(&one, c->scratch);
    check(c, same_bits(out, a->out + r * a->ld_out, t->d_head), "attn_i8 rows %zu d_head %zu keys %zu: row %zu differs when alone", t->rows,
          t->d_head, t->n_keys, r);
}

/* A number that is none in q, a key, or a column of values. */
static void check_nan(struct check *c, const struct net *t, const struct attn_i8 *a)
{
    static float const none[] = { NAN, INFINITY };
    const size_t d_bad = t->d_head / 2, j_bad = t->n_keys / 2;
    float *const at[] = { t->q + d_bad, t->kv + j_bad * 2 * t->ld + d_bad, t->kv + j_bad * 2 * t->ld + t->ld + d_bad };
    for (size_t what = 0; what < 3; what++) {
        const float kept = *at[what];
        *at[what] = none[what % 2];
        pack_net(c->kern, t, t->keys, t->values);
        c->kern->attn_i8(a, c->scratch);
        for (size_t r = 0; r < t->rows; r++)
            for (size_t d = 0; d < t->d_head; d++) {
                const int want = what == 0 ? r == 0 : what == 1 || d == d_bad;
                check(c, !isnan(a->out[r * a->ld_out + d]) == !want, "attn_i8 d_head %zu keys %zu: row %zu d %zu is %g", t->d_head,
                      t->n_keys, r, d, (double)a->out[r * a->ld_out + d]);
            }
        *at[what] = kept;
    }
    pack_net(c->kern, t, t->keys, t->values);
}

static void check_shape(struct check *c, size_t rows, size_t d_head, size_t n_keys, float size)
{
    struct net t = { .rows = rows, .d_head = d_head, .n_keys = n_keys, .ld = d_head + 5 };
    const size_t ld_out = d_head + 3;
    t.q = guarded_floats((rows - 1) * t.ld + d_head);
    t.kv = guarded_floats((n_keys - 1) * 2 * t.ld + t.ld + d_head);
    t.keys = aligned_alloc_64(keys_sz(&t)), t.values = aligned_alloc_64(values_sz(&t));
    t.less = guarded_floats(d_head);
    rnd_floats(t.less, d_head, 0.5f);
    rnd_floats(t.q, (rows - 1) * t.ld + d_head, size);
    rnd_floats(t.kv, (n_keys - 1) * 2 * t.ld + t.ld + d_head, 1);
    for (size_t d = 0; d < d_head; d++) t.kv[n_keys / 3 * 2 * t.ld + d] = t.less[d]; /* a key of nothing, */
    for (size_t j = 0; j < n_keys; j++) t.kv[j * 2 * t.ld + t.ld] = 0;       /* and a column */
    pack_net(c->kern, &t, t.keys, t.values);
    check_packing(c, &t);
    float *out = guarded_floats(rows * ld_out);
    fill_canary(out, rows * ld_out);
    const struct attn_i8 a = { .out = out, .ld_out = ld_out, .q = t.q, .ld_q = t.ld, .keys = t.keys, .values = t.values,
                               .rows = (uint32_t)rows, .d_head = (uint32_t)d_head, .n_keys = (uint32_t)n_keys,
                               .scale = 1 / sqrtf((float)d_head) };
    const size_t sz = kern_attn_i8_scratch(n_keys), all = kern_linear_scratch_max();
    memset(c->scratch, 0xff, all);
    c->kern->attn_i8(&a, c->scratch);
    for (size_t i = sz; i < all; i++)
        if (!check(c, ((unsigned char *)c->scratch)[i] == 0xff, "attn_i8 keys %zu: wrote at %zu of %zu", n_keys, i, sz)) break;
    for (size_t r = 0; r < rows; r++) {
        check_row(c, &t, &a, r);
        check_alone(c, &t, &a, r);
        for (size_t d = d_head; d < ld_out; d++) check(c, is_canary(out[r * ld_out + d]), "attn_i8 wrote between rows");
    }
    check_nan(c, &t, &a);
    free(t.keys);
    free(t.values);
    guarded_free_all();
}

void check_attn_i8(struct check *c)
{
    static const struct { size_t rows, d_head, n_keys; } shape[] = {
        { 1, 4, 1 },   { 2, 8, 3 },   { 3, 16, 31 },  { 5, 20, 32 },  { 12, 32, 33 },   { 13, 36, 65 },  { 7, 64, 100 },
        { 25, 80, 47 }, { 12, 128, 171 }, { 27, 128, 130 }, { 4, 252, 64 }, { 6, 256, 200 }, { 24, 128, 504 },
    };
    for (size_t i = 0; i < sizeof shape / sizeof *shape - (c->quick ? 3 : 0); i++) {
        check_shape(c, shape[i].rows, shape[i].d_head, shape[i].n_keys, 1);
        check_shape(c, shape[i].rows, shape[i].d_head, shape[i].n_keys, 20);
    }
}
