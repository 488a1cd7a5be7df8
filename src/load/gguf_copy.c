/* steno: copying keys of a GGUF file. SPDX-License-Identifier: MIT
 *
 * The table of settings does not keep the width of a stored number, so keys are copied from the file. The file was read before, but it may
 * have changed, so it is read with the same care. */
#include <string.h>
#include "load/gguf.h"
#include "load/gguf_write.h"

enum { HEADER_SZ = 24, /* magic, version, two counts */
       PIECE = 4096 };

static uint8_t const value_sz[GGUF_VALUES] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };

static void copy_bytes(struct buf *to, struct rd *r, uint64_t n)
{
    uint8_t piece[PIECE];
    for (size_t now; n && !r->err && !to->err; n -= now) {
        now = n < PIECE ? (size_t)n : PIECE;
        rd_bytes(r, piece, now);
        buf_add(to, piece, now);
    }
}

/* Little-endian, like the whole file. */
static uint64_t copy_number(struct buf *to, struct rd *r, int size)
{
    const uint64_t v = size == 8 ? rd_u64(r) : rd_u32(r);
    for (int i = 0; i < size; i++) buf_add(to, (const char[1]){ (char)(v >> 8 * i) }, 1);
    return r->err ? 0 : v;
}

static int copy_value(struct buf *to, struct rd *r, uint64_t type)
{
    if (type == GGUF_TEXT) copy_bytes(to, r, copy_number(to, r, 8));
    if (type < GGUF_VALUES && value_sz[type]) copy_bytes(to, r, value_sz[type]);
    if (type != GGUF_LIST) return type < GGUF_VALUES;
    const uint64_t of = copy_number(to, r, 4), n = copy_number(to, r, 8);
    if (of >= GGUF_VALUES || of == GGUF_LIST || n > rd_left(r)) return 0;
    if (of != GGUF_TEXT) copy_bytes(to, r, n * value_sz[of]);
    for (uint64_t i = 0; of == GGUF_TEXT && i < n && !r->err; i++) copy_bytes(to, r, copy_number(to, r, 8));
    return 1;
}

static int is_among(const char *key, size_t n, const char *const *list)
{
    for (; *list; list++)
        if (strlen(*list) == n && !memcmp(*list, key, n)) return 1;
    return 0;
}

int gguf_copy_keys(struct gguf_writer *g, const struct file *f, const char *const *but)
{
    struct buf *to = &g->keys;
    struct rd r;
    rd_init(&r, f, 0, f->size);
    rd_skip(&r, HEADER_SZ - 8);
    const uint64_t n = rd_u64(&r);
    int known = 1;
    for (uint64_t i = 0; i < n && known && !r.err && !to->err; i++) {
        const size_t at = to->len;
        copy_bytes(to, &r, copy_number(to, &r, 8));
        const size_t n_key = to->len - at - 8;
        const int left_out = !r.err && !to->err && is_among(to->p + at + 8, n_key, but);
        known = copy_value(to, &r, copy_number(to, &r, 4));
        if (left_out && !to->err) to->len = at;
        else g->n_keys++;
    }
    if (to->err) return err_nomem(g->e, to->len, "the header of a file");
    if (!r.err && known) return STENO_OK;
    return err_set(g->e, r.err ? r.err : STENO_EFORMAT, "%s: its keys have changed while they were read", f->name);
}
