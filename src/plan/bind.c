/* steno: binding the weights of ops. SPDX-License-Identifier: MIT */
#include "plan/bind.h"
#include <math.h>
#include <stdio.h>
#include "plan/build.h"
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

const float *bind_sinusoids_of_chunks(struct build *b, uint32_t rows, uint32_t chunk, uint32_t width)
{
    float *t = packed_take(b, (size_t)rows * width * sizeof *t);
    for (uint32_t r = 0; t && !b->p.store->dry && r < rows; r++) sinusoids_row(t + (size_t)r * width, width, r % chunk);
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

uint16_t bind_best_approx(struct build *b, const char *w, uint64_t n, uint64_t k)
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

/* ---- linears of one or several matrices -------------------------------------------------------------------------------------- */

/* Concatenated biases, in the order of the weights; NULL: no part has one. */
static const float *bias_of(struct build *b, const struct linear_desc *l)
{
    struct stored what = { .n_parts = (uint32_t)l->n_parts, .as = STORED_F32 };
    const struct tensor *tensor[LINEAR_PARTS_MAX];
    int any = 0;
    for (int i = 0; i < l->n_parts; i++) {
        const struct linear_part *part = &l->part[i];
        tensor[i] = part->bias ? bind_tensor(b, part->bias, part->n, 0, 0) : NULL;
        what.tensor[i] = tensor_number(b, tensor[i]);
        what.n += with_room(part->n, l->out_head);
        any |= part->bias != NULL;
    }
    if (!any || b->status) return NULL;
    what.data = weight_store_find(b->p.store, &what);
    if (what.data) return what.data;
    float *all = packed_take(b, (size_t)what.n * sizeof *all); /* zeroed, so a missing bias is zeros */
    what.data = all;
    for (int i = 0; i < l->n_parts && !b->status && !b->p.store->dry; all += with_room(l->part[i++].n, l->out_head)) {
        if (tensor[i]) b->status = tensor_read_f32(tensor[i], all, b->e);
        if (tensor[i] && l->out_head) spread_heads(all, l->part[i].n / l->out_head, l->out_head);
    }
    packed_remember(b, &what);
    return what.data;
}

/* Bind rows of matrices of one stored type, packed as lower (0: as stored). */
static uint16_t bind_rows(struct build *b, const struct matrices *m, enum packed_type lower, const float *bias)
{
    const enum packed_type stored = m->column_head ? PK_F32 : packed_as_stored(m->tensor[0]->type), type = lower ? lower : stored;
    const void *packed = pack_shared(b, m, type);
    const uint32_t n = (uint32_t)matrices_rows(m), k = (uint32_t)matrices_columns(m);
    const uint16_t id = bind_add(b);
    if (!b->status)
        *bind_at(b, id) = (struct bind){ .w = packed, .bias = bias, .n = n, .k = k, .n_y = n, .type = (uint8_t)type, .stride = 1 };
    return id;
}

static void add_rows(struct build *b, struct linear_binds *binds, const struct matrices *m, enum packed_type lower, const float *bias)
{
    if (b->status) return;
    binds->column[binds->n] = binds->width;
    binds->bind[binds->n++] = bind_rows(b, m, lower, bias ? bias + binds->width : NULL);
    binds->width += (uint32_t)matrices_rows(m);
}

/* Bind part `from` and the following parts of the same stored type. Values are bound separately if they are packed as another type. @return
 * the first remaining part */
static int add_parts(struct build *b, struct linear_binds *binds, const struct linear_desc *l, const struct linear_input *in,
                     const struct matrices *all, int from, uint64_t n_values, const float *bias)
{
    int to = from + 1;
    while (to < l->n_parts && all->tensor[to]->type == all->tensor[from]->type) to++;
    const enum packed_type lower = precision_of(b, l->role, all, from, in);
    struct matrices m = *all;
    m.n_parts = to - from;
    for (int i = 0; i < m.n_parts; i++) {
        m.tensor[i] = all->tensor[from + i];
        m.n[i] = all->n[from + i];
    }
    const enum packed_type values = n_values ? precision_of_values(b, &m, in, lower) : lower;
    if (values != lower) m.n[0] -= n_values;
    add_rows(b, binds, &m, lower, bias);
    if (values == lower) return to;
    m.first = m.n[0];
    m.n[0] = n_values;
    add_rows(b, binds, &m, values, bias);
    return to;
}

struct linear_binds bind_linear_values(struct build *b, const struct linear_desc *desc, uint64_t n_values)
{
    struct linear_binds binds = { 0 };
    struct linear_desc own = *desc;
    const struct linear_desc *const l = &own;
    if (head_room(own.out_head) == own.out_head) own.out_head = 0; /* nothing to add */
    if (head_room(own.in_head) == own.in_head) own.in_head = 0;
    struct matrices m = { .k = l->k, .n_parts = l->n_parts, .taps = 1, .row_head = l->out_head, .column_head = l->in_head };
    for (int i = 0; i < l->n_parts; i++) {
        m.tensor[i] = bind_tensor(b, l->part[i].weight, l->part[i].n, l->k, 0);
        m.n[i] = l->part[i].n;
    }
    const float *bias = bias_of(b, l);
    const float *norm = !b->status && l->norm != NO_BIND ? bind_at(b, l->norm)->norm_weight : NULL;
    const struct linear_input in = precision_input(b, l->role, &m, norm ? norm : l->deviations);
    for (int t = KV_TYPES; t < KV_PANELS; t++) binds.attends[t - KV_TYPES] = precision_attends_in(b, l->role, &in, (enum kv_type)t);
    if (!b->status && matrices_rows(&m) > UINT32_MAX)
        b->status = err_set(b->e, STENO_EUNSUPPORTED, "%s: tensor %s has too many rows", b->p.weights->name, m.tensor[0]->name);
    for (int from = 0; from < l->n_parts && !b->status;) from = add_parts(b, &binds, l, &in, &m, from, n_values, bias);
    return binds;
}

struct linear_binds bind_linear(struct build *b, const struct linear_desc *l)
{
    return bind_linear_values(b, l, 0);
}

uint16_t bind_matrix(struct build *b, const struct linear_part *part, uint64_t k, enum linear_role role, uint16_t norm)
{
    return bind_linear(b, &(struct linear_desc){ part, 1, k, role, norm, NULL, 0, 0 }).bind[0];
}

const float *bind_deviations(struct build *b, enum linear_role role, const char *name, uint16_t matrix, uint16_t norm)
{
    char weight[NAME_MAX_LEN];
    snprintf(weight, sizeof weight, "%s.weight", name);
    if (!precision_is_estimated(b, role)) return NULL;
    const struct bind *m = bind_at(b, matrix);
    const struct tensor *t = bind_tensor(b, weight, m->n, m->k, 0);
    return t ? precision_of_outputs(b, t, m->n, m->k, bind_at(b, norm), m->bias) : NULL;
}

enum kv_type linear_kv_type(const struct build *b, const struct linear_binds *l)
{
    if (b->status) return KV_F32;
    for (int i = 0; i < l->n; i++) {
        const uint8_t t = b->bind[l->bind[i]].type;
        if (t != PK_BF16_PAIR && (t != PK_I8_QUAD || !b->p.precision.bf16)) return KV_F32;
    }
    return KV_BF16;
}

/* Attention in int16 follows products of int8, too, unless bf16 is faster. */
static int run_follows(const struct build *b, enum kv_type t, enum packed_type product)
{
    return product == kv_run_packed(t) || (t == KV_I16 && product == PK_I8_QUAD && !b->p.precision.bf16);
}

static int suits_run(const struct build *b, const struct linear_binds *l, uint32_t d_head, enum kv_type t)
{
    const int may = l->attends[t - KV_TYPES] && (t == KV_I8 || d_head <= I16_GROUP);
    int all = may && !b->status && head_room(d_head) == d_head && l->width <= UINT16_MAX && b->plan.max_rows <= RUN_KEYS_MAX;
    for (int i = 0; i < l->n && all; i++) all = run_follows(b, t, (enum packed_type)b->bind[l->bind[i]].type);
    return all;
}

enum kv_type linear_kv_type_of_run(const struct build *b, const struct linear_binds *l, uint32_t d_head)
{
    for (int t = KV_I8; t < KV_PANELS; t++)
        if (suits_run(b, l, d_head, (enum kv_type)t)) return (enum kv_type)t;
    return linear_kv_type(b, l);
}

enum kv_type linear_kv_type_of_relative(const struct build *b, const struct linear_binds *l, uint32_t d_head)
{
    int all = !b->status && l->attends[KV_I16 - KV_TYPES] && d_head <= I16_GROUP && b->plan.max_rows <= RUN_KEYS_MAX;
    for (int i = 0; i < l->n && all; i++) {
        const uint8_t t = b->bind[l->bind[i]].type;
        all = t == PK_I16_PAIR || t == PK_BF16_PAIR || t == PK_I8_QUAD;
    }
    return all ? KV_I16 : KV_PANELS;
}

/* The number of outputs in both [at, at + n) and [from, to). */
static uint32_t columns_shared(uint32_t at, uint32_t n, uint32_t from, uint32_t to)
{
    const uint32_t a = at > from ? at : from, b = at + n < to ? at + n : to;
    return a < b ? b - a : 0;
}

void emit_linear(struct build *b, const struct linear_use *u, const struct linear_binds *l)
{
    const uint32_t n_y = l->width - 2 * u->n_kv;
    char label[NAME_MAX_LEN];
    if (!b->status && l->n > 1 && l->width > UINT16_MAX)
        b->status = err_set(b->e, STENO_EUNSUPPORTED, "%s: %s has %u outputs in parts of unequal types, want at most %d",
                            b->p.weights->name, u->label, l->width, UINT16_MAX);
    for (int i = 0; i < l->n && !b->status; i++) {
        struct bind *c = bind_at(b, l->bind[i]);
        c->n_y = columns_shared(l->column[i], c->n, 0, n_y);
        c->n_kv = columns_shared(l->column[i], c->n, n_y, n_y + u->n_kv);
        c->act = (uint8_t)u->act;
        c->heads = u->heads;
        c->kv_heads = u->kv_heads;
        c->d_head = u->d_head;
        snprintf(label, sizeof label, "%s.%d", u->label, i);
        struct op *op = emit(b, OP_LINEAR, l->n > 1 ? label : u->label, c->n_y ? u->out : NO_SLOT, u->in, l->bind[i]);
        if (!op) return;
        if (c->n_y) op->aux = u->aux;
        if (c->n_y) op->column = (uint16_t)l->column[i];
        if (c->n_y == c->n) continue;
        op->kv_slot = u->kv_slot;
        op->state = u->state;
        op->layer = u->layer;
    }
}
