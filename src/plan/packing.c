/* steno: packing weights, and memory for packed weights. SPDX-License-Identifier: MIT */
#include "plan/packing.h"
#include <stdint.h>
#include <string.h>
#include "base/os.h"
#include "plan/build.h"

/* ---- the store --------------------------------------------------------------------------------------------------------------- */

enum { ALIGN = 64, PIECE_MIN = 4 << 20 };

/* Header at the beginning of a piece's pages. */
struct weight_piece {
    struct weight_piece *next;
    size_t size, used; /* bytes from here on */
};
_Static_assert(sizeof(struct weight_piece) <= ALIGN, "the head of a piece has a line of its own");

static size_t aligned(size_t n)
{
    return (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

/* Give back the unused pages of a piece. */
static void piece_trim(struct weight_store *s, struct weight_piece *p)
{
    os_pages_trim(p, p->size, p->used);
    s->held -= p->size - p->used;
    p->size = p->used;
}

/* Allocate a piece with room for n bytes. If it has much room left, later requests use it, too. */
static struct weight_piece *piece_add(struct weight_store *s, size_t n)
{
    size_t size = s->held < PIECE_MIN ? PIECE_MIN : s->held < STORE_PIECE_MAX ? s->held : STORE_PIECE_MAX;
    const int own = n > size / 2;
    if (own) size = ALIGN + n;
    struct weight_piece *p = os_pages_alloc(size), *open = s->piece;
    if (!p) return NULL;
    p->size = size;
    p->used = ALIGN;
    s->held += size;
    if (own && open) {
        p->next = open->next;
        open->next = p;
        return p;
    }
    if (open) piece_trim(s, open);
    p->next = open;
    return s->piece = p;
}

void *weight_store_take(struct weight_store *s, size_t n)
{
    static const char nowhere;
    if (n > SIZE_MAX / 2) return NULL;
    const size_t need = aligned(n);
    if (s->dry) {
        s->used += need;
        return (void *)(uintptr_t)&nowhere;
    }
    struct weight_piece *p = s->piece;
    if (!p || need > p->size - p->used) p = piece_add(s, need);
    if (!p) return NULL;
    void *at = (char *)p + p->used;
    p->used += need;
    s->used += need;
    return at;
}

static void weight_store_untake(struct weight_store *s, void *at, size_t n)
{
    const size_t need = aligned(n);
    struct weight_piece *p = s->piece, *before = NULL;
    while (p && (char *)p + p->used != (char *)at + need) before = p, p = p->next;
    if (!p) return;
    s->used -= need;
    p->used -= need;
    if (p == s->piece || p->used > ALIGN) {
        memset(at, 0, need);
        return;
    }
    before->next = p->next;
    s->held -= p->size;
    os_pages_free(p, p->size);
}

static uint32_t bucket_of(const struct stored *what)
{
    uint32_t h = what->n_parts;
    for (uint32_t i = 0; i < what->n_parts; i++) h = h * 31 + what->tensor[i];
    return h % STORED_HASH;
}

const void *weight_store_find(const struct weight_store *s, const struct stored *what)
{
    for (const struct stored *at = s->stored[bucket_of(what)]; at; at = at->next)
        if (at->n_parts == what->n_parts && at->as == what->as && at->n == what->n && at->first == what->first &&
            !memcmp(at->tensor, what->tensor, what->n_parts * sizeof *what->tensor))
            return at->data;
    return NULL;
}

static int weight_store_add(struct weight_store *s, const struct stored *what)
{
    struct stored *new = arena_alloc(&s->index, sizeof *new), **bucket = &s->stored[bucket_of(what)];
    if (!new) return -1;
    *new = *what;
    new->next = *bucket;
    *bucket = new;
    return 0;
}

void weight_store_trim(struct weight_store *s)
{
    memset(s->stored, 0, sizeof s->stored);
    arena_free(&s->index);
    if (s->piece) piece_trim(s, s->piece);
    s->others = NULL;
    s->n_others = 0;
}

size_t weight_store_memory(const struct weight_store *s)
{
    return s->dry ? s->used : s->held;
}

int weight_store_each(const struct weight_store *s, int (*take)(void *user, const void *at, size_t n), void *user)
{
    int rc = 0;
    for (const struct weight_piece *p = s->piece; p && !rc; p = p->next) rc = take(user, (const char *)p + ALIGN, p->used - ALIGN);
    return rc;
}

void weight_store_close(struct weight_store *s)
{
    arena_free(&s->index);
    for (struct weight_piece *p = s->piece, *next; p; p = next) {
        next = p->next;
        os_pages_free(p, p->size);
    }
    *s = (struct weight_store){ 0 };
}

/* ---- the common parts of two models ------------------------------------------------------------------------------------------ */

enum { FIRST_BYTES = 64 }; /* distinguishes most matrices without reading them as a whole */

static const void *same_matrix(const struct plan *plans, int n_plans, enum packed_type t, uint64_t n, uint64_t k, const void *packed)
{
    const size_t sz = pack_sz(t, n, (size_t)k);
    if (sz < FIRST_BYTES) return NULL;
    for (int p = 0; p < n_plans; p++)
        for (uint16_t i = 0; i < plans[p].n_binds; i++) {
            const struct bind *c = &plans[p].bind[i];
            if (!c->w || c->type != t || c->n != n || c->k != k || c->approx || pack_sz(t, c->n, c->k) != sz) continue;
            if (!memcmp(c->w, packed, FIRST_BYTES) && !memcmp(c->w, packed, sz)) return c->w;
        }
    return NULL;
}

static int same_numbers(const float *a, const float *b, size_t n)
{
    return a == b || (a && b && !memcmp(a, b, n * sizeof *a));
}

static int same_bind(const struct plan *p, const struct op *op, const struct bind *a, const struct bind *b)
{
    const int same = a->n == b->n && a->k == b->k && a->n_y == b->n_y && a->n_kv == b->n_kv && a->type == b->type && a->act == b->act &&
                     a->norm_kind == b->norm_kind && a->heads == b->heads && a->kv_heads == b->kv_heads && a->d_head == b->d_head &&
                     a->stride == b->stride && !memcmp(&a->scale, &b->scale, sizeof a->scale) && !memcmp(&a->eps, &b->eps, sizeof a->eps);
    if (!same || a->filter || b->filter || a->approx || b->approx || !a->w != !b->w) return 0; /* encoders of windows have no filters */
    return (a->w == b->w || !memcmp(a->w, b->w, pack_sz((enum packed_type)a->type, a->n, a->k))) && same_numbers(a->bias, b->bias, a->n) &&
           same_numbers(a->norm_weight, b->norm_weight, a->k) && same_numbers(a->positions, b->positions, (size_t)p->max_rows * a->n) &&
           op->kind != OP_LSTM;
}

int same_phase(const struct plan *a, const struct plan *b, int phase)
{
    const struct phase *f = &a->phase[phase], *g = &b->phase[phase];
    if (!f->name || !g->name || f->first != g->first || f->last != g->last || a->max_rows != b->max_rows || a->input != b->input ||
        a->output != b->output || a->slot[a->output].width != b->slot[b->output].width)
        return 0;
    if (memcmp(a->op + f->first, b->op + f->first, (f->last - f->first) * sizeof *a->op) != 0) return 0;
    for (uint16_t i = f->first; i < f->last; i++)
        if (a->op[i].bind < a->n_binds && !same_bind(a, &a->op[i], &a->bind[a->op[i].bind], &b->bind[b->op[i].bind])) return 0;
    return 1;
}

/* ---- packing ----------------------------------------------------------------------------------------------------------------- */

void *packed_take(struct build *b, size_t n)
{
    void *p = weight_store_take(b->p.store, n);
    if (!p && !b->status) b->status = err_nomem(b->e, n, "packed weights");
    return p;
}

uint32_t tensor_number(const struct build *b, const struct tensor *t)
{
    return t ? (uint32_t)(t - b->p.weights->tensor) : NO_TENSOR;
}

void packed_remember(struct build *b, const struct stored *what)
{
    if (!b->status && weight_store_add(b->p.store, what)) b->status = err_nomem(b->e, sizeof *what, "packed weights");
}

/* From the last head to the first, so that the copy works in place. */
void spread_heads(float *x, uint64_t heads, uint32_t d_head)
{
    const uint32_t room = head_room(d_head);
    for (uint64_t h = heads; h-- > 0;) {
        memmove(x + h * room, x + h * d_head, d_head * sizeof *x);
        memset(x + h * room + d_head, 0, (room - d_head) * sizeof *x);
    }
}

/* A packing job. Each item is one panel, which a thread reads from the file and interleaves. */
struct pack_job {
    struct matrices m;
    uint64_t rows;          /* of all parts */
    enum dtype type;        /* as stored */
    enum packed_type packed;
    uint8_t *out, *buffer;  /* buffer: per thread PANEL rows, the same number of transposed rows if taps > 1, and of f32 rows if they are
                             * widened */
    size_t row_sz, buffer_sz, wide_at;
    int widens;             /* rows are packed from f32 */
    struct approx_panel *approx; /* [panels] the loss of packing; may be NULL */
    const struct kern *kern;
    struct pack_failure *failure; /* [threads] */
    _Atomic int64_t failed; /* the lowest panel that could not be packed */
};

/* The lowest panel that a thread could not pack, and the reason. */
struct pack_failure { int64_t panel; steno_error error; };

static void taps_first(uint8_t *dst, const uint8_t *src, size_t elem, uint64_t channels, uint32_t taps)
{
    for (uint32_t t = 0; t < taps; t++)
        for (uint64_t c = 0; c < channels; c++) memcpy(dst + (t * channels + c) * elem, src + (c * taps + t) * elem, elem);
}

/* Report the failed panel with the lowest index, so that the result does not depend on timing. Each thread takes ascending panels, and none
 * stops below the lowest failure so far. */
static void pack_fail(struct pack_job *j, int64_t panel)
{
    int64_t lowest = atomic_load(&j->failed);
    while (panel < lowest && !atomic_compare_exchange_weak(&j->failed, &lowest, panel)) continue;
}

/* The part that contains row r. *at: its row within the part. */
static int part_of(const struct matrices *m, uint64_t r, uint64_t *at)
{
    int part = 0;
    for (uint64_t n; r >= (n = with_room(m->n[part], m->row_head)); part++) r -= n;
    *at = r;
    return part;
}

/* The number of consecutively stored rows from packed row r on; 0: row r is zeros. */
static uint64_t run_of(const struct matrices *m, uint64_t r)
{
    const uint64_t at = m->row_head ? r % head_room(m->row_head) : 0;
    return !m->row_head ? UINT64_MAX : at < m->row_head ? m->row_head - at : 0;
}

typedef int part_fn(const struct tensor *t, uint64_t row, uint64_t n, void *rows, steno_error *e);

/* Read or check rows [first, last), which may span several parts. */
static int each_part(const struct pack_job *j, uint64_t first, uint64_t last, uint8_t *buf, part_fn *fn, steno_error *e)
{
    uint64_t at, take;
    for (uint64_t r = first; r < last; r += take) {
        const int part = part_of(&j->m, r, &at);
        const uint64_t run = run_of(&j->m, r), left = last - r;
        if (j->m.row_head) at = at / head_room(j->m.row_head) * j->m.row_head + at % head_room(j->m.row_head);
        take = j->m.n[part] - at < left ? j->m.n[part] - at : left;
        if (run < take) take = run;
        const int rc = take ? fn(j->m.tensor[part], j->m.first + at, take, buf + (r - first) * j->row_sz, e) : STENO_OK;
        if (rc) return rc;
        if (!take) take = 1;
    }
    return STENO_OK;
}

static int check_rows(const struct tensor *t, uint64_t row, uint64_t n, void *rows, steno_error *e)
{
    return tensor_check_rows(t, row, n, rows, e);
}

/* Prepare a panel's rows for packing: taps first, and widened if the packed type does not accept the stored type. @return their type */
static enum dtype make_rows(const struct pack_job *j, const void *rows[PANEL], uint8_t *buf, uint64_t first, size_t n)
{
    uint8_t *const turned = buf + PANEL * j->row_sz;
    float *const wide = (float *)(void *)(buf + j->wide_at);
    const size_t columns = (size_t)matrices_columns(&j->m);
    for (size_t i = 0; i < n; i++) {
        if (!run_of(&j->m, first + i)) continue; /* NULL: zeros */
        uint8_t *row = buf + i * j->row_sz;
        if (j->m.taps > 1) {
            taps_first(turned + i * j->row_sz, row, j->row_sz / j->m.k, j->m.k / j->m.taps, j->m.taps);
            row = turned + i * j->row_sz;
        }
        rows[i] = row;
        if (!j->widens) continue;
        dtype_widen_row(wide + i * columns, j->type, row, j->m.k);
        if (j->m.column_head) spread_heads(wide + i * columns, j->m.k / j->m.column_head, j->m.column_head);
        rows[i] = wide + i * columns;
    }
    return j->widens ? DT_F32 : j->type;
}

static void pack_item(void *arg, int64_t panel, int thread)
{
    struct pack_job *j = arg;
    if (panel > atomic_load(&j->failed)) return;
    struct pack_failure *f = &j->failure[thread];
    uint8_t *buf = j->buffer + (size_t)thread * j->buffer_sz;
    const uint64_t first = (uint64_t)panel * PANEL;
    const uint64_t last = first + PANEL < j->rows ? first + PANEL : j->rows;
    int rc = each_part(j, first, last, buf, tensor_read_rows, &f->error);
    if (!rc) {
        const void *rows[PANEL] = { 0 };
        struct q8_loss loss;
        const size_t k = (size_t)matrices_columns(&j->m);
        uint8_t *const out = j->out + (size_t)panel * pack_panel_sz(j->packed, k);
        const enum dtype from = make_rows(j, rows, buf, first, (size_t)(last - first));
        const int by_rows = j->packed == PK_I8_QUAD;
        j->kern->pack(out, j->approx && !by_rows ? &loss : NULL, j->packed, from, rows, k);
        if (j->approx && by_rows) loss = i8_loss_of_panel(out, from, rows, k);
        if (j->approx) j->approx[panel] = approx_panel_of(&loss, k);
        if (!j->kern->panel_finite(j->packed, out, k)) rc = each_part(j, first, last, buf, check_rows, &f->error);
    }
    if (rc) {
        f->panel = panel;
        pack_fail(j, panel);
    }
}

/* The packed matrix, or an identical one of another model. */
static const void *matrix_once(struct build *b, void *packed, enum packed_type t, uint64_t n, uint64_t k)
{
    struct weight_store *s = b->p.store;
    const void *same = same_matrix(s->others, s->n_others, t, n, k, packed);
    if (same) weight_store_untake(s, packed, pack_sz(t, n, (size_t)k));
    return same ? same : packed;
}

const void *pack_matrices(struct build *b, const struct matrices *m, enum packed_type t, struct approx_panel *approx)
{
    if (b->status) return NULL;
    const int threads = team_threads(b->p.team);
    struct pack_job j = { .m = *m, .rows = matrices_rows(m), .type = m->tensor[0]->type, .packed = t, .approx = approx,
                          .kern = b->p.kern, .failed = INT64_MAX };
    const uint64_t k = matrices_columns(m);
    j.row_sz = dtype_row_sz(j.type, m->k);
    j.widens = m->column_head || !pack_takes(t, j.type);
    j.wide_at = ((m->taps > 1 ? 2 : 1) * PANEL * j.row_sz + 63) & ~(size_t)63;
    j.buffer_sz = j.wide_at + (j.widens ? PANEL * (size_t)k * sizeof(float) : 0);
    j.buffer_sz = (j.buffer_sz + 63) & ~(size_t)63;
    j.out = packed_take(b, pack_sz(t, j.rows, k));
    if (b->p.store->dry) return j.out;
    struct arena scratch_arena;
    arena_init(&scratch_arena);
    j.buffer = arena_array(&scratch_arena, (size_t)threads, j.buffer_sz);
    j.failure = arena_array(&scratch_arena, (size_t)threads, sizeof *j.failure);
    if (!j.out || !j.buffer || !j.failure) {
        if (!b->status) b->status = err_nomem(b->e, (size_t)threads * j.buffer_sz, "packing");
    } else {
        team_for(b->p.team, (int64_t)pack_panels(j.rows), pack_item, &j);
        const int64_t failed = atomic_load(&j.failed);
        for (int i = 0; i < threads && failed < INT64_MAX; i++)
            if (j.failure[i].panel == failed && j.failure[i].error.status)
                b->status = err_set(b->e, j.failure[i].error.status, "%s", j.failure[i].error.text);
    }
    arena_free(&scratch_arena);
    return b->status ? NULL : matrix_once(b, j.out, t, j.rows, k);
}

const void *pack_shared(struct build *b, const struct matrices *m, enum packed_type t)
{
    if (b->status) return NULL;
    struct stored what = { .n_parts = (uint32_t)m->n_parts, .as = (int)t, .n = matrices_rows(m), .first = m->first };
    for (int i = 0; i < m->n_parts; i++) what.tensor[i] = tensor_number(b, m->tensor[i]);
    what.data = weight_store_find(b->p.store, &what);
    if (what.data) return what.data;
    what.data = pack_matrices(b, m, t, NULL);
    packed_remember(b, &what);
    return what.data;
}
