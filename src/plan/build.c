/* steno: the plan builder: slots, binding and packing of weights. SPDX-License-Identifier: MIT */
#include "plan/build.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "plan/logits_approx.h"

enum {
    MAX_OPS = 8192, MAX_SLOTS = 4096, /* 256 layers, the most a reader lets through, need 2821 and 3 for each of HEADS_MAX */
    NAME_MAX_LEN = 128
};

static void *store_take(struct build *b, size_t n)
{
    void *p = weight_store_take(b->store, n);
    if (!p && !b->status) b->status = err_nomem(b->e, n, "packed weights");
    return p;
}

/* ---- building ---- */

void build_begin(struct build *b, const char *name, struct arena *arena, struct weights *w, struct weight_store *store,
                 const struct kern *kern, steno_team *team, uint32_t max_rows, uint32_t max_out, steno_error *e)
{
    memset(b, 0, sizeof *b);
    b->arena = arena;
    b->weights = w;
    b->store = store;
    b->kern = kern;
    b->team = team;
    b->e = e;
    b->prefix = b->variant = "";
    b->plan.name = name;
    b->plan.max_rows = max_rows;
    b->plan.max_out = max_out;
    b->plan.input = b->plan.output = b->plan.logits = b->plan.bounds = NO_SLOT;
    arena_init(&b->scratch_arena);
    if (max_rows > UINT16_MAX || max_out > UINT16_MAX) /* groups of rows count them in 16 bits */
        b->status = err_set(e, STENO_EUNSUPPORTED, "plan %s: %u rows, want at most %d", name, max_rows > max_out ? max_rows : max_out,
                            UINT16_MAX);
    b->op = arena_array(&b->scratch_arena, MAX_OPS, sizeof *b->op);
    b->label = arena_array(&b->scratch_arena, MAX_OPS, sizeof *b->label);
    b->bind = arena_array(&b->scratch_arena, MAX_OPS, sizeof *b->bind);
    b->slot = arena_array(&b->scratch_arena, MAX_SLOTS, sizeof *b->slot);
    if (!b->status && (!b->op || !b->label || !b->bind || !b->slot)) b->status = err_nomem(e, MAX_OPS * sizeof *b->op, "plan");
}

void build_phase(struct build *b, const char *name)
{
    int i = 0;
    while (i < PLAN_PHASES && b->plan.phase[i].name) i++;
    if (i == PLAN_PHASES) {
        if (!b->status) b->status = err_set(b->e, STENO_EUNSUPPORTED, "plan %s: more than %d phases", b->plan.name, PLAN_PHASES);
        return;
    }
    b->plan.phase[i] = (struct phase){ name, b->plan.n_ops, b->plan.n_ops };
}

static uint16_t slot_add(struct build *b, struct slot s)
{
    if (b->status) return 0;
    if (b->plan.n_slots == MAX_SLOTS) {
        b->status = err_set(b->e, STENO_EUNSUPPORTED, "plan %s: more than %d buffers", b->plan.name, MAX_SLOTS);
        return 0;
    }
    s.size = (s.size + 63) & ~(size_t)63;
    s.first = UINT16_MAX;
    b->slot[b->plan.n_slots] = s;
    return b->plan.n_slots++;
}

static uint16_t slot_rows(struct build *b, uint32_t rows, uint32_t width)
{
    const uint32_t ld = width + ROW_PAD;
    return slot_add(b, (struct slot){ .width = width, .ld = ld, .rows = rows, .size = (size_t)rows * ld * sizeof(float) });
}

uint16_t build_slot(struct build *b, uint32_t width)
{
    return slot_rows(b, b->plan.max_rows, width);
}

uint16_t build_slot_out(struct build *b, uint32_t width)
{
    const uint16_t s = slot_rows(b, b->plan.max_out, width);
    if (!b->status) b->slot[s].is_out = 1;
    return s;
}

uint16_t build_slot_padded(struct build *b, uint32_t rows, uint32_t width)
{
    return slot_add(b, (struct slot){ .width = width, .ld = width, .rows = rows, .front = 1,
                                      .size = ((size_t)rows + 2) * width * sizeof(float) });
}

uint16_t build_slot_kv(struct build *b, uint32_t heads, uint32_t d_head, enum kv_type type)
{
    const uint32_t blocks = (b->plan.max_rows + KV_BLOCK - 1) / KV_BLOCK;
    return slot_add(b, (struct slot){ .width = 2 * heads * d_head, .rows = blocks * KV_BLOCK, .heads = heads, .d_head = d_head,
                                      .kv_type = type, .size = (size_t)blocks * heads * kv_block_sz(type, d_head) });
}

uint16_t build_slot_like(struct build *b, uint16_t slot)
{
    return b->status ? 0 : slot_add(b, b->slot[slot]);
}

static void slot_use(struct build *b, uint16_t s, uint16_t at)
{
    if (s == NO_SLOT || b->status) return;
    struct slot *p = &b->slot[s];
    if (at < p->first) p->first = at;
    if (at > p->last) p->last = at;
}

struct op *emit(struct build *b, enum op_kind kind, const char *label, uint16_t out, uint16_t in, uint16_t bind)
{
    static struct op const blank = { .out = NO_SLOT, .in = NO_SLOT, .aux = NO_SLOT, .kv_slot = NO_SLOT, .state = NO_STATE };
    if (!b->status && b->plan.n_ops == MAX_OPS)
        b->status = err_set(b->e, STENO_EUNSUPPORTED, "plan %s: more than %d commands", b->plan.name, MAX_OPS);
    if (b->status) return NULL; /* the tables may be missing */
    const uint16_t at = b->plan.n_ops++;
    char name[NAME_MAX_LEN];
    const int n = snprintf(name, sizeof name, "%s%s%s%s", b->variant, b->prefix, *b->prefix ? "." : "", label);
    b->label[at] = arena_strdup(b->arena, name, n < (int)sizeof name ? (size_t)n : sizeof name - 1);
    if (!b->label[at]) b->status = err_nomem(b->e, (size_t)n, "labels");
    struct op *op = &b->op[at];
    *op = blank;
    op->kind = (uint8_t)kind;
    op->out = out;
    op->in = in;
    op->bind = bind;
    return op;
}

/* Rows of logits, and of what belongs to them, are as many as there are lanes, which each session knows for itself. So these slots are
 * columns of one block: of the scratch of a plan that is laid out for the most lanes, few lanes reach into the beginning. The block. */
static struct slot out_columns(struct build *b)
{
    struct slot all = { .first = UINT16_MAX };
    for (uint16_t i = 0; i < b->plan.n_slots; i++) {
        struct slot *s = &b->slot[i];
        if (!s->is_out || s->first == UINT16_MAX) continue;
        if (s->first < all.first) all.first = s->first;
        s->offset = all.ld * sizeof(float); /* in a row */
        s->size = (size_t)(s->width + ROW_PAD) * sizeof(float);
        all.ld += (s->width + ROW_PAD + 15) & ~15u;
        all.rows = s->rows;
    }
    all.size = (size_t)all.rows * all.ld * sizeof(float);
    return all;
}

/* Where a slot lies lowest beside those that are placed and alive with it. */
static size_t lowest_gap(const struct build *b, const struct slot *me, const uint16_t *placed, uint16_t n)
{
    size_t at = 0;
    for (int moved = 1; moved;) {
        moved = 0;
        for (uint16_t k = 0; k < n; k++) {
            const struct slot *o = &b->slot[placed[k]];
            if (o->last < me->first || at >= o->offset + o->size || o->offset >= at + me->size) continue;
            at = o->offset + o->size;
            moved = 1;
        }
    }
    return at;
}

/* The columns of the block `all` at `at`. */
static void columns_place(struct build *b, const struct slot *all, size_t at)
{
    for (uint16_t i = 0; i < b->plan.n_slots; i++) {
        struct slot *s = &b->slot[i];
        if (!s->is_out || s->first == UINT16_MAX) continue;
        s->ld = all->ld;
        s->offset += at;
        s->size += (size_t)(s->rows - 1) * s->ld * sizeof(float);
    }
}

/* Give each slot a place in the scratch block: in order of first use, the lowest gap between slots alive at the same time. */
static void slots_place(struct build *b)
{
    struct plan *p = &b->plan;
    for (uint16_t i = 0; i < p->n_ops; i++) {
        const struct op *op = &b->op[i];
        slot_use(b, op->out, i);
        slot_use(b, op->in, i);
        slot_use(b, op->aux, i);
        slot_use(b, op->kv_slot, i);
    }
    slot_use(b, p->input, 0);
    slot_use(b, p->output, p->n_ops);
    slot_use(b, p->logits, p->n_ops);
    slot_use(b, p->bounds, p->n_ops);
    uint16_t placed[MAX_SLOTS], n = 0;
    for (uint16_t at = 0; at <= p->n_ops; at++)
        for (uint16_t s = 0; s < p->n_slots; s++) {
            struct slot *me = &b->slot[s];
            if (me->first != at || me->is_out) continue;
            me->offset = lowest_gap(b, me, placed, n);
            if (me->offset + me->size > p->scratch_sz) p->scratch_sz = me->offset + me->size;
            placed[n++] = s;
        }
    const struct slot out = out_columns(b);
    if (!out.rows) return;
    const size_t at = lowest_gap(b, &out, placed, n);
    columns_place(b, &out, at);
    if (at + out.size > p->scratch_sz) p->scratch_sz = at + out.size;
}

static const void *keep(struct build *b, const void *src, size_t n)
{
    void *p = arena_alloc(b->arena, n);
    if (p) memcpy(p, src, n);
    else if (!b->status) b->status = err_nomem(b->e, n, "plan");
    return p;
}

int build_end(struct build *b, struct plan *out)
{
    struct plan *p = &b->plan;
    if (b->unfused) build_unfuse(b);
    if (!b->status) {
        for (int i = 0; i < PLAN_PHASES; i++)
            if (p->phase[i].name) p->phase[i].last = i + 1 < PLAN_PHASES && p->phase[i + 1].name ? p->phase[i + 1].first : p->n_ops;
        slots_place(b);
        p->op = keep(b, b->op, p->n_ops * sizeof *b->op);
        p->label = keep(b, b->label, p->n_ops * sizeof *b->label);
        p->bind = keep(b, b->bind, p->n_binds * sizeof *b->bind);
        p->slot = keep(b, b->slot, p->n_slots * sizeof *b->slot);
        if (!b->status) *out = *p;
    }
    arena_free(&b->scratch_arena);
    return b->status;
}

/* ---- binding ---- */

static uint16_t bind_add(struct build *b)
{
    if (!b->status && b->plan.n_binds == MAX_OPS)
        b->status = err_set(b->e, STENO_EUNSUPPORTED, "plan %s: more than %d bindings", b->plan.name, MAX_OPS);
    return b->status ? 0 : b->plan.n_binds++;
}

struct bind *bind_at(struct build *b, uint16_t i)
{
    return &b->bind[i];
}

uint16_t bind_copy(struct build *b, uint16_t i)
{
    const uint16_t id = bind_add(b);
    if (!b->status) b->bind[id] = b->bind[i];
    return id;
}

static struct tensor *tensor_get(struct build *b, const char *part, uint64_t d0, uint64_t d1, uint64_t d2)
{
    if (b->status) return NULL;
    char name[NAME_MAX_LEN];
    const uint64_t dim[4] = { d0, d1, d2, 0 };
    struct tensor *t = NULL;
    snprintf(name, sizeof name, "%s%s%s", b->prefix, *b->prefix ? "." : "", part);
    b->status = weights_get(b->weights, name, dim, &t, b->e);
    return b->status ? NULL : t;
}

static const float *tensor_f32(struct build *b, const char *part, uint64_t d0, uint64_t d1)
{
    struct tensor *t = part ? tensor_get(b, part, d0, d1, 0) : NULL;
    if (t && t->widened) return t->widened;
    float *dst = t ? store_take(b, (size_t)(d0 * (d1 ? d1 : 1)) * sizeof(float)) : NULL;
    if (dst && !b->store->dry) b->status = tensor_read_f32(t, dst, b->e);
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

/* A packing job: each item is one panel, read from the file and interleaved by whichever thread is free. */
struct pack_job {
    struct tensor *part[4];
    uint64_t n, k;          /* rows and columns of one part */
    uint64_t rows;          /* of all parts */
    uint32_t taps;          /* > 1: convolution, stored [channels, taps] and wanted [taps, channels] */
    enum dtype type;        /* as stored */
    enum packed_type packed;
    uint8_t *out, *buffer;  /* buffer: [threads] of PANEL rows, where taps > 1 as many turned, and where they are to be widened of f32 */
    size_t row_sz, buffer_sz, wide_at;
    struct approx_panel *screen; /* [panels] what packing loses, NULL: nobody asks */
    const struct kern *kern;
    _Atomic int status;
    steno_error *errors;    /* [threads] */
};

static void taps_first(uint8_t *dst, const uint8_t *src, size_t elem, uint64_t channels, uint32_t taps)
{
    for (uint32_t t = 0; t < taps; t++)
        for (uint64_t c = 0; c < channels; c++) memcpy(dst + (t * channels + c) * elem, src + (c * taps + t) * elem, elem);
}

static void pack_item(void *arg, int64_t panel, int thread)
{
    struct pack_job *j = arg;
    uint8_t *buf = j->buffer + (size_t)thread * j->buffer_sz, *turned = buf + PANEL * j->row_sz;
    const void *rows[PANEL] = { 0 };
    const uint64_t first = (uint64_t)panel * PANEL;
    const uint64_t last = first + PANEL < j->rows ? first + PANEL : j->rows;
    for (uint64_t r = first; r < last;) {
        const uint64_t part = r / j->n, at = r % j->n;
        const uint64_t take = j->n - at < last - r ? j->n - at : last - r;
        uint8_t *dst = buf + (r - first) * j->row_sz;
        const int rc = tensor_read_rows(j->part[part], at, take, dst, &j->errors[thread]);
        if (rc) {
            atomic_store(&j->status, rc);
            return;
        }
        for (uint64_t i = 0; i < take; i++) {
            uint8_t *row = dst + i * j->row_sz;
            if (j->taps > 1) {
                taps_first(turned + (r - first + i) * j->row_sz, row, j->row_sz / j->k, j->k / j->taps, j->taps);
                row = turned + (r - first + i) * j->row_sz;
            }
            rows[r - first + i] = row;
        }
        r += take;
    }
    float *const wide = (float *)(void *)(buf + j->wide_at);
    const int widen = !pack_takes(j->packed, j->type);
    for (int i = 0; i < PANEL && widen; i++) {
        if (!rows[i]) continue;
        dtype_widen_row(wide + (size_t)i * j->k, j->type, rows[i], j->k);
        rows[i] = wide + (size_t)i * j->k;
    }
    struct q8_loss loss;
    uint8_t *const out = j->out + (size_t)panel * pack_panel_sz(j->packed, j->k);
    j->kern->pack(out, j->screen ? &loss : NULL, j->packed, widen ? DT_F32 : j->type, rows, j->k);
    if (j->screen) j->screen[panel] = approx_panel_of(&loss, j->k);
}

/* Pack the rows of 1..4 tensors, one under the other, as type `packed`. */
static const void *pack_parts(struct build *b, struct tensor *const *part, int n_parts, uint64_t n, uint64_t k, uint32_t taps,
                              enum packed_type packed, struct approx_panel *screen)
{
    const int threads = team_threads(b->team);
    struct pack_job j = { .n = n, .k = k, .rows = n * (uint64_t)n_parts, .taps = taps, .type = part[0]->type,
                          .packed = packed, .screen = screen, .kern = b->kern };
    for (int i = 0; i < n_parts; i++) {
        j.part[i] = part[i];
        if (part[i]->type != j.type)
            b->status = err_set(b->e, STENO_EFORMAT, "%s: tensor %s is %s, want %s as %s", b->weights->name, part[i]->name,
                                dtype_name(part[i]->type), dtype_name(j.type), part[0]->name);
    }
    if (b->status) return NULL;
    j.row_sz = dtype_row_sz(j.type, k);
    j.wide_at = ((taps > 1 ? 2 : 1) * PANEL * j.row_sz + 63) & ~(size_t)63;
    j.buffer_sz = j.wide_at + (pack_takes(j.packed, j.type) ? 0 : PANEL * (size_t)k * sizeof(float));
    j.buffer_sz = (j.buffer_sz + 63) & ~(size_t)63;
    j.out = store_take(b, pack_sz(j.packed, j.rows, k));
    if (b->store->dry) return j.out;
    struct arena scratch_arena;
    arena_init(&scratch_arena);
    j.buffer = arena_array(&scratch_arena, (size_t)threads, j.buffer_sz);
    j.errors = arena_array(&scratch_arena, (size_t)threads, sizeof *j.errors);
    if (!j.out || !j.buffer || !j.errors) {
        if (!b->status) b->status = err_nomem(b->e, (size_t)threads * j.buffer_sz, "packing");
    } else {
        team_for(b->team, (int64_t)pack_panels(j.rows), pack_item, &j);
        b->status = atomic_load(&j.status);
        for (int i = 0; i < threads && b->status; i++)
            if (j.errors[i].status) {
                err_set(b->e, j.errors[i].status, "%s", j.errors[i].text);
                break;
            }
    }
    arena_free(&scratch_arena);
    return j.out;
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
    const enum packed_type narrow = arith_of(b, part, n_parts, n, k), type = narrow ? narrow : packed_as_stored(part[0]->type);
    const void *packed = pack_parts(b, part, n_parts, n, k, taps, type, NULL);
    if (!b->status) remember(part, n_parts, packed, type);
    return packed;
}

/* Biases under each other as their weights are, the first of which remembers them. */
static const float *bias_of(struct build *b, int n_parts, struct tensor *first, const char *const *bias, uint64_t n)
{
    if (first->bias) return first->bias;
    float *all = store_take(b, (size_t)(n * (uint64_t)n_parts) * sizeof(float));
    for (int i = 0; i < n_parts && all; i++) { /* pages are zeroed: a missing bias is zeros */
        struct tensor *t = bias[i] ? tensor_get(b, bias[i], n, 0, 0) : NULL;
        if (t && !b->store->dry) b->status = tensor_read_f32(t, all + (uint64_t)i * n, b->e);
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

uint16_t bind_screen(struct build *b, const char *w, uint64_t n, uint64_t k)
{
    struct tensor *t = tensor_get(b, w, n, k, 0);
    if (!t || (t->type != DT_F32 && t->type != DT_F16 && t->type != DT_BF16)) return NO_BIND;
    const enum packed_type type = approx_type(b->kern);
    struct approx_panel *screen = store_take(b, pack_panels((size_t)n) * sizeof *screen);
    const void *packed = b->status ? NULL : pack_parts(b, &t, 1, n, k, 1, type, screen);
    const uint16_t id = bind_add(b);
    if (!b->status)
        b->bind[id] = (struct bind){ .w = packed, .n = (uint32_t)n, .k = (uint32_t)k, .n_y = (uint32_t)n, .type = (uint8_t)type,
                                     .stride = 1, .approx = screen };
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

uint16_t bind_norm(struct build *b, const char *gain, const char *bias, uint64_t n, float eps)
{
    const float *g = bind_vector(b, gain, n), *v = bind_vector(b, bias, n);
    const uint16_t id = bind_add(b);
    if (!b->status) b->bind[id] = (struct bind){ .gain = g, .bias = v, .n = (uint32_t)n, .k = (uint32_t)n, .eps = eps };
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
                            b->weights->name, taps, left, heads, FSMN_TAPS);
    const struct tensor *t = tensor_get(b, w, n, taps, 0);
    const size_t sz = (size_t)n * taps * sizeof(float), wide = (size_t)n / heads;
    float *stored = t ? arena_alloc(&b->scratch_arena, sz) : NULL, *turned = stored ? store_take(b, sz) : NULL;
    if (t && !stored) b->status = err_nomem(b->e, sz, "a filter");
    if (turned) b->status = tensor_read_f32(t, stored, b->e);
    for (size_t c = 0; c < n && turned && !b->status && !b->store->dry; c++)
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
                            b->weights->name, heads, d_head, HEAD_MAX);
    const uint16_t id = bind_add(b);
    if (!b->status)
        b->bind[id] = (struct bind){ .heads = (uint16_t)heads, .d_head = (uint16_t)d_head, .n = heads * d_head, .k = heads * d_head,
                                     .scale = 1 / sqrtf((float)d_head) };
    return id;
}
