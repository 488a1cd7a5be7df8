/* steno: packing weights. SPDX-License-Identifier: MIT */
#include "plan/packing.h"
#include <string.h>

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

/* A packing job: each item is one panel, read from the file and interleaved by whichever thread is free. */
struct pack_job {
    struct matrices m;
    uint64_t rows;          /* of all parts */
    enum dtype type;        /* as stored */
    enum packed_type packed;
    uint8_t *out, *buffer;  /* buffer: [threads] of PANEL rows, where taps > 1 as many turned, and where they are to be widened of f32 */
    size_t row_sz, buffer_sz, wide_at;
    struct approx_panel *approx; /* [panels] what packing loses, NULL: nobody asks */
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
    uint64_t begin = 0; /* of the part */
    for (uint64_t r = first, part = 0; r < last;) {
        for (; r >= begin + j->m.n[part]; part++) begin += j->m.n[part];
        const uint64_t at = r - begin, left = j->m.n[part] - at, take = left < last - r ? left : last - r;
        uint8_t *dst = buf + (r - first) * j->row_sz;
        const int rc = tensor_read_rows(j->m.tensor[part], at, take, dst, &j->errors[thread]);
        if (rc) {
            atomic_store(&j->status, rc);
            return;
        }
        for (uint64_t i = 0; i < take; i++) {
            uint8_t *row = dst + i * j->row_sz;
            if (j->m.taps > 1) {
                taps_first(turned + (r - first + i) * j->row_sz, row, j->row_sz / j->m.k, j->m.k / j->m.taps, j->m.taps);
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
        dtype_widen_row(wide + (size_t)i * j->m.k, j->type, rows[i], j->m.k);
        rows[i] = wide + (size_t)i * j->m.k;
    }
    struct q8_loss loss;
    uint8_t *const out = j->out + (size_t)panel * pack_panel_sz(j->packed, j->m.k);
    j->kern->pack(out, j->approx ? &loss : NULL, j->packed, widen ? DT_F32 : j->type, rows, j->m.k);
    if (j->approx) j->approx[panel] = approx_panel_of(&loss, j->m.k);
}

const void *pack_matrices(struct build *b, const struct matrices *m, enum packed_type t, struct approx_panel *approx)
{
    if (b->status) return NULL;
    const int threads = team_threads(b->p.team);
    struct pack_job j = { .m = *m, .rows = matrices_rows(m), .type = m->tensor[0]->type, .packed = t, .approx = approx,
                          .kern = b->p.kern };
    const uint64_t k = m->k;
    j.row_sz = dtype_row_sz(j.type, k);
    j.wide_at = ((m->taps > 1 ? 2 : 1) * PANEL * j.row_sz + 63) & ~(size_t)63;
    j.buffer_sz = j.wide_at + (pack_takes(j.packed, j.type) ? 0 : PANEL * (size_t)k * sizeof(float));
    j.buffer_sz = (j.buffer_sz + 63) & ~(size_t)63;
    j.out = packed_take(b, pack_sz(t, j.rows, k));
    if (b->p.store->dry) return j.out;
    struct arena scratch_arena;
    arena_init(&scratch_arena);
    j.buffer = arena_array(&scratch_arena, (size_t)threads, j.buffer_sz);
    j.errors = arena_array(&scratch_arena, (size_t)threads, sizeof *j.errors);
    if (!j.out || !j.buffer || !j.errors) {
        if (!b->status) b->status = err_nomem(b->e, (size_t)threads * j.buffer_sz, "packing");
    } else {
        team_for(b->p.team, (int64_t)pack_panels(j.rows), pack_item, &j);
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

const void *pack_shared(struct build *b, const struct matrices *m, enum packed_type t)
{
    if (b->status) return NULL;
    struct stored what = { .n_parts = (uint32_t)m->n_parts, .as = (int)t, .n = matrices_rows(m) };
    for (int i = 0; i < m->n_parts; i++) what.tensor[i] = tensor_number(b, m->tensor[i]);
    what.data = weight_store_find(b->p.store, &what);
    if (what.data) return what.data;
    what.data = pack_matrices(b, m, t, NULL);
    packed_remember(b, &what);
    return what.data;
}
