/* steno: bounded reader with a sticky error. SPDX-License-Identifier: MIT
 *
 * Parsers read record by record and test `r.err` once per record: after the first failure every read returns zeros and does not advance. A
 * window of 8 KiB slides over the file, so a hostile file costs no memory and a reader fits on any stack. Numbers are little-endian. */
#ifndef STENO_BASE_RD_H
#define STENO_BASE_RD_H
#include "base/file.h"

struct rd {
    const struct file *f;
    uint64_t pos, end;       /* next byte, end of the readable range */
    int err;                 /* 0, or the status of the first failure */
    uint64_t win_pos;        /* file position of win[0] */
    size_t win_len;
    uint8_t win[1 << 13];
};

void rd_init(struct rd *r, const struct file *f, uint64_t pos, uint64_t end);
uint8_t rd_u8(struct rd *r);
uint16_t rd_u16(struct rd *r);
uint32_t rd_u32(struct rd *r);
int32_t rd_i32(struct rd *r);
uint64_t rd_u64(struct rd *r);
float rd_f32(struct rd *r);
void rd_bytes(struct rd *r, void *dst, size_t n);  /* zeroes dst on failure */
void rd_skip(struct rd *r, uint64_t n);            /* fails if it would pass the end */
static inline uint64_t rd_left(const struct rd *r) { return r->err ? 0 : r->end - r->pos; }
#endif
