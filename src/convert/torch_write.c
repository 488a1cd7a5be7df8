/* steno: writing PyTorch files. SPDX-License-Identifier: MIT */
#include "convert/torch_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- the archive ------------------------------------------------------------------------------------------------------------------ */

enum {
    SIG_LOCAL = 0x04034b50, SIG_RECORD = 0x02014b50, SIG_BEHIND = 0x08074b50, SIG_END = 0x06054b50, SIG_END64 = 0x06064b50,
    SIG_LOCATOR = 0x07064b50, LOCAL_SZ = 30, EXTRA_HEAD = 4, END64_SZ = 56,
    FLAGS = 1 << 3 | 1 << 11, /* the checksum follows the bytes; names are UTF-8 */
    ALIGN = 64, EXTRA_PAD = 0x4246 /* "FB", as in torch.save */, EXTRA_ZIP64 = 1, VERSION_64 = 45,
    DATE = 0x21 /* 1 January 1980, so that the same model gives the same file */
};
#define FULL16 UINT64_C(0xffff)
#define FULL32 UINT64_C(0xffffffff)

static void put(struct buf *b, uint64_t v, int n) /* little-endian */
{
    uint8_t p[8];
    for (int i = 0; i < n; i++) p[i] = (uint8_t)(v >> 8 * i);
    buf_add(b, p, (size_t)n);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int give(struct zip_writer *z, struct buf *from)
{
    const int rc = from->err ? err_nomem(z->b->e, from->len, "a header of a zip archive") : bytes_write(z->b, from->p, from->len);
    buf_free(from);
    return rc;
}

static void zip_write_start(struct zip_writer *z, struct byte_writer *b)
{
    *z = (struct zip_writer){ .b = b };
}

static void zip_write_free(struct zip_writer *z)
{
    buf_free(&z->directory);
    buf_free(&z->name);
}

/* The part that both headers of an entry share. */
static void put_common(struct buf *h, uint32_t sum, uint64_t size, size_t n_name)
{
    put(h, VERSION_64, 2);
    put(h, FLAGS, 2);
    put(h, 0, 2); /* stored */
    put(h, 0, 2);
    put(h, DATE, 2);
    put(h, sum, 4);
    put(h, size, 4);
    put(h, size, 4);
    put(h, n_name, 2);
}

static int zip_write_entry(struct zip_writer *z, const char *name, uint64_t size)
{
    struct buf h = { 0 };
    const size_t n_name = strlen(name);
    if (size >= FULL32)
        return err_set(z->b->e, STENO_EUNSUPPORTED, "%s would have %" PRIu64 " bytes, and an entry of a .pt file less than 4 GiB", name,
                       size);
    z->header = z->b->at;
    z->size = size;
    buf_clear(&z->name);
    buf_str(&z->name, name);
    if (z->name.err) return err_nomem(z->b->e, n_name, "a header of a zip archive");
    const uint64_t at = z->header + LOCAL_SZ + n_name + EXTRA_HEAD, pad = (ALIGN - at % ALIGN) % ALIGN;
    put(&h, SIG_LOCAL, 4);
    put_common(&h, 0, size, n_name);
    put(&h, EXTRA_HEAD + pad, 2);
    buf_add(&h, name, n_name);
    put(&h, EXTRA_PAD, 2);
    put(&h, pad, 2);
    for (uint64_t i = 0; i < pad; i++) put(&h, 'Z', 1);
    const int rc = give(z, &h);
    z->b->sum = 0;
    return rc;
}

static int zip_write_entry_end(struct zip_writer *z)
{
    struct buf behind = { 0 }, *d = &z->directory;
    const uint32_t sum = z->b->sum;
    const int is_far = z->header >= FULL32;
    put(d, SIG_RECORD, 4);
    put(d, VERSION_64, 2);
    put_common(d, sum, z->size, z->name.len);
    put(d, is_far ? 12 : 0, 2);
    put(d, 0, 2 + 2); /* comment, disk */
    put(d, 0, 2 + 4); /* attributes */
    put(d, least(z->header, FULL32), 4);
    buf_add(d, z->name.p, z->name.len);
    if (is_far) {
        put(d, EXTRA_ZIP64, 2);
        put(d, 8, 2);
        put(d, z->header, 8);
    }
    z->n++;
    put(&behind, SIG_BEHIND, 4);
    put(&behind, sum, 4);
    put(&behind, z->size, 4);
    put(&behind, z->size, 4);
    return give(z, &behind);
}

static void put_end64(struct buf *end, const struct zip_writer *z, uint64_t at)
{
    put(end, SIG_END64, 4);
    put(end, END64_SZ - 12, 8);
    put(end, VERSION_64, 2);
    put(end, VERSION_64, 2);
    put(end, 0, 8);
    put(end, z->n, 8);
    put(end, z->n, 8);
    put(end, z->directory.len, 8);
    put(end, at, 8);
    put(end, SIG_LOCATOR, 4);
    put(end, 0, 4);
    put(end, at + z->directory.len, 8);
    put(end, 1, 4);
}

static int zip_write_directory(struct zip_writer *z)
{
    struct buf end = { 0 };
    const uint64_t at = z->b->at, size = z->directory.len;
    if (z->directory.err) return err_nomem(z->b->e, size, "the directory of a zip archive");
    int rc = bytes_write(z->b, z->directory.p, size);
    if (rc) return rc;
    if (at >= FULL32 || z->n >= FULL16) put_end64(&end, z, at);
    put(&end, SIG_END, 4);
    put(&end, 0, 4);
    put(&end, least(z->n, FULL16), 2);
    put(&end, least(z->n, FULL16), 2);
    put(&end, size, 4);
    put(&end, least(at, FULL32), 4);
    put(&end, 0, 2);
    return give(z, &end);
}

/* ---- the pickle and the tensors --------------------------------------------------------------------------------------------------- */

enum { NAME_SZ = 96 };

/* Of protocol 2, which torch.save uses. */
enum pickle_op {
    MARK = '(', STOP = '.', BINUNICODE = 'X', BININT = 'J', LONG1 = 0x8a, EMPTY_DICT = '}', SETITEMS = 'u', TUPLE = 't', EMPTY_TUPLE = ')',
    REDUCE = 'R', GLOBAL = 'c', BINPERSID = 'Q', NEWFALSE = 0x89, PROTO = 0x80
};

static void put_op(struct torch_writer *t, enum pickle_op op)
{
    buf_add(&t->pickle, &(uint8_t){ (uint8_t)op }, 1);
}

static void put_bytes(struct torch_writer *t, uint64_t v, int n)
{
    put(&t->pickle, v, n);
}

static void put_text(struct torch_writer *t, const char *s)
{
    put_op(t, BINUNICODE);
    put_bytes(t, strlen(s), 4);
    buf_str(&t->pickle, s);
}

static void put_int(struct torch_writer *t, uint64_t v)
{
    if (v <= INT32_MAX) {
        put_op(t, BININT);
        put_bytes(t, v, 4);
    } else {
        put_op(t, LONG1);
        put_bytes(t, 8, 1);
        put_bytes(t, v, 8);
    }
}

static void put_global(struct torch_writer *t, const char *module, const char *name)
{
    put_op(t, GLOBAL);
    buf_fmt(&t->pickle, "%s\n%s\n", module, name);
}

void torch_write_start(struct torch_writer *t, struct byte_writer *b, const char *name)
{
    *t = (struct torch_writer){ .name = name };
    zip_write_start(&t->zip, b);
    b->sums = 1;
    put_op(t, PROTO);
    put_bytes(t, 2, 1);
    put_op(t, EMPTY_DICT);
    put_op(t, MARK);
}

void torch_write_free(struct torch_writer *t)
{
    zip_write_free(&t->zip);
    buf_free(&t->pickle);
}

void torch_put_dict(struct torch_writer *t, const char *key)
{
    put_text(t, key);
    put_op(t, EMPTY_DICT);
    put_op(t, MARK);
}

void torch_put_dict_end(struct torch_writer *t)
{
    put_op(t, SETITEMS);
}

void torch_put_number(struct torch_writer *t, const char *key, int32_t v)
{
    put_text(t, key);
    put_int(t, (uint32_t)v);
}

/* ('storage', type, key, 'cpu', elements), as a persistent id */
static void put_storage(struct torch_writer *t, enum dtype type, uint64_t elements)
{
    char key[16];
    snprintf(key, sizeof key, "%u", (unsigned)t->n);
    put_op(t, MARK);
    put_text(t, "storage");
    put_global(t, "torch", type == DT_F32 ? "FloatStorage" : type == DT_F16 ? "HalfStorage" : "BFloat16Storage");
    put_text(t, key);
    put_text(t, "cpu");
    put_int(t, elements);
    put_op(t, TUPLE);
    put_op(t, BINPERSID);
}

/* _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks) */
void torch_put_tensor(struct torch_writer *t, const char *key, enum dtype type, const uint64_t *dim, int n_dims)
{
    uint64_t elements = 1;
    for (int i = 0; i < n_dims; i++) elements *= dim[i];
    put_text(t, key);
    put_global(t, "torch._utils", "_rebuild_tensor_v2");
    put_op(t, MARK);
    put_storage(t, type, elements);
    put_int(t, 0);
    put_op(t, MARK);
    for (int i = 0; i < n_dims; i++) put_int(t, dim[i]);
    put_op(t, TUPLE);
    put_op(t, MARK);
    for (int i = 0; i < n_dims; i++) put_int(t, elements /= dim[i]);
    put_op(t, TUPLE);
    put_op(t, NEWFALSE);
    put_global(t, "collections", "OrderedDict");
    put_op(t, EMPTY_TUPLE);
    put_op(t, REDUCE);
    put_op(t, TUPLE);
    put_op(t, REDUCE);
    t->n++;
}

static int write_entry(struct torch_writer *t, const char *name, const void *data, size_t n)
{
    char full[NAME_SZ];
    snprintf(full, sizeof full, "%s/%s", t->name, name);
    int rc = zip_write_entry(&t->zip, full, n);
    if (!rc) rc = bytes_write(t->zip.b, data, n);
    return rc ? rc : zip_write_entry_end(&t->zip);
}

int torch_write_pickle(struct torch_writer *t)
{
    put_op(t, SETITEMS);
    put_op(t, STOP);
    if (t->pickle.err) return err_nomem(t->zip.b->e, t->pickle.len, "a pickle");
    const int rc = write_entry(t, "data.pkl", t->pickle.p, t->pickle.len);
    return rc ? rc : write_entry(t, "byteorder", "little", 6);
}

int torch_write_tensor(struct torch_writer *t, uint64_t size)
{
    char full[NAME_SZ];
    snprintf(full, sizeof full, "%s/data/%u", t->name, (unsigned)t->at++);
    return zip_write_entry(&t->zip, full, size);
}

int torch_write_tensor_end(struct torch_writer *t)
{
    return zip_write_entry_end(&t->zip);
}

int torch_write_end(struct torch_writer *t)
{
    const int rc = write_entry(t, "version", "3\n", 2);
    return rc ? rc : zip_write_directory(&t->zip);
}
