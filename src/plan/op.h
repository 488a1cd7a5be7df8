/* steno: the command list. SPDX-License-Identifier: MIT
 *
 * A plan is a const array of ops, built once per model. Ops are pure data: their action (kind), their virtual buffers (slots), their
 * constants (bind) and their state. Values that differ between runs are in two small tables (run.h). Nothing here changes after the model
 * is open. Any number of sessions can therefore replay one plan, and another executor can replay the same list on another device. */
#ifndef STENO_PLAN_OP_H
#define STENO_PLAN_OP_H
#include "base/arena.h"
#include "kern/kern.h"

enum op_kind {
    OP_EMBED,           /* out[r] = w[row.token] + positions[row.pos], from `column` on; for token_of_input(i) (run.h), in[i] replaces the
                         * row of w */
    OP_NORM,            /* out = norm(in) of the bind's kind; ROWS_OUT gathers the rows whose logits are needed; OPF_PADDED. With heads:
                         * norm of each head, from column on; out is in */
    OP_SCALE,           /* out = in * scale + positions[r], r counted within its sequence (run.h); ROWS_OUT gathers, too */
    OP_LINEAR,          /* out = act(in w^T + bias) (+ aux or positions); outputs past n_y are written head-major as keys and values */
    OP_ATTN,            /* out = softmax(scale q k^T) v; OPF_WRITE_KV first writes this run's keys and values. Keys and values are in the
                         * state, or kv_rows of them are in kv_slot: those of the row's sequence. In cross-attention within a run they are
                         * other rows than the queries. past: the rows from OP_LOOK_BACK follow those in kv_slot */
    OP_KV_PACK,         /* kv_slot = keys and values in columns of in, from `column` on, packed for integer attention, each sequence
                         * separately. The common part of the keys is subtracted: the mean of KV_MEAN_KEYS of the n keys, at i n /
                         * KV_MEAN_KEYS, or of all */
    OP_FSMN,            /* out = in (from `column` on) + filter over this sequence's rows of in (+ aux, which may be out). in NO_SLOT: reads
                         * the values in kv_slot. state: the rows before row 0. Rows outside the sequence are zeros. With a bias: out =
                         * act(bias + filter) */
    OP_SHIFT_STATE,     /* state = its previous rows followed by those of in (from `column` on), keeping the last ones, per sequence */
    OP_LOOK_BACK,       /* append keys and values of earlier runs to those in kv_slot, after the op's rows: the newest run.past.held rows of
                         * the state. Then append the first run.past.kept of the op's rows to the state. Per sequence, with the state of its
                         * lane */
    OP_SOFTMAX,         /* out = softmax(in) per row */
    OP_ATTN_WEIGHTS,    /* out = softmax(scale q k^T), one head, the first run.align.frames keys in the state, rows of one lane */
    OP_ZSCORE,          /* out = (in - mean) / standard deviation over the rows, for each of run.align.frames columns */
    OP_MEDIAN_FILTER,   /* out = scale * median of seven neighbours in a row of in (+ aux); run.align.frames columns */
    OP_CIF,             /* out[r] = the weighted sum of the frames of token r of the table (run.cif): rows of in, counted within the token's
                         * sequence. With a state, its newest row is frame 0, and rows of in follow it */
    OP_LSTM,            /* out = the states of a recurrent layer over in. w [4 n, n] per direction multiplies the previous state, of_input's
                         * [4 n, k] multiply rows of in. A direction starts with zeros at the first (last) row of a sequence, and with
                         * ROWS_TABLE at (before) rows of pos 0. A state's newest row holds n numbers of out, then n of the cell: the layer
                         * continues from them and stores the last ones there (one direction, no ROWS_TABLE) */
    OP_MAGNITUDE,       /* a row of in has `heads` adjacent spectra, each of n real parts and then n imaginary parts; out = their
                         * magnitudes, n numbers each */
    OP_ROPE,            /* rotate the first n numbers of each head, from column on, by the row's position (kern.h); out is in */
    OP_GLU,             /* out = act(in[0, n)) times in[n, 2 n): gated feed-forward network; out may be in. gate_last: out = in[0, n)
                         * times act(in[n, 2 n)), which overwrites in[n, 2 n) */
    OP_ACT,             /* out = act(in + bias), used by plans without fusions; with a scale, out = scale * act(in / scale) */
    OP_ADD,             /* out = in + aux or positions; with a scale, out = scale * in + aux */
    OP_STEM2D,          /* convolutions over rows and columns: a row of in is `stride` rows of an image of d_head columns, then the number
                         * of those that exist, and becomes one row of out. 3x3, 1 to n channels, ReLU; then two times: 3x3 of each
                         * channel, and 1x1 with ReLU; all 3x3 with stride 2, and with zeros around the image: `left` before it, one
                         * after it. A place of the result: out[column * n + channel]. Bindings bind .. bind + 4. With left 2 a row
                         * of out depends on no later row of in: row 0 of in ends with the first row of the image. A state's newest
                         * row is the row of in before row 0, if run.stream has rows before. window: three times 3x3 of all channels
                         * instead (bind .. bind + 2, each with its act), over images of `window` frames with zeros around them, which
                         * follow each other in a sequence; frames after the last one are zeros, and rows of in have no number */
    OP_DISTANCES,       /* out = positions of the distances of ROWS_DISTANCES: rows k + rows / 2 down to k - rows / 2 of the table */
    OP_PACK_DISTANCES,  /* kv_slot = heads of those rows of in, packed as keys are, without values */
    OP_ATTN_REL,        /* attention with relative positions (kern.h) over the keys and values that OP_KV_PACK left in kv_slot; aux: what
                         * OP_PACK_DISTANCES left. Row i of a sequence sees keys i - behind .. i + ahead. bias: u, filter: v.
                         * With a state, its newest rows are this run's keys and values, after those of earlier runs. A row sees the
                         * chunks of run.stream that are at most `behind` rows before its own, and all of its own. positions: rows of
                         * the distances -k .. k */
    OP_LOGITS_APPROX,   /* out = in w^T from fewer bits, for those rows of ROWS_OUT that allow it (logits_approx.h) */
    OP_LOGITS_BOUND,    /* out = upper bounds of the approximate logits in, per panel; processes a slice of ids at a time */
    OP_LOGITS_REDUCE,   /* logits -> per slice: maximum, its id, sum of exponentials, over the ids that the lane's rules allow */
    OP_LOGITS_BEST,     /* the same for logits in w^T + bias that are never stored: for every row, over the ids that argmax_mask allows */
    OP_SAMPLE,          /* merge the slices, apply the timestamp rule, choose a token, advance the lane; after OP_LOGITS_BEST, set
                         * argmax.best of every row */
    OP_KINDS
};

enum op_flag {
    OPF_CAUSAL = 1,    /* attention: a row attends to positions up to its own; for keys of this run, to the first run.self_len of them */
    OPF_WRITE_KV = 2,  /* attention: in is a Q|K|V row; write K and V before reading */
    OPF_CONV = 4,      /* linear: in is read from the row before, advancing bind.stride rows per output row; zeros outside a sequence */
    OPF_PADDED = 8,    /* out has a zero row on both sides, for a convolution that follows */
    OPF_APPROX = 16,   /* linear: for rows with approximate logits, only the panels that their bounds leave */
    OPF_SPREAD = 32,   /* linear: out has bind.stride consecutive rows per row of in */
    OPF_TABLE = 64,    /* attention over keys of this run: a row attends to the first run.cross_len of them */
    OPF_SOME = 128     /* linear: only the panels in argmax.panels, if set; the contents of other panels are undefined */
};

enum norm_kind { NORM_LAYER, NORM_RMS };

/* The number of rows of an op. */
enum op_rows {
    ROWS_RUN,    /* the number in struct phases; in a chain, the rows of the table */
    ROWS_TWICE,  /* twice that, before a convolution of stride 2 */
    ROWS_THRICE, /* three times that, after OPF_SPREAD */
    ROWS_OUT,    /* rows of the table whose logits are needed */
    ROWS_DISTANCES, /* 2 n - 1, n: rows of the longest sequence, at most plan.reach: distances n - 1 down to -(n - 1). The CPU's executor
                     * has none where it kept the products of an earlier run, and may have those of more rows, to keep them */
    ROWS_TABLE   /* the rows of the table (run.h), when they differ from the input's: tokens in addition to frames */
};

enum { KV_MEAN_KEYS = 32 };
#define SIGHT_ALL UINT32_MAX
enum { PAST_STATES = 4 }; /* states of OP_LOOK_BACK have numbers below it */
enum { NO_SLOT = 0xffff, NO_STATE = 0xffff, FSMN_TAPS = 64 /* limit of a filter over rows */ };

struct op {
    uint8_t kind, flags, rows;
    uint8_t kv_rows;        /* OP_ATTN over kv_slot: the number of keys, as rows (enum op_rows) */
    uint16_t out, in, aux;  /* slots; aux: a summand (residual), or NO_SLOT */
    uint16_t kv_slot;       /* slot with keys and values of this run only (encoder), or NO_SLOT */
    uint16_t state, layer;  /* state with keys and values, or NO_STATE; of distances (plan.kept) */
    uint16_t bind;          /* constants */
    union {
        uint16_t column;    /* OP_EMBED, OP_LINEAR, OP_ACT, OP_ADD, OP_ROPE, OP_NORM of heads: first column of the op in out (and aux; in
                             * `in` for the last three); OP_KV_PACK, OP_FSMN, OP_SHIFT_STATE: in `in` */
        uint16_t attn_head; /* OP_ATTN_WEIGHTS: the head */
        uint16_t approx;    /* OP_LOGITS_BEST, and OP_SAMPLE after it: 1 + the binding of approximate logits (logits_approx.h); 0: none */
        uint16_t past;      /* OP_ATTN over kv_slot: 1 + the state whose rows OP_LOOK_BACK appended; 0: none */
    };
};
_Static_assert(sizeof(struct op) == 20, "an op is 20 bytes of plain data");

/* Constants of an op: packed weights and shapes. */
struct bind {
    const void *w;        /* packed [n, k] */
    const float *bias;    /* [n] or NULL */
    const float *norm_weight; /* [k] */
    const float *positions; /* [rows, n] added per row, OP_EMBED: by row.pos; OP_ROPE: angles, by row.pos; may be NULL */
    const float *filter;  /* [heads, taps, n / heads] over rows r - left .. r - left + taps - 1 */
    uint32_t n, k;
    uint32_t n_y, n_kv;   /* as in struct linear */
    uint8_t type;         /* enum packed_type of w */
    uint8_t act;          /* enum act */
    uint8_t norm_kind;    /* enum norm_kind */
    uint8_t neighbours;   /* OP_ROPE: pairs are neighbours, not one value from each half */
    uint8_t gate_last;    /* OP_GLU: see there */
    /* kv_heads: heads of keys and values, each shared by heads / kv_heads consecutive queries; OP_LSTM: `heads` directions of d_head
     * numbers. */
    uint16_t heads, kv_heads, d_head, stride;
    uint16_t of_input[2];         /* OP_LSTM: per direction, the binding of the gates' input weights */
    const struct approx_panel *approx; /* [pack_panels(n)] error bounds of w, if it approximates a matrix with more bits; may be NULL */
    uint16_t taps, left;
    uint32_t in_column;           /* OP_LINEAR: first column read from in; 0 for convolutions */
    float scale, eps;             /* OP_ACT: see there; OP_EMBED: factor of tokens, but not of input rows; 0: none */
    uint32_t window;              /* OP_ATTN over a state: a row attends to the last `window` keys; 0: all. OP_STEM2D: see there */
    uint32_t behind, ahead;       /* OP_ATTN_REL; SIGHT_ALL: no limit */
};

/* A virtual buffer of rows. Slots with disjoint lifetimes share bytes of the scratch block. */
struct slot {
    uint32_t width, ld;      /* floats used, and floats between rows */
    uint32_t rows;           /* most rows */
    uint32_t front;          /* zero rows before row 0 and after the last */
    uint32_t heads, d_head;  /* keys and values: head-major blocks instead of rows */
    uint32_t kv_type;        /* enum kv_type of them */
    uint32_t is_out;         /* one row per row of ROWS_OUT */
    size_t kept_at;          /* OP_PACK_DISTANCES: bytes of those of earlier layers, for each KV_BLOCK rows of a sequence */
    size_t offset, size;     /* bytes in the scratch block */
    uint16_t first, last;    /* ops that first write and last read it */
};

/* Heads are padded with zeros to a multiple of four numbers for computing. Their attention scale is that of d_head. */
static inline uint32_t head_room(uint32_t d_head) { return (d_head + 3) & ~UINT32_C(3); }

static inline uint32_t kv_blocks(uint32_t positions) { return (positions + KV_BLOCK - 1) / KV_BLOCK; }

/* Data that outlives a run. */
enum state_kind {
    STATE_APPEND,  /* grows with each row; blocks, addressed by a per-lane table */
    STATE_REPLACE, /* written as a whole; contiguous */
    STATE_SHIFT    /* the last rows of a stream, oldest first: [positions, heads * d_head] per layer and lane; zeros at the start. With a
                    * `window`, only that number of rows stays after the next ones are added */
};

struct state_desc {
    const char *name;
    uint32_t kind;           /* enum state_kind */
    uint32_t layers, heads, d_head;
    uint32_t positions;      /* maximum per lane or window */
    /* Append: a row attends to the last `window` positions, including its own, and a run appends at most `ahead` to a lane. The lane then
     * holds only the blocks that this needs, whatever the length of its text. 0: all positions. */
    uint32_t window, ahead;
    uint32_t pooled;         /* append: 1: all lanes together hold no more blocks than one of them may; they share none */
};

enum { PLAN_PHASES = 5, SIDE_OUTPUTS = 4 };

struct phase { const char *name; uint16_t first, last; }; /* ops [first, last) */

struct plan {
    const char *name;                      /* "encoder", "decoder", "align" */
    const struct op *op;                   /* [n_ops] */
    const char *const *label;              /* [n_ops] cold: for messages */
    const struct bind *bind;
    const struct slot *slot;
    uint16_t n_ops, n_binds, n_slots;
    uint16_t input, output, logits, bounds; /* slots by role, NO_SLOT if the plan has none; bounds: of approximate logits */
    uint16_t encoded;                      /* an encoder's output for later phases, after the first phase; NO_SLOT: the output */
    uint16_t side_output[SIDE_OUTPUTS];    /* further slots that are read after a run, such as frame weights; NO_SLOT if unused */
    uint16_t self_state, cross_state; /* used by self-attention and cross-attention; NO_STATE if unused */
    uint32_t max_rows, max_out;
    uint32_t max_past;                     /* most keys of earlier runs that follow those of a run (OP_LOOK_BACK) */
    uint32_t reach;                        /* ROWS_DISTANCES: rows of a sequence between which all distances in sight occur */
    /* What OP_PACK_DISTANCES leaves does not depend on the input. An executor may keep it from run to run, in `sz` bytes: that of all
     * layers for sequences of up to `rows` rows, or for longer ones that of the first layers, as many as fit. These ops, and the OP_LINEAR
     * before each, belong to the first phase, and their `layer` is the number of their layer. rows 0: nothing is kept */
    struct kept_distances { uint32_t rows; size_t sz; } kept;
    struct phase phase[PLAN_PHASES];       /* unused phases have no name */
    size_t scratch_sz;
};

/* Write one line per op: number, label, operation, rows x k -> n, slots, type and bytes of the weights, flops per row. */
void plan_dump(const struct plan *p, void (*write)(void *user, const char *line), void *user);
#endif
