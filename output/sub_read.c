/* steno: reads subtitle files. SPDX-License-Identifier: MIT */
#include "sub_read.h"
#include "utf8.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct reader {
    struct sub_file *f;
    const char *s;      /* [n] */
    size_t n, at;
    int64_t number;     /* of the current line */
    const char *line;   /* [line_n] without its line end */
    size_t line_n;
    int again;          /* the current line is returned once more */
    int has_text;       /* the current cue has a line */
    int64_t number_before; /* srt: this number is on the previous line, which follows a cue without a blank line; else -1 */
    int nomem;
};

/* ---- lines ------------------------------------------------------------------------------------------------------------------- */

/* Makes room for another item of `sz` bytes. */
static int grow(struct reader *r, void **p, size_t *cap, size_t n, size_t sz)
{
    if (n < *cap) return 1;
    const size_t want = *cap ? 2 * *cap : 64;
    void *q = realloc(*p, want * sz);
    if (!q) {
        r->nomem = 1;
        return 0;
    }
    *p = q;
    *cap = want;
    return 1;
}

static void stray_at(struct reader *r, int what, int64_t line)
{
    struct sub_file *f = r->f;
    void *p = f->stray;
    if (grow(r, &p, &f->strays_cap, f->n_strays, sizeof *f->stray)) {
        f->stray = p;
        f->stray[f->n_strays++] = (struct sub_stray){ .line = line, .cue = f->n, .what = what };
    }
}

static void stray(struct reader *r, int what)
{
    stray_at(r, what, r->number);
}

/* Length of the break that begins s[n]: \r\r\n, too, which programs write that convert line ends twice. */
static size_t line_break(const char *s, size_t n)
{
    size_t crs = 0;
    while (crs < 2 && crs < n && s[crs] == '\r') crs++;
    return crs < n && s[crs] == '\n' ? crs + 1 : 1;
}

static int next_line(struct reader *r)
{
    if (r->again) {
        r->again = 0;
        return 1;
    }
    if (r->at >= r->n || r->nomem) return 0;
    size_t end = r->at, used;
    while (end < r->n && r->s[end] != '\n' && r->s[end] != '\r') end++;
    r->line = r->s + r->at;
    r->line_n = end - r->at;
    r->number++;
    r->at = end + line_break(r->s + end, r->n - end);
    for (size_t i = 0; i < r->line_n; i += used) {
        if (utf8_decode(r->line + i, r->line_n - i, &used) != UTF8_BAD) continue;
        stray(r, SUB_NO_UTF8);
        break;
    }
    return 1;
}

/* Does the line separate blocks? In vtt only an empty line does. */
static int is_blank(const struct reader *r)
{
    if (r->f->form == SUB_VTT) return r->line_n == 0;
    for (size_t i = 0; i < r->line_n; i++)
        if (r->line[i] != ' ' && r->line[i] != '\t') return 0;
    return 1;
}

static int has(const struct reader *r, const char *word)
{
    const size_t n = strlen(word);
    for (size_t i = 0; i + n <= r->line_n; i++)
        if (!memcmp(r->line + i, word, n)) return 1;
    return 0;
}

static int begins(const struct reader *r, const char *word)
{
    const size_t n = strlen(word);
    return r->line_n >= n && !memcmp(r->line, word, n);
}

/* Does the line begin a vtt block with this word, alone or followed by other text? "NOTES" is the name of a cue. */
static int begins_block(const struct reader *r, const char *word)
{
    const size_t n = strlen(word);
    return begins(r, word) && (r->line_n == n || r->line[n] == ' ' || r->line[n] == '\t');
}

/* Skips a block. In vtt a line of times begins a cue anywhere. */
static void skip_block(struct reader *r)
{
    while (next_line(r) && !is_blank(r)) {
        r->again = r->f->form == SUB_VTT && has(r, "-->");
        if (r->again) break;
    }
}

/* ---- times ------------------------------------------------------------------------------------------------------------------- */

/* Reads `least` to `most` digits from s[*at]. @return their value, -1: not there */
static int64_t digits(const char *s, size_t n, size_t *at, size_t least, size_t most)
{
    int64_t v = 0;
    size_t k = 0;
    while (*at < n && k < most && s[*at] >= '0' && s[*at] <= '9') {
        v = v * 10 + (s[(*at)++] - '0');
        k++;
    }
    return k < least || (*at < n && s[*at] >= '0' && s[*at] <= '9') ? -1 : v;
}

/* Times of each form: minimum digits of the first number, numbers, the character before the fraction, its digits. */
static const struct clock { int first, least, most; char point; size_t from, to; } clocks[N_SUB_FORMS] = {
    [SUB_SRT] = { 1, 3, 3, ',', 3, 3 }, [SUB_VTT] = { 2, 2, 3, '.', 3, 3 }, [SUB_ASS] = { 1, 3, 3, '.', 2, 2 },
    [SUB_SBV] = { 1, 3, 3, '.', 3, 3 }, [SUB_LRC] = { 1, 2, 3, '.', 1, 3 },
};

/* Reads a time: 00:00:00,000 in srt, [00:]00:00.000 in vtt, 0:00:00.00 in ass. @return milliseconds, -1: not a time */
static int64_t take_time(enum sub_form form, const char *s, size_t n, size_t *at)
{
    const struct clock *c = &clocks[form];
    int64_t part[3], scale = 1;
    int parts = 0;
    for (; parts < 3; parts++) {
        part[parts] = digits(s, n, at, parts ? 2 : (size_t)c->first, parts ? 2 : 9);
        if (part[parts] < 0) return -1;
        if (*at >= n || s[*at] != ':') break;
        ++*at;
    }
    const int fields = parts + 1;
    if (fields < c->least || fields > c->most) return -1;
    const int64_t seconds = part[fields - 1], minutes = part[fields - 2], hours = fields == 3 ? part[0] : 0;
    if (seconds > 59 || (minutes > 59 && form != SUB_LRC)) return -1;
    const int64_t whole = ((hours * 60 + minutes) * 60 + seconds) * 1000;
    if (form == SUB_LRC && *at < n && s[*at] != '.') return whole;
    if (*at >= n || s[*at] != c->point) return -1;
    const size_t from = ++*at;
    const int64_t fraction = digits(s, n, at, c->from, c->to);
    for (size_t k = *at - from; k < 3; k++) scale *= 10;
    return fraction < 0 ? -1 : whole + fraction * scale;
}

/* Reads "TIME --> TIME", followed by settings in vtt or a position in srt; "TIME,TIME" in sbv. */
static void take_span(struct sub_cue *c, const struct reader *r)
{
    const char *arrow = r->f->form == SUB_SBV ? "," : "-->";
    const size_t arrow_n = strlen(arrow);
    const char *s = r->line;
    const size_t n = r->line_n;
    size_t at = 0;
    c->t0_ms = c->t1_ms = -1;
    while (at < n && (s[at] == ' ' || s[at] == '\t')) at++;
    const int64_t t0 = take_time(r->f->form, s, n, &at);
    while (at < n && (s[at] == ' ' || s[at] == '\t')) at++;
    if (t0 < 0 || n - at < arrow_n || memcmp(s + at, arrow, arrow_n) != 0) return;
    for (at += arrow_n; at < n && (s[at] == ' ' || s[at] == '\t'); at++) continue;
    const int64_t t1 = take_time(r->f->form, s, n, &at);
    if (t1 < 0 || (at < n && s[at] != ' ' && s[at] != '\t')) return;
    c->t0_ms = t0;
    c->t1_ms = t1;
}

/* ---- cues -------------------------------------------------------------------------------------------------------------------- */

/* Ends the text of a cue. There is room for the NUL, because the mark-up around the text was longer. */
static void end_cue(struct reader *r, struct sub_cue *c)
{
    c->n = r->f->text_n - c->text;
    r->f->text[r->f->text_n++] = '\0';
}

static struct sub_cue *add_cue(struct reader *r)
{
    struct sub_file *f = r->f;
    void *p = f->cue;
    if (!grow(r, &p, &f->cap, f->n, sizeof *f->cue)) return NULL;
    f->cue = p;
    f->cue[f->n] = (struct sub_cue){ .line = r->number, .text_line = r->number + 1, .number = -1, .t0_ms = -1, .t1_ms = -1,
                                     .text = f->text_n };
    return &f->cue[f->n++];
}

/* ---- the forms --------------------------------------------------------------------------------------------------------------- */

static int64_t number_of(const struct reader *r)
{
    size_t at = 0, n = r->line_n;
    while (n && (r->line[n - 1] == ' ' || r->line[n - 1] == '\t')) n--;
    const int64_t v = digits(r->line, n, &at, 1, 18);
    return at == n ? v : -1;
}

/* Is the current line a line of times? */
static int is_span(const struct reader *r)
{
    if (r->f->form != SUB_SBV) return has(r, "-->");
    size_t at = 0;
    return take_time(SUB_SBV, r->line, r->line_n, &at) >= 0 && at < r->line_n && r->line[at] == ',';
}

/* Reads the cue whose times are on the current line, and its text up to an empty line. */
static void take_cue(struct reader *r, int64_t number)
{
    struct sub_cue *c = add_cue(r);
    if (!c) return;
    c->number = number;
    take_span(c, r);
    r->number_before = -1;
    r->has_text = 0;
    for (size_t last = c->text; next_line(r) && !is_blank(r);) {
        if (is_span(r)) {
            r->again = 1;
            if (r->f->form != SUB_SRT || r->number_before < 0) break;
            r->f->text_n = last; /* that line was not text, but the next cue's number */
            stray_at(r, SUB_NO_BLANK, r->number - 1);
            end_cue(r, c);
            return;
        }
        last = r->f->text_n;
        if (last > c->text || r->has_text) sub_text_put(r->f, "\n", 1);
        r->has_text = 1;
        sub_text_line(r->f, r->line, r->line_n);
        r->number_before = r->f->form == SUB_SRT ? number_of(r) : -1;
    }
    r->number_before = -1;
    end_cue(r, c);
}

/* Reads cues between empty lines; vtt has other blocks, too. */
static void read_blocks(struct reader *r)
{
    while (next_line(r)) {
        if (is_blank(r)) continue;
        if (r->f->form == SUB_VTT && (begins_block(r, "NOTE") || begins_block(r, "STYLE") || begins_block(r, "REGION"))) {
            skip_block(r);
            continue;
        }
        int64_t number = r->number_before;
        r->number_before = -1;
        if (!is_span(r)) {
            number = r->f->form == SUB_SBV ? -1 : number_of(r);
            const int is_name = r->f->form == SUB_VTT || number >= 0;
            if (!is_name || !next_line(r) || !is_span(r)) {
                stray(r, SUB_NO_TIMES);
                if (!is_blank(r)) skip_block(r);
                continue;
            }
        }
        take_cue(r, number);
    }
}

static void read_vtt(struct reader *r)
{
    if (!next_line(r) || !begins_block(r, "WEBVTT")) {
        stray(r, SUB_NO_HEAD);
        r->again = r->number > 0 && has(r, "-->");
    } else if (next_line(r) && !is_blank(r)) {
        if (has(r, "-->")) {
            stray(r, SUB_NO_HEAD);
            r->again = 1;
        } else {
            skip_block(r);
        }
    }
    read_blocks(r);
}

enum { ASS_FIELDS = 32 };

/* Fields of "Format: a, b" or "Dialogue: a,b". The last field may contain commas. @return their number */
static int fields_of(const char **field, size_t *len, const char *s, size_t n, int most)
{
    int k = 0;
    const char *end = s + n;
    for (; k < most && s <= end; k++) {
        const char *comma = k + 1 < most ? memchr(s, ',', (size_t)(end - s)) : NULL;
        const char *to = comma ? comma : end;
        while (s < to && *s == ' ' && k + 1 < most) s++;
        field[k] = s;
        len[k] = (size_t)(to - s);
        s = to + 1;
    }
    return k;
}

static int is_field(const char *s, size_t n, const char *name)
{
    while (n && s[n - 1] == ' ') n--;
    return n == strlen(name) && !strncasecmp(s, name, n);
}

static void take_dialogue(struct reader *r, const int place[3], int n_fields)
{
    static const char head[] = "Dialogue:";
    const char *field[ASS_FIELDS];
    size_t len[ASS_FIELDS], at;
    struct sub_cue *c = add_cue(r);
    if (!c) return;
    c->text_line = c->line;
    const int n = fields_of(field, len, r->line + sizeof head - 1, r->line_n - (sizeof head - 1), n_fields);
    if (n <= place[0] || n <= place[1] || n <= place[2]) {
        end_cue(r, c);
        return;
    }
    int64_t t[2];
    for (int i = 0; i < 2; i++) {
        const char *s = field[place[i]];
        size_t m = len[place[i]];
        at = 0;
        while (m && s[m - 1] == ' ') m--;
        t[i] = take_time(SUB_ASS, s, m, &at);
        if (at != m) t[i] = -1;
    }
    if (t[0] >= 0 && t[1] >= 0) {
        c->t0_ms = t[0];
        c->t1_ms = t[1];
    }
    sub_text_line(r->f, field[place[2]], len[place[2]]);
    end_cue(r, c);
}

static void read_ass(struct reader *r)
{
    static const char *const columns[] = { "Start", "End", "Text" };
    int place[3] = { 1, 2, 9 }, n_fields = 10, events = 0;
    while (next_line(r)) {
        if (r->line_n && r->line[0] == '[') events = begins(r, "[Events]");
        if (!events) continue;
        if (begins(r, "Format:")) {
            const char *field[ASS_FIELDS];
            size_t len[ASS_FIELDS];
            n_fields = fields_of(field, len, r->line + 7, r->line_n - 7, ASS_FIELDS);
            for (int w = 0; w < 3; w++)
                for (int i = 0; i < n_fields; i++)
                    if (is_field(field[i], len[i], columns[w])) place[w] = i;
        } else if (begins(r, "Dialogue:")) {
            take_dialogue(r, place, n_fields);
        }
    }
}

/* "[00:12.00][00:40.00]text": one cue per line with a time, using the first time; "[ar:x]" is not a cue. A cue ends where the next
 * begins. */
static void read_lrc(struct reader *r)
{
    while (next_line(r)) {
        int64_t t0 = -1;
        size_t from = 0;
        for (size_t at = 1; from + 1 < r->line_n && r->line[from] == '['; at = from + 1) {
            const int64_t t = take_time(SUB_LRC, r->line, r->line_n, &at);
            if (t < 0 || at >= r->line_n || r->line[at] != ']') break;
            if (t0 < 0) t0 = t;
            from = at + 1;
        }
        struct sub_cue *c = t0 < 0 ? NULL : add_cue(r);
        if (!c) continue;
        c->text_line = c->line;
        c->t0_ms = t0;
        if (r->f->n > 1 && c[-1].t0_ms < t0) c[-1].t1_ms = t0;
        sub_text_line(r->f, r->line + from, r->line_n - from);
        end_cue(r, c);
    }
}

/* ---- detection of the form ----------------------------------------------------------------------------------------------------- */

enum sub_form sub_form_named(const char *name)
{
    static const struct { const char *end; enum sub_form form; } known[] = {
        { ".srt", SUB_SRT }, { ".vtt", SUB_VTT }, { ".ass", SUB_ASS }, { ".ssa", SUB_ASS }, { ".wts", SUB_ASS }, { ".sbv", SUB_SBV },
        { ".lrc", SUB_LRC },
    };
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof known / sizeof *known; i++)
        if (!strcasecmp(dot, known[i].end)) return known[i].form;
    return SUB_NONE;
}

/* The form that the current line indicates. first: only empty lines precede it. */
static enum sub_form form_of_line(struct reader *r, int first)
{
    size_t at = 1;
    if (begins(r, "WEBVTT")) return SUB_VTT;
    if (has(r, "-->")) return SUB_SRT;
    if (begins(r, "[Script Info]") || begins(r, "[Events]")) return SUB_ASS;
    if (r->line_n && r->line[0] == '[' && take_time(SUB_LRC, r->line, r->line_n, &at) >= 0 && at < r->line_n && r->line[at] == ']')
        return SUB_LRC;
    r->f->form = SUB_SBV;
    return first && is_span(r) ? SUB_SBV : SUB_NONE;
}

enum sub_form sub_form_seen(const char *bytes, size_t n)
{
    enum { LOOK_AT = 60, TAGS_MAX = 20 }; /* lines: a wts script has some before the subtitles, and lyrics have tags */
    struct sub_file f = { .form = SUB_SRT };
    struct reader r = { .f = &f, .s = bytes, .n = n, .number_before = -1 };
    enum sub_form form = SUB_NONE;
    if (n >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3)) r.at = 3;
    const int is_script = n - r.at > 2 && !memcmp(bytes + r.at, "#!", 2);
    int lines = 0, tags = 0;
    while (form == SUB_NONE && lines - tags < (is_script ? LOOK_AT : 2) && tags < TAGS_MAX && next_line(&r)) {
        f.form = SUB_SRT;
        if (is_blank(&r)) continue;
        tags += r.line[0] == '[' && r.line[r.line_n - 1] == ']';
        form = form_of_line(&r, lines++ == 0);
        if (form == SUB_SRT && is_script) form = SUB_NONE;
    }
    free(f.stray);
    return r.nomem ? SUB_NONE : form;
}

enum sub_form sub_form_of(const char *name, const char *bytes, size_t n)
{
    enum sub_form form = sub_form_named(name);
    if (form == SUB_NONE) form = sub_form_seen(bytes, n);
    return form == SUB_NONE ? SUB_SRT : form;
}

int sub_read(struct sub_file *f, enum sub_form form, const char *bytes, size_t n)
{
    struct reader r = { .f = f, .s = bytes, .n = n, .number_before = -1 };
    *f = (struct sub_file){ .form = form, .text = malloc(n + 1) };
    if (!f->text) return -1;
    if (n >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3)) r.at = 3;
    if (form == SUB_SRT || form == SUB_SBV) read_blocks(&r);
    if (form == SUB_LRC) read_lrc(&r);
    if (form == SUB_VTT) read_vtt(&r);
    if (form == SUB_ASS) read_ass(&r);
    return r.nomem ? -1 : 0;
}

void sub_free(struct sub_file *f)
{
    free(f->cue);
    free(f->stray);
    free(f->text);
    memset(f, 0, sizeof *f);
}
