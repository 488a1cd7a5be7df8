/* steno: the lines of a cue. SPDX-License-Identifier: MIT
 *
 * Finds the path of least cost through the places where a line may end. The cost of a line depends only on where it begins and ends. Fewer
 * lines take precedence over everything else. */
#include "cue_lines.h"

static int64_t width_with(int64_t line, const struct cue_atom *a)
{
    return line + (a->space != 0) + a->cells;
}

int cue_fill_add(struct cue_fill *f, const struct cue_atom *a, const struct cue_rules *r)
{
    if (f->lines && (!r->line_cells || width_with(f->line, a) <= r->line_cells)) {
        f->line = width_with(f->line, a);
        return 1;
    }
    if (f->lines && r->lines && f->lines >= r->lines) return 0;
    f->lines++;
    f->line = a->cells;
    return 1;
}

/* Cost of a line of atoms [from, to) of n. cells: its width; wanted: the mean width. */
static int64_t line_cost(const struct cue_atom *atom, size_t from, size_t to, size_t n, int64_t cells, int64_t wanted)
{
    enum { ELSEWHERE = 160, SEGMENT = 100, PHRASE = 20, SMALL = 60, ROUGH = 4000, ORPHAN = 100000, FAR = 10000 };
    static const int ends[] = { [CUE_ENDS_WORD] = ELSEWHERE, [CUE_ENDS_SEGMENT] = SEGMENT, [CUE_ENDS_PHRASE] = PHRASE,
                                [CUE_ENDS_SENTENCE] = PHRASE };
    const struct cue_atom *last = &atom[to - 1];
    const int64_t off = cells > wanted ? cells - wanted : wanted - cells;
    int64_t cost = off < FAR ? off * off : (int64_t)FAR * FAR;
    if (to - from == 1 && n > 1 && !last->labelled) cost += ORPHAN;
    if (to == n) return cost;
    return cost + ends[(int)last->ends] + (last->small ? SMALL : 0) + (last->rough ? ROUGH : 0);
}

void cue_lines_set(struct cue_atom *atom, size_t n, const struct cue_rules *r)
{
    struct { int64_t lines, cost; size_t from; } best[CUE_ATOMS_MOST + 1];
    struct cue_fill fill = { 0 };
    int64_t total = 0;
    const struct cue_rules any_lines = { .line_cells = r->line_cells };
    for (size_t k = 0; k < n; k++) {
        cue_fill_add(&fill, &atom[k], &any_lines);
        total += atom[k].cells + (k && atom[k].space);
        atom[k].new_line = 0;
    }
    if (fill.lines < 2) return;
    const int64_t wanted = total / fill.lines;
    best[0].lines = best[0].cost = 0;
    for (size_t to = 1; to <= n; to++) {
        int64_t cells = 0;
        best[to].lines = INT64_MAX;
        for (size_t from = to; from-- > 0;) {
            cells += atom[from].cells + (from + 1 < to && atom[from + 1].space);
            if (cells > r->line_cells && to - from > 1) break;
            const int64_t lines = best[from].lines + 1, cost = best[from].cost + line_cost(atom, from, to, n, cells, wanted);
            if (lines > best[to].lines || (lines == best[to].lines && cost >= best[to].cost)) continue;
            best[to].lines = lines;
            best[to].cost = cost;
            best[to].from = from;
        }
    }
    for (size_t to = best[n].from; to; to = best[to].from) atom[to].new_line = 1;
}

struct text_size cue_lines_measure(const struct cue_atom *atom, size_t n)
{
    struct text_size all = { .lines = n ? 1 : 0 };
    int64_t line = 0;
    for (size_t k = 0; k < n; k++) {
        const struct cue_atom *a = &atom[k];
        if (k && a->new_line) {
            all.lines++;
            line = 0;
        } else if (k && a->space) {
            all.cells++;
            line++;
        }
        all.cells += a->cells;
        all.half_words += a->half_words;
        line += a->cells;
        if (line > all.widest) all.widest = line;
    }
    return all;
}
