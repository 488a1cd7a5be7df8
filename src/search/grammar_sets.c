/* steno: character sets and messages of grammars. SPDX-License-Identifier: MIT */
#include "search/grammar_rules.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int grammar_fail(const char *text, size_t at, steno_error *e, const char *fmt, ...)
{
    char why[300];
    va_list args;
    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    unsigned line = 1, column = 1;
    for (size_t i = 0; i < at; i++) {
        if (text[i] == '\n') line++, column = 1;
        else if (!utf8_is_inside((uint8_t)text[i])) column++;
    }
    return err_set(e, STENO_EARG, "grammar, line %u, column %u: %s", line, column, why);
}

static int by_low(const void *x, const void *y)
{
    const struct range *a = x, *b = y;
    return (a->low > b->low) - (a->low < b->low);
}

/* low..high without surrogates, which text never contains */
static void add_range(struct grammar *g, uint32_t low, uint32_t high)
{
    const struct range part[] = { { low, high < 0xd7ff ? high : 0xd7ff }, { low > 0xe000 ? low : 0xe000, high } };
    for (int i = 0; i < 2; i++)
        if (part[i].low <= part[i].high) buf_add(&g->ranges, &part[i], sizeof part[i]);
}

uint32_t grammar_add_set(struct grammar *g, struct range *range, size_t n_ranges, int negated)
{
    if (n_ranges) qsort(range, n_ranges, sizeof *range, by_low);
    const size_t first = g->ranges.len / sizeof *range;
    uint32_t low = 0, next = 0; /* [low, next) is covered, [0, low) is finished */
    for (size_t i = 0; i < n_ranges; i++) {
        if (range[i].low > next) {
            if (negated) add_range(g, next, range[i].low - 1);
            else if (next > low) add_range(g, low, next - 1);
            low = range[i].low;
        }
        if (range[i].high + 1 > next) next = range[i].high + 1;
    }
    if (negated && next <= 0x10ffff) add_range(g, next, 0x10ffff);
    if (!negated && next > low) add_range(g, low, next - 1);
    const struct set set = { (uint32_t)first, (uint32_t)(g->ranges.len / sizeof *range - first) };
    if (!set.n) return NONE;
    buf_add(&g->sets, &set, sizeof set);
    return (uint32_t)(g->sets.len / sizeof set - 1);
}
