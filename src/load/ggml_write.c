/* steno: writing whisper.cpp .bin files. SPDX-License-Identifier: MIT */
#include "load/ggml_write.h"

#include <string.h>
#include "base/buf.h"
#include "load/ggml_type.h"

enum { MAGIC = 0x67676d6c, N_BINS = 201, BLOCK_LAYOUTS = 2000 /* version 2 of the block layouts, in thousands of ftype */ };

int32_t ggml_ftype_written(enum dtype t)
{
    const int32_t code = ggml_ftype_code(t);
    return code >= 0 && dtype_block(t) > 1 ? code + BLOCK_LAYOUTS : code;
}

static void put(struct buf *b, uint32_t v) /* little-endian */
{
    const uint8_t p[4] = { (uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24) };
    buf_add(b, p, sizeof p);
}

static int give(struct byte_writer *b, struct buf *from)
{
    const int rc = from->err ? err_nomem(b->e, from->len, "the header of a file") : bytes_write(b, from->p, from->len);
    buf_free(from);
    return rc;
}

int ggml_write_head(struct byte_writer *b, const struct ggml_head *h)
{
    struct buf head = { 0 };
    const int32_t n_mels = h->number[GGML_NUMBERS - 1];
    put(&head, MAGIC);
    for (int i = 0; i < GGML_NUMBERS; i++) put(&head, (uint32_t)h->number[i]);
    put(&head, (uint32_t)ggml_ftype_written(h->type));
    put(&head, (uint32_t)n_mels);
    put(&head, N_BINS);
    for (int32_t i = 0; i < n_mels * N_BINS; i++) {
        uint32_t bits;
        memcpy(&bits, &h->filters[i], sizeof bits);
        put(&head, bits);
    }
    put(&head, h->n_entries);
    for (uint32_t i = 0; i < h->n_entries; i++) {
        put(&head, h->vocab[i].n);
        buf_add(&head, h->vocab[i].s, h->vocab[i].n);
    }
    return give(b, &head);
}

int ggml_write_record(struct byte_writer *b, const char *name, enum dtype type, const uint64_t *dim, int n_dims)
{
    struct buf record = { 0 };
    put(&record, (uint32_t)n_dims);
    put(&record, (uint32_t)strlen(name));
    put(&record, (uint32_t)ggml_type_code(type));
    for (int i = n_dims - 1; i >= 0; i--) put(&record, (uint32_t)dim[i]); /* the fastest first */
    buf_str(&record, name);
    return give(b, &record);
}
