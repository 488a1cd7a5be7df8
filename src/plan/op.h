/* steno: the command list. SPDX-License-Identifier: MIT
 *
 * A plan is a const array of ops built once per model. Ops are pure data: what they do (kind), on which virtual buffers (slots), with
 * which constants (bind) and on which state. What differs from run to run stands in two small tables (run.h). Nothing here changes
 * after the model is open, so any number of sessions replay one plan, and another executor can replay the same list elsewhere. */
#ifndef STENO_PLAN_OP_H
#define STENO_PLAN_OP_H
#include "base/arena.h"
#include "kern/kern.h"

enum op_kind {
    OP_EMBED,           /* out[r] = w[row.token] + positions[row.pos]; of a token_of_input(i) (run.h): in[i] instead of w's */
    OP_NORM,            /* out = the bind's kind of norm(in); ROWS_OUT gathers the rows whose logits are wanted; OPF_PADDED;
                         * with heads: of each head, from column on, out is in */
    OP_SCALE,           /* out = in * scale + positions[r], r counted in its sequence (run.h); ROWS_OUT gathers likewise */
    OP_LINEAR,          /* out = act(in w^T + bias) (+ aux or positions); outputs past n_y go head-major into keys and values */
    OP_ATTN,            /* out = softmax(scale q k^T) v; OPF_WRITE_KV first writes this run's keys and values. Keys and values are in the
                         * state, or kv_rows of them in kv_slot: those of the row's sequence; cross-attention within a run has other
                         * rows there than queries. past: behind those in kv_slot stand what OP_LOOK_BACK brought */
    OP_KV_PACK,         /* kv_slot = keys, in columns of in from `column` on, and values behind them, for attention in integers, each
                         * sequence by itself. Off keys goes what they have in common: the mean of KV_MEAN_KEYS of n,
                         * key i n / KV_MEAN_KEYS each, or of all */
    OP_FSMN,            /* out = in, from `column` on, + filter over a sequence of the op's rows of it (+ aux, which may be out); in
                         * NO_SLOT: the values in kv_slot; state: rows before row 0; beyond the first and the last row there are zeros */
    OP_SHIFT_STATE,     /* state = the last rows of in, of each sequence, after what it held */
    OP_LOOK_BACK,       /* keys and values of earlier runs join those in kv_slot, behind as many as the op has rows: the newest
                         * run.past.held of the state. Then it takes the first run.past.kept of those rows, after what it held. Each
                         * sequence by itself, with the state of its lane */
    OP_SOFTMAX,         /* out = softmax(in), row by row */
    OP_ATTN_WEIGHTS,    /* out = softmax(scale q k^T) for one head and the first run.align.frames keys in the state; rows are one lane's */
    OP_ZSCORE,          /* out = (in - mean) / standard deviation, both over the rows, for each of run.align.frames columns */
    OP_MEDIAN_FILTER,   /* out = scale * median of seven neighbours in a row of in (+ aux); run.align.frames columns */
    OP_CIF,             /* out[r] = the frames that token r of the table is made of (run.cif): the sum of their weights times rows of in,
                         * counted in the token's sequence; with a state its newest row is frame 0, and rows of in follow it */
    OP_LSTM,            /* out = the states of a recurrent layer over in; w [4 n, n] for each way, for the state before, and of_input's
                         * [4 n, k] for rows of in. A way begins with zeros at the first (last) row of a sequence, and with ROWS_TABLE at
                         * (before) rows of pos 0. With a state, whose newest row has n numbers of out and n of the cell behind them, it
                         * goes on from those and leaves the last ones there: one way, no ROWS_TABLE */
    OP_MAGNITUDE,       /* of each of `heads` spectra side by side in a row of in, n real parts and then n imaginary ones: out = their
                         * magnitudes, n numbers each */
    OP_ROPE,            /* of each head, from column on: its first n numbers turn by the row's position (kern.h); out is in */
    OP_GLU,             /* out = act(in[0, n)) times in[n, 2 n): a gated feed-forward network; out may be in */
    OP_ACT,             /* out = act(in + bias), as plans without fusions have it (unfuse.c); with a scale, out = scale * act(in / scale) */
    OP_ADD,             /* out = in + aux or positions */
    OP_LOGITS_APPROX,   /* out = in w^T from fewer bits, for the rows of ROWS_OUT where that does (logits_approx.h) */
    OP_LOGITS_BOUND,    /* out = for each panel of in, approximate logits, how large they can be; a slice of ids at a time */
    OP_LOGITS_REDUCE,   /* logits -> per slice: maximum, its id, sum of exponentials; for what the lane's rules allow */
    OP_LOGITS_BEST,     /* the same of logits in w^T + bias that are never written: of every row, for what argmax_mask allows */
    OP_SAMPLE,          /* merge the slices, apply the timestamp rule, choose a token, advance the lane; behind OP_LOGITS_BEST
                         * argmax.best of every row */
    OP_KINDS
};

enum op_flag {
    OPF_CAUSAL = 1,    /* attention: row sees positions up to its own; of keys of this run, run.self_len of them from the first on */
    OPF_WRITE_KV = 2,  /* attention: in is a Q|K|V row; write K and V before reading */
    OPF_CONV = 4,      /* linear: in is read from the row before, bind.stride rows on per output row; beside a sequence there are zeros */
    OPF_PADDED = 8,    /* out has a zero row on both sides, for a convolution that follows */
    OPF_APPROX = 16,   /* linear: of rows with approximate logits only the panels that their bounds leave */
    OPF_SPREAD = 32,   /* linear: out is bind.stride rows, one behind the other, for each row of in */
    OPF_TABLE = 64,    /* attention over keys of this run: a row sees as many, from the first on, as run.cross_len says */
    OPF_SOME = 128     /* linear: only the panels that argmax.panels says, if it does; what stands in others is open */
};

enum norm_kind { NORM_LAYER, NORM_RMS };

/* How many rows an op works on. */
enum op_rows {
    ROWS_RUN,    /* as many as the run says (struct phases); in a chain the rows of the table */
    ROWS_TWICE,  /* twice that, before a convolution of stride 2 */
    ROWS_THRICE, /* three times that, behind OPF_SPREAD */
    ROWS_OUT,    /* rows of the table whose logits are wanted */
    ROWS_TABLE   /* the rows of the table (run.h), where those of the input are others: tokens beside frames */
};

enum { KV_MEAN_KEYS = 32 };
enum { PAST_STATES = 4 }; /* states that are looked back on have numbers below it */
enum { NO_SLOT = 0xffff, NO_STATE = 0xffff, FSMN_TAPS = 64 /* most of a filter over rows */ };

struct op {
    uint8_t kind, flags, rows;
    uint8_t kv_rows;        /* OP_ATTN over kv_slot: how many keys there are, as rows (enum op_rows) */
    uint16_t out, in, aux;  /* slots; aux: a summand (residual), or NO_SLOT */
    uint16_t kv_slot;       /* slot that holds keys and values of this run only (encoder), or NO_SLOT */
    uint16_t state, layer;  /* state buffer that holds keys and values, or NO_STATE */
    uint16_t bind;          /* constants */
    union {
        uint16_t column;    /* OP_LINEAR, OP_ACT, OP_ADD, OP_ROPE, OP_NORM of heads: of out (and aux; in of the others), at which its
                             * outputs begin; OP_KV_PACK, OP_FSMN: of in */
        uint16_t attn_head; /* OP_ATTN_WEIGHTS: whose weights */
        uint16_t screen;    /* OP_LOGITS_BEST, and OP_SAMPLE behind it: 1 + the binding of approximate logits (logits_approx.h); 0: none */
        uint16_t past;      /* OP_ATTN over kv_slot: 1 + the state whose rows OP_LOOK_BACK brought there; 0: nothing did */
    };
};
_Static_assert(sizeof(struct op) == 20, "an op is 20 bytes of plain data");

/* Constants of an op: weights packed for the kernels, and what the shapes say. */
struct bind {
    const void *w;        /* packed [n, k] */
    const float *bias;    /* [n] or NULL */
    const float *norm_weight; /* [k] */
    const float *positions; /* [rows, n] added row by row, OP_EMBED: by row.pos; OP_ROPE: angles, by row.pos; or NULL */
    const float *filter;  /* [heads, taps, n / heads] over rows r - left .. r - left + taps - 1 */
    uint32_t n, k;
    uint32_t n_y, n_kv;   /* as struct linear */
    uint8_t type;         /* enum packed_type of w */
    uint8_t act;          /* enum act */
    uint8_t norm_kind;    /* enum norm_kind */
    uint8_t neighbours;   /* OP_ROPE: pairs are neighbours, not from both halves */
    /* kv_heads: as many keys and values, each for heads / kv_heads queries in a row; OP_LSTM: heads ways of d_head numbers. */
    uint16_t heads, kv_heads, d_head, stride;
    uint16_t of_input[2];         /* OP_LSTM: for each way the binding of what gates get from the input */
    const struct approx_panel *approx; /* [pack_panels(n)] what w is off by, where it stands for a matrix with more bits; NULL */
    uint16_t taps, left;
    uint32_t in_column;           /* OP_LINEAR: of in, at which what it reads begins; of convolutions 0 */
    float scale, eps;             /* OP_ACT: see there; OP_EMBED: tokens are multiplied by scale, rows of the input are not; 0: none is */
    uint32_t window;              /* OP_ATTN over a state: keys that a row sees, the last ones; 0: all */
};

/* A virtual buffer of rows. Slots whose lives do not overlap share bytes of the scratch block. */
struct slot {
    uint32_t width, ld;      /* floats used and floats between rows */
    uint32_t rows;           /* most rows */
    uint32_t front;          /* zero rows before row 0 (and after the last) */
    uint32_t heads, d_head;  /* keys and values: head-major blocks instead of rows */
    uint32_t kv_type;        /* enum kv_type of them */
    uint32_t is_out;         /* a row per row of ROWS_OUT */
    size_t offset, size;     /* bytes in the scratch block */
    uint16_t first, last;    /* ops that first write and last read it */
};

/* Heads are multiples of four numbers where they are computed: those of another width end with zeros. Their scale stays their own. */
static inline uint32_t head_room(uint32_t d_head) { return (d_head + 3) & ~UINT32_C(3); }

static inline uint32_t kv_blocks(uint32_t positions) { return (positions + KV_BLOCK - 1) / KV_BLOCK; }

/* What outlives a run. */
enum state_kind {
    STATE_APPEND,  /* grows with each row; blocks behind a per-lane table */
    STATE_REPLACE, /* written whole; contiguous */
    STATE_SHIFT    /* the last rows of a stream, oldest first: [positions, heads * d_head] per layer and lane; zeros at the start */
};

struct state_desc {
    const char *name;
    uint32_t kind;           /* enum state_kind */
    uint32_t layers, heads, d_head;
    uint32_t positions;      /* most, per lane or window */
    /* Append: a row sees the last `window` positions, its own included, and a run appends `ahead` to a lane at most; then a lane holds no
     * more than that takes, whatever its text has. 0: all of them. */
    uint32_t window, ahead;
};

enum { PLAN_PHASES = 5, SIDE_OUTPUTS = 4 };

struct phase { const char *name; uint16_t first, last; }; /* ops [first, last) */

struct plan {
    const char *name;                      /* "encoder", "decoder", "align" */
    const struct op *op;                   /* [n_ops] */
    const char *const *label;              /* [n_ops] cold: for people */
    const struct bind *bind;
    const struct slot *slot;
    uint16_t n_ops, n_binds, n_slots;
    uint16_t input, output, logits, bounds; /* slots by role, NO_SLOT where the plan has none; bounds: of approximate logits */
    uint16_t encoded;                      /* what an encoder hands to later phases, behind the first one; NO_SLOT: it is the output */
    uint16_t side_output[SIDE_OUTPUTS];    /* likewise: whatever else is read behind a run, as weights of frames */
    uint16_t self_state, cross_state; /* that self-attention and cross-attention look at; NO_STATE: it has no such thing */
    uint32_t max_rows, max_out;
    uint32_t max_past;                     /* keys of earlier runs that may follow those of a run (OP_LOOK_BACK) */
    struct phase phase[PLAN_PHASES];       /* unused ones have no name */
    size_t scratch_sz;
};

/* One line per op: number, label, operation, rows x k -> n, slots, weights' type and bytes, flops per row. */
void plan_dump(const struct plan *p, void (*write)(void *user, const char *line), void *user);
#endif
