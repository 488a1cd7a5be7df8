/* steno: growing byte buffer with a sticky error. SPDX-License-Identifier: MIT
 *
 * Capacity doubles, so that n bytes cost O(n) in any pieces. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for n more bytes and the NUL. */
static int buf_reserve(struct buf *b, size_t n)
{
    if (b->err) return 0;
    if (b->p && n < b->cap - b->len) return 1;
    if (n > SIZE_MAX / 2 - b->len - 1) {
        b->err = 1;
        return 0;
    }
    size_t cap = b->cap ? b->cap : 64;
    while (cap < b->len + n + 1) cap *= 2;
    char *p = realloc(b->lent ? NULL : b->p, cap);
    if (!p) {
        b->err = 1;
        return 0;
    }
    if (b->lent) memcpy(p, b->p, b->len);
    b->lent = 0;
    b->p = p;
    b->cap = cap;
    return 1;
}

void buf_add(struct buf *b, const void *data, size_t n)
{
    if (!buf_reserve(b, n)) return;
    if (n) memcpy(b->p + b->len, data, n);
    b->len += n;
    b->p[b->len] = 0;
}

void buf_str(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void buf_fmt(struct buf *b, const char *fmt, ...)
{
    if (!buf_reserve(b, 64)) return;
    for (int attempt = 0; attempt < 2; attempt++) {
        va_list args;
        va_start(args, fmt);
        const int n = vsnprintf(b->p + b->len, b->cap - b->len, fmt, args);
        va_end(args);
        if (n >= 0 && (size_t)n < b->cap - b->len) {
            b->len += (size_t)n;
            return;
        }
        b->p[b->len] = 0;
        if (n < 0) break;
        if (!buf_reserve(b, (size_t)n)) return;
    }
    b->err = 1;
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->err = 0;
    if (b->p) b->p[0] = 0;
}

void buf_free(struct buf *b)
{
    if (!b->lent) free(b->p);
    *b = (struct buf){0};
}
