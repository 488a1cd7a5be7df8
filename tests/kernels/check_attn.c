/* steno: checks of attention and kv_put. SPDX-License-Identifier: MIT */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Largest d_head; largest magnitudes of integers that KV_INT's queries and weights become, and queries beside the low bits of keys. */
enum { HEADS_MAX = 256, X_MAX = 127 * 256 + 127, X_LOW_MAX = 127 };

struct att {
    size_t rows, d_head, n_keys;
    enum kv_type type;
    int ragged, table;
    float *k, *v; /* what was stored, [n_keys, d_head] */
    float *k_low;                     /* KV_INT: what low bits are of k */
    double (*scale)[HEADS_MAX / 32]; /* and scales of values, [n_keys] */
};

/* What row r should be, [d_head], and how far off it may be; without: had weights not been rounded. */
struct expected { double want[HEADS_MAX], max[HEADS_MAX], without[HEADS_MAX], max_without[HEADS_MAX]; };

static char *block_of(const struct kv_view *v, size_t pos)
{
    return (char *)v->base + (v->table ? v->table[pos / 32] : pos / 32) * v->block_stride;
}

/* Queries as products see them: of KV_BF16 they are rounded, of KV_INT `steps` times a scale for each 32 at most. */
static void round_q(double *to, enum kv_type t, const float *q, size_t d_head, int steps)
{
    float x[HEADS_MAX];
    memcpy(x, q, d_head * sizeof *x);
    if (t == KV_BF16) kv_round(t, x, d_head, 0);
    for (size_t d = 0; d < d_head; d++) to[d] = x[d];
    for (size_t at = 0; at < d_head && kv_is_ints(t); at += 32) {
        float m = 0;
        for (size_t d = at; d < at + 32; d++) m = fmaxf(m, fabsf(x[d]));
        for (size_t d = at; d < at + 32 && m > 0; d++) to[d] = rintf(x[d] * ((float)steps / m)) * (double)(m / (float)steps);
    }
}

/* Weights of n keys in row r, in double and not yet divided by their sum, which is returned. */
static double weights(double *p, const struct att *t, const struct attn *a, size_t r, size_t n)
{
    double q[HEADS_MAX], q_low[HEADS_MAX], max = -INFINITY, sum = 0;
    round_q(q, t->type, a->q + r * a->ld_q, t->d_head, X_MAX);
    round_q(q_low, t->type, a->q + r * a->ld_q, t->d_head, X_LOW_MAX);
    for (size_t j = 0; j < n; j++) {
        p[j] = 0;
        for (size_t d = 0; d < t->d_head; d++) {
            const double low = t->k_low[j * t->d_head + d];
            p[j] += q[d] * (t->k[j * t->d_head + d] - low) + q_low[d] * low;
        }
        p[j] = j < attn_first_key(a, n) ? -INFINITY : p[j] * a->scale;
        if (p[j] > max) max = p[j];
    }
    for (size_t j = 0; j < n; j++) sum += p[j] = exp(p[j] - max);
    return sum;
}

/* KV_INT's sums of keys [j0, j1), a block, in 32 d from d0 on. The largest product of a weight and a scale becomes X_MAX steps, the others
 * as many as are nearest. One that f32 may see on the other side of a tie is a step off. */
static void weigh_ints(struct expected *e, const struct att *t, const double *p, size_t j0, size_t j1, size_t d0)
{
    double max = 0;
    for (size_t j = j0; j < j1; j++) max = fmax(max, p[j] * t->scale[j][d0 / 32]);
    const double step = max / X_MAX;
    for (size_t j = j0; j < j1 && step > 0; j++) {
        const double scale = t->scale[j][d0 / 32], w = p[j] * scale / step, n = rint(w), one = scale > 0 ? step / scale : 0;
        const double other = fabs(fabs(w - n) - 0.5) <= 1e-5 * w ? one : 0;
        const float *v = t->v + j * t->d_head;
        for (size_t d = d0; d < d0 + 32; d++) {
            e->want[d] += n * one * v[d], e->max[d] += other * fabs((double)v[d]);
            e->without[d] += p[j] * v[d], e->max_without[d] += 0.51 * one * fabs((double)v[d]);
        }
    }
}

/* The formula in double; tolerances are kern.h's. p: room for len weights, not yet divided by their sum, which is returned. */
static double expect(struct expected *e, const struct att *t, const struct attn *a, size_t r, size_t len, double *p)
{
    const double sum = len ? weights(p, t, a, r, len) : 1;
    double v_max = 0;
    memset(e, 0, sizeof *e);
    for (size_t j = 0; j < len * t->d_head; j++) v_max = fmax(v_max, fabs((double)t->v[j]));
    for (size_t j = 0; j < len && !kv_is_ints(t->type); j++)
        for (size_t d = 0; d < t->d_head; d++) e->want[d] += p[j] * t->v[j * t->d_head + d];
    for (size_t j = 0; j < len && kv_is_ints(t->type); j += ATTN_KEYS)
        for (size_t d = 0; d < t->d_head; d += 32) weigh_ints(e, t, p, j, j + ATTN_KEYS < len ? j + ATTN_KEYS : len, d);
    for (size_t d = 0; d < t->d_head; d++) {
        const double more = (t->type == KV_BF16 ? 4e-3 : 3e-6) * v_max;
        e->want[d] /= sum, e->max[d] = e->max[d] / sum + more;
        e->without[d] /= sum, e->max_without[d] = e->max_without[d] / sum + more;
    }
    return sum;
}

/* spread: squares of errors, and what they come to where rounding errors of weights are spread evenly. */
static void check_row(struct check *c, const struct att *t, const struct attn *a, size_t r, size_t len, double spread[2])
{
    double *p = calloc(len + 1, sizeof *p);
    struct expected e;
    const double sum = expect(&e, t, a, r, len, p);
    for (size_t d = 0; d < t->d_head; d++) {
        const double got = a->out[r * a->ld_out + d], want = e.want[d];
        if (!check(c, fabs(got - want) <= e.max[d], "attn rows %zu d_head %zu keys %zu type %d row %zu/%zu d %zu: %.9g not %.9g",
                   t->rows, t->d_head, t->n_keys, t->type, r, len, d, got, want))
            break;
        check(c, !kv_is_ints(t->type) || fabs(got - e.without[d]) <= e.max_without[d],
              "attn rows %zu d_head %zu keys %zu type %d row %zu/%zu d %zu: %.9g, more than %.3g from %.9g", t->rows, t->d_head, t->n_keys,
              t->type, r, len, d, got, e.max_without[d], e.without[d]);
        spread[0] += (got - want) * (got - want);
        for (size_t j = 0; j < len && t->type == KV_BF16; j++) {
            const double moved = 0x1p-8 * p[j] / sum * (t->v[j * t->d_head + d] - want);
            spread[1] += moved * moved / 3;
        }
    }
    free(p);
}

/* The twin rounds nearly the same weights. */
static void check_twin(struct check *c, const struct att *t, const struct attn *all)
{
    float *out = guarded_floats(t->rows * all->ld_out);
    double v_max = 0;
    struct attn a = *all;
    a.out = out;
    c->ref->attn[t->type](&a, c->scratch);
    for (size_t i = 0; i < t->n_keys * t->d_head; i++) v_max = fmax(v_max, fabs((double)t->v[i]));
    for (size_t i = 0; i < t->rows * a.ld_out; i++) {
        if (i % a.ld_out >= t->d_head) continue;
        const double got = all->out[i], want = out[i], max = (t->type == KV_BF16 ? 4e-3 : 1e-4) * v_max;
        if (!check(c, fabs(got - want) <= max, "attn rows %zu d_head %zu keys %zu type %d row %zu d %zu: %.9g, the twin %.9g", t->rows,
                   t->d_head, t->n_keys, t->type, i / a.ld_out, i % a.ld_out, got, want))
            return;
    }
}

/* What kern_attn_scratch does not count is as it was. */
static void check_scratch_beyond(struct check *c, const struct att *t)
{
    const unsigned char *p = c->scratch;
    size_t i = kern_attn_scratch(c->kern, t->type, t->d_head);
    while (i < kern_attn_scratch_max() && p[i] == 0xff) i++;
    check(c, i == kern_attn_scratch_max(), "attn rows %zu d_head %zu keys %zu type %d: wrote at %zu of its scratch, whose size is %zu",
          t->rows, t->d_head, t->n_keys, t->type, i, kern_attn_scratch(c->kern, t->type, t->d_head));
}

/* A row alone, with NaN in every key it must not see, gives the bits it gave among the others. */
static void check_row_alone(struct check *c, const struct att *t, const struct attn *a, size_t r, size_t len, size_t n_blocks)
{
    const size_t sz = n_blocks * a->kv.block_stride;
    char *copy = malloc(sz);
    float *out = guarded_floats(t->d_head);
    int32_t one = (int32_t)len;
    memcpy(copy, a->kv.base, sz);
    struct attn b = *a;
    b.rows = 1, b.q = a->q + r * a->ld_q, b.out = out, b.len = &one, b.kv.base = copy;
    for (size_t pos = len; pos < n_blocks * 32; pos++)
        for (int i = 0; i < 2; i++) kv_fill(t->type, block_of(&b.kv, pos), pos % 32, t->d_head, i, 0xff);
    memset(c->scratch, 0xff, kern_attn_scratch_max());
    c->kern->attn[t->type](&b, c->scratch);
    check(c, same_bits(out, a->out + r * a->ld_out, t->d_head), "attn rows %zu d_head %zu keys %zu: row %zu (len %zu) differs when alone",
          t->rows, t->d_head, t->n_keys, r, len);
    free(copy);
}

/* Partials of the blocks, made one by one from the last on, come to the same bits as all keys at once; blocks that no row sees change
 * nothing. */
static void check_parts(struct check *c, const struct att *t, const struct attn *all)
{
    const size_t n = t->n_keys / ATTN_KEYS + 1 + t->rows % 3, len = attn_partial_len(t->d_head), ld = n * len + 16;
    float *part = guarded_floats((t->rows - 1) * ld + n * len), *out = guarded_floats(t->rows * all->ld_out);
    struct attn a = *all;
    a.out = out;
    fill_canary(out, t->rows * a.ld_out);
    fill_canary(part, (t->rows - 1) * ld + n * len);
    for (size_t i = 0; i < n; i++) {
        const size_t b = n - 1 - i;
        memset(c->scratch, 0xff, kern_attn_scratch_max());
        c->kern->attn_partial[t->type](&a, b, part + b * len, ld, c->scratch);
    }
    c->kern->attn_merge(&a, part, ld, n);
    for (size_t r = 0; r < t->rows; r++) {
        check(c, same_bits(out + r * a.ld_out, all->out + r * a.ld_out, t->d_head),
              "attn rows %zu d_head %zu keys %zu type %d: row %zu differs when made of partials", t->rows, t->d_head, t->n_keys,
              t->type, r);
        for (size_t i = t->d_head; i < a.ld_out; i++) check(c, is_canary(out[r * a.ld_out + i]), "attn_merge wrote between rows");
        for (size_t i = n * len; i < ld && r + 1 < t->rows; i++)
            check(c, is_canary(part[r * ld + i]), "attn_partial wrote between rows");
    }
}

/* Weights alone: the formula in double, the bits of a row alone, nothing past the last key. */
static void check_weights(struct check *c, const struct att *t, const struct attn *all)
{
    const size_t n = t->n_keys, ld = n + 3;
    float *out = guarded_floats((t->rows - 1) * ld + n + !n), *alone = guarded_floats(n + !n);
    double *p = calloc(n + 1, sizeof *p);
    struct attn a = *all;
    a.window = 0; /* it is for attention alone */
    a.out = out, a.ld_out = ld, a.len = NULL, a.n_keys = (int32_t)n;
    fill_canary(out, (t->rows - 1) * ld + n + !n);
    memset(c->scratch, 0xff, kern_attn_scratch_max());
    c->kern->attn_weights[t->type](&a, c->scratch);
    for (size_t r = 0; r < t->rows; r++) {
        const double sum = weights(p, t, &a, r, n);
        for (size_t j = 0; j < n; j++)
            if (!check(c, fabs(out[r * ld + j] - p[j] / sum) <= 1e-5 / sum,
                       "attn_weights rows %zu d_head %zu keys %zu row %zu at %zu: %.9g not %.9g", t->rows, t->d_head, n, r, j,
                       (double)out[r * ld + j], p[j] / sum))
                break;
        for (size_t j = n; j < ld && r + 1 < t->rows; j++) check(c, is_canary(out[r * ld + j]), "attn_weights wrote past the last key");
        struct attn one = a;
        one.rows = 1, one.q = a.q + r * a.ld_q, one.out = alone;
        memset(c->scratch, 0xff, kern_attn_scratch_max());
        c->kern->attn_weights[t->type](&one, c->scratch);
        check(c, same_bits(alone, out + r * ld, n), "attn_weights rows %zu keys %zu: row %zu differs when alone", t->rows, n, r);
    }
    free(p);
}

/* A key beside the last of some row is no number, and neither is its value: the row does not notice, although others see it. */
static void check_unseen(struct check *c, const struct att *t, const struct attn *all)
{
    float *out = guarded_floats(t->rows * all->ld_out);
    struct attn a = *all;
    a.out = out;
    for (size_t r = 0; r < t->rows; r++) {
        const size_t pos = (size_t)a.len[r];
        if (pos >= t->n_keys) continue;
        char *block = block_of(&a.kv, pos), *kept = malloc(a.kv.block_stride);
        memcpy(kept, block, a.kv.block_stride);
        for (int i = 0; i < 2; i++) kv_fill(t->type, block, pos % 32, t->d_head, i, 0xff);
        memset(c->scratch, 0xff, kern_attn_scratch_max());
        c->kern->attn[t->type](&a, c->scratch);
        for (size_t i = 0; i < t->rows; i++) {
            if ((size_t)a.len[i] > pos) continue;
            check(c, same_bits(out + i * a.ld_out, all->out + i * a.ld_out, t->d_head),
                  "attn rows %zu d_head %zu keys %zu: row %zu (len %d) takes notice of key %zu", t->rows, t->d_head, t->n_keys, i,
                  (int)a.len[i], pos);
        }
        memcpy(block, kept, a.kv.block_stride);
        free(kept);
    }
}

/* A key and a value of chance, put and read again. */
static void put_key(struct check *c, const struct att *t, const struct attn *a, size_t j)
{
    float *k = t->k + j * t->d_head, *v = t->v + j * t->d_head;
    rnd_floats(k, t->d_head, j % 97 == 5 ? 5 : 1);
    rnd_floats(v, t->d_head, 1);
    c->kern->kv_put[t->type](&a->kv, (uint32_t)j, k, v, (uint32_t)t->d_head);
    kv_round(t->type, k, t->d_head, 0);
    kv_round(t->type, v, t->d_head, 1);
    const char *block = block_of(&a->kv, j);
    for (size_t d = 0; d < t->d_head; d++) {
        const double key = kv_read(t->type, block, j % 32, d, t->d_head, 0), value = kv_read(t->type, block, j % 32, d, t->d_head, 1);
        check(c, key == k[d] && value == v[d], "kv_put type %d: key %zu d %zu is %g not %g, its value %g not %g", t->type, j, d, key,
              (double)k[d], value, (double)v[d]);
        if (!kv_is_ints(t->type)) continue;
        const float scale = kv_scale(t->type, block, j % 32, d, t->d_head, 0);
        if (t->type == KV_INT) t->k_low[j * t->d_head + d] = scale * (float)((((int)(k[d] / scale) + 8) & 15) - 8);
        t->scale[j][d / 32] = kv_scale(t->type, block, j % 32, d, t->d_head, 1);
    }
}

enum { TABLE = 1, WINDOW = 2 }; /* blocks lie in the order of a table; rows see the last third of their keys */
static void check_case(struct check *c, size_t rows, size_t d_head, size_t keys, enum kv_type type, int ragged, unsigned how)
{
    struct att t = { rows, d_head, keys, type, ragged, how & TABLE, malloc((keys * d_head + 1) * 4), malloc((keys * d_head + 1) * 4),
                     calloc(keys * d_head + 1, 4), malloc((keys + 1) * sizeof *t.scale) };
    const size_t n_blocks = (t.n_keys + 31) / 32 + !t.n_keys, ld = t.d_head + 5;
    const size_t stride = kv_block_sz(t.type, t.d_head) + (t.table ? 64 : 0);
    char *kv = guarded(n_blocks * stride);
    float *q = guarded_floats((t.rows - 1) * ld + t.d_head), *out = guarded_floats(t.rows * ld);
    int32_t *len = guarded(t.rows * sizeof *len);
    uint16_t *table = malloc(n_blocks * sizeof *table);
    memset(kv, 0xff, n_blocks * stride); /* NaN past the last key */
    for (size_t i = 0; i < n_blocks; i++) table[i] = (uint16_t)(n_blocks - 1 - i);
    struct attn a = { .out = out, .ld_out = ld, .q = q, .ld_q = ld, .kv = { kv, stride, t.table ? table : NULL },
                      .len = t.ragged ? len : NULL, .n_keys = (int32_t)t.n_keys, .rows = (uint32_t)t.rows, .d_head = (uint32_t)t.d_head,
                      .window = how & WINDOW ? (uint32_t)keys / 3 + 1 : 0,
                      .scale = 1 / sqrtf((float)t.d_head), .next = { kv + n_blocks * stride, stride, t.table ? table : NULL },
                      .n_next = (uint32_t)n_blocks }; /* a hint: no code can read there */
    for (size_t j = 0; j < t.n_keys; j++) put_key(c, &t, &a, j);
    fill_canary(q, (t.rows - 1) * ld + t.d_head);
    for (size_t r = 0; r < t.rows; r++) {
        rnd_floats(q + r * ld, t.d_head, 1);
        len[r] = (int32_t)(t.ragged == 2 ? (r + 1 < t.n_keys ? r + 1 : t.n_keys) : rnd() % (t.n_keys + 1)); /* 2: causal */
    }
    if (t.ragged == 1) len[0] = 0, len[t.rows - 1] = (int32_t)t.n_keys;
    fill_canary(out, t.rows * ld);
    memset(c->scratch, 0xff, kern_attn_scratch_max());
    c->kern->attn[t.type](&a, c->scratch);
    check_scratch_beyond(c, &t);
    for (size_t i = 0; i < t.rows * ld; i++)
        if (i % ld >= t.d_head) check(c, is_canary(out[i]), "attn wrote between rows");
    double spread[2] = { 0, 0 };
    for (size_t r = 0; r < t.rows; r++) {
        const size_t n = t.ragged ? (size_t)len[r] : t.n_keys;
        check_row(c, &t, &a, r, n, spread);
        if (t.rows < 30 || r % 7 == 0) check_row_alone(c, &t, &a, r, n, n_blocks);
        if (n) continue;
        for (size_t d = 0; d < t.d_head; d++) check(c, out[r * ld + d] == 0, "attn: a row without keys is not zero");
    }
    if (t.ragged && t.rows < 30) check_unseen(c, &t, &a);
    if (t.type >= KV_BF16 && t.rows * t.n_keys < 20000) check_twin(c, &t, &a);
    if (t.type == KV_BF16 && t.rows * t.n_keys > 3000)
        check(c, spread[0] <= spread[1], "attn rows %zu d_head %zu keys %zu: errors are %.2f of what rounding weights may cost", t.rows,
              t.d_head, t.n_keys, sqrt(spread[0] / spread[1]));
    check_parts(c, &t, &a);
    check_weights(c, &t, &a);
    free(table);
    free(t.k);
    free(t.k_low);
    free(t.v);
    free(t.scale);
    guarded_free_all();
}

/* ---- what KV_BF16 promises ------------------------------------------------------------------------------------------------------- */
enum { KNOWN_KEYS = 5, KNOWN_D = 4 };

static float bf16_stored(float x) { return kv_round(KV_BF16, &x, 1, 0), x; }

/* The first output of `rows` equal rows over n keys, given the first two keys' weights in `weight`. */
static float known(struct check *c, size_t rows, size_t n, const float *q, float k[KNOWN_KEYS][KNOWN_D], const float *v, float weight[2])
{
    uint16_t kv[64 * KNOWN_D];
    float qs[KNOWN_D * 13], out[KNOWN_KEYS * 13], first;
    const struct attn a = { .out = out, .ld_out = KNOWN_KEYS, .q = qs, .ld_q = KNOWN_D, .kv = { kv, sizeof kv, NULL },
                            .n_keys = (int32_t)n, .rows = (uint32_t)rows, .d_head = KNOWN_D, .scale = 1 };
    memset(kv, 0xff, sizeof kv);
    for (size_t r = 0; r < rows; r++) memcpy(qs + r * KNOWN_D, q, KNOWN_D * sizeof *q);
    for (size_t j = 0; j < n; j++) {
        const float value[KNOWN_D] = { v[j], v[j], v[j], v[j] };
        c->kern->kv_put[KV_BF16](&a.kv, (uint32_t)j, k[j], value, KNOWN_D);
    }
    c->kern->attn[KV_BF16](&a, c->scratch);
    first = out[(rows - 1) * KNOWN_KEYS];
    c->kern->attn_weights[KV_BF16](&a, c->scratch);
    memcpy(weight, out + (rows - 1) * KNOWN_KEYS, 2 * sizeof *weight);
    return first;
}

/* Sums in pairs, the odd one first: 1 + 2^24 - 2^24 is 0; where even and odd ones are summed apart it is 1. Weights are rounded, and so
 * is their sum. */
static void check_known(struct check *c, size_t rows)
{
    const float order = c->other_order == 2;
    const float one[KNOWN_D] = { 1, 0, 0, 0 }, large[KNOWN_D] = { 1, 0, -0x1p24f, 0x1p24f };
    const float v_order[KNOWN_KEYS] = { 1, 0, -0x1p24f, 0x1p24f }, v_last[KNOWN_KEYS] = { 0, 1 };
    float k[KNOWN_KEYS][KNOWN_D] = { { 0 } }, weight[2];
    float got = known(c, rows, 4, one, k, v_order, weight);
    check(c, got == order / 4, "bf16, %zu rows: values 1 + 2^24 - 2^24 give %g", rows, (double)got);
    k[0][0] = k[0][1] = k[0][2] = k[0][3] = 1;
    known(c, rows, 2, large, k, v_last, weight);
    const double weighs = 1 / (1 + exp((double)-order));
    check(c, fabs((double)weight[0] - weighs) <= 1e-6 && fabs((double)weight[1] - (1 - weighs)) <= 1e-6,
          "bf16, %zu rows: a score of 1 + 2^24 - 2^24 weighs %g", rows, (double)weight[0]);
    memset(k, 0, sizeof k);
    for (int i = 1; i < 256; i++) { /* exp within 2^-17 decides where a weight falls */
        const float score = (float)-i / 16, e = expf(score), low = e * (1 - 0x1p-17f), high = e * (1 + 0x1p-17f);
        const double a = bf16_stored(low), b = bf16_stored(high);
        k[1][0] = score;
        got = known(c, rows, 2, one, k, v_last, weight);
        const double off = fmin(fabs((double)got - a / (1 + a)), fabs((double)got - b / (1 + b)));
        check(c, off <= 1e-6 * a, "bf16, %zu rows: a weight of %g or %g gives %.9g", rows, a, b, (double)got);
    }
    k[1][0] = -0x1p60f;   /* as good as -inf */
    got = known(c, rows, 2, one, k, v_last, weight);
    check(c, got == 0, "bf16, %zu rows: a weight of nothing gives %g", rows, (double)got);
    k[0][0] = k[1][0] = -INFINITY;
    got = known(c, rows, 2, one, k, v_last, weight);
    check(c, got == 0, "bf16, %zu rows: keys of -inf give %g", rows, (double)got);
}

/* Three blocks; scores of all keys in some of them are -infinity (and their values infinite): those weigh nothing, wherever they stand.
 * Keys of KV_INT are finite, but what their high bits give overflows (were their low ones to, with another sign, it would be NaN). */
static void check_passed_over(struct check *c, enum kv_type t, size_t rows)
{
    enum { N = 3 * ATTN_KEYS, D_MAX = 32 };
    const size_t d_head = kv_is_ints(t) ? 32 : 4, block = kv_block_sz(t, d_head);
    const float far = kv_is_ints(t) ? 0x1p66f : 1, gone_key = kv_is_ints(t) ? -0x1p66f : -INFINITY;
    float q[13 * D_MAX] = { 0 }, out[13 * D_MAX];
    char *kv = aligned_alloc_64(N / 32 * block);
    const struct attn a = { .out = out, .ld_out = d_head, .q = q, .ld_q = d_head, .kv = { kv, block, NULL }, .n_keys = N,
                            .rows = (uint32_t)rows, .d_head = (uint32_t)d_head, .scale = 1 };
    for (size_t r = 0; r < rows; r++) q[r * d_head] = far;
    for (unsigned gone = 0; gone < 8; gone++) {
        double sum = 0, mean = 0;
        for (size_t j = 0; j < N; j++) {
            const size_t b = j / ATTN_KEYS;
            const int is = gone >> b & 1;
            float key[D_MAX] = { is ? gone_key : (float)b / far }, value[D_MAX];
            for (size_t d = 0; d < d_head; d++) value[d] = is ? INFINITY : (float)(b + 1);
            c->kern->kv_put[t](&a.kv, (uint32_t)j, key, value, (uint32_t)d_head);
            kv_round(t, key, d_head, 0);
            kv_round(t, value, d_head, 1);
            if (!is) sum += exp((double)(key[0] * far)), mean += exp((double)(key[0] * far)) * (double)value[0];
        }
        c->kern->attn[t](&a, c->scratch);
        for (size_t i = 0; i < rows * d_head; i++)
            check(c, fabs((double)out[i] - (sum > 0 ? mean / sum : 0)) <= 1e-5, "attn type %d, %zu rows, without blocks %x: %g not %g", t,
                  rows, gone, (double)out[i], sum > 0 ? mean / sum : 0);
    }
    free(kv);
}

/* Three blocks; the keys of some are no numbers, though the values are: then no output is, at once or by partials. */
static void check_no_numbers(struct check *c, enum kv_type t, size_t rows)
{
    enum { N = 3 * ATTN_KEYS, D = 32 };
    const size_t block = kv_block_sz(t, D);
    const size_t blocks = N / ATTN_KEYS, len = attn_partial_len(D);
    float q[13 * D], out[13 * D], *part = guarded_floats(rows * blocks * len);
    char *kv = aligned_alloc_64(N / 32 * block);
    const struct attn a = { .out = out, .ld_out = D, .q = q, .ld_q = D, .kv = { kv, block, NULL }, .n_keys = N, .rows = (uint32_t)rows,
                            .d_head = D, .scale = 1 };
    for (size_t i = 0; i < 13 * D; i++) q[i] = 1;
    for (unsigned round = 0; round < 16; round++) {
        const unsigned bad = round / 2;
        for (size_t j = 0; j < N; j++) {
            float key[D], value[D];
            for (size_t d = 0; d < D; d++) key[d] = bad >> (j / ATTN_KEYS) & 1 ? NAN : 1, value[d] = 2;
            c->kern->kv_put[t](&a.kv, (uint32_t)j, key, value, D);
        }
        for (size_t b = 0; b < blocks && round % 2; b++) c->kern->attn_partial[t](&a, b, part + b * len, blocks * len, c->scratch);
        if (round % 2) c->kern->attn_merge(&a, part, blocks * len, blocks);
        else c->kern->attn[t](&a, c->scratch);
        for (size_t i = 0; i < rows * D; i++)
            if (!check(c, bad ? isnan(out[i]) : fabsf(out[i] - 2) < 0.02f, "attn type %d, %zu rows, blocks %x are no numbers: %g", t, rows,
                       bad, (double)out[i]))
                break;
    }
    free(kv);
}

static void check_type(struct check *c, enum kv_type t)
{
    static const size_t any[] = { 64, 4, 8, 12, 16, 24, 32, 40, 72, 80, 96, 100, 128, 256 }, by_32[] = { 64, 32, 96, 128, 160, 256, 192 };
    static const size_t keys[] = { 1, 5, 31, 32, 33, 64, 100, 255, 256, 257, 448, 600 };
    const size_t *heads = kv_is_ints(t) ? by_32 : any, n_heads = kv_is_ints(t) ? sizeof by_32 / sizeof *by_32 : sizeof any / sizeof *any;
    check_passed_over(c, t, 1);
    check_passed_over(c, t, 13);
    check_no_numbers(c, t, 1);
    check_no_numbers(c, t, 13);
    for (size_t i = 0; i < 28; i += c->quick > 1 ? 9 : c->quick ? 3 : 1) {
        check_case(c, 1 + i % 15, 64, keys[i % 12], t, (int)i % 3, i % 2);
        check_case(c, 1, 64, keys[i % 12], t, 0, i % 2);
        check_case(c, 1 + i * 3 % 14, heads[i % n_heads], keys[(i * 5 + 3) % 12], t, (int)(i / 2) % 3, i % 2);
    }
    if (c->quick < 2) check_case(c, 53, 64, c->quick ? 100 : 300, t, 2, 1);
    if (!c->quick) check_case(c, 50, 64, 520, t, 1, 0);
    check_case(c, 17, kv_is_ints(t) ? 96 : 100, 77, t, 0, 0); /* rows of two tiles, of three */
    check_case(c, 37, kv_is_ints(t) ? 160 : 72, c->quick ? 77 : 333, t, 1, 1);
    check_case(c, 3, 64, 0, t, 0, 0);
    for (size_t i = 0; i < 12; i += c->quick > 1 ? 5 : c->quick ? 2 : 1)
        check_case(c, 1 + i * 5 % 17, heads[i % n_heads], keys[i], t, (int)i % 3, WINDOW | i % 2);
    check_case(c, c->quick ? 13 : 40, 64, c->quick > 1 ? 300 : c->quick ? 600 : 1100, t, 2, TABLE | WINDOW);
    if (c->kern->level == CPU_C || c->quick) return;
    check_case(c, 1, 64, 1500, t, 0, 0);
    check_case(c, 5, 64, 1500, t, 0, 0);
    check_case(c, 61, 64, 1500, t, 0, 0);
}

void check_attn_bf16(struct check *c)
{
    check_known(c, 1);
    check_known(c, 13);
    check_type(c, KV_BF16);
}

void check_attn_ints(struct check *c)
{
    check_kv_ints(c);
    check_type(c, KV_INT);
    check_type(c, KV_Q8);
}

void check_attn(struct check *c)
{
    for (int t = 0; t < KV_BF16; t++) check_type(c, (enum kv_type)t);
    check_attn_bf16(c);
    check_attn_ints(c);
}
