/* steno: convolutions over rows and columns, on the CPU. SPDX-License-Identifier: MIT
 *
 * An item is a few rows of the output. Its thread computes the rows of the stages before it that they need. An image keeps the channels of
 * a place together, so a filter of each channel is a sum of nine vectors, and a filter over channels is a linear. Places outside the image,
 * in time or frequency, are zeros at every stage: a row that no frame reaches does not exist.
 *
 * A stem of chunks has images of a fixed number of frames, and items of up to a chunk. Its filters cover all channels: the nine places of
 * an output are gathered into a row of a linear, some rows at a time. */
#include "plan/replay.h"

enum { STEM_ROWS = 4, STAGES = 3, SQUARE = 9, GATHERED = 128 /* rows of a linear */ };

/* Places after a convolution of n places, with `left` zeros before them. */
static int64_t halved(int64_t n, int64_t left) { return n ? (n + left - 2) / 2 + 1 : 0; }

/* Rows [from, to) of the image of a stage, `columns` places each, n channels of a place. Rows count from the stream's start. */
struct stem_image { float *x; int64_t from, to; uint32_t columns; };

/* rows: of the stages, for an item. */
struct stem_sizes { uint32_t columns[STAGES], rows[STAGES]; size_t image[STAGES], gathered, floats; };

static int is_chunked(const struct bind *c) { return c->window != 0; }
static uint32_t chunk_rows(const struct bind *c) { return (uint32_t)halved(halved(halved(c->window, 1), 1), 1); }

static struct stem_sizes sizes_of(const struct bind *c)
{
    struct stem_sizes z = { .columns = { (uint32_t)halved(c->d_head, c->left) } };
    uint32_t rows = is_chunked(c) ? chunk_rows(c) : STEM_ROWS;
    for (int i = 1; i < STAGES; i++) z.columns[i] = (uint32_t)halved(z.columns[i - 1], c->left);
    for (int i = STAGES - 1; i >= 0; i--) {
        z.rows[i] = rows;
        z.image[i] = (size_t)rows * z.columns[i] * c->n;
        if (z.image[i] > z.gathered && !is_chunked(c)) z.gathered = z.image[i];
        z.floats += z.image[i];
        rows = 2 * rows + 1;
    }
    const size_t squares = (size_t)z.rows[0] * z.columns[0] * SQUARE, all = is_chunked(c) ? (size_t)GATHERED * SQUARE * c->n : 0;
    if (squares > z.gathered) z.gathered = squares;
    if (all > z.gathered) z.gathered = all;
    z.floats = (z.floats + z.gathered + 15) & ~(size_t)15;
    return z;
}

/* The binding of a stage's linear, and the most rows that it gets at a time. */
static const struct bind *linear_at(const struct bind *c, int stage) { return c + (is_chunked(c) ? stage : 2 * stage); }

static size_t linear_rows(const struct bind *c, const struct stem_sizes *z, int stage)
{
    const size_t places = (size_t)z->rows[stage] * z->columns[stage];
    return stage && is_chunked(c) && places > GATHERED ? GATHERED : places;
}

size_t stem2d_scratch(const struct kern *k, const struct plan *p, const struct op *op)
{
    const struct bind *c = &p->bind[op->bind];
    const struct stem_sizes z = sizes_of(c);
    size_t product = 0;
    for (int i = 0; i < STAGES; i++) {
        const struct bind *at = linear_at(c, i);
        const size_t sz = kern_linear_scratch(k, (enum packed_type)at->type, at->k, linear_rows(c, &z, i));
        if (sz > product) product = sz;
    }
    return z.floats * sizeof(float) + product;
}

/* The image of a sequence or of a chunk, which has the rows of s, and where this thread computes. */
struct stem {
    const struct replay *rp;
    const struct op *op;
    const struct bind *c;
    struct sequence s;
    int64_t before; /* rows of the stream before s */
    struct stem_image stage[STAGES];
    float *gathered;
    void *scratch;
};

/* Rows of the image that row 0 of the input lacks at its start. */
static int64_t lead_of(const struct stem *t) { return t->c->left > 1 ? t->c->stride - 1 : 0; }

/* Row i of the stream's input. */
static const float *input_row(const struct stem *t, int64_t i)
{
    const struct op *op = t->op;
    if (i >= t->before) return row0(t->rp, op->in) + (size_t)(t->s.row + i - t->before) * t->rp->p->slot[op->in].ld;
    const struct shift_mem *m = &t->rp->x->mem[op->state].lane[t->s.lane];
    return state_rows(m, op->layer) + (size_t)(m->positions - 1) * t->rp->p->slot[op->in].width;
}

/* Row i of the stream's image. */
static const float *image_row(const struct stem *t, int64_t i)
{
    const int64_t at = i + lead_of(t), stride = t->c->stride;
    return input_row(t, at / stride) + (size_t)(at % stride) * t->c->d_head;
}

/* Rows of the image so far. */
static int64_t frames_of(const struct stem *t)
{
    if (!t->s.n) return 0;
    if (is_chunked(t->c)) return t->c->window;
    const int64_t last = t->before + t->s.n - 1, stride = t->c->stride;
    const float n = input_row(t, last)[(size_t)stride * t->c->d_head];
    return last * stride - lead_of(t) + (n >= 1 ? n < (float)stride ? (int64_t)n : stride : 1);
}

static void product(const struct stem *t, const struct bind *c, float *y, const float *x, size_t places)
{
    const struct linear l = { .w = c->w, .bias = c->bias, .n = c->n, .k = c->k, .n_y = c->n, .act = c->act, .x = x, .ld_x = c->k, .y = y,
                              .ld_y = c->n };
    t->rp->x->kern->linear[c->type](&l, 0, places, 0, pack_panels(c->n), t->scratch);
}

/* Number k of a square: filters of channels are stored by rows and columns, those of a stem of chunks by columns and rows. */
static int64_t square_row(const struct bind *c, int64_t k) { return is_chunked(c) ? k % 3 : k / 3; }
static int64_t square_column(const struct bind *c, int64_t k) { return is_chunked(c) ? k / 3 : k % 3; }

/* The first stage: squares of the input, gathered. Rows after those of a chunk that ends early are zeros. */
static void first_stage(struct stem *t, int64_t frames)
{
    const struct stem_image *to = &t->stage[0];
    const int64_t columns = t->c->d_head, left = t->c->left;
    const int64_t stored = (t->before + t->s.n) * t->c->stride, end = frames < stored ? frames : stored;
    float *x = t->gathered;
    for (int64_t r = to->from; r < to->to; r++)
        for (int64_t f = 0; f < (int64_t)to->columns; f++)
            for (int64_t k = 0; k < SQUARE; k++) {
                const int64_t i = 2 * r - left + square_row(t->c, k), j = 2 * f - left + square_column(t->c, k);
                *x++ = i >= 0 && i < end && j >= 0 && j < columns ? image_row(t, i)[j] : 0;
            }
    product(t, t->c, to->x, t->gathered, (size_t)(to->to - to->from) * to->columns);
}

/* All channels of the nine places at once. */
static void next_stage_of_chunk(struct stem *t, int stage, int64_t rows_before)
{
    const struct stem_image *to = &t->stage[stage], *of = &t->stage[stage - 1];
    const size_t n = t->c->n, places = (size_t)(to->to - to->from) * to->columns;
    for (size_t first = 0, end; first < places; first = end) {
        float *x = t->gathered;
        end = places - first < GATHERED ? places : first + GATHERED;
        for (size_t p = first; p < end; p++)
            for (int64_t k = 0; k < SQUARE; k++, x += n) {
                const int64_t i = 2 * (to->from + (int64_t)(p / to->columns)) - 1 + square_row(t->c, k);
                const int64_t j = 2 * (int64_t)(p % to->columns) - 1 + square_column(t->c, k);
                const int inside = i >= 0 && i < rows_before && j >= 0 && j < (int64_t)of->columns;
                if (inside) memcpy(x, of->x + ((size_t)(i - of->from) * of->columns + (size_t)j) * n, n * sizeof *x);
                else memset(x, 0, n * sizeof *x);
            }
        product(t, t->c + stage, to->x + first * n, t->gathered, end - first);
    }
}

/* Each channel by itself, then all channels of each place. */
static void next_stage(struct stem *t, int stage, int64_t rows_before)
{
    const struct stem_image *to = &t->stage[stage], *of = &t->stage[stage - 1];
    const struct bind *each = &t->c[2 * stage - 1], *all = each + 1;
    const size_t n = t->c->n;
    const int64_t left = t->c->left;
    float *y = t->gathered;
    for (int64_t r = to->from; r < to->to; r++)
        for (int64_t f = 0; f < (int64_t)to->columns; f++, y += n) {
            const float *x[SQUARE];
            for (int64_t k = 0; k < SQUARE; k++) {
                const int64_t i = 2 * r - left + k / 3, j = 2 * f - left + k % 3;
                const int inside = i >= 0 && i < rows_before && j >= 0 && j < (int64_t)of->columns;
                x[k] = inside ? of->x + ((size_t)(i - of->from) * of->columns + (size_t)j) * n : NULL;
            }
            const struct fsmn filter = { .y = y, .x = x, .w = each->filter, .start = each->bias, .taps = SQUARE, .left = SQUARE / 2,
                                         .n = n, .rows = 1, .ld_y = n };
            t->rp->x->kern->fsmn(&filter);
        }
    product(t, all, to->x, t->gathered, (size_t)(to->to - to->from) * to->columns);
}

/* Output rows [from, to) of the stream. */
static void stem_rows(struct stem *t, int64_t from, int64_t to)
{
    const struct stem_sizes z = sizes_of(t->c);
    const int64_t left = t->c->left, frames = frames_of(t), first = halved(frames, left), rows[] = { first, halved(first, left) };
    float *at = t->scratch;
    for (int i = STAGES - 1; i >= 0; i--) {
        t->stage[i] = (struct stem_image){ at, from, to, z.columns[i] };
        at += z.image[i];
        from = 2 * from > left ? 2 * from - left : 0;
        to = 2 * to + 1 - left;
        if (i && to > rows[i - 1]) to = rows[i - 1];
    }
    t->gathered = at;
    t->scratch = (float *)t->scratch + z.floats;
    first_stage(t, frames);
    for (int i = 1; i < STAGES; i++)
        if (is_chunked(t->c)) next_stage_of_chunk(t, i, rows[i - 1]);
        else next_stage(t, i, rows[i - 1]);
    const struct stem_image *last = &t->stage[STAGES - 1];
    const size_t width = (size_t)last->columns * t->c->n, ld = t->rp->p->slot[t->op->out].ld;
    float *out = row0(t->rp, t->op->out) + (size_t)(t->s.row + last->from - t->before) * ld;
    for (int64_t r = last->from; r < last->to; r++, out += ld)
        memcpy(out, last->x + (size_t)(r - last->from) * width, width * sizeof *out);
}

/* ---- items */

/* An item has at most `rows` rows of an image of `image` rows. */
struct stem_cut { uint32_t rows, image; };

static uint32_t items_in(struct stem_cut cut, struct sequence s)
{
    const uint32_t whole = s.n / cut.image, rest = s.n % cut.image, each = (cut.image + cut.rows - 1) / cut.rows;
    return whole * each + (rest + cut.rows - 1) / cut.rows;
}

static uint32_t items_of(const struct replay *rp, const struct op *op, struct stem_cut cut)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < sequences_of(rp, op->rows); i++) n += items_in(cut, sequence_at(rp, op->rows, i));
    return n;
}

/* An item of a whole chunk computes no row twice. Shorter ones are for runs with fewer chunks than threads. */
static struct stem_cut cut_of(const struct replay *rp, const struct op *op, int threads)
{
    const struct bind *c = &rp->p->bind[op->bind];
    struct stem_cut cut = { STEM_ROWS, UINT16_MAX };
    if (!is_chunked(c)) return cut;
    cut.rows = cut.image = chunk_rows(c);
    while (cut.rows > STEM_ROWS && items_of(rp, op, cut) < (uint32_t)threads) cut.rows = (cut.rows + 1) / 2;
    return cut;
}

void stem2d_run(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    const struct stem_cut cut = cut_of(rp, op, worker->threads);
    const uint32_t each = (cut.image + cut.rows - 1) / cut.rows;
    FOR_ITEMS(i, items_of(rp, op, cut)) {
        uint32_t at = (uint32_t)i, k = 0;
        struct sequence s = sequence_at(rp, op->rows, 0);
        for (uint32_t in; at >= (in = items_in(cut, s)); at -= in) s = sequence_at(rp, op->rows, ++k);
        const uint32_t first = at / each * cut.image, left = s.n - first, from = at % each * cut.rows;
        s.row = (uint16_t)(s.row + first);
        s.n = (uint16_t)(left < cut.image ? left : cut.image);
        struct stem t = { .rp = rp, .op = op, .c = &rp->p->bind[op->bind], .s = s, .scratch = worker->scratch };
        if (op->state != NO_STATE) t.before = stream_place(rp, s).before;
        stem_rows(&t, t.before + from, t.before + (from + cut.rows < s.n ? from + cut.rows : s.n));
    }
}
