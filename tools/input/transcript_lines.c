/* steno: reader for transcripts. SPDX-License-Identifier: MIT */
#include "input/transcript_lines.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "cli/text_file.h"
#include "sink.h"
#include "utf8.h"

/* Text may begin with a bracket, too: "[Music] ..." */
static int is_json(const char *text)
{
    if (*text != '{' && *text != '[') return 0;
    const char next = text[1 + strspn(text + 1, " \t\r\n")];
    return next && strchr(*text == '{' ? "\"}" : "{]", next) != NULL;
}

enum transcript_form transcript_form_of(const char *name, const char *text)
{
    static const struct { const char *end; enum transcript_form form; } known[] = {
        { ".tsv", TRANSCRIPT_TSV }, { ".csv", TRANSCRIPT_CSV }, { ".json", TRANSCRIPT_JSON }, { ".jsonl", TRANSCRIPT_JSON },
        { ".verbose_json", TRANSCRIPT_JSON }, { ".json_full", TRANSCRIPT_JSON }, { ".txt", TRANSCRIPT_TEXT },
    };
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof known / sizeof *known; i++)
        if (!strcasecmp(dot, known[i].end)) return known[i].form;
    if (sub_form_named(name) != SUB_NONE || sub_form_seen(text, strlen(text)) != SUB_NONE) return TRANSCRIPT_CUES;
    text += strspn(text, " \t\r\n");
    if (!strncmp(text, "start\tend\t", 10)) return TRANSCRIPT_TSV;
    if (!strncmp(text, "start,end,", 10)) return TRANSCRIPT_CSV;
    return is_json(text) ? TRANSCRIPT_JSON : TRANSCRIPT_TEXT;
}

void transcript_lines_begin(struct transcript_lines *l, const char *name, char *text)
{
    const enum transcript_form form = transcript_form_of(name, text);
    text += text_file_mark(text);
    const size_t n = strlen(text);
    *l = (struct transcript_lines){ .form = form, .p = text };
    if (form == TRANSCRIPT_CUES) l->has_no_memory = sub_read(&l->cues, sub_form_of(name, text, n), text, n) != 0;
    json_scan_begin(&l->json, text);
}

void transcript_lines_end(struct transcript_lines *l)
{
    sub_free(&l->cues);
}

static char *strip(char *text)
{
    size_t n = strlen(text);
    char *s = text + (utf8_strip(text, &n) - text);
    s[n] = '\0';
    return s;
}

/* The next line of the file; NULL at the end. */
static char *take_line(struct transcript_lines *l)
{
    char *line = l->p;
    if (!*line) return NULL;
    l->p += strcspn(l->p, "\r\n");
    if (!strncmp(l->p, "\r\r\n", 3)) *l->p++ = '\0'; /* line ends that were converted twice */
    if (l->p[0] == '\r' && l->p[1] == '\n') *l->p++ = '\0';
    if (*l->p) *l->p++ = '\0';
    l->number++;
    return line;
}

/* ---- formats ------------------------------------------------------------------------------------------------------------------- */

/* Lines of a cue are joined. */
static int next_cue(struct transcript_lines *l, struct transcript_line *line)
{
    if (l->has_no_memory || (size_t)l->number >= l->cues.n) return 0;
    const struct sub_cue *c = &l->cues.cue[l->number++];
    line->number = l->number;
    line->t0_ms = c->t0_ms;
    line->t1_ms = c->t1_ms;
    line->text = l->cues.text + c->text;
    for (char *p = line->text; (p = strchr(p, '\n')) != NULL;) *p = ' ';
    return 1;
}

/* A row has two whole numbers of milliseconds, the speaker if the header has that column, and the text. The first line is a header. */
static int next_row(struct transcript_lines *l, struct transcript_line *line, char between)
{
    for (char *s; (s = take_line(l));) {
        char *end;
        line->t0_ms = strtoll(s, &end, 10);
        if (end == s && l->number == 1) l->has_speakers = strstr(s, "speaker") != NULL;
        if (end == s || *end != between) continue;
        s = end + 1;
        line->t1_ms = strtoll(s, &end, 10);
        if (end == s || *end != between) continue;
        s = l->has_speakers ? strchr(end + 1, between) : end;
        line->text = s ? s + 1 : end + 1;
        line->number = l->number;
        return 1;
    }
    return 0;
}

/* Remove the quotes of "text", in which quotes are doubled and line ends may occur. */
static void unquote(struct transcript_lines *l, struct transcript_line *line)
{
    char *s = line->text, *to = s;
    if (*s++ != '"') return;
    for (;; s++) {
        if (*s == '"' && *++s != '"') break;
        if (!*s && *l->p && (s + 1 == l->p || (!s[1] && s + 2 == l->p))) { /* the quoted text continues on the next line */
            s = l->p - 1;
            take_line(l);
            *to++ = ' ';
            continue;
        }
        if (!*s) break;
        *to++ = *s;
    }
    *to = '\0';
}

/* ---- JSON ---------------------------------------------------------------------------------------------------------------------- */

static int64_t time_of(double x, int ms)
{
    const double t = ms ? x : 1000 * x;
    return t >= 0 && t < 1e15 ? (int64_t)floor(t + 0.5) : -1;
}

/* Read an object of the list: its "text", "start" and "end", and "from" and "to" of its "offsets". */
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
        if (j->depth == 1 && j->is_list[0]) l->in_segments = l->ms = 1; /* FunASR's list of texts */
        for (size_t i = 0; !l->in_segments && j->is_list[j->depth - 1] && i < sizeof lists / sizeof *lists; i++)
            if (!strcmp(key, lists[i].key)) l->in_segments = j->depth, l->ms = lists[i].ms;
        key = "";
    }
    return 0;
}

/* ---- all formats --------------------------------------------------------------------------------------------------------------- */

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

char *transcript_lines_text(const char *name, char *text, const char **why)
{
    struct sink_memory all = { 0 };
    struct sink to = sink_to_memory(&all);
    struct transcript_lines l;
    struct transcript_line line;
    transcript_lines_begin(&l, name, text);
    sink_text(&to, "\n"); /* makes the text non-NULL */
    while (transcript_line_next(&l, &line)) {
        sink_text(&to, line.text);
        sink_text(&to, "\n");
    }
    const int has_no_memory = to.failed || l.has_no_memory;
    *why = has_no_memory ? NULL : "it is not a transcript";
    transcript_lines_end(&l);
    if (!has_no_memory && !l.is_bad) return all.p;
    free(all.p);
    return NULL;
}
