/* steno: checks of attention over the keys of a run, and of what packs them and values. SPDX-License-Identifier: MIT */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEADS_MAX = 256 };

struct net {
    enum kv_type kv_type;
    enum packed_type t;            /* of keys and values */
    const char *name;
    size_t rows, d_head, n_keys, ld;
    float *q, *kv;                 /* [rows, ld], [n_keys, 2 ld]: keys, then values */
    float *less;                   /* what is taken off keys */
    void *keys, *values;           /* as the level has them */
    void *twin_keys, *twin_values;
};

/* ---- packing */

static size_t keys_sz(const struct net *t) { return pack_sz(t->t, t->n_keys, t->d_head); }
static size_t values_sz(const struct net *t) { return pack_sz(t->t, t->d_head, t->n_keys); }

static void pack_net(const struct kern *k, const struct net *t, void *keys, void *values)
{
    const struct run_kern *run = kern_run_of(k, t->kv_type);
    for (size_t i = 0; i < t->n_keys; i += PANEL)
        run->pack_keys((char *)keys + i / PANEL * pack_panel_sz(t->t, t->d_head), t->kv + i * 2 * t->ld, 2 * t->ld,
                       t->n_keys - i < PANEL ? t->n_keys - i : PANEL, t->d_head, t->less);
    for (size_t i = 0; i < t->d_head; i += PANEL)
        run->pack_values((char *)values + i / PANEL * pack_panel_sz(t->t, t->n_keys), t->kv + t->ld + i, 2 * t->ld, t->n_keys,
                         t->d_head - i < PANEL ? t->d_head - i : PANEL);
}

/* The twin's bits, and the twin is what pack makes of keys as weights. A level for tiles cuts them. */
static void check_packing(struct check *c, const struct net *t)
{
    char *keys = guarded((keys_sz(t) + 63) & ~(size_t)63), *values = guarded((values_sz(t) + 63) & ~(size_t)63);
    float *rows = malloc(t->n_keys * t->d_head * sizeof *rows);
    pack_net(c->ref, t, keys, values);
    memcpy(t->twin_keys, keys, keys_sz(t)), memcpy(t->twin_values, values, values_sz(t));
    cut_as_level(c, t->kv_type, keys, t->n_keys, t->d_head);
    cut_as_level(c, t->kv_type, values, t->d_head, t->n_keys);
    check(c, !memcmp(keys, t->keys, keys_sz(t)), "%s: keys d_head %zu keys %zu: not the twin's", t->name, t->d_head, t->n_keys);
    check(c, !memcmp(values, t->values, values_sz(t)), "%s: values d_head %zu keys %zu: not the twin's", t->name, t->d_head, t->n_keys);
    for (size_t i = 0; i < t->n_keys * t->d_head; i++)
        rows[i] = t->kv[i / t->d_head * 2 * t->ld + i % t->d_head] - t->less[i % t->d_head];
    void *as_weights = pack_as(rows, t->t, DT_F32, t->n_keys, t->d_head);
    check(c, !memcmp(as_weights, t->twin_keys, keys_sz(t)), "%s: keys d_head %zu keys %zu: not as weights", t->name, t->d_head, t->n_keys);
    free(as_weights);
    free(rows);
}

/* ---- attention */

/* Number `which` of those before the integers of an output: its scale, and of values in int8 what they are counted from. */
static float packed_f32(const struct net *t, const void *panels, size_t k, size_t out, size_t which)
{
    float x;
    memcpy(&x, (const char *)panels + out / PANEL * pack_panel_sz(t->t, k) + (which * PANEL + out % PANEL) * 4, 4);
    return x;
}

static int packed_int(const struct net *t, const void *panels, size_t k, size_t out, size_t at)
{
    const char *panel = (const char *)panels + out / PANEL * pack_panel_sz(t->t, k) + PANEL * (t->t == PK_I8_QUAD ? 8 : 4);
    int16_t q;
    if (t->t == PK_I8_QUAD) return (int8_t)panel[(at / 4 * PANEL + out % PANEL) * 4 + at % 4];
    memcpy(&q, panel + (at / 2 * PANEL + out % PANEL) * 4 + at % 2 * 2, sizeof q);
    return q;
}

/* The formula in double. weight: what each key weighs; doubt: a step of it where it is near a tie. @return their sum */
static double weigh(const struct net *t, const float *x, float scale, double *weight, double *doubt)
{
    const int is_i8 = t->t == PK_I8_QUAD, of = is_i8 ? 127 : I16_X_MAX;
    const size_t group = is_i8 ? t->n_keys : RUN_GROUP;
    double most = 0, max = -INFINITY, sum = 0;
    int q[HEADS_MAX];
    for (size_t d = 0; d < t->d_head; d++) most = fmax(most, fabs((double)x[d]));
    for (size_t d = 0; d < t->d_head; d++) q[d] = (int)rintf(x[d] * (float)((float)of / (float)most));
    for (size_t j = 0; j < t->n_keys; j++) {
        double s = 0;
        for (size_t d = 0; d < t->d_head; d++) s += q[d] * packed_int(t, t->twin_keys, t->d_head, j, d);
        weight[j] = s * (double)packed_f32(t, t->twin_keys, t->d_head, j, 0) * (most / of) * (double)scale;
        max = fmax(max, weight[j]);
    }
    for (size_t j0 = 0; j0 < t->n_keys; j0 += group) {
        const size_t end = j0 + group < t->n_keys ? j0 + group : t->n_keys;
        double top = -INFINITY;
        for (size_t j = j0; j < end; j++) top = fmax(top, weight[j]);
        const double step = exp(top - max) / (is_i8 ? 254 : 16380);
        for (size_t j = j0; j < end; j++) {
            const double w = (is_i8 ? 254 : 16380) * exp(weight[j] - top), near = rint(w);
            doubt[j] = fabs(fabs(w - near) - 0.5) <= 1.5e-4 * w ? step : 0;
            weight[j] = near * step;
            sum += weight[j];
        }
    }
    return sum;
}

static void check_row(struct check *c, const struct net *t, const struct attn_run *a, size_t r)
{
    double *weight = malloc(2 * t->n_keys * sizeof *weight), *doubt = weight + t->n_keys;
    const double sum = weigh(t, a->q + r * a->ld_q, a->scale, weight, doubt);
    int ok = 1;
    for (size_t d = 0; d < t->d_head && ok; d++) {
        const double scale = packed_f32(t, t->twin_values, t->n_keys, d, 0);
        const double middle = t->t == PK_I8_QUAD ? packed_f32(t, t->twin_values, t->n_keys, d, 1) : 0;
        double want = 0, max = 0, most = 0;
        for (size_t j = 0; j < t->n_keys; j++) {
            const double v = packed_int(t, t->twin_values, t->n_keys, d, j);
            want += weight[j] * v;
            most = fmax(most, fabs(v));
        }
        for (size_t j = 0; j < t->n_keys; j++) max += doubt[j] * fabs(packed_int(t, t->twin_values, t->n_keys, d, j) - want / sum);
        const double off = a->out[r * a->ld_out + d] - (want / sum * scale + middle);
        ok = check(c, fabs(off) <= (1.1 * max / sum + most * 3e-6) * scale + 1e-6 * fabs(middle),
                   "%s: rows %zu d_head %zu keys %zu row %zu d %zu: %.9g not %.9g", t->name, t->rows, t->d_head, t->n_keys, r, d,
                   (double)a->out[r * a->ld_out + d], want / sum * scale + middle);
    }
    free(weight);
}

static void check_alone(struct check *c, const struct net *t, const struct attn_run *a, size_t r)
{
    float *out = guarded_floats(t->d_head);
    struct attn_run one = *a;
    one.rows = 1, one.q = a->q + r * a->ld_q, one.out = out;
    memset(c->scratch, 0xff, kern_attn_run_scratch(c->kern, t->kv_type, t->n_keys));
    kern_run_of(c->kern, t->kv_type)->attn(&one, c->scratch);
    check(c, same_bits(out, a->out + r * a->ld_out, t->d_head), "%s: rows %zu d_head %zu keys %zu: row %zu differs when alone", t->name,
          t->rows, t->d_head, t->n_keys, r);
}

/* The bits of a level over vectors, which reads panels as the twin packs them. */
static void check_vectors(struct check *c, const struct net *t, const struct attn_run *a)
{
    if (!c->vectors) return;
    float *out = guarded_floats(t->rows * a->ld_out);
    char *keys = aligned_alloc_64(keys_sz(t)), *values = aligned_alloc_64(values_sz(t));
    struct attn_run same = *a;
    memcpy(keys, t->twin_keys, keys_sz(t)), memcpy(values, t->twin_values, values_sz(t));
    same.out = out, same.keys = keys, same.values = values;
    kern_run_of(c->vectors, t->kv_type)->attn(&same, c->scratch);
    for (size_t r = 0; r < t->rows; r++)
        check(c, same_bits(out + r * a->ld_out, a->out + r * a->ld_out, t->d_head),
              "%s: rows %zu d_head %zu keys %zu: row %zu: not as over vectors", t->name, t->rows, t->d_head, t->n_keys, r);
    free(keys);
    free(values);
}

/* A number that is none in q, a key, or a column of values. */
static void check_nan(struct check *c, const struct net *t, const struct attn_run *a)
{
    static float const none[] = { NAN, INFINITY };
    const size_t d_bad = t->d_head / 2, j_bad = t->n_keys / 2;
    float *const at[] = { t->q + d_bad, t->kv + j_bad * 2 * t->ld + d_bad, t->kv + j_bad * 2 * t->ld + t->ld + d_bad };
    for (size_t what = 0; what < 3; what++) {
        const float kept = *at[what];
        *at[what] = none[what % 2];
        pack_net(c->kern, t, t->keys, t->values);
        kern_run_of(c->kern, t->kv_type)->attn(a, c->scratch);
        for (size_t r = 0; r < t->rows; r++)
            for (size_t d = 0; d < t->d_head; d++) {
                const int want = what == 0 ? r == 0 : what == 1 || d == d_bad;
                check(c, !isnan(a->out[r * a->ld_out + d]) == !want, "%s: d_head %zu keys %zu: row %zu d %zu is %g", t->name,
                      t->d_head, t->n_keys, r, d, (double)a->out[r * a->ld_out + d]);
            }
        *at[what] = kept;
    }
    pack_net(c->kern, t, t->keys, t->values);
}

static void check_shape(struct check *c, enum kv_type type, size_t rows, size_t d_head, size_t n_keys, float size)
{
    struct net t = { .kv_type = type, .t = kv_run_packed(type), .name = type == KV_I8 ? "attn_i8" : "attn_i16",
                     .rows = rows, .d_head = d_head, .n_keys = n_keys, .ld = d_head + 5 };
    const size_t ld_out = d_head + 3;
    t.q = guarded_floats((rows - 1) * t.ld + d_head);
    t.kv = guarded_floats((n_keys - 1) * 2 * t.ld + t.ld + d_head);
    t.keys = aligned_alloc_64(keys_sz(&t)), t.values = aligned_alloc_64(values_sz(&t));
    t.twin_keys = malloc(keys_sz(&t)), t.twin_values = malloc(values_sz(&t));
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
    const struct attn_run a = { .out = out, .ld_out = ld_out, .q = t.q, .ld_q = t.ld, .keys = t.keys, .values = t.values,
                               .rows = (uint32_t)rows, .d_head = (uint32_t)d_head, .n_keys = (uint32_t)n_keys,
                               .scale = 1 / sqrtf((float)d_head) };
    const size_t sz = kern_attn_run_scratch(c->kern, type, n_keys), all = kern_linear_scratch_max();
    memset(c->scratch, 0xff, all);
    kern_run_of(c->kern, type)->attn(&a, c->scratch);
    for (size_t i = sz; i < all; i++)
        if (!check(c, ((unsigned char *)c->scratch)[i] == 0xff, "%s: keys %zu: wrote at %zu of %zu", t.name, n_keys, i, sz)) break;
    for (size_t r = 0; r < rows; r++) {
        check_row(c, &t, &a, r);
        check_alone(c, &t, &a, r);
        for (size_t d = d_head; d < ld_out; d++) check(c, is_canary(out[r * ld_out + d]), "%s: wrote between rows", t.name);
    }
    check_vectors(c, &t, &a);
    check_nan(c, &t, &a);
    free(t.twin_keys);
    free(t.twin_values);
    free(t.keys);
    free(t.values);
    guarded_free_all();
}

void check_attn_run(struct check *c)
{
    static const struct { size_t rows, d_head, n_keys; } shape[] = {
        { 1, 4, 1 },    { 2, 8, 3 },      { 3, 16, 31 },    { 5, 20, 32 },   { 12, 32, 33 },  { 13, 36, 65 },  { 7, 64, 100 },
        { 25, 80, 47 }, { 12, 128, 171 }, { 27, 128, 130 }, { 4, 64, 63 },   { 6, 64, 64 },   { 5, 64, 129 },  { 6, 48, 255 },
        { 4, 252, 64 }, { 6, 256, 200 },  { 50, 64, 97 },   { 24, 128, 504 }, { 13, 64, 1500 }, { 3, 32, 2300 },
    };
    for (int type = KV_I8; type < KV_PANELS; type++)
        for (size_t i = 0; i < sizeof shape / sizeof *shape - (c->quick ? 5 : 0); i++) {
            if (type == KV_I16 && shape[i].d_head > I16_GROUP) continue;
            check_shape(c, (enum kv_type)type, shape[i].rows, shape[i].d_head, shape[i].n_keys, 1);
            check_shape(c, (enum kv_type)type, shape[i].rows, shape[i].d_head, shape[i].n_keys, 20);
        }
}
