/* steno: the arithmetic type of a matrix product. SPDX-License-Identifier: MIT
 *
 * Two effects can make low precision too inaccurate. Both are estimated from the weights, for rows as a norm leaves them: independent
 * values of variance 1, times the norm's weights.
 *
 * Integers have one step size for all values of a row or of a group. If the norm before a matrix makes a few channels much larger than the
 * rest (outliers), the step follows them and the other values lose their precision (Dettmers et al. 2022, Xiao et al. 2023). A matrix that
 * would lose too much in int8 is multiplied in bf16, whose error is relative to each value. A matrix that would lose too much in int16
 * keeps its stored bits.
 *
 * A softmax turns a relative error of queries and keys into a relative error of its weights, multiplied by the size of the scores. Queries,
 * keys and values therefore use no fewer bits than bf16, or int8 if the model allows it and scores are small. With large scores they keep
 * their stored bits, or use int16 if the rest uses int8, and the softmax's products are f32. Values alone may use the same bits as other
 * matrices after a norm, if the model allows it.
 *
 * Attention outputs are averages, and GELU of such values has no outliers: matrices behind them are not analysed. A FastConformer's
 * matrices behind SiLU are, from the rows of the matrix or the norm before it: its activations may have outliers there.
 *
 * When few rows meet a matrix, its bytes are the cost. It is packed by blocks of int8. It keeps its stored type if that is smaller, or if
 * the norm before it makes outliers. */
#include "plan/precision.h"
#include <math.h>
#include "plan/build.h"

enum { SAMPLE = 32 /* outputs examined, spread over the matrix */, COLUMNS = 256 /* columns examined, if all outputs are */ };

static double const outlier = 3.0;   /* a row's largest value, in standard deviations of its channel */
static double const i8_error = 0.02; /* limit of the error that rounding x adds to an output, relative to it */
static double const i16_error = 0.002;
static double const scores = 4.0;    /* limit for bf16, in standard deviations of the scores: their error is then three times the weights';
                                      * also for attention in int16, which rounds queries, keys and weights once more */
static double const i8_scores = 2;   /* limit for int8: weights are then off by 3 % of themselves, without bias */
static double const i8_attn = 1;     /* limit for attention in int8, which rounds queries, keys and weights once more */
static double const i16_scores = 16; /* limit for int16, whose steps are a fifth of bf16's if there are no outliers */

/* Rows of a matrix as numbers. */
struct row_reader { const struct tensor *t; size_t k; void *stored; float *x; };

static struct row_reader rows_begin(struct build *b, const struct tensor *t, uint64_t k)
{
    struct row_reader r = { .t = t, .k = (size_t)k };
    const size_t sz = dtype_row_sz(t->type, r.k);
    r.stored = arena_alloc(&b->scratch_arena, sz);
    r.x = arena_array(&b->scratch_arena, r.k, sizeof *r.x);
    if (!b->status && (!r.stored || !r.x)) b->status = err_nomem(b->e, sz, "a row of weights");
    return r;
}

/* @return 1, or 0: the builder has failed */
static int row_read(struct build *b, const struct row_reader *r, uint64_t row)
{
    if (!b->status) b->status = tensor_read_rows(r->t, row, 1, r->stored, b->e);
    if (!b->status) dtype_widen_row(r->x, r->t->type, r->stored, r->k);
    return !b->status;
}

/* Means over sampled outputs: of the sum of squares of norm weight times weight, and of the weights alone. */
struct energy { double out, plain; };

static struct energy energy_of(struct build *b, const struct tensor *t, const float *norm, uint64_t n, uint64_t k)
{
    const struct row_reader row = rows_begin(b, t, k);
    const uint64_t rows = n < SAMPLE ? n : SAMPLE;
    struct energy y = { 0 };
    for (uint64_t r = 0; r < rows && row_read(b, &row, r * n / rows); r++) {
        for (uint64_t i = 0; i < k; i++) {
            const double w = (double)row.x[i] * (double)row.x[i], g = (double)norm[i];
            y.out += w * g * g / (double)rows;
            y.plain += w / (double)rows;
        }
    }
    return y;
}

static double max_of(const float *x, uint64_t n)
{
    double max = 0;
    for (uint64_t i = 0; i < n; i++) max = fmax(max, fabs((double)x[i]));
    return max;
}

/* Would x lose too much in integers of type t? An error uniform in +-step / 2 has the variance step^2 / 12. */
static int has_outliers(const struct energy *y, const float *norm, uint64_t k, enum packed_type t)
{
    const uint64_t run = t == PK_I16_PAIR ? I16_GROUP : t == PK_I8_QUAD ? k : QBLOCK; /* values that share a step */
    const double steps = t == PK_I16_PAIR ? I16_X_MAX : I8_MAX, max = t == PK_I16_PAIR ? i16_error : i8_error;
    double error = 0;
    for (uint64_t i = 0; i < k; i += run) {
        const uint64_t n = k - i < run ? k - i : run;
        const double step = outlier * max_of(norm + i, n) / steps;
        error += step * step / 12 * (double)n / (double)k;
    }
    return error * y->plain > max * max * y->out;
}

int precision_is_estimated(const struct build *b, enum linear_role role)
{
    const enum packed_type t = b->p.precision.by_role[role];
    return t && t != PK_BF16_PAIR && !b->p.store->dry && !b->status;
}

static float *deviations_take(struct build *b, uint64_t n)
{
    float *y = arena_array(&b->scratch_arena, (size_t)n, sizeof *y);
    if (!y) b->status = err_nomem(b->e, (size_t)n * sizeof *y, "standard deviations");
    return y;
}

static float with_mean(double variance, double mean)
{
    return (float)sqrt(variance + (mean > 0 ? mean * mean : 0));
}

const float *precision_of_norm(struct build *b, const float *weight, const float *bias, uint64_t n)
{
    float *y = weight && bias ? deviations_take(b, n) : NULL;
    for (uint64_t i = 0; y && i < n; i++) y[i] = with_mean((double)weight[i] * (double)weight[i], (double)bias[i]);
    return y;
}

const float *precision_of_outputs(struct build *b, const struct tensor *t, uint64_t n, uint64_t k, const struct bind *norm,
                                  const float *bias)
{
    const struct row_reader row = rows_begin(b, t, k);
    float *y = deviations_take(b, n);
    const uint64_t step = k > COLUMNS ? k / COLUMNS : 1;
    for (uint64_t r = 0; r < n && row_read(b, &row, r); r++) {
        double variance = 0, mean = 0;
        for (uint64_t i = r % step; i < k; i += step) {
            const double w = (double)row.x[i] * (double)norm->norm_weight[i];
            variance += w * w;
            mean += norm->bias ? (double)row.x[i] * (double)norm->bias[i] : 0;
        }
        y[r] = with_mean(variance * (double)step, mean * (double)step + (bias ? (double)bias[r] : 0));
    }
    return b->status ? NULL : y;
}

/* For a matrix that holds queries, keys and values, the mean of all is used for each. */
struct linear_input precision_input(struct build *b, enum linear_role role, const struct matrices *m, const float *norm)
{
    const struct precision *p = &b->p.precision;
    const int asked = p->by_role[LINEAR_QKV] || p->int8_attn || p->int16_attn;
    if (b->status || role != LINEAR_QKV || !norm || !asked || b->p.store->dry) return (struct linear_input){ norm, 0 };
    const struct energy q = energy_of(b, m->tensor[0], norm, m->n[0], m->k);
    const struct energy key = m->n_parts > 1 ? energy_of(b, m->tensor[1], norm, m->n[1], m->k) : q;
    return (struct linear_input){ norm, q.out * key.out };
}

/* The block type for a stored type that loses no more than 8 bits do; 0: it is kept. Rows of int8 are read as larger blocks. Other blocks
 * keep their bits, so columns must stay where they are. */
static enum packed_type by_blocks(enum packed_type lowest, const struct matrices *m, const struct tensor *t)
{
    const enum dtype stored = t->type;
    if (t->form == FORM_I8_ROWS || stored == DT_F32 || stored == DT_F16 || stored == DT_BF16 || stored == DT_Q8_0) return lowest;
    for (int type = PK_Q4_QUAD; type < PK_COUNT && !m->column_head && m->taps == 1; type++)
        if (pack_takes((enum packed_type)type, stored)) return (enum packed_type)type;
    return 0;
}

/* May a matrix after a norm with these weights be multiplied in t? score: the variance of the scores, which are d products of queries and
 * keys divided by the root of d; 0: the matrix makes no scores. */
static int tolerates(enum packed_type t, const struct energy *y, double score, const float *norm, uint64_t k)
{
    const double max = t == PK_I16_PAIR ? i16_scores : t == PK_I8_QUAD ? i8_scores : scores;
    if (score > max * max) return 0;
    return t == PK_BF16_PAIR || !has_outliers(y, norm, k, t);
}

/* The replacement for t when it has too few bits and `lowest` was allowed; 0: the stored type. */
static enum packed_type next_higher(const struct precision *p, enum packed_type lowest, enum packed_type t)
{
    if (t == PK_I8_QUAD && p->bf16) return p->bf16;
    return lowest == PK_I8_QUAD && t != PK_I16_PAIR ? p->int16 : 0;
}

enum packed_type precision_of(struct build *b, enum linear_role role, const struct matrices *m, int at, const struct linear_input *in)
{
    const struct precision *p = &b->p.precision;
    const enum packed_type lowest = p->by_role[role];
    enum packed_type t = lowest == PK_Q8_QUAD || lowest == PK_Q8_QUAD_A8 ? by_blocks(lowest, m, m->tensor[at]) : lowest;
    if (role == LINEAR_QKV && t == PK_I8_QUAD && !p->int8_scores) t = next_higher(p, lowest, t);
    if (matrices_columns(m) > LOWP_K_MAX) return 0; /* sums of such rows would not fit their integers */
    if (!t || !in->norm || b->p.store->dry) return t;
    const struct energy y = energy_of(b, m->tensor[at], in->norm, m->n[at], m->k);
    while (!b->status && t && !tolerates(t, &y, in->score, in->norm, m->k)) t = next_higher(p, lowest, t);
    return t;
}

/* Values use fewer bits than queries and keys if that is allowed. Otherwise all three stay one product. */
enum packed_type precision_of_values(struct build *b, const struct matrices *m, const struct linear_input *in, enum packed_type qkv)
{
    if (qkv != PK_BF16_PAIR || b->p.precision.by_role[LINEAR_VALUES] != PK_I8_QUAD || m->n_parts > 1) return qkv;
    return precision_of(b, LINEAR_VALUES, m, 0, &(struct linear_input){ in->norm, 0 }) == PK_I8_QUAD ? PK_I8_QUAD : qkv;
}

int precision_attends_in(const struct build *b, enum linear_role role, const struct linear_input *in, enum kv_type t)
{
    const struct precision *p = &b->p.precision;
    const double most = t == KV_I8 ? i8_attn : scores;
    if (role != LINEAR_QKV || !(t == KV_I8 ? p->int8_attn : p->int16_attn)) return 0;
    return in->norm ? in->score <= most * most : t == KV_I16;
}
