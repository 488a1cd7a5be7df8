/* steno: lower bounds of a plan's time. SPDX-License-Identifier: MIT
 *
 * The roofline of Williams et al. 2009, for whole phases. Operations run at the peak of their instruction, and bytes that must be read once
 * at the rate of plain reading; the longer time is the bound. Counted are linears and attention. Not counted are norms, exp, GELU,
 * widening, narrowing, the second stage of logits, and rows read or written between ops. Plain reading is from main memory, so a phase may
 * be faster than its bound if the last-level cache still holds bytes of the previous step. */
#ifndef STENO_BENCH_ROOF_H
#define STENO_BENCH_ROOF_H
#include "rounds.h"
#include "model/family.h"
#include "plan/stem.h"

/* The peaks, plus the peak of int8 products by vectors. It differs if PEAK_INT8 is one of tiles or matrices, which products by blocks do
 * not use. */
enum { ROOF_VECTORS = PEAKS, ROOFS };
static inline const char *roof_name(int of) { return of == ROOF_VECTORS ? "int8_vectors" : peak_name((enum peak)of); }

#if defined(__aarch64__)
enum { ROOF_MATRICES = CPU_I8MM, ROOF_BELOW = CPU_DOTPROD, ROOF_ATTN_PAIRS = 0, ROOF_INT16_BY_TILES = CPU_LEVELS };
static double const q8_as_int16 = 2, q4_as_int16 = 1; /* SMULL and SADALP: bytes, eight in the time of two SMLAL, which compute the same
                                                       * number */
#else
#if defined(__x86_64__)
enum { ROOF_MATRICES = CPU_AMX, ROOF_BELOW = CPU_AVX512BF16, ROOF_ATTN_PAIRS = 1, ROOF_INT16_BY_TILES = CPU_AMX };
#else
enum { ROOF_MATRICES = CPU_LEVELS, ROOF_BELOW = CPU_C, ROOF_ATTN_PAIRS = 0, ROOF_INT16_BY_TILES = CPU_LEVELS };
#endif
static double const q8_as_int16 = 1, q4_as_int16 = 0.5; /* VPMADDWD uses x as it is; VPMADDUBSW computes four products per lane, not two */
#endif

/* The peaks at a level: 10^9 operations or bytes a second of the current threads, 0: no such instruction. */
struct roofs { double gops[ROOFS], read; };

/* Operations of a round, and its time; 0: the level has no such instruction, or no separate one. */
static inline double roof_measure(struct timed *t, steno_team *team, int level, int of)
{
    if (of != ROOF_VECTORS) return round_peak(t, team, level, (enum peak)of);
    return level < ROOF_MATRICES ? 0 : round_peak(t, team, ROOF_BELOW, PEAK_INT8);
}

/* ---- counting ---- */

/* A product with weights of type t at a level costs `n` products of an instruction. */
struct products { int of; double n; };

/* Products without an instruction at a level are built from those of the next wider kind; see the levels' files in kern. The plain C twins
 * have no instructions of their own and are compared with f32. By blocks of q8_0, x has 16 bits, so products of bytes count twice. For the
 * copy that gives approximate logits, x has 8. Tiles multiply int16 as four products of bytes. */
static inline struct products products_of(int level, enum packed_type t)
{
    const int int16 = level > CPU_C && peak_ops(level, PEAK_INT16) > 0, int8 = level > CPU_C && peak_ops(level, PEAK_INT8) > 0;
    const int by_vectors = level >= ROOF_MATRICES ? ROOF_VECTORS : PEAK_INT8;
    if (t == PK_BF16_PAIR) return (struct products){ peak_ops(level, PEAK_BF16) > 0 ? PEAK_BF16 : PEAK_F32, 1 };
    if (t < PK_LOWP || !int16) return (struct products){ PEAK_F32, 1 };
    if (t == PK_I16_PAIR && level >= ROOF_INT16_BY_TILES) return (struct products){ PEAK_INT8, 4 };
    if (t == PK_I16_PAIR || (t == PK_I8_QUAD && !int8)) return (struct products){ PEAK_INT16, 1 };
    if (t == PK_I8_QUAD) return (struct products){ PEAK_INT8, 1 };
    if (quad_x_parts(t) == 2) return int8 ? (struct products){ by_vectors, 2 } : (struct products){ PEAK_INT16, q8_as_int16 };
    const int bytes = t == PK_Q8_QUAD_A8 || t == PK_IQ4_XS_QUAD;
    return int8 ? (struct products){ by_vectors, 1 } : (struct products){ PEAK_INT16, bytes ? 1 : q4_as_int16 };
}

/* Integer keys and values of a run are products by rows; of a state, integer keys are two blocks, integer values one. Keys and values of
 * f16 are widened. Pairs of bf16 are multiplied as such if attention has a body for it, which no level of ARM has. */
static inline struct products attn_of(int level, enum kv_type t)
{
    const struct products more = products_of(level, PK_Q8_QUAD), less = products_of(level, PK_Q4_QUAD);
    if (t == KV_I8 || t == KV_I16) return products_of(level, t == KV_I8 ? PK_I8_QUAD : PK_I16_PAIR);
    if (t == KV_INT) return (struct products){ more.of, more.n + less.n / 2 };
    if (t == KV_Q8) return more;
    return (struct products){ t == KV_BF16 && ROOF_ATTN_PAIRS ? products_of(level, PK_BF16_PAIR).of : PEAK_F32, 1 };
}

/* flops: of the network, where a multiply-add is two. ops: of the instructions. bytes: weights, keys and values, once each. */
struct work { double flops, ops[ROOFS], bytes; };

/* A run: its rows, the rows with logits, their sequences and windows; the average number of own keys that a row attends to, the final
 * number of keys of a sequence, and the number of audio keys. Beams count as sequences with separate keys. Shared keys are read only once,
 * so their bound is slightly too high (base, five beams: by at most 3 of 74 MB). */
struct shape { double rows, out, sequences, windows, seen, keys, audio; };

static inline void count_products(struct work *w, struct products p, double flops)
{
    w->flops += flops;
    w->ops[p.of] += p.n * flops;
}

static inline double counted_rows(const struct plan *p, enum op_rows rows, const struct shape *s)
{
    if (rows == ROWS_DISTANCES && s->rows <= p->kept.rows) return 0; /* an earlier run computed them */
    if (rows == ROWS_DISTANCES) return 2 * (s->rows < p->reach ? s->rows : p->reach) - 1;
    return rows == ROWS_OUT ? s->out : s->rows * (rows == ROWS_TWICE ? 2 : rows == ROWS_THRICE ? 3 : 1);
}

/* The three convolutions of a stem of chunks, of that many rows; other stems are not counted. */
static inline void count_stem(struct work *w, const steno_model *m, const struct bind *c, double rows)
{
    uint32_t frames = c->window, columns = c->d_head;
    const double chunks = frames ? rows / stem_chunk_rows(frames) : 0;
    for (int i = 0; i < 3 && c->window; i++) {
        frames = (frames + 1) / 2, columns = (columns + 1) / 2;
        count_products(w, products_of(m->kern.level, (enum packed_type)c[i].type), 2.0 * c[i].n * c[i].k * frames * columns * chunks);
        w->bytes += (double)pack_sz((enum packed_type)c[i].type, c[i].n, c[i].k);
    }
}

/* The work of ops [first, last). */
static inline struct work work_of(const steno_model *m, const struct plan *p, int first, int last, const struct shape *s)
{
    struct work w = { 0 };
    for (int i = first; i < last; i++) {
        const struct op *op = &p->op[i];
        const struct bind *c = &p->bind[op->bind];
        const double rows = counted_rows(p, (enum op_rows)op->rows, s);
        if (op->kind == OP_LINEAR && op->flags & OPF_APPROX) continue; /* almost none of it is computed */
        if (op->kind == OP_LINEAR || op->kind == OP_LOGITS_APPROX) {
            count_products(&w, products_of(m->kern.level, (enum packed_type)c->type), 2.0 * c->n * c->k * rows);
            w.bytes += (double)pack_sz((enum packed_type)c->type, c->n, c->k);
        } else if (op->kind == OP_ATTN) {
            const int own = op->state == NO_STATE, causal = op->flags & OPF_CAUSAL;
            const enum kv_type t = own ? (enum kv_type)p->slot[op->kv_slot].kv_type : m->kv_type[op->state];
            const double width = (double)c->heads * c->d_head, seen = own ? s->rows : causal ? s->seen : s->audio;
            const double held = own ? s->rows : causal ? s->sequences * s->keys : s->windows * s->audio;
            count_products(&w, attn_of(m->kern.level, t), 4 * seen * width * rows);
            w.bytes += held / KV_BLOCK * c->heads * (double)kv_block_sz(t, c->d_head);
        } else if (op->kind == OP_STEM2D) {
            count_stem(&w, m, c, s->rows);
        } else if (op->kind == OP_ATTN_REL) { /* products with keys, with distances, and with values */
            const enum kv_type t = op->kv_slot == NO_SLOT ? KV_PANELS : (enum kv_type)p->slot[op->kv_slot].kv_type;
            count_products(&w, attn_of(m->kern.level, t), 6 * s->rows * c->heads * c->d_head * rows);
        }
    }
    return w;
}

/* ---- bounds ---- */

/* ns; by: "reading", or the instructions that need at least a tenth of the products' time. */
struct bound { double ns, reading; char by[48]; };

static inline struct bound bound_of(const struct work *w, const struct roofs *r)
{
    struct bound b = { .reading = w->bytes / r->read, .by = "reading" };
    double ns[ROOFS] = { 0 }, products = 0;
    for (int of = 0; of < ROOFS; of++)
        if (r->gops[of] > 0) products += ns[of] = w->ops[of] / r->gops[of];
    b.ns = products > b.reading ? products : b.reading;
    if (b.ns > products) return b;
    *b.by = 0;
    for (int of = 0; of < ROOFS; of++) {
        const size_t at = strlen(b.by);
        if (ns[of] >= 0.1 * products) snprintf(b.by + at, sizeof b.by - at, "%s%s", at ? "+" : "", roof_name(of));
    }
    return b;
}
#endif
