/* steno: fuzzing of the reader of PyTorch files. SPDX-License-Identifier: MIT
 *
 * The input is a file; or, when its first byte is 0x80, a pickle, which is put into an archive with one storage first, so that every
 * change of it reaches the machine that runs it. */
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "load/weights.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { STORED = 64 };

static void put_le(struct buf *b, uint64_t v, unsigned n)
{
    for (; n--; v >>= 8) buf_add(b, &(uint8_t){ (uint8_t)v }, 1);
}

/* The header of a stored entry. place: in the file, for the directory; -1: before the bytes. */
static void put_header(struct buf *b, const char *name, size_t n, int64_t place)
{
    put_le(b, place < 0 ? 0x04034b50 : 0x02014b50, 4);
    if (place >= 0) put_le(b, 0, 2);
    put_le(b, 0, 4);
    put_le(b, 0, 2);
    put_le(b, 0, 8);
    put_le(b, n, 4);
    put_le(b, n, 4);
    put_le(b, strlen(name), 2);
    put_le(b, 0, 2);
    for (int i = 0; place >= 0 && i < 5; i++) put_le(b, 0, 2);
    if (place >= 0) put_le(b, (uint64_t)place, 4);
    buf_str(b, name);
}

static void put_archive(struct buf *b, const uint8_t *pickle, size_t n)
{
    static const uint8_t zeros[STORED];
    put_header(b, "m/data.pkl", n, -1);
    buf_add(b, pickle, n);
    const size_t second = b->len;
    put_header(b, "m/data/0", STORED, -1);
    buf_add(b, zeros, STORED);
    const size_t dir = b->len;
    put_header(b, "m/data.pkl", n, 0);
    put_header(b, "m/data/0", STORED, (int64_t)second);
    const size_t dir_sz = b->len - dir;
    put_le(b, 0x06054b50, 4);
    put_le(b, 0, 4);
    put_le(b, 2, 2);
    put_le(b, 2, 2);
    put_le(b, dir_sz, 4);
    put_le(b, dir, 4);
    put_le(b, 0, 2);
}

/* Every byte that a tensor lays claim to is in the file. */
static void read_all(const struct weights *w)
{
    for (uint32_t i = 0; i < w->n_tensors; i++) {
        const struct tensor *t = &w->tensor[i];
        uint8_t *rows = malloc(t->size);
        if (!t->size || t->size != dtype_row_sz(t->type, t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3])) abort();
        if (rows && tensor_read_rows(t, 0, t->dim[0], rows, NULL)) abort();
        free(rows);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct buf b = { 0 };
    struct file f;
    struct weights w;
    steno_error e = { 0 };
    if (n && data[0] == 0x80) put_archive(&b, data, n);
    else buf_add(&b, data, n);
    if (b.err) return 0;
    uint8_t *bytes = malloc(b.len ? b.len : 1); /* without room behind it, so that reading past the end is seen */
    if (bytes) memcpy(bytes, b.p ? b.p : "", b.len);
    file_from_memory(&f, "fuzz.pt", bytes, bytes ? b.len : 0);
    if (!weights_open(&w, &f, &e)) {
        if (w.n_tensors && weights_find(&w, w.tensor[w.n_tensors - 1].name) != &w.tensor[w.n_tensors - 1]) abort();
        read_all(&w);
        weights_close(&w);
    } else if (!e.status || !e.text[0]) {
        abort(); /* a refusal without a reason */
    }
    free(bytes);
    buf_free(&b);
    return 0;
}
