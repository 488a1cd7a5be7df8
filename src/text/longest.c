/* steno: tokens of text by the longest match. SPDX-License-Identifier: MIT */
#include "text/longest.h"
#include <string.h>

enum end_kind { LETTER, DIGIT, SPACE, OTHER };

static enum end_kind kind_of(char c)
{
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return LETTER;
    if (c >= '0' && c <= '9') return DIGIT;
    return c == ' ' || (c >= '\t' && c <= '\r') ? SPACE : OTHER;
}

static size_t run_of(const char *s, enum end_kind kind)
{
    size_t n = 0;
    while (s[n] && kind_of(s[n]) == kind) n++;
    return n;
}

/* The bytes of the piece at the start of s: an English ending, a run of one kind with an optional space, or white space, whose last
 * character belongs to the next piece. */
static size_t piece_of(const char *s)
{
    static const char *const endings[] = { "'s", "'t", "'re", "'ve", "'m", "'ll", "'d" };
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (strncmp(s, endings[i], strlen(endings[i])) == 0) return strlen(endings[i]);
    const size_t space = s[0] == ' ' && s[1] && kind_of(s[1]) != SPACE, n = run_of(s, SPACE);
    if (space || !n) return space + run_of(s + space, kind_of(s[space]));
    return s[n] && n > 1 ? n - 1 : n;
}

void longest_encode(const struct vocab *v, const char *text, struct buf *ids)
{
    for (const char *end; *text; text = end) {
        end = text + piece_of(text);
        while (text < end) {
            size_t n = (size_t)(end - text);
            int32_t id = -1;
            for (; n && (id = vocab_find(v, (const uint8_t *)text, n)) < 0; n--) continue;
            if (n) buf_add(ids, &id, sizeof id);
            text += n ? n : 1;
        }
    }
}
