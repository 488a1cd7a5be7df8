/* steno: bounded reader with a sticky error. SPDX-License-Identifier: MIT */
#include "base/rd.h"

#include <string.h>

void rd_init(struct rd *r, const struct file *f, uint64_t pos, uint64_t end)
{
    r->f = f;
    r->end = end < f->size ? end : f->size;
    r->pos = pos;
    r->err = pos > r->end ? STENO_EFORMAT : 0;
    r->win_pos = 0;
    r->win_len = 0;
}

/* The next n bytes, n at most sizeof win, or NULL and the error. */
static const uint8_t *rd_window(struct rd *r, size_t n)
{
    if (r->err) return NULL;
    const uint64_t left = r->end - r->pos;
    if (n > left) {
        r->err = STENO_EFORMAT;
        return NULL;
    }
    if (r->pos < r->win_pos || r->pos - r->win_pos > r->win_len || n > r->win_len - (r->pos - r->win_pos)) {
        const size_t len = left < sizeof r->win ? (size_t)left : sizeof r->win;
        r->win_len = 0;
        r->err = file_read(r->f, r->pos, r->win, len, NULL);
        if (r->err) return NULL;
        r->win_pos = r->pos;
        r->win_len = len;
    }
    const uint8_t *p = r->win + (r->pos - r->win_pos);
    r->pos += n;
    return p;
}

static uint64_t rd_le(struct rd *r, unsigned n)
{
    const uint8_t *p = rd_window(r, n);
    uint64_t v = 0;
    for (unsigned i = 0; p && i < n; i++) v |= (uint64_t)p[i] << 8 * i;
    return v;
}

uint8_t rd_u8(struct rd *r)
{
    return (uint8_t)rd_le(r, 1);
}

uint16_t rd_u16(struct rd *r)
{
    return (uint16_t)rd_le(r, 2);
}

uint32_t rd_u32(struct rd *r)
{
    return (uint32_t)rd_le(r, 4);
}

int32_t rd_i32(struct rd *r)
{
    return (int32_t)rd_le(r, 4);
}

uint64_t rd_u64(struct rd *r)
{
    return rd_le(r, 8);
}

float rd_f32(struct rd *r)
{
    const uint32_t u = rd_u32(r);
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

void rd_bytes(struct rd *r, void *dst, size_t n)
{
    if (n <= sizeof r->win) {
        const uint8_t *p = rd_window(r, n);
        if (p && n) memcpy(dst, p, n);
    } else if (!r->err) {
        r->err = n > r->end - r->pos ? STENO_EFORMAT : file_read(r->f, r->pos, dst, n, NULL);
        if (!r->err) r->pos += n;
    }
    if (r->err && n) memset(dst, 0, n);
}

void rd_skip(struct rd *r, uint64_t n)
{
    if (r->err) return;
    if (n > r->end - r->pos) r->err = STENO_EFORMAT;
    else r->pos += n;
}
