/* steno: from a descriptor to a command list. SPDX-License-Identifier: MIT
 *
 * Slots with disjoint lifetimes share bytes of the scratch block. A slot lives from the first op that names it to the last.
 *
 * The gain of fusions is measured against a plan without them, and their results are tested against it. Q, K and V become three linears
 * over parts of the same packed weights. A bias with its activation becomes an op, and a residual (or positions) becomes another. Keys and
 * values are still written head-major by the epilogue, with their bias, because no other op can do so. Sums, bias, activation and residual
 * keep their order, each rounded to f32, so every bit is the same. */
#include "plan/build.h"
#include <stdio.h>
#include <string.h>

/* ---- slots, ops and bindings ------------------------------------------------------------------------------------------------- */

static uint16_t slot_add(struct build *b, struct slot s)
{
    if (b->status) return 0;
    if (b->plan.n_slots == PLAN_SLOTS_MAX) {
        b->status = err_set(b->e, STENO_EUNSUPPORTED, "plan %s: more than %d buffers", b->plan.name, PLAN_SLOTS_MAX);
        return 0;
    }
    s.size = (s.size + 63) & ~(size_t)63;
    s.first = UINT16_MAX;
    b->slot[b->plan.n_slots] = s;
    return b->plan.n_slots++;
}

uint16_t build_slot_rows(struct build *b, uint32_t rows, uint32_t width)
{
    const uint32_t ld = width + ROW_PAD;
    return slot_add(b, (struct slot){ .width = width, .ld = ld, .rows = rows, .size = (size_t)rows * ld * sizeof(float) });
}

uint16_t build_slot(struct build *b, uint32_t width)
{
    return build_slot_rows(b, b->plan.max_rows, width);
}

uint16_t build_slot_out(struct build *b, uint32_t width)
{
    const uint16_t s = build_slot_rows(b, b->plan.max_out, width);
    if (!b->status) b->slot[s].is_out = 1;
    return s;
}

uint16_t build_slot_padded(struct build *b, uint32_t rows, uint32_t width)
{
    return slot_add(b, (struct slot){ .width = width, .ld = width, .rows = rows, .front = 1,
                                      .size = ((size_t)rows + 2) * width * sizeof(float) });
}

/* A block has keys and values, so it also has room for twice as many keys. */
static uint16_t slot_blocks(struct build *b, uint32_t blocks, uint32_t heads, uint32_t d_head, enum kv_type type)
{
    const uint32_t room = head_room(d_head);
    return slot_add(b, (struct slot){ .width = 2 * heads * room, .rows = blocks * KV_BLOCK, .heads = heads, .d_head = room,
                                      .kv_type = type, .size = (size_t)blocks * heads * kv_block_sz(type, room) });
}

uint16_t build_slot_kv(struct build *b, uint32_t heads, uint32_t d_head, enum kv_type type)
{
    return slot_blocks(b, kv_blocks(b->plan.max_rows + b->plan.max_past), heads, d_head, type);
}

uint16_t build_slot_distances(struct build *b, uint32_t heads, uint32_t d_head, enum kv_type type)
{
    return slot_blocks(b, kv_blocks(b->plan.reach), heads, d_head, type);
}

void build_keep_distances(struct build *b, size_t most)
{
    struct plan *p = &b->plan;
    size_t block = 0; /* bytes of a block of all slots */
    for (uint16_t i = 0; i < p->n_ops && !b->status; i++) {
        struct slot *s = b->op[i].kind == OP_PACK_DISTANCES ? &b->slot[b->op[i].kv_slot] : NULL;
        if (!s) continue;
        s->kept_at = block;
        block += s->size / (s->rows / KV_BLOCK);
    }
    const size_t blocks = block ? most / block : 0;
    p->kept.rows = blocks < kv_blocks(p->reach) ? (uint32_t)blocks * KV_BLOCK : p->reach;
    p->kept.sz = block * kv_blocks(p->kept.rows);
}

static uint16_t build_slot_like(struct build *b, uint16_t slot)
{
    return b->status ? 0 : slot_add(b, b->slot[slot]);
}

struct op *emit(struct build *b, enum op_kind kind, const char *label, uint16_t out, uint16_t in, uint16_t bind)
{
    static struct op const blank = { .out = NO_SLOT, .in = NO_SLOT, .aux = NO_SLOT, .kv_slot = NO_SLOT, .state = NO_STATE };
    if (!b->status && b->plan.n_ops == PLAN_OPS_MAX)
        b->status = err_set(b->e, STENO_EUNSUPPORTED, "plan %s: more than %d commands", b->plan.name, PLAN_OPS_MAX);
    if (b->status) return NULL; /* the tables may be missing */
    const uint16_t at = b->plan.n_ops++;
    char name[NAME_MAX_LEN];
    const int n = snprintf(name, sizeof name, "%s%s%s%s", b->p.variant, b->prefix, *b->prefix ? "." : "", label);
    b->label[at] = arena_strdup(b->p.arena, name, n < (int)sizeof name ? (size_t)n : sizeof name - 1);
    if (!b->label[at]) b->status = err_nomem(b->e, (size_t)n, "labels");
    struct op *op = &b->op[at];
    *op = blank;
    op->kind = (uint8_t)kind;
    op->out = out;
    op->in = in;
    op->bind = bind;
    return op;
}

void emit_rows(struct build *b, uint16_t first, enum op_rows rows)
{
    for (uint16_t i = first; i < b->plan.n_ops && !b->status; i++) b->op[i].rows = (uint8_t)rows;
}

uint16_t bind_add(struct build *b)
{
    if (!b->status && b->plan.n_binds == PLAN_OPS_MAX)
        b->status = err_set(b->e, STENO_EUNSUPPORTED, "plan %s: more than %d bindings", b->plan.name, PLAN_OPS_MAX);
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

/* ---- placement of slots ------------------------------------------------------------------------------------------------------ */

static void slot_use(struct slot *slot, uint16_t s, uint16_t at)
{
    if (s == NO_SLOT) return;
    if (at < slot[s].first) slot[s].first = at;
    if (at > slot[s].last) slot[s].last = at;
}

/* The number of rows of logits, and of slots for the same rows, depends on the lanes of a session. These slots are therefore columns of one
 * block. Scratch is laid out for the most lanes; a session with few lanes uses only the beginning of the block. @return the block */
static struct slot out_columns(const struct plan *p, struct slot *slot)
{
    struct slot all = { .first = UINT16_MAX };
    for (uint16_t i = 0; i < p->n_slots; i++) {
        struct slot *s = &slot[i];
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

/* The lowest offset for a slot that does not overlap placed slots that are live at the same time. */
static size_t lowest_gap(const struct slot *slot, const struct slot *me, const uint16_t *placed, uint16_t n)
{
    size_t at = 0;
    for (int moved = 1; moved;) {
        moved = 0;
        for (uint16_t k = 0; k < n; k++) {
            const struct slot *o = &slot[placed[k]];
            if (o->last < me->first || at >= o->offset + o->size || o->offset >= at + me->size) continue;
            at = o->offset + o->size;
            moved = 1;
        }
    }
    return at;
}

/* Place the columns of the block `all` at `at`. */
static void columns_place(const struct plan *p, struct slot *slot, const struct slot *all, size_t at)
{
    for (uint16_t i = 0; i < p->n_slots; i++) {
        struct slot *s = &slot[i];
        if (!s->is_out || s->first == UINT16_MAX) continue;
        s->ld = all->ld;
        s->offset += at;
        s->size += (size_t)(s->rows - 1) * s->ld * sizeof(float);
    }
}

/* Place each slot in the scratch block: in order of first use, in the lowest gap between slots that are live at the same time.
 * p->scratch_sz grows to the needed size. slot: [p->n_slots], op: [p->n_ops] */
static void slots_place(struct plan *p, struct slot *slot, const struct op *op)
{
    for (uint16_t i = 0; i < p->n_ops; i++) {
        slot_use(slot, op[i].out, i);
        slot_use(slot, op[i].in, i);
        slot_use(slot, op[i].aux, i);
        slot_use(slot, op[i].kv_slot, i);
    }
    slot_use(slot, p->input, 0);
    slot_use(slot, p->output, p->n_ops);
    for (int i = 0; i < SIDE_OUTPUTS; i++) slot_use(slot, p->side_output[i], p->n_ops);
    slot_use(slot, p->logits, p->n_ops);
    slot_use(slot, p->bounds, p->n_ops);
    uint16_t placed[PLAN_SLOTS_MAX], n = 0;
    for (uint16_t at = 0; at <= p->n_ops; at++)
        for (uint16_t s = 0; s < p->n_slots; s++) {
            struct slot *me = &slot[s];
            if (me->first != at || me->is_out) continue;
            me->offset = lowest_gap(slot, me, placed, n);
            if (me->offset + me->size > p->scratch_sz) p->scratch_sz = me->offset + me->size;
            placed[n++] = s;
        }
    const struct slot out = out_columns(p, slot);
    if (!out.rows) return;
    const size_t at = lowest_gap(slot, &out, placed, n);
    columns_place(p, slot, &out, at);
    if (at + out.size > p->scratch_sz) p->scratch_sz = at + out.size;
}

/* ---- without fusions --------------------------------------------------------------------------------------------------------- */

enum { LABEL_MAX = 160 };

/* Emit a copy of an op of the old list, with its label and SUFFIX. */
static struct op *op_again(struct build *b, const struct op *o, const char *label, const char *suffix)
{
    char name[LABEL_MAX];
    snprintf(name, sizeof name, "%s%s", label, suffix);
    struct op *op = emit(b, (enum op_kind)o->kind, name, o->out, o->in, o->bind);
    if (op) *op = *o;
    return op;
}

/* Widths of Q, K and V, or of K and V, in the linear c, if it holds them and its panels can be split; otherwise the width of all of it.
 * @return the number of widths */
static int part_widths(uint32_t width[3], const struct bind *c)
{
    const uint32_t q = (uint32_t)c->heads * c->d_head, kv = (uint32_t)c->kv_heads * c->d_head;
    const int with_q = kv && c->n == q + 2 * kv, fits = q % PANEL == 0 && kv % PANEL == 0;
    width[0] = width[1] = width[2] = kv;
    if (with_q) width[0] = q;
    if (kv && fits && (with_q || c->n == 2 * kv)) return with_q ? 3 : 2;
    width[0] = c->n;
    return 1;
}

/* The sums of a linear, in parts, to rows of `out` and to keys and values. */
static void emit_sums(struct build *b, const struct op *o, const char *label, uint16_t out)
{
    static const char *const suffix[] = { ".0", ".1", ".2" };
    const struct bind whole = *bind_at(b, o->bind);
    uint32_t width[3], at = 0;
    const int n_parts = part_widths(width, &whole);
    for (int i = 0; i < n_parts && !b->status; at += width[i++]) {
        const uint16_t id = bind_copy(b, o->bind);
        struct op *op = op_again(b, o, label, n_parts == 1 ? "" : suffix[i]);
        if (!op) return;
        struct bind *c = bind_at(b, id);
        const int to_rows = at < whole.n_y;
        op->bind = id;
        op->aux = NO_SLOT;
        op->out = to_rows ? out : NO_SLOT;
        op->column = (uint16_t)(to_rows ? o->column + at : 0);
        c->w = (const char *)whole.w + at / PANEL * pack_panel_sz((enum packed_type)whole.type, whole.k);
        c->act = ACT_NONE;
        c->positions = NULL;
        if (n_parts == 1) {
            if (whole.n_y == whole.n) c->bias = NULL;
            continue;
        }
        c->n = width[i];
        c->n_y = to_rows ? c->n : 0;
        c->n_kv = !to_rows && at < whole.n_y + whole.n_kv ? c->n : 0;
        c->bias = to_rows || !whole.bias ? NULL : whole.bias + at;
        if (to_rows) op->kv_slot = NO_SLOT;
    }
}

static void unfuse_linear(struct build *b, const struct op *o, const char *label)
{
    const struct bind whole = *bind_at(b, o->bind);
    uint32_t width[3];
    const int mixed = whole.n_y < whole.n && part_widths(width, &whole) == 1; /* rows and keys cannot be separated */
    const int adds = o->aux != NO_SLOT || whole.positions;
    if ((mixed && whole.n_y) || (o->flags & OPF_SPREAD)) {
        op_again(b, o, label, "");
        return;
    }
    const uint16_t sums = whole.n_y && adds ? build_slot_like(b, o->out) : o->out;
    emit_sums(b, o, label, sums);
    if (!whole.n_y || b->status) return;
    struct op rest = *o;
    rest.kv_slot = NO_SLOT;
    rest.aux = NO_SLOT;
    rest.flags = 0;
    rest.out = rest.in = sums;
    rest.bind = bind_copy(b, o->bind);
    if (b->status) return;
    struct bind *c = bind_at(b, rest.bind);
    *c = (struct bind){ .bias = whole.bias, .act = whole.act, .n = whole.n_y, .k = whole.n_y, .n_y = whole.n_y };
    rest.kind = OP_ACT;
    if (whole.bias || whole.act != ACT_NONE) op_again(b, &rest, label, ".act");
    if (!adds) return;
    rest.bind = bind_copy(b, rest.bind);
    if (b->status) return;
    *bind_at(b, rest.bind) = (struct bind){ .positions = whole.positions, .n = whole.n_y, .k = whole.n_y, .n_y = whole.n_y };
    rest.kind = OP_ADD;
    rest.out = o->out;
    rest.aux = o->aux;
    op_again(b, &rest, label, ".add");
}

static void build_unfuse(struct build *b)
{
    struct plan *p = &b->plan;
    const uint16_t n = p->n_ops;
    if (b->status) return;
    struct op *old = arena_array(&b->scratch_arena, n, sizeof *old);
    const char **label = arena_array(&b->scratch_arena, n, sizeof *label);
    if (!old || !label) {
        b->status = err_nomem(b->e, n * sizeof *old, "plan");
        return;
    }
    memcpy(old, b->op, n * sizeof *old);
    memcpy(label, b->label, n * sizeof *label);
    b->prefix = b->p.variant = ""; /* labels are already complete */
    p->n_ops = 0;
    uint16_t first[PLAN_PHASES];
    for (int k = 0; k < PLAN_PHASES; k++) first[k] = p->phase[k].first;
    for (uint16_t i = 0; i <= n && !b->status; i++) {
        for (int k = 0; k < PLAN_PHASES; k++)
            if (p->phase[k].name && first[k] == i) p->phase[k].first = p->n_ops;
        if (i == n) break;
        if (old[i].kind == OP_LINEAR) unfuse_linear(b, &old[i], label[i]);
        else op_again(b, &old[i], label[i], "");
    }
}

/* ---- beginning and end ------------------------------------------------------------------------------------------------------- */

void build_begin(struct build *b, const struct build_params *p, steno_error *e)
{
    memset(b, 0, sizeof *b);
    b->p = *p;
    b->e = e;
    b->prefix = "";
    if (!b->p.variant) b->p.variant = "";
    b->plan.name = p->name;
    b->plan.max_rows = p->max_rows;
    b->plan.max_out = p->max_out;
    b->plan.max_past = p->max_past;
    b->plan.reach = p->max_rows;
    b->plan.input = b->plan.output = b->plan.logits = b->plan.bounds = NO_SLOT;
    b->plan.encoded = NO_SLOT;
    for (int i = 0; i < SIDE_OUTPUTS; i++) b->plan.side_output[i] = NO_SLOT;
    b->plan.self_state = b->plan.cross_state = NO_STATE;
    arena_init(&b->scratch_arena);
    if (p->max_rows > UINT16_MAX || p->max_out > UINT16_MAX) /* groups of rows count them in 16 bits */
        b->status = err_set(e, STENO_EUNSUPPORTED, "plan %s: %u rows, want at most %d", p->name,
                            p->max_rows > p->max_out ? p->max_rows : p->max_out, UINT16_MAX);
    b->op = arena_array(&b->scratch_arena, PLAN_OPS_MAX, sizeof *b->op);
    b->label = arena_array(&b->scratch_arena, PLAN_OPS_MAX, sizeof *b->label);
    b->bind = arena_array(&b->scratch_arena, PLAN_OPS_MAX, sizeof *b->bind);
    b->slot = arena_array(&b->scratch_arena, PLAN_SLOTS_MAX, sizeof *b->slot);
    if (!b->status && (!b->op || !b->label || !b->bind || !b->slot)) b->status = err_nomem(e, PLAN_OPS_MAX * sizeof *b->op, "plan");
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

static const void *plan_keep(struct build *b, const void *src, size_t n)
{
    void *p = arena_alloc(b->p.arena, n);
    if (p) memcpy(p, src, n);
    else if (!b->status) b->status = err_nomem(b->e, n, "plan");
    return p;
}

int build_end(struct build *b, struct plan *out)
{
    struct plan *p = &b->plan;
    if (b->p.unfused) build_unfuse(b);
    if (!b->status) {
        for (int i = 0; i < PLAN_PHASES; i++)
            if (p->phase[i].name) p->phase[i].last = i + 1 < PLAN_PHASES && p->phase[i + 1].name ? p->phase[i + 1].first : p->n_ops;
        slots_place(p, b->slot, b->op);
        p->op = plan_keep(b, b->op, p->n_ops * sizeof *b->op);
        p->label = plan_keep(b, b->label, p->n_ops * sizeof *b->label);
        p->bind = plan_keep(b, b->bind, p->n_binds * sizeof *b->bind);
        p->slot = plan_keep(b, b->slot, p->n_slots * sizeof *b->slot);
        if (!b->status) *out = *p;
    }
    arena_free(&b->scratch_arena);
    return b->status;
}
