/* steno: writing PyTorch files. SPDX-License-Identifier: MIT */
#include "load/torch_write.h"

#include <stdio.h>
#include <string.h>

enum { NAME_SZ = 96 };

/* Of protocol 2, which torch.save uses. */
enum opcode {
    MARK = '(', STOP = '.', BINUNICODE = 'X', BININT = 'J', LONG1 = 0x8a, EMPTY_DICT = '}', SETITEMS = 'u', TUPLE = 't', EMPTY_TUPLE = ')',
    REDUCE = 'R', GLOBAL = 'c', BINPERSID = 'Q', NEWFALSE = 0x89, PROTO = 0x80
};

static void put_op(struct torch_writer *t, enum opcode op)
{
    buf_add(&t->pickle, &(uint8_t){ (uint8_t)op }, 1);
}

static void put_bytes(struct torch_writer *t, uint64_t v, int n) /* little-endian */
{
    uint8_t p[8];
    for (int i = 0; i < n; i++) p[i] = (uint8_t)(v >> 8 * i);
    buf_add(&t->pickle, p, (size_t)n);
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
