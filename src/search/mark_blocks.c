/* steno: the part of a text whose punctuation is final. SPDX-License-Identifier: MIT */
#include "search/mark_blocks.h"

enum { FIRST = 2, /* leading words that do not count */
       LONG = 200 };

static size_t last_of(enum mark_kind sought, const struct marked_word *w, size_t n, const uint8_t *kind)
{
    for (size_t i = n; i-- > FIRST;)
        if (i + 1 < n && kind[w[i].mark] == sought) return i + 1;
    return 0;
}

size_t marks_last_end(const struct marked_word *w, size_t n, const uint8_t *kind)
{
    return last_of(MARK_END, w, n, kind);
}

size_t marks_settled(struct marked_word *w, size_t n, const uint8_t *kind, int32_t end)
{
    const size_t ended = marks_last_end(w, n, kind), comma = ended || n <= LONG ? 0 : last_of(MARK_COMMA, w, n, kind);
    if (comma) w[comma - 1].mark = end;
    return ended ? ended : comma;
}
