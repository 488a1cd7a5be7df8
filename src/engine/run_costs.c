/* steno: measured time of runs with few rows. SPDX-License-Identifier: MIT */
#include "engine/run_costs.h"
#include "base/os.h"

/* Assumptions while little is known. row_part: cost of another row, as a part of the first. hope: weight of that assumption, as a part of a
 * run. */
static double const row_part = 0.05, hope = 0.1;
static double const forget = 0.94, forget_slowly = 0.99;
static double const surprise = 1.5; /* Other load makes a run longer, never shorter, so longer times count only up to this factor. */
enum { AGE_MAX = 64 };

void run_costs_begin(struct run_costs *c)
{
    c->began_ns = os_now_ns();
}

void run_costs_end(struct run_costs *c, uint32_t rows)
{
    const int64_t now = os_now_ns();
    run_costs_learn(c, rows, now - c->began_ns);
    c->began_ns = now;
}

/* Adds a point of the line, with its weight. */
static void add(struct run_costs *c, double weight, double rows, double t)
{
    c->w += weight;
    c->x += weight * rows;
    c->y += weight * t;
    c->xx += weight * rows * rows;
    c->xy += weight * rows * t;
}

static void fade(struct run_costs *c, double by)
{
    c->w *= by;
    c->x *= by;
    c->y *= by;
    c->xx *= by;
    c->xy *= by;
}

void run_costs_learn(struct run_costs *c, uint32_t rows, int64_t ns)
{
    if (!rows || rows > COSTS_ROWS || ns <= 0) return;
    const int is_known = rows == 1 ? c->one > 0 : c->w >= 1;
    const double most = surprise * run_costs_of(c, (int32_t)rows), t = is_known && (double)ns > most ? most : (double)ns;
    c->seen[rows] = ++c->n;
    fade(c, rows == 1 ? forget_slowly : forget); /* times of long runs fade even if there were none, so that they are tried again */
    if (rows > 1) add(c, 1, (double)rows, t);
    else c->one += c->one > 0 ? (t - c->one) * (t < c->one ? 0.4 : 0.15) : t;
}

double run_costs_of(const struct run_costs *c, int32_t rows)
{
    if (c->one > 0 && rows == 1) return c->one;
    if (!(c->one > 0) && !(c->w > 0)) return 0;
    const double mean = c->w > 0 ? c->x / c->w : 1, one = c->one > 0 ? c->one : c->y / c->w / (1 + row_part * (mean - 1));
    struct run_costs l = *c;
    add(&l, 1, 1, one);
    add(&l, hope, COSTS_ROWS, one * (1 + row_part * (COSTS_ROWS - 1)));
    const double by_row = (l.w * l.xy - l.x * l.y) / (l.w * l.xx - l.x * l.x), line = (l.y - by_row * l.x) / l.w + by_row * rows;
    return line > one ? line : one;
}

int run_costs_needs(const struct run_costs *c, int32_t rows)
{
    return rows <= COSTS_ROWS && (!c->seen[rows] || c->n - c->seen[rows] >= AGE_MAX);
}

uint32_t run_costs_rows(const struct run *r)
{
    for (uint32_t i = 0; i < r->n_rows; i++)
        if (!r->row[i].flags) return 0;
    return r->n_rows;
}
