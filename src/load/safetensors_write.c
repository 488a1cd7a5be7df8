/* steno: writing safetensors files. SPDX-License-Identifier: MIT */
#include "load/safetensors_write.h"

#include <inttypes.h>

void st_write_start(struct st_writer *s)
{
    *s = (struct st_writer){ .at = 0 };
    buf_str(&s->head, "{\"__metadata__\":{\"format\":\"pt\"}");
}

void st_put_tensor(struct st_writer *s, const char *name, enum dtype type, const uint64_t *dim, int n_dims)
{
    const char *said = type == DT_F32 ? "F32" : type == DT_F16 ? "F16" : "BF16";
    uint64_t size = dtype_row_sz(type, 1);
    buf_fmt(&s->head, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[", name, said);
    for (int i = 0; i < n_dims; i++) {
        buf_fmt(&s->head, i ? ",%" PRIu64 : "%" PRIu64, dim[i]);
        size *= dim[i];
    }
    buf_fmt(&s->head, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", s->at, s->at + size);
    s->at += size;
}

int st_write_head(struct st_writer *s, struct byte_writer *b)
{
    uint8_t len[8];
    buf_str(&s->head, "}");
    while (!s->head.err && s->head.len % 8) buf_str(&s->head, " ");
    for (int i = 0; i < 8; i++) len[i] = (uint8_t)((uint64_t)s->head.len >> 8 * i);
    int rc = s->head.err ? err_nomem(b->e, s->head.len, "the header of a file") : bytes_write(b, len, sizeof len);
    if (!rc) rc = bytes_write(b, s->head.p, s->head.len);
    buf_free(&s->head);
    return rc;
}
