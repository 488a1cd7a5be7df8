/* steno: possible beginnings of words. SPDX-License-Identifier: MIT */
#include "search/joins.h"

int char_joins(uint32_t cp)
{
    static const struct { uint32_t low, high; } apart[] = {
        { 0x80, 0xa9 }, { 0xab, 0xb4 }, { 0xb6, 0xb9 }, { 0xbb, 0xbf }, /* signs of Latin-1 */
        { 0xe00, 0xfff }, { 0x1000, 0x109f }, { 0x1780, 0x17ff },       /* Thai, Lao, Tibetan; Burmese; Khmer */
        { 0x2000, 0x2bff }, { 0x2e80, 0xa4cf },                         /* signs; Chinese, Japanese, Yi */
        { 0xf900, 0xfaff }, { 0xfe30, 0xfe6f }, { 0xff00, 0xff0f }, { 0xff61, 0xff9f }, { 0x1f000, 0x3ffff },
    };
    if (cp < 0x80) return (cp >= '0' && cp <= '9') || ((cp | 32) >= 'a' && (cp | 32) <= 'z');
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if (cp >= apart[i].low && cp <= apart[i].high) return 0;
    return 1;
}

/* The lowest character whose bytes begin with s[n], where n is at most its length. */
static uint32_t lowest(const uint8_t *s, uint32_t n)
{
    static const uint32_t first[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const uint32_t all = utf8_len(s[0]);
    if (all < 2) return s[0];
    uint32_t cp = s[0] & (0x7fu >> all);
    for (uint32_t i = 1; i < all; i++) cp = cp << 6 | (i < n ? s[i] & 0x3fu : 0);
    return cp < first[all] ? first[all] : cp;
}

int32_t last_char(const struct vocab *v, const int32_t *ids, int32_t n)
{
    uint8_t s[4];
    size_t at = sizeof s;
    while (n-- > 0 && ids[n] >= 0 && ids[n] < v->n_text)
        for (uint32_t k = v->len[ids[n]]; k; k--) {
            s[--at] = v->bytes[ids[n]][k - 1];
            if (utf8_is_inside(s[at]) && at) continue;
            const uint32_t got = (uint32_t)(sizeof s - at), all = utf8_len(s[at]);
            if (all > got) return CHAR_OPEN;
            return all == got && utf8_valid(s + at, got) == got ? (int32_t)lowest(s + at, got) : CHAR_BROKEN;
        }
    return at == sizeof s ? ' ' : CHAR_BROKEN;
}

int id_joins(const struct vocab *v, int32_t id)
{
    const uint32_t len = v->len[id], all = len ? utf8_len(v->bytes[id][0]) : 0;
    return all && char_joins(lowest(v->bytes[id], len < all ? len : all));
}
