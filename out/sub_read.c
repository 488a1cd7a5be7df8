/* steno: subtitle files, read back. SPDX-License-Identifier: MIT */
#include "sub_read.h"
#include "utf8.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct reader {
    struct sub_file *f;
    const char *s;      /* [n] */
    size_t n, at;
    int64_t number;     /* of the line at hand */
    const char *line;   /* [line_n] without its end */
    size_t line_n;
    int again;          /* the line at hand is the next one, too */
    int nomem;
};

enum sub_form sub_form_of(const char *name, const char *bytes, size_t n)
{
    static const char head[] = "\xef\xbb\xbfWEBVTT";
    const char *dot = strrchr(name, '.');
    const size_t bom = n >= 3 && !memcmp(bytes, head, 3) ? 3 : 0;
    if (dot && !strcasecmp(dot, ".srt")) return SUB_SRT;
    if (dot && !strcasecmp(dot, ".vtt")) return SUB_VTT;
    if (dot && (!strcasecmp(dot, ".ass") || !strcasecmp(dot, ".ssa"))) return SUB_ASS;
    if (n - bom >= 6 && !memcmp(bytes + bom, head + 3, 6)) return SUB_VTT;
    return n > bom && bytes[bom] == '[' ? SUB_ASS : SUB_SRT;
}

/* ---- lines ------------------------------------------------------------------------------------------------------------------- */

/* Room for one more of `sz` bytes. */
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

static void stray(struct reader *r, int what)
{
    struct sub_file *f = r->f;
    void *p = f->stray;
    if (grow(r, &p, &f->strays_cap, f->n_strays, sizeof *f->stray)) {
        f->stray = p;
        f->stray[f->n_strays++] = (struct sub_stray){ .line = r->number, .cue = f->n, .what = what };
    }
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
    if (end + 1 < r->n && r->s[end] == '\r' && r->s[end + 1] == '\n') end++;
    r->at = end + 1;
    for (size_t i = 0; i < r->line_n; i += used) {
        if (utf8_decode(r->line + i, r->line_n - i, &used) != UTF8_BAD) continue;
        stray(r, SUB_NO_UTF8);
        break;
    }
    return 1;
}

/* What parts blocks; in vtt that is a line without anything. */
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

/* Whether the line is a word that begins a block of vtt, with or without more behind it; "NOTES" is the name of a cue. */
static int begins_block(const struct reader *r, const char *word)
{
    const size_t n = strlen(word);
    return begins(r, word) && (r->line_n == n || r->line[n] == ' ' || r->line[n] == '\t');
}

/* In vtt a line of times begins a cue wherever it stands. */
static void skip_block(struct reader *r)
{
    while (next_line(r) && !is_blank(r)) {
        r->again = r->f->form == SUB_VTT && has(r, "-->");
        if (r->again) break;
    }
}

/* ---- times ------------------------------------------------------------------------------------------------------------------- */

/* Digits from s[*at], `least` to `most` of them. @return their number, -1: they are not there */
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

/* A time as the form has it: 00:00:00,000 of srt, [00:]00:00.000 of vtt, 0:00:00.00 of ass. @return milliseconds, -1: it is none */
static int64_t take_time(enum sub_form form, const char *s, size_t n, size_t *at)
{
    int64_t part[3];
    int parts = 0;
    for (; parts < 3; parts++) {
        part[parts] = digits(s, n, at, parts || form == SUB_VTT ? 2 : 1, parts ? 2 : 9);
        if (part[parts] < 0) return -1;
        if (*at >= n || s[*at] != ':') break;
        ++*at;
    }
    const int fields = parts + 1;
    if (fields > 3 || fields < (form == SUB_VTT ? 2 : 3) || *at >= n || s[*at] != (form == SUB_SRT ? ',' : '.')) return -1;
    ++*at;
    const size_t places = form == SUB_ASS ? 2 : 3;
    const int64_t fraction = digits(s, n, at, places, places), seconds = part[fields - 1], minutes = part[fields - 2];
    const int64_t hours = fields == 3 ? part[0] : 0;
    if (fraction < 0 || seconds > 59 || minutes > 59) return -1;
    return ((hours * 60 + minutes) * 60 + seconds) * 1000 + fraction * (form == SUB_ASS ? 10 : 1);
}

/* "TIME --> TIME", and of vtt settings, of srt a place. */
static void take_span(struct sub_cue *c, const struct reader *r)
{
    static const char arrow[] = "-->";
    const char *s = r->line;
    const size_t n = r->line_n;
    size_t at = 0;
    c->t0_ms = c->t1_ms = -1;
    while (at < n && (s[at] == ' ' || s[at] == '\t')) at++;
    const int64_t t0 = take_time(r->f->form, s, n, &at);
    while (at < n && (s[at] == ' ' || s[at] == '\t')) at++;
    if (t0 < 0 || n - at < 3 || memcmp(s + at, arrow, 3) != 0) return;
    for (at += 3; at < n && (s[at] == ' ' || s[at] == '\t'); at++) continue;
    const int64_t t1 = take_time(r->f->form, s, n, &at);
    if (t1 < 0 || (at < n && s[at] != ' ' && s[at] != '\t')) return;
    c->t0_ms = t0;
    c->t1_ms = t1;
}

/* ---- text -------------------------------------------------------------------------------------------------------------------- */

static void put(struct sub_file *f, const char *s, size_t n)
{
    size_t used;
    for (size_t i = 0; i < n; i += used) {
        if (utf8_decode(s + i, n - i, &used) == UTF8_BAD) f->text[f->text_n++] = '?';
        else {
            memcpy(f->text + f->text_n, s + i, used);
            f->text_n += used;
        }
    }
}

/* The bytes of a tag of html that s begins with, 0: it is none. */
static size_t tag_length(const char *s, size_t n, int any)
{
    static const char *const known[] = { "b", "i", "u", "s", "font", "c", "v", "ruby", "rt", "lang" };
    if (n < 3 || s[0] != '<') return 0;
    const size_t from = s[1] == '/' ? 2 : 1;
    for (size_t i = 0; i < sizeof known / sizeof *known && !any; i++) {
        const size_t word = strlen(known[i]);
        any = from + word < n && !strncasecmp(s + from, known[i], word) && strchr(" >\t", s[from + word]);
    }
    const char *end = any ? memchr(s, '>', n) : NULL;
    return end ? (size_t)(end - s) + 1 : 0;
}

static size_t entity_length(const char *s, size_t n, const char **text)
{
    static const char *const known[][2] = { { "&amp;", "&" }, { "&lt;", "<" }, { "&gt;", ">" }, { "&nbsp;", "\xc2\xa0" },
                                            { "&lrm;", "" }, { "&rlm;", "" }, { "&quot;", "\"" } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t len = strlen(known[i][0]);
        if (n < len || memcmp(s, known[i][0], len) != 0) continue;
        *text = known[i][1];
        return len;
    }
    return 0;
}

/* The bytes of an override that s begins with, 0: it is none; any: whatever stands in it. */
static size_t override_length(const char *s, size_t n, int any)
{
    const char *end = s[0] == '{' && (any || (n > 1 && s[1] == '\\')) ? memchr(s, '}', n) : NULL;
    return end ? (size_t)(end - s) + 1 : 0;
}

/* The same of an escape. */
static size_t escape_length(const char *s, size_t n, const char **text)
{
    if (s[0] != '\\' || n < 2) return 0;
    *text = s[1] == 'N' || s[1] == 'n' ? "\n" : s[1] == 'h' ? "\xc2\xa0" : s[1] == '{' ? "{" : s[1] == '}' ? "}" : NULL;
    return *text ? 2 : 0;
}

/* Bytes up to the last `c`, so that nobody looks for one that is not there again and again. */
static size_t up_to_last(const char *s, size_t n, char c)
{
    while (n && s[n - 1] != c) n--;
    return n;
}

/* A line of text without what is not shown of it. */
static void put_line(struct reader *r, const char *s, size_t n)
{
    struct sub_file *f = r->f;
    const size_t tags = up_to_last(s, n, '>'), braces = up_to_last(s, n, '}');
    for (size_t i = 0, len; i < n; i += len) {
        const char *text = "";
        size_t used;
        len = f->form == SUB_ASS || i >= tags ? 0 : tag_length(s + i, tags - i, f->form == SUB_VTT);
        if (!len && f->form == SUB_VTT) len = entity_length(s + i, n - i, &text);
        if (!len && f->form != SUB_VTT && i < braces) len = override_length(s + i, braces - i, f->form == SUB_ASS);
        if (!len && f->form == SUB_ASS) len = escape_length(s + i, n - i, &text);
        if (len) put(f, text, strlen(text));
        else {
            utf8_decode(s + i, n - i, &used);
            len = used;
            put(f, s + i, len);
        }
    }
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

/* The cue whose times are the line at hand, and its text up to an empty line. */
static void take_cue(struct reader *r, int64_t number)
{
    struct sub_cue *c = add_cue(r);
    if (!c) return;
    c->number = number;
    take_span(c, r);
    for (int first = 1; next_line(r) && !is_blank(r); first = 0) {
        if (has(r, "-->")) {
            r->again = 1;
            break;
        }
        if (!first) put(r->f, "\n", 1);
        put_line(r, r->line, r->line_n);
    }
    c->n = r->f->text_n - c->text;
}

static int64_t number_of(const struct reader *r)
{
    size_t at = 0, n = r->line_n;
    while (n && (r->line[n - 1] == ' ' || r->line[n - 1] == '\t')) n--;
    const int64_t v = digits(r->line, n, &at, 1, 18);
    return at == n ? v : -1;
}

/* Cues between empty lines; in vtt also other things. */
static void read_blocks(struct reader *r)
{
    while (next_line(r)) {
        if (is_blank(r)) continue;
        if (r->f->form == SUB_VTT && (begins_block(r, "NOTE") || begins_block(r, "STYLE") || begins_block(r, "REGION"))) {
            skip_block(r);
            continue;
        }
        int64_t number = -1;
        if (!has(r, "-->")) {
            number = number_of(r);
            const int is_name = r->f->form == SUB_VTT || number >= 0;
            if (!is_name || !next_line(r) || !has(r, "-->")) {
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

/* Fields of "Format: a, b" or "Dialogue: a,b", the last of which may have commas in it. @return how many */
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
    if (n <= place[0] || n <= place[1] || n <= place[2]) return;
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
    put_line(r, field[place[2]], len[place[2]]);
    c->n = r->f->text_n - c->text;
}

static void read_ass(struct reader *r)
{
    static const char *const wanted[] = { "Start", "End", "Text" };
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
                    if (is_field(field[i], len[i], wanted[w])) place[w] = i;
        } else if (begins(r, "Dialogue:")) {
            take_dialogue(r, place, n_fields);
        }
    }
}

int sub_read(struct sub_file *f, enum sub_form form, const char *bytes, size_t n)
{
    struct reader r = { .f = f, .s = bytes, .n = n };
    *f = (struct sub_file){ .form = form, .text = malloc(n + 1) };
    if (!f->text) return -1;
    if (n >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3)) r.at = 3;
    if (form == SUB_SRT) read_blocks(&r);
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
