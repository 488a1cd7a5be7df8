/* steno: convolutions over rows and columns, on the CPU. SPDX-License-Identifier: MIT
 *
 * An item is a few rows of the output. Its thread computes the rows of the stages before it that they need. An image keeps the channels of
 * a place together, so a filter of each channel is a sum of nine vectors, and a filter over channels is a linear. Places outside the image,
 * in time or frequency, are zeros at every stage: a row that no frame reaches does not exist. */
#include "plan/replay.h"

enum { STEM_ROWS = 4, STAGES = 3, SQUARE = 9, STEM_BINDS = 5 };

static uint32_t halved(uint32_t n) { return n ? (n - 1) / 2 + 1 : 0; }

/* Rows [from, to) of the image of a stage, `columns` places each, n channels of a place. */
struct stem_image { float *x; int64_t from, to; uint32_t columns; };

struct stem_sizes { uint32_t columns[STAGES]; size_t image[STAGES], gathered, floats; };

static struct stem_sizes sizes_of(const struct bind *c)
{
    struct stem_sizes z = { .columns = { halved(c->d_head) } };
    uint32_t rows = STEM_ROWS;
    for (int i = 1; i < STAGES; i++) z.columns[i] = halved(z.columns[i - 1]);
    for (int i = STAGES - 1; i >= 0; i--) {
        z.image[i] = (size_t)rows * z.columns[i] * c->n;
        if (z.image[i] > z.gathered) z.gathered = z.image[i];
        z.floats += z.image[i];
        rows = 2 * rows + 1;
    }
    const size_t squares = (size_t)(4 * STEM_ROWS + 3) * z.columns[0] * SQUARE;
    if (squares > z.gathered) z.gathered = squares;
    z.floats = (z.floats + z.gathered + 15) & ~(size_t)15;
    return z;
}

size_t stem2d_scratch(const struct kern *k, const struct plan *p, const struct op *op)
{
    const struct bind *c = &p->bind[op->bind];
    const struct stem_sizes z = sizes_of(c);
    size_t product = 0;
    for (int i = 0; i < STEM_BINDS; i += 2) {
        const size_t rows = (size_t)(i == 0 ? 4 * STEM_ROWS + 3 : i == 2 ? 2 * STEM_ROWS + 1 : STEM_ROWS) * z.columns[i / 2];
        const size_t sz = kern_linear_scratch(k, (enum packed_type)c[i].type, c[i].k, rows);
        if (sz > product) product = sz;
    }
    return z.floats * sizeof(float) + product;
}

/* A sequence's image, and where this thread computes. */
struct stem {
    const struct replay *rp;
    const struct op *op;
    const struct bind *c;
    struct sequence s;
    struct stem_image stage[STAGES];
    float *gathered;
    void *scratch;
};

static const float *input_row(const struct stem *t, int64_t frame)
{
    return row0(t->rp, t->op->in) + (size_t)(t->s.row + frame / t->c->stride) * t->rp->p->slot[t->op->in].ld;
}

static int64_t frames_of(const struct stem *t)
{
    if (!t->s.n) return 0;
    const int64_t last = (int64_t)(t->s.n - 1) * t->c->stride;
    const float n = input_row(t, last)[(size_t)t->c->stride * t->c->d_head];
    return last + (n >= 1 ? n < (float)t->c->stride ? (int64_t)n : t->c->stride : 1);
}

static void product(const struct stem *t, const struct bind *c, float *y, const float *x, size_t places)
{
    const struct linear l = { .w = c->w, .bias = c->bias, .n = c->n, .k = c->k, .n_y = c->n, .act = c->act, .x = x, .ld_x = c->k, .y = y,
                              .ld_y = c->n };
    t->rp->x->kern->linear[c->type](&l, 0, places, 0, pack_panels(c->n), t->scratch);
}

/* The first stage: squares of the input, gathered. */
static void first_stage(struct stem *t, int64_t frames)
{
    const struct stem_image *to = &t->stage[0];
    const size_t columns = t->c->d_head;
    float *x = t->gathered;
    for (int64_t r = to->from; r < to->to; r++)
        for (int64_t f = 0; f < (int64_t)to->columns; f++)
            for (int64_t i = 2 * r - 1; i <= 2 * r + 1; i++)
                for (int64_t j = 2 * f - 1; j <= 2 * f + 1; j++) {
                    const int inside = i >= 0 && i < frames && j >= 0 && j < (int64_t)columns;
                    *x++ = inside ? input_row(t, i)[(size_t)(i % t->c->stride) * columns + (size_t)j] : 0;
                }
    product(t, t->c, to->x, t->gathered, (size_t)(to->to - to->from) * to->columns);
}

/* Each channel by itself, then all channels of each place. */
static void next_stage(struct stem *t, int stage, int64_t rows_before)
{
    const struct stem_image *to = &t->stage[stage], *of = &t->stage[stage - 1];
    const struct bind *each = &t->c[2 * stage - 1], *all = each + 1;
    const size_t n = t->c->n;
    float *y = t->gathered;
    for (int64_t r = to->from; r < to->to; r++)
        for (int64_t f = 0; f < (int64_t)to->columns; f++, y += n) {
            const float *x[SQUARE];
            for (int64_t k = 0; k < SQUARE; k++) {
                const int64_t i = 2 * r - 1 + k / 3, j = 2 * f - 1 + k % 3;
                const int inside = i >= 0 && i < rows_before && j >= 0 && j < (int64_t)of->columns;
                x[k] = inside ? of->x + ((size_t)(i - of->from) * of->columns + (size_t)j) * n : NULL;
            }
            const struct fsmn filter = { .y = y, .x = x, .w = each->filter, .start = each->bias, .taps = SQUARE, .left = SQUARE / 2,
                                         .n = n, .rows = 1, .ld_y = n };
            t->rp->x->kern->fsmn(&filter);
        }
    product(t, all, to->x, t->gathered, (size_t)(to->to - to->from) * to->columns);
}

/* Output rows [from, to) of the sequence. */
static void stem_rows(struct stem *t, int64_t from, int64_t to)
{
    const struct stem_sizes z = sizes_of(t->c);
    const int64_t frames = frames_of(t), rows[STAGES] = { halved((uint32_t)frames), halved(halved((uint32_t)frames)), t->s.n };
    float *at = t->scratch;
    for (int i = STAGES - 1; i >= 0; i--) {
        t->stage[i] = (struct stem_image){ at, from, to, z.columns[i] };
        at += z.image[i];
        from = from > 0 ? 2 * from - 1 : 0;
        to = 2 * to;
        if (i && to > rows[i - 1]) to = rows[i - 1];
    }
    t->gathered = at;
    t->scratch = (float *)t->scratch + z.floats;
    first_stage(t, frames);
    for (int i = 1; i < STAGES; i++) next_stage(t, i, rows[i - 1]);
    const struct stem_image *last = &t->stage[STAGES - 1];
    const size_t width = (size_t)last->columns * t->c->n, ld = t->rp->p->slot[t->op->out].ld;
    for (int64_t r = last->from; r < last->to; r++)
        memcpy(row0(t->rp, t->op->out) + (size_t)(t->s.row + r) * ld, last->x + (size_t)(r - last->from) * width, width * sizeof(float));
}

static uint32_t items_in(struct sequence s) { return (s.n + STEM_ROWS - 1u) / STEM_ROWS; }

void stem2d_run(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < sequences_of(rp, op->rows); i++) n += items_in(sequence_at(rp, op->rows, i));
    FOR_ITEMS(i, n) {
        uint32_t at = (uint32_t)i, k = 0;
        struct sequence s = sequence_at(rp, op->rows, 0);
        for (uint32_t in; at >= (in = items_in(s)); at -= in) s = sequence_at(rp, op->rows, ++k);
        struct stem t = { .rp = rp, .op = op, .c = &rp->p->bind[op->bind], .s = s, .scratch = worker->scratch };
        const int64_t from = (int64_t)at * STEM_ROWS, to = from + STEM_ROWS;
        stem_rows(&t, from, to < s.n ? to : s.n);
    }
}
