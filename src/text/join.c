/* steno: concatenation of texts. SPDX-License-Identifier: MIT
 *
 * FunASR joins the texts of segments this way before it adds punctuation. */
#include "text/join.h"
#include "base/utf8.h"

static int is_chinese(const char *s, size_t n)
{
    uint32_t cp = 0;
    return utf8_next(s, n, &cp) && cp >= 0x3400 && cp <= 0x9fff;
}

void text_join(struct buf *to, const char *text, size_t n)
{
    size_t last = to->len;
    if (!n) return;
    while (last && utf8_is_inside((uint8_t)to->p[--last])) {}
    if (to->len && !(is_chinese(to->p + last, to->len - last) && is_chinese(text, n))) buf_str(to, " ");
    buf_add(to, text, n);
}
