/* steno: writing GGUF files. SPDX-License-Identifier: MIT */
#include <string.h>
#include "convert/gguf_write.h"
#include "load/ggml.h"
#include "load/gguf.h"

enum { VERSION = 3 };

static void put(struct buf *b, uint64_t v, int n) /* little-endian */
{
    uint8_t p[8];
    for (int i = 0; i < n; i++) p[i] = (uint8_t)(v >> 8 * i);
    buf_add(b, p, (size_t)n);
}

static void put_bytes(struct buf *b, const void *s, size_t n)
{
    put(b, n, 8);
    buf_add(b, s, n);
}

static struct buf *put_key(struct gguf_writer *g, const char *key, enum gguf_value type)
{
    put_bytes(&g->keys, key, strlen(key));
    put(&g->keys, type, 4);
    g->n_keys++;
    return &g->keys;
}

static struct buf *put_list(struct gguf_writer *g, const char *key, enum gguf_value type, uint64_t n)
{
    struct buf *b = put_key(g, key, GGUF_LIST);
    put(b, type, 4);
    put(b, n, 8);
    return b;
}

void gguf_begin(struct gguf_writer *g, const char *architecture, const struct model_sink *to, steno_error *e)
{
    *g = (struct gguf_writer){ .out = { .to = to, .e = e }, .e = e };
    if (architecture) gguf_put_text(g, "general.architecture", architecture);
}

void gguf_end(struct gguf_writer *g)
{
    buf_free(&g->keys);
    buf_free(&g->tensors);
}

void gguf_put_u32(struct gguf_writer *g, const char *key, uint32_t v)
{
    put(put_key(g, key, GGUF_U32), v, 4);
}

void gguf_put_i32(struct gguf_writer *g, const char *key, int32_t v)
{
    put(put_key(g, key, GGUF_I32), (uint32_t)v, 4);
}

void gguf_put_f32(struct gguf_writer *g, const char *key, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    put(put_key(g, key, GGUF_F32), bits, 4);
}

void gguf_put_bool(struct gguf_writer *g, const char *key, int v)
{
    put(put_key(g, key, GGUF_BOOL), v != 0, 1);
}

void gguf_put_text(struct gguf_writer *g, const char *key, const char *v)
{
    put_bytes(put_key(g, key, GGUF_TEXT), v, strlen(v));
}

void gguf_put_f32s(struct gguf_writer *g, const char *key, const float *v, uint32_t n)
{
    struct buf *b = put_list(g, key, GGUF_F32, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &v[i], sizeof bits);
        put(b, bits, 4);
    }
}

void gguf_put_i32s(struct gguf_writer *g, const char *key, const int32_t *v, uint32_t n)
{
    struct buf *b = put_list(g, key, GGUF_I32, n);
    for (uint32_t i = 0; i < n; i++) put(b, (uint32_t)v[i], 4);
}

void gguf_put_vocab(struct gguf_writer *g, const char *key, const struct vocab_entry *v, uint32_t n)
{
    struct buf *b = put_list(g, key, GGUF_TEXT, n);
    for (uint32_t i = 0; i < n; i++) put_bytes(b, v[i].s, v[i].n);
}

void gguf_put_tensor(struct gguf_writer *g, const char *name, enum dtype type, const uint64_t *dim, int n_dims)
{
    struct buf *b = &g->tensors;
    uint64_t rows = 1;
    put_bytes(b, name, strlen(name));
    put(b, (uint64_t)n_dims, 4);
    for (int i = n_dims - 1; i >= 0; i--) put(b, dim[i], 8);
    for (int i = 0; i < n_dims - 1; i++) rows *= dim[i];
    put(b, (uint32_t)ggml_type_code(type), 4);
    put(b, g->data, 8);
    const uint64_t size = rows * dtype_row_sz(type, (size_t)dim[n_dims - 1]);
    g->data += (size + GGUF_ALIGN - 1) / GGUF_ALIGN * GGUF_ALIGN;
    g->n_tensors++;
}

int gguf_write_data(struct gguf_writer *g, const void *data, size_t n)
{
    return bytes_write(&g->out, data, n);
}

int gguf_write_pad(struct gguf_writer *g)
{
    static const uint8_t zeros[GGUF_ALIGN];
    const size_t over = (size_t)(g->out.at % GGUF_ALIGN);
    return over ? gguf_write_data(g, zeros, GGUF_ALIGN - over) : STENO_OK;
}

int gguf_write_header(struct gguf_writer *g)
{
    struct buf head = { 0 };
    buf_str(&head, "GGUF");
    put(&head, VERSION, 4);
    put(&head, g->n_tensors, 8);
    put(&head, g->n_keys, 8);
    int rc = STENO_OK;
    if (head.err || g->keys.err || g->tensors.err) rc = err_nomem(g->e, g->keys.len + g->tensors.len, "the header of a file");
    if (!rc) rc = gguf_write_data(g, head.p, head.len);
    if (!rc) rc = gguf_write_data(g, g->keys.p, g->keys.len);
    if (!rc && g->n_tensors) rc = gguf_write_data(g, g->tensors.p, g->tensors.len);
    buf_free(&head);
    return rc ? rc : gguf_write_pad(g);
}

int gguf_write_tensor(struct gguf_writer *g, const struct tensor *t, const struct tensor_change *c)
{
    const int rc = bytes_write_tensor(&g->out, t, c);
    return rc ? rc : gguf_write_pad(g);
}

/* ---- copying keys ----------------------------------------------------------------------------------------------------------------- */

/* The table of settings does not keep the width of a stored number, so keys are copied from the file. The file was read before, but it may
 * have changed, so it is read with the same care. */

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
