/* steno: checks subtitles. SPDX-License-Identifier: MIT */
#include "sub_check.h"
#include "text_shape.h"
#include <stdlib.h>
#include <string.h>

static const struct cue_rules no_rules = { .cells_per_character = 1 };

struct check {
    const struct sub_file *f;
    const struct cue_rules *r;
    void (*fault_report)(void *user, const struct sub_fault *fault);
    void *user;
    char *may;             /* for the longest text */
    const struct sub_cue *cue; /* the current cue */
    size_t number;
};

const char *sub_rule_name(enum sub_rule rule)
{
    static const char *const names[N_SUB_RULES] = {
        [SUB_TIME] = "bad time", [SUB_UTF8] = "bad UTF-8", [SUB_HEAD] = "bad head", [SUB_BLANK] = "no blank line before",
        [SUB_NUMBER] = "number out of sequence",
        [SUB_ORDER] = "out of order", [SUB_OVERLAP] = "overlap", [SUB_ZERO] = "no duration", [SUB_SHORT] = "too short",
        [SUB_LONG] = "too long", [SUB_FAST] = "too fast", [SUB_GAP] = "bad gap", [SUB_EMPTY] = "empty", [SUB_LINES] = "too many lines",
        [SUB_WIDTH] = "line too long", [SUB_MARKS] = "lone punctuation", [SUB_ORPHAN] = "orphan word",
    };
    return names[rule];
}

static void fault_report_at(const struct check *c, int64_t line, enum sub_rule rule, double measured, double allowed, const char *unit)
{
    const struct sub_fault fault = { .rule = rule, .line = line, .cue = c->number, .measured = measured, .allowed = allowed, .unit = unit };
    c->fault_report(c->user, &fault);
}

static void fault_report(const struct check *c, enum sub_rule rule, double measured, double allowed, const char *unit)
{
    fault_report_at(c, c->cue->line, rule, measured, allowed, unit);
}

/* ---- times ------------------------------------------------------------------------------------------------------------------- */

/* Checks the current cue against the previous one, which is NULL for the first cue with times. */
static void check_neighbours(const struct check *c, const struct sub_cue *before)
{
    const struct cue_rules *r = c->r;
    if (!before || (c->f->form == SUB_LRC && c->cue->t0_ms >= before->t0_ms)) return; /* a lyrics line ends when another begins */
    const int64_t gap = c->cue->t0_ms - before->t1_ms;
    if (c->cue->t0_ms < before->t0_ms) fault_report(c, SUB_ORDER, (double)c->cue->t0_ms, (double)before->t0_ms, "ms");
    else if (gap < 0) fault_report(c, SUB_OVERLAP, (double)-gap, 0, "ms");
    else if (gap < r->gap_ms) fault_report(c, SUB_GAP, (double)gap, (double)r->gap_ms, "ms");
    else if (gap >= r->gap_ms + CUE_GRID_MS && gap < r->close_ms) fault_report(c, SUB_GAP, (double)gap, (double)r->close_ms, "ms");
}

static void check_duration(const struct check *c, const struct text_size *size)
{
    const struct cue_rules *r = c->r;
    const int64_t ms = c->cue->t1_ms - c->cue->t0_ms;
    const double nearly = 1 + 1e-9, per_character = r->cells_per_character;
    if (c->cue->t1_ms < 0) return;
    if (ms < 0) fault_report(c, SUB_ORDER, (double)c->cue->t1_ms, (double)c->cue->t0_ms, "ms");
    if (ms == 0) fault_report(c, SUB_ZERO, 0, 1, "ms");
    if (ms <= 0) return;
    const double per_s = (double)size->cells * 1000 / (double)ms, per_minute = (double)size->half_words * 30000 / (double)ms;
    if (ms < r->min_ms) fault_report(c, SUB_SHORT, (double)ms, (double)r->min_ms, "ms");
    if (r->max_ms && ms > r->max_ms) fault_report(c, SUB_LONG, (double)ms, (double)r->max_ms, "ms");
    if (r->cells_per_s > 0 && per_s > r->cells_per_s * nearly)
        fault_report(c, SUB_FAST, per_s / per_character, r->cells_per_s / per_character, "characters per second");
    if (r->ms_per_word > 0 && per_minute > 60000 / r->ms_per_word * nearly)
        fault_report(c, SUB_FAST, per_minute, 60000 / r->ms_per_word, "words per minute");
}

/* ---- text -------------------------------------------------------------------------------------------------------------------- */

/* A line as pieces. */
struct line {
    const char *s;
    int64_t cells;
    size_t n, pieces, first_n, last_from; /* bytes; start of its last piece */
    int labelled;                         /* it begins with a speaker label, and is more than one word */
};

static int is_dialogue(const struct line *l)
{
    return l->n && (l->s[0] == '-' || !strncmp(l->s, "\xe2\x80\x93", 3) || !strncmp(l->s, "\xe2\x80\x94", 3));
}

/* Could a word of line b, next to line a, move to the single word of a? */
static int could_take(const struct line *a, const struct line *b, int b_is_next, int64_t width)
{
    enum { LONG = 3 };
    if (a->pieces != 1 || a->labelled || b->pieces < LONG || is_dialogue(a) || is_dialogue(b)) return 0;
    const int64_t moved = b_is_next ? text_cells(b->s, b->first_n) : text_cells(b->s + b->last_from, b->n - b->last_from);
    return a->cells + 1 + moved <= width;
}

/* A speaker label, "Ann:" or "(speaker 0)", and the word after it are one piece. */
static struct line take_line(const struct check *c, const char *s, size_t n)
{
    enum { LABEL_MAX = 4 };
    struct line l = { .s = s, .n = n, .cells = text_cells(s, n) };
    struct text_piece p;
    const char end = n && s[0] == '(' ? ')' : ':';
    text_breaks(c->may, s, n);
    for (size_t at = 0, k = 0; text_piece_next(&p, s, n, c->may, &at); k++) {
        if (!l.labelled && k < LABEL_MAX && s[p.to - 1] == end) {
            l.labelled = 1;
            l.pieces = 0;
            continue;
        }
        if (!l.pieces++) l.first_n = p.to;
        l.last_from = l.pieces > 1 ? p.from : 0;
    }
    if (!l.pieces && l.labelled) l.pieces = 1;
    return l;
}

static void check_line(const struct check *c, int64_t number, const struct line *l)
{
    const struct cue_rules *r = c->r;
    if (r->line_cells && l->cells > r->line_cells)
        fault_report_at(c, number, SUB_WIDTH, (double)l->cells / r->cells_per_character, (double)r->line_cells / r->cells_per_character,
                        "characters");
    if (l->pieces && !text_is_readable(l->s, l->n)) fault_report_at(c, number, SUB_MARKS, 0, 0, "");
}

static void check_text(const struct check *c, const struct text_size *size)
{
    const char *s = c->f->text + c->cue->text;
    const int one_file_line = c->f->form == SUB_ASS;
    struct line before = { 0 };
    int64_t number = c->cue->text_line;
    const int64_t width = c->r->line_cells ? c->r->line_cells : size->widest;
    if (!size->cells) {
        fault_report(c, SUB_EMPTY, 0, 0, "");
        return;
    }
    if (c->r->lines && size->lines > c->r->lines) fault_report(c, SUB_LINES, (double)size->lines, (double)c->r->lines, "lines");
    for (size_t at = 0, k = 0; at <= c->cue->n; k++) {
        const char *end = memchr(s + at, '\n', c->cue->n - at);
        const struct line l = take_line(c, s + at, end ? (size_t)(end - s) - at : c->cue->n - at);
        check_line(c, number, &l);
        if (k && could_take(&before, &l, 1, width)) fault_report_at(c, one_file_line ? number : number - 1, SUB_ORPHAN, 0, 0, "");
        if (k && could_take(&l, &before, 0, width)) fault_report_at(c, number, SUB_ORPHAN, 0, 0, "");
        before = l;
        if (!end) break;
        at = (size_t)(end - s) + 1;
        number += !one_file_line;
    }
}

/* ---- all checks -------------------------------------------------------------------------------------------------------------- */

static void check_cue(struct check *c, const struct sub_cue **before)
{
    const struct sub_cue *cue = c->cue;
    const struct text_size size = text_measure(c->f->text + cue->text, cue->n);
    if (c->f->form == SUB_SRT && (cue->number < 0 || (c->number > 1 && cue->number != cue[-1].number + 1)))
        fault_report(c, SUB_NUMBER, (double)cue->number, c->number > 1 ? (double)cue[-1].number + 1 : 1, "");
    if (cue->t0_ms < 0) fault_report(c, SUB_TIME, 0, 0, "");
    else {
        check_neighbours(c, *before);
        check_duration(c, &size);
        if (!*before || cue->t1_ms > (*before)->t1_ms) *before = cue;
    }
    check_text(c, &size);
}

static void report_strays(struct check *c, size_t *i, size_t cues)
{
    static const enum sub_rule rules[] = { [SUB_NO_TIMES] = SUB_TIME, [SUB_NO_HEAD] = SUB_HEAD, [SUB_NO_UTF8] = SUB_UTF8,
                                           [SUB_NO_BLANK] = SUB_BLANK };
    for (; *i < c->f->n_strays && c->f->stray[*i].cue <= cues; ++*i) {
        c->number = c->f->stray[*i].cue;
        fault_report_at(c, c->f->stray[*i].line, rules[c->f->stray[*i].what], 0, 0, "");
    }
}

int sub_check(const struct sub_file *f, const struct cue_rules *rules, void (*report)(void *user, const struct sub_fault *fault),
              void *user)
{
    struct check c = { .f = f, .r = rules ? rules : &no_rules, .fault_report = report, .user = user };
    const struct sub_cue *before = NULL;
    size_t longest = 0, strays = 0;
    for (size_t i = 0; i < f->n; i++)
        if (f->cue[i].n > longest) longest = f->cue[i].n;
    c.may = malloc(longest + 1);
    if (!c.may) return -1;
    for (size_t i = 0; i < f->n; i++) {
        report_strays(&c, &strays, i);
        c.cue = &f->cue[i];
        c.number = i + 1;
        check_cue(&c, &before);
    }
    report_strays(&c, &strays, f->n);
    free(c.may);
    return 0;
}
