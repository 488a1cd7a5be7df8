/* steno: Unicode properties of characters. SPDX-License-Identifier: MIT */
#include "text/unicode.h"
#include <stdlib.h>
#include <utf8proc.h>
#include "base/utf8.h"

int unicode_is_space(uint32_t cp)
{
    return (cp >= 9 && cp <= 13) || cp == ' ' || cp == 0x85 || cp == 0xa0 || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200a) ||
           cp == 0x2028 || cp == 0x2029 || cp == 0x202f || cp == 0x205f || cp == 0x3000;
}

int unicode_is_control(uint32_t cp)
{
    const utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);
    return c == UTF8PROC_CATEGORY_CC || c == UTF8PROC_CATEGORY_CF || c == UTF8PROC_CATEGORY_CS || c == UTF8PROC_CATEGORY_CO;
}

int unicode_is_punctuation(uint32_t cp)
{
    const utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);
    return c >= UTF8PROC_CATEGORY_PC && c <= UTF8PROC_CATEGORY_PO;
}

int unicode_is_opening(uint32_t cp)
{
    const utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);
    return c == UTF8PROC_CATEGORY_PS || c == UTF8PROC_CATEGORY_PI;
}

int unicode_is_word(uint32_t cp)
{
    const utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);
    return (c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO) || (c >= UTF8PROC_CATEGORY_ND && c <= UTF8PROC_CATEGORY_NO);
}

int unicode_is_mark(uint32_t cp)
{
    return utf8proc_category((utf8proc_int32_t)cp) == UTF8PROC_CATEGORY_MN;
}

int unicode_parts(uint32_t cp, int32_t to[UNICODE_PARTS])
{
    int boundary = 0;
    const utf8proc_ssize_t n = utf8proc_decompose_char((utf8proc_int32_t)cp, to, UNICODE_PARTS, UTF8PROC_DECOMPOSE, &boundary);
    if (n >= 1 && n <= UNICODE_PARTS) return (int)n;
    to[0] = (int32_t)cp;
    return 1;
}

int unicode_lower(uint32_t cp, int32_t to[2])
{
    to[0] = cp == 0x130 ? 'i' : utf8proc_tolower((utf8proc_int32_t)cp);
    to[1] = 0x307;
    return cp == 0x130 ? 2 : 1;
}

/* Compose text that consists only of characters. */
static int compose_part(struct buf *out, const char *text, size_t n)
{
    utf8proc_uint8_t *made = NULL;
    const utf8proc_ssize_t len = utf8proc_map((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)n, &made,
                                              UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    if (len < 0) return STENO_ENOMEM; /* no other failure is possible for such text */
    buf_add(out, made, (size_t)len);
    free(made);
    return out->err ? STENO_ENOMEM : STENO_OK;
}

int unicode_compose(struct buf *out, const char *text, size_t n)
{
    int rc = STENO_OK;
    for (size_t at = 0; at < n && !rc;) {
        const size_t good = utf8_valid((const uint8_t *)text + at, n - at);
        if (good) rc = compose_part(out, text + at, good);
        at += good;
        if (at == n || rc) break;
        buf_add(out, text + at++, 1);
    }
    return rc || out->err ? STENO_ENOMEM : STENO_OK;
}
