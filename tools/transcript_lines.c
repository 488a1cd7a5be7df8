/* steno: the lines of a transcript, read back. SPDX-License-Identifier: MIT */
#include "transcript_lines.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "utf8.h"

enum transcript_form transcript_form_of(const char *name, const char *text)
{
    static const struct { const char *end; enum transcript_form form; } known[] = {
        { ".srt", TRANSCRIPT_CUES },  { ".vtt", TRANSCRIPT_CUES },           { ".tsv", TRANSCRIPT_TSV },
        { ".csv", TRANSCRIPT_CSV },   { ".lrc", TRANSCRIPT_LRC },            { ".json", TRANSCRIPT_JSON },
        { ".jsonl", TRANSCRIPT_JSON }, { ".verbose_json", TRANSCRIPT_JSON }, { ".json_full", TRANSCRIPT_JSON },
        { ".txt", TRANSCRIPT_TEXT },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t n = strlen(name), m = strlen(known[i].end);
        if (n > m && !strcmp(name + n - m, known[i].end)) return known[i].form;
    }
    if (!strncmp(text, "WEBVTT", 6) || !strncmp(text, "1\n00:", 5)) return TRANSCRIPT_CUES;
    text += strspn(text, " \t\r\n");
    return *text == '{' || *text == '[' ? TRANSCRIPT_JSON : TRANSCRIPT_TEXT;
}

void transcript_lines_begin(struct transcript_lines *l, enum transcript_form form, char *text)
{
    if (!strncmp(text, "\xef\xbb\xbf", 3)) text += 3;
    *l = (struct transcript_lines){ .form = form, .p = text };
    json_scan_begin(&l->json, text);
}

static char *strip(char *text)
{
    size_t n = strlen(text);
    char *s = text + (utf8_strip(text, &n) - text);
    s[n] = '\0';
    return s;
}

/* The next line of the file; NULL: there is none. */
static char *take_line(struct transcript_lines *l)
{
    char *line = l->p;
    if (!*line) return NULL;
    l->p += strcspn(l->p, "\n");
    if (*l->p) *l->p++ = '\0';
    l->number++;
    return line;
}

/* ---- times --------------------------------------------------------------------------------------------------------------------- */

/* "[HH:]MM:SS[.,]mmm", or hundredths of LRC. @return behind it, NULL: it is none */
static const char *take_clock(const char *s, int64_t *ms)
{
    int64_t v = 0;
    for (int colons = 0;;) {
        int64_t part = 0;
        const size_t n = strspn(s, "0123456789");
        if (!n || n > 6) return NULL;
        for (size_t i = 0; i < n; i++) part = part * 10 + (*s++ - '0');
        v = v * 60 + part;
        if (*s != ':') {
            if (!colons) return NULL;
            break;
        }
        if (++colons > 2) return NULL;
        s++;
    }
    v *= 1000;
    if (*s == '.' || *s == ',')
        for (int64_t unit = 100; s++, *s >= '0' && *s <= '9'; unit /= 10) v += unit * (*s - '0');
    *ms = v;
    return s;
}

/* "T0 --> T1" */
static int is_span(const char *s, struct transcript_line *line)
{
    const char *p = take_clock(s + strspn(s, " \t"), &line->t0_ms);
    if (!p) return 0;
    p += strspn(p, " \t");
    if (strncmp(p, "-->", 3) != 0) return 0;
    p += 3;
    return take_clock(p + strspn(p, " \t"), &line->t1_ms) != NULL;
}

/* ---- the forms ----------------------------------------------------------------------------------------------------------------- */

/* Behind a span its text, up to an empty line; several lines of it are one. What stands before is a number, or a head. */
static int next_cue(struct transcript_lines *l, struct transcript_line *line)
{
    const int64_t number = l->number;
    char *s;
    do {
        if (!(s = take_line(l))) return 0;
    } while (!is_span(s, line));
    char *text = l->p, *end = text;
    while (*l->p && *l->p != '\n' && *l->p != '\r') {
        char *part = take_line(l);
        const size_t n = strlen(part);
        if (end != text) *end++ = ' ';
        memmove(end, part, n);
        end += n;
    }
    l->number = line->number = number + 1; /* of cues */
    line->text = end == text ? NULL : text; /* an empty one */
    if (line->text) *end = '\0';
    return 1;
}

/* Two whole numbers of milliseconds, then the text. The first line is a head. */
static int next_row(struct transcript_lines *l, struct transcript_line *line, char between)
{
    for (char *s; (s = take_line(l));) {
        char *end;
        line->t0_ms = strtoll(s, &end, 10);
        if (end == s || *end != between) continue;
        s = end + 1;
        line->t1_ms = strtoll(s, &end, 10);
        if (end == s || *end != between) continue;
        line->text = end + 1;
        line->number = l->number;
        return 1;
    }
    return 0;
}

/* "text" with quotes in it written twice; line ends may be in it. */
static void unquote(struct transcript_lines *l, struct transcript_line *line)
{
    char *s = line->text, *to = s;
    if (*s++ != '"') return;
    for (;; s++) {
        if (*s == '"' && *++s != '"') break;
        if (!*s && s + 1 == l->p && *l->p) { /* the line goes on behind its end */
            take_line(l);
            *to++ = ' ';
            continue;
        }
        if (!*s) break;
        *to++ = *s;
    }
    *to = '\0';
}

static int next_lyric(struct transcript_lines *l, struct transcript_line *line)
{
    for (char *s; (s = take_line(l));) {
        const char *end = *s == '[' ? take_clock(s + 1, &line->t0_ms) : NULL;
        if (!end || *end != ']') continue;
        line->text = s + (end + 1 - s);
        line->number = l->number;
        return 1;
    }
    return 0;
}

/* ---- JSON ---------------------------------------------------------------------------------------------------------------------- */

static int64_t time_of(double x, int ms)
{
    const double t = ms ? x : 1000 * x;
    return t >= 0 && t < 1e15 ? (int64_t)floor(t + 0.5) : -1;
}

/* An object of the list: its "text", "start" and "end", and "from" and "to" of its "offsets". */
static enum json_piece take_segment(struct transcript_lines *l, struct transcript_line *line)
{
    struct json_scan *j = &l->json;
    const int depth = j->depth;
    const char *key = "", *outer = "";
    enum json_piece piece;
    while ((piece = json_scan_next(j)) != JSON_PIECE_BAD && piece != JSON_PIECE_END && j->depth >= depth) {
        const int own = j->depth == depth, offset = j->depth == depth + 1 && !strcmp(outer, "offsets");
        if (piece == JSON_PIECE_OPEN && j->depth == depth + 1) outer = key;
        if (piece == JSON_PIECE_KEY) key = j->s;
        if (piece == JSON_PIECE_TEXT && own && !strcmp(key, "text")) line->text = j->s;
        if (piece != JSON_PIECE_NUMBER) continue;
        if (own && !strcmp(key, "start")) line->t0_ms = time_of(j->x, l->ms);
        if (own && !strcmp(key, "end")) line->t1_ms = time_of(j->x, l->ms);
        if (offset && !strcmp(key, "from")) line->t0_ms = time_of(j->x, 1);
        if (offset && !strcmp(key, "to")) line->t1_ms = time_of(j->x, 1);
    }
    return piece;
}

static int next_segment(struct transcript_lines *l, struct transcript_line *line)
{
    static const struct { const char *key; int ms; } lists[] = { { "segments", 0 }, { "transcription", 0 }, { "sentence_info", 1 } };
    struct json_scan *j = &l->json;
    const char *key = "";
    for (enum json_piece piece; (piece = json_scan_next(j)) != JSON_PIECE_END;) {
        if (piece == JSON_PIECE_BAD) return l->is_bad = 1, 0;
        if (piece == JSON_PIECE_KEY) key = j->s;
        if (piece == JSON_PIECE_CLOSE && j->depth < l->in_segments) l->in_segments = 0;
        if (piece != JSON_PIECE_OPEN) continue;
        if (l->in_segments && j->depth == l->in_segments + 1 && !j->is_list[j->depth - 1]) {
            piece = take_segment(l, line);
            if (piece == JSON_PIECE_BAD) return l->is_bad = 1, 0;
            line->number = ++l->number;
            return 1;
        }
        if (j->depth == 1 && j->is_list[0]) l->in_segments = l->ms = 1; /* FunASR's, of texts */
        for (size_t i = 0; !l->in_segments && j->is_list[j->depth - 1] && i < sizeof lists / sizeof *lists; i++)
            if (!strcmp(key, lists[i].key)) l->in_segments = j->depth, l->ms = lists[i].ms;
        key = "";
    }
    return 0;
}

/* ---- any of them --------------------------------------------------------------------------------------------------------------- */

static int next_any(struct transcript_lines *l, struct transcript_line *line)
{
    *line = (struct transcript_line){ .t0_ms = -1, .t1_ms = -1 };
    switch (l->form) {
    case TRANSCRIPT_CUES: return next_cue(l, line);
    case TRANSCRIPT_TSV: return next_row(l, line, '\t');
    case TRANSCRIPT_CSV:
        if (!next_row(l, line, ',')) return 0;
        unquote(l, line);
        return 1;
    case TRANSCRIPT_LRC: return next_lyric(l, line);
    case TRANSCRIPT_JSON: return next_segment(l, line);
    default:
        line->text = take_line(l);
        line->number = l->number;
        return line->text != NULL;
    }
}

int transcript_line_next(struct transcript_lines *l, struct transcript_line *line)
{
    while (next_any(l, line))
        if (line->text && *(line->text = strip(line->text))) return 1;
    return 0;
}
