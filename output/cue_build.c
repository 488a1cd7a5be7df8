/* steno: builds cues of publishing quality. SPDX-License-Identifier: MIT
 *
 * The first step chooses where cues end: the path of least cost through all positions between atoms. The cost of a cue depends on its own
 * atoms and on the start of the next cue. The second step sets lines. The third sets times, from the first cue to the last. */
#include "cue_build.h"
#include "text_shape.h"
#include <stdlib.h>
#include <string.h>

/* ---- the lines of a cue ------------------------------------------------------------------------------------------------------ */

/* Finds the path of least cost through the places where a line may end. The cost of a line depends only on where it begins and ends. Fewer
 * lines take precedence over everything else. */

enum { CUE_ATOMS_MAX = 512 }; /* maximum per cue */

/* How far atoms fill the lines of a cue, in order. */
struct cue_fill {
    int64_t line, lines; /* cells of the last line; number of lines, 0: empty */
};

static int64_t width_with(int64_t line, const struct cue_atom *a)
{
    return line + (a->space != 0) + a->cells;
}

/* Adds an atom. @return 1, or 0 if it does not fit; an atom wider than a line gets a line of its own */
static int cue_fill_add(struct cue_fill *f, const struct cue_atom *a, const struct cue_rules *r)
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

/* Cost of a line of atoms [from, to) of n. cells: its width; mean: the mean width. */
static int64_t line_cost(const struct cue_atom *atom, size_t from, size_t to, size_t n, int64_t cells, int64_t mean)
{
    enum { ELSEWHERE = 160, SEGMENT = 100, PHRASE = 20, SMALL = 60, ROUGH = 4000, ORPHAN = 100000, FAR = 10000 };
    static const int ends[] = { [CUE_ENDS_WORD] = ELSEWHERE, [CUE_ENDS_SEGMENT] = SEGMENT, [CUE_ENDS_PHRASE] = PHRASE,
                                [CUE_ENDS_SENTENCE] = PHRASE };
    const struct cue_atom *last = &atom[to - 1];
    const int64_t off = cells > mean ? cells - mean : mean - cells;
    int64_t cost = off < FAR ? off * off : (int64_t)FAR * FAR;
    if (to - from == 1 && n > 1 && !last->labelled) cost += ORPHAN;
    if (to == n) return cost;
    return cost + ends[(int)last->ends] + (last->small ? SMALL : 0) + (last->rough ? ROUGH : 0);
}

/* Chooses the atoms that begin lines: as few lines as possible, of similar width. Lines preferably end with a sentence or a phrase, and
 * none has a single word beside longer lines. atom[n], n at most CUE_ATOMS_MAX. */
static void cue_lines_set(struct cue_atom *atom, size_t n, const struct cue_rules *r)
{
    struct { int64_t lines, cost; size_t from; } best[CUE_ATOMS_MAX + 1];
    struct cue_fill fill = { 0 };
    int64_t total = 0;
    const struct cue_rules any_lines = { .line_cells = r->line_cells };
    for (size_t k = 0; k < n; k++) {
        cue_fill_add(&fill, &atom[k], &any_lines);
        total += atom[k].cells + (k && atom[k].space);
        atom[k].new_line = 0;
    }
    if (fill.lines < 2) return;
    const int64_t mean = total / fill.lines;
    best[0].lines = best[0].cost = 0;
    for (size_t to = 1; to <= n; to++) {
        int64_t cells = 0;
        best[to].lines = INT64_MAX;
        for (size_t from = to; from-- > 0;) {
            cells += atom[from].cells + (from + 1 < to && atom[from + 1].space);
            if (cells > r->line_cells && to - from > 1) break;
            const int64_t lines = best[from].lines + 1, cost = best[from].cost + line_cost(atom, from, to, n, cells, mean);
            if (lines > best[to].lines || (lines == best[to].lines && cost >= best[to].cost)) continue;
            best[to].lines = lines;
            best[to].cost = cost;
            best[to].from = from;
        }
    }
    for (size_t to = best[n].from; to; to = best[to].from) atom[to].new_line = 1;
}

/* Measures the cue with these lines. */
static struct text_size cue_lines_measure(const struct cue_atom *atom, size_t n)
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

/* ---- cues -------------------------------------------------------------------------------------------------------------------- */

/* ---- where cues end ---------------------------------------------------------------------------------------------------------- */

/* A cue that grows by atoms, and its cost so far. */
struct growing {
    const struct cue_atom *atom; /* all atoms */
    size_t n, first, last;       /* their number; the cue's range */
    struct cue_fill fill;
    struct text_size size;
    int64_t inside;              /* cost */
};

/* Weights of the costs. For example, the end of a sentence inside a cue costs a little more than another cue. */
enum { COST_CUE = 30, COST_LINE = 3, COST_PHRASE = 20, COST_SEGMENT = 25, COST_ELSEWHERE = 60, COST_SMALL = 20, COST_ROUGH = 300,
       COST_SENTENCE_INSIDE = 40, COST_ORPHAN = 150, COST_UNREADABLE = 200, PAUSE_SEEN_MS = 500 };

/* Adds an atom. @return 0: it does not fit */
static int grow(struct growing *g, const struct cue_rules *r)
{
    const struct cue_atom *a = &g->atom[g->last + 1];
    const struct cue_atom *before = a - 1;
    if (g->last + 1 - g->first >= CUE_ATOMS_MAX || before->forced) return 0;
    if (r->max_ms && a->t1_ms - g->atom[g->first].t0_ms > r->max_ms) return 0;
    if (!cue_fill_add(&g->fill, a, r)) return 0;
    const int64_t pause = a->t0_ms - before->t1_ms;
    if (before->ends == CUE_ENDS_SENTENCE) g->inside += COST_SENTENCE_INSIDE;
    if (pause > PAUSE_SEEN_MS) g->inside += (pause - PAUSE_SEEN_MS / 2) / 10;
    g->size.cells += a->cells + (a->space != 0);
    g->size.half_words += a->half_words;
    g->last++;
    return 1;
}

static int64_t end_cost(const struct growing *g)
{
    static const int ends[] = { [CUE_ENDS_WORD] = COST_ELSEWHERE, [CUE_ENDS_SEGMENT] = COST_SEGMENT, [CUE_ENDS_PHRASE] = COST_PHRASE,
                                [CUE_ENDS_SENTENCE] = 0 };
    const struct cue_atom *a = &g->atom[g->last];
    if (g->last + 1 == g->n || a->forced) return 0;
    int64_t pause = a[1].t0_ms - a->t1_ms, cost = ends[(int)a->ends];
    if (a->small) cost += COST_SMALL;
    pause /= 20;
    cost -= pause < cost * 2 / 3 ? pause : cost * 2 / 3;
    return a->rough ? cost + COST_ROUGH : cost;
}

/* Is the cue a single word that continues the previous cue's sentence, or begins one that continues in the next? */
static int is_orphan(const struct growing *g)
{
    const struct cue_atom *a = &g->atom[g->first];
    if (g->first != g->last) return 0;
    const int goes_on = g->first > 0 && !a[-1].forced && a[-1].ends != CUE_ENDS_SENTENCE;
    const int is_gone_on = g->last + 1 < g->n && !a->forced && a->ends != CUE_ENDS_SENTENCE;
    return goes_on || is_gone_on;
}

static int64_t cue_cost(const struct growing *g, const struct cue_rules *r)
{
    int64_t cost = COST_CUE + g->inside + (g->fill.lines - 1) * COST_LINE + end_cost(g) + (is_orphan(g) ? COST_ORPHAN : 0);
    if (g->last + 1 == g->n) return cost;
    const int64_t have = g->atom[g->last + 1].t0_ms - r->gap_ms - g->atom[g->first].t0_ms, need = cue_rules_need_ms(r, &g->size);
    return have < need ? cost + COST_UNREADABLE + (need - have) / 2 : cost;
}

/* Finds the cheapest cues for all atoms. first[i]: the first atom of the cue that ends with atom i. */
static void choose_ends(size_t *first, int64_t *best, const struct cue_atoms *a, const struct cue_rules *r)
{
    for (size_t i = 1; i <= a->n; i++) best[i] = INT64_MAX;
    best[0] = 0;
    for (size_t i = 0; i < a->n; i++) {
        const struct cue_atom *begin = &a->atom[i];
        struct growing g = { .atom = a->atom, .n = a->n, .first = i, .last = i };
        g.size = (struct text_size){ .cells = begin->cells, .half_words = begin->half_words };
        cue_fill_add(&g.fill, begin, r);
        do {
            const int64_t cost = best[i] + cue_cost(&g, r);
            if (cost < best[g.last + 1]) {
                best[g.last + 1] = cost;
                first[g.last] = i;
            }
        } while (g.last + 1 < a->n && grow(&g, r));
    }
}

static int make_cues(struct cue_build *b, const struct cue_rules *r)
{
    const size_t n = b->text.n;
    size_t *first = calloc(n + 1, sizeof *first);
    int64_t *best = malloc((n + 1) * sizeof *best);
    int bad = !first || !best;
    if (!bad) {
        choose_ends(first, best, &b->text, r);
        for (size_t i = n; i; i = first[i - 1]) b->n++;
        b->cue = calloc(b->n + 1, sizeof *b->cue);
        bad = !b->cue;
    }
    for (size_t i = n, k = b->n; !bad && i; i = first[i - 1]) {
        b->cue[--k] = (struct built_cue){ .first = first[i - 1], .n = i - first[i - 1] };
        cue_lines_set(&b->text.atom[b->cue[k].first], b->cue[k].n, r);
    }
    free(first);
    free(best);
    return bad ? -1 : 0;
}

/* ---- times ------------------------------------------------------------------------------------------------------------------- */

static int64_t grid_down(int64_t ms)
{
    return ms / CUE_GRID_MS * CUE_GRID_MS;
}

static int64_t grid_up(int64_t ms)
{
    return (ms + CUE_GRID_MS - 1) / CUE_GRID_MS * CUE_GRID_MS;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t speech_begin(const struct cue_build *b, size_t i)
{
    return grid_down(b->text.atom[b->cue[i].first].t0_ms);
}

static int64_t speech_end(const struct cue_build *b, size_t i)
{
    int64_t t = 0;
    for (size_t k = 0; k < b->cue[i].n; k++) t = most(t, b->text.atom[b->cue[i].first + k].t1_ms);
    return grid_up(t);
}

static int64_t need_of(const struct cue_build *b, size_t i, const struct cue_rules *r)
{
    const struct text_size size = cue_lines_measure(&b->text.atom[b->cue[i].first], b->cue[i].n);
    return cue_rules_need_ms(r, &size);
}

/* Sets the times of cues: while they are spoken, and long enough to read. free: end of the previous cue and its gap. */
static void set_times(struct cue_build *b, const struct cue_rules *r)
{
    enum { EARLY_MS = 120, LATE_MS = 240, SEEN_MS = 40 };
    const int64_t gap = grid_up(r->gap_ms), seen = most(SEEN_MS, grid_up(r->min_ms / 2));
    int64_t free_from = 0;
    for (size_t i = 0; i < b->n; i++) {
        const int64_t need = need_of(b, i, r), next = i + 1 < b->n ? speech_begin(b, i + 1) - gap : INT64_MAX / 2;
        int64_t t0 = most(speech_begin(b, i), free_from), t1 = most(speech_end(b, i), t0 + need);
        if (t0 + need > next) t0 -= least(least(t0 + need - next, EARLY_MS), t0 - free_from);
        if (t1 > next) t1 = most(next, least(t0 + need, next + LATE_MS));
        t1 = most(t1, t0 + least(seen, most(need, SEEN_MS)));
        if (r->max_ms) t1 = least(t1, t0 + grid_down(r->max_ms));
        b->cue[i].t0_ms = t0;
        b->cue[i].t1_ms = t1;
        free_from = t1 + gap;
    }
}

/* Closes gaps that are too short to see, or widens them if the previous cue would be too long. */
static void close_gaps(struct cue_build *b, const struct cue_rules *r)
{
    const int64_t gap = grid_up(r->gap_ms), close = grid_up(r->close_ms);
    for (size_t i = 0; i + 1 < b->n; i++) {
        struct built_cue *c = &b->cue[i];
        const int64_t next = c[1].t0_ms, most_t1 = r->max_ms ? c->t0_ms + grid_down(r->max_ms) : INT64_MAX;
        if (next - c->t1_ms <= gap || next - c->t1_ms >= close) continue;
        if (next - gap <= most_t1) c->t1_ms = next - gap;
        else if (next - close - c->t0_ms >= need_of(b, i, r)) c->t1_ms = next - close;
    }
}

int cue_build(struct cue_build *b, const struct transcript *t, const struct cue_rules *r, int labels)
{
    memset(b, 0, sizeof *b);
    if (cue_atoms_take(&b->text, t, labels) || make_cues(b, r)) return -1;
    set_times(b, r);
    close_gaps(b, r);
    return 0;
}

void cue_build_free(struct cue_build *b)
{
    cue_atoms_free(&b->text);
    free(b->cue);
    memset(b, 0, sizeof *b);
}
