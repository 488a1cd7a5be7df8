/* steno: growing byte buffer with a sticky error. SPDX-License-Identifier: MIT */
#ifndef STENO_BASE_BUF_H
#define STENO_BASE_BUF_H
#include <stddef.h>
#include "base/err.h"

struct buf {
    char *p;     /* [len + 1], NUL-terminated if not NULL; malloc'd */
    size_t len, cap;
    int err;     /* 1 after an allocation failed; later calls do nothing */
    int lent;    /* 1: p still is the caller's memory, [cap] and not malloc'd; a larger content moves to the heap */
};

void buf_add(struct buf *b, const void *data, size_t n);
void buf_str(struct buf *b, const char *s);
void buf_fmt(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_clear(struct buf *b); /* length 0, memory kept, error cleared */
void buf_free(struct buf *b);
#endif
