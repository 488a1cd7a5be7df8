/* steno tests: tar archives header by header. SPDX-License-Identifier: MIT
 *
 * A header is built from the true numbers and may have false ones. The checksum is that of the header as it stands. */
#ifndef STENO_TESTS_TAR_FILE_H
#define STENO_TESTS_TAR_FILE_H
#include <string.h>
#include "base/buf.h"
#include "harness.h"

struct put_member {
    const char *name, *text;  /* text: the member's bytes; may be NULL */
    char type;                /* 0: '0'; 'N': a NUL, as before POSIX */
    const char *size;         /* [12] field of the size; NULL: the size of the text in octal */
    const char *prefix, *magic;
    int sum_lie;              /* added to the true checksum */
};

static inline void put_member(struct buf *b, const struct put_member *m)
{
    static const char zeros[512];
    char h[512] = "";
    unsigned sum = 0;
    const size_t n = m->text ? strlen(m->text) : 0;
    memcpy(h, m->name, strlen(m->name) < 100 ? strlen(m->name) : 100);
    snprintf(h + 124, 12, "%011o", (unsigned)n);
    if (m->size) memcpy(h + 124, m->size, 12);
    h[156] = m->type == 'N' ? 0 : m->type ? m->type : '0';
    memcpy(h + 257, m->magic ? m->magic : "ustar\0" "00", 8);
    if (m->prefix) memcpy(h + 345, m->prefix, strlen(m->prefix));
    memset(h + 148, ' ', 8);
    for (int i = 0; i < 512; i++) sum += (uint8_t)h[i];
    snprintf(h + 148, 8, "%06o", sum + (unsigned)m->sum_lie);
    buf_add(b, h, sizeof h);
    if (n) buf_add(b, m->text, n);
    if (n % 512) buf_add(b, zeros, 512 - n % 512);
    assert_false(b->err);
}

static inline void put_end_of_tar(struct buf *b)
{
    static const char zeros[1024];
    buf_add(b, zeros, sizeof zeros);
    assert_false(b->err);
}
#endif
