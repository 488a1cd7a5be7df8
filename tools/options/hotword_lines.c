/* steno: weights in hot-word files of other programs. SPDX-License-Identifier: MIT */
#include "options/hotword_lines.h"
#include <string.h>

struct weight {
    size_t word; /* length of the word in bytes, without blanks */
    int is_there, is_low;
};

static int is_blank(char c) { return c == ' ' || c == '\t'; }

/* Is s[n] a number? fraction: a fraction is allowed. *low: it is 0 or less */
static int is_number(const char *s, size_t n, int fraction, int *low)
{
    size_t i = n && (*s == '-' || *s == '+'), digits = 0;
    int is_zero = 1;
    for (; i < n && ((s[i] >= '0' && s[i] <= '9') || (fraction && s[i] == '.')); i++) {
        if (s[i] == '.') fraction = 0;
        else digits++;
        is_zero &= s[i] == '0' || s[i] == '.';
    }
    *low = is_zero || (n && *s == '-');
    return digits && i == n;
}

/* The weight at the end of line[n], after a colon, or with `bare` without one. */
static struct weight weight_of(const char *line, size_t n, int bare)
{
    struct weight w = { n, 0, 0 };
    size_t at = n;
    while (at && !is_blank(line[at - 1])) at--;
    const int colon = at < n && line[at] == ':';
    if (!colon && !bare) return w;
    const size_t from = at + (size_t)colon;
    w.is_there = is_number(line + from, n - from, colon, &w.is_low) && (at || colon);
    if (!w.is_there) return (struct weight){ n, 0, 0 };
    while (at && is_blank(line[at - 1])) at--;
    w.word = at;
    return w;
}

/* Does every line end with a whole number? */
static int all_are_weighted(const char *text)
{
    for (const char *p = text; *p;) {
        const size_t n = strcspn(p, "\n");
        if (!weight_of(p, n, 1).is_there) return 0;
        p += n + (p[n] != '\0');
    }
    return 1;
}

enum hotword_weights hotword_weights_cut(char *text, int *line)
{
    const int bare = all_are_weighted(text);
    enum hotword_weights found = HOTWORDS_PLAIN;
    char *to = text;
    *line = 0;
    for (char *p = text; *p;) {
        const size_t n = strcspn(p, "\n");
        const int ends = p[n] == '\0';
        const struct weight w = weight_of(p, n, bare);
        ++*line;
        if (w.is_there && (w.is_low || !w.word)) return HOTWORDS_REFUSED;
        if (w.is_there) found = HOTWORDS_WEIGHTED;
        memmove(to, p, w.word);
        to += w.word;
        p += n + !ends;
        if (!ends) *to++ = '\n';
    }
    *to = '\0';
    return found;
}
