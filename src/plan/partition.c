/* steno: partitions of a linear and an attention into items. SPDX-License-Identifier: MIT */
#include "plan/partition.h"

enum {
    AROUND = 4,      /* cost of an item in addition to its rows, in rows: weights come from further away */
    HELD = 16,       /* 1 / HELD of an item is added for a delayed thread */
    LOWER = 64,      /* 1 / LOWER is added if not all tiles have the full height */
    PANELS_FEW = 32  /* limit of an item of few rows */
};

static size_t parts(size_t n, size_t of) { return (n + of - 1) / of; }
static size_t up_to(size_t n, size_t step) { return parts(n, step) * step; }
static size_t less(size_t a, size_t b) { return a < b ? a : b; }

struct partition partition_few(size_t rows, size_t panels, int threads, size_t step)
{
    const size_t n = panels / ((size_t)threads * 4) / step * step;
    return (struct partition){ rows, n < step ? step : less(n, PANELS_FEW / step * step) };
}

/* The work of the busiest thread, plus a part of an item for a delayed thread: with few long items, all threads wait for it. Threads take
 * items in turn, those of the last rows at the end. */
static size_t cost(struct partition c, size_t rows, size_t panels, size_t threads, size_t anew)
{
    const size_t across = parts(panels, c.panels), down = parts(rows, c.rows), items = across * down;
    const size_t rounds = parts(items, threads), last = rows - (down - 1) * c.rows;
    const size_t at_end = items - (rounds - 1) * threads <= across ? last : c.rows; /* rows of an item of the last round */
    const size_t busiest = (rounds - 1) * (c.rows + AROUND) + at_end + AROUND;
    return (HELD * busiest + (threads > 1 ? c.rows + AROUND : 0)) * (c.panels + anew);
}

struct partition partition_many(size_t rows, size_t panels, int threads, struct slices s, size_t fine, size_t anew, size_t step)
{
    const size_t team = (size_t)threads, fewest = parts(rows, s.max), finest = parts(rows, s.min);
    struct partition best = { less(s.max, rows), less(fine, panels) }, c = best;
    size_t lowest = cost(best, rows, panels, team, anew);
    for (size_t across = parts(panels, c.panels);; across *= 2) {
        const size_t round = team > across ? team / across : 1; /* items in whole rounds */
        for (size_t down = up_to(fewest, round);; down += round) {
            const size_t share = parts(rows, less(down, finest)), high[] = { up_to(share, s.tile), up_to(share, s.step) };
            for (int i = 0; i < (high[0] == high[1] ? 1 : 2); i++) {
                c.rows = less(high[i], s.max);
                const size_t now = cost(c, rows, panels, team, anew), more = c.rows % s.tile ? now / LOWER : 0;
                if (now + more < lowest) lowest = now + more, best = c;
            }
            if (down >= finest) break;
        }
        if ((across * finest >= 2 * team && across >= team) || c.panels <= step) return best;
        c.panels = up_to(parts(c.panels, 2), step);
    }
}

size_t partition_heads(size_t rows, size_t max, size_t heads, int threads)
{
    const struct partition whole = { max, 1 }, half = { max / 2, 1 };
    return cost(half, rows, heads, (size_t)threads, 0) < cost(whole, rows, heads, (size_t)threads, 0) ? half.rows : whole.rows;
}
