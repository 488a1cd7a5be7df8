/* steno: what whisper.cpp's whisper-cli writes: files, and standard output. SPDX-License-Identifier: MIT */
#include "compat/whisper_cli_write.h"
#include "cli/terminal.h"
#include "text_rules.h"
#include "write.h"
#include "write_cues.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- a script for a karaoke video -------------------------------------------------------------------------------------------- */

/* The script calls FFmpeg once. Each segment has a grey text, and each of its tokens has two green texts: its word in place, and a line
 * below it. Blanks stand for the other words, one per byte. A name or text with characters that the shell or a filter would interpret is
 * quoted; others are written as in whisper.cpp. */

struct script {
    struct sink *f;
    const struct whisper_cli_result *r;
    int32_t end; /* first id that is not text */
};

static void put_blanks(struct sink *f, size_t n)
{
    for (size_t i = 0; i < n; i++) sink_text(f, "\\ ");
}

/* Write a filter up to its text; text_end writes the rest. */
static void text_begin(const struct script *s, const char *color, const char *shift)
{
    sink_text(s->f, "drawtext=fontfile='");
    text_put(s->f, TEXT_DRAWTEXT, s->r->font, strlen(s->r->font));
    sink_format(s->f, "':fontsize=24:fontcolor=%s:%s:text='", color, shift);
}

static void text_end(const struct script *s, int64_t t0_ms, int64_t t1_ms)
{
    const double t0 = t0_ms < 0 ? -0.01 : (double)t0_ms / 1000, t1 = t1_ms < 0 ? -0.01 : (double)t1_ms / 1000;
    sink_format(s->f, "':enable='between(t,%g,%g)'", t0, t1);
}

enum what { ALL, ONE, LINE }; /* which words are written: all, the current one, or a line below it */

static void put_words(const struct script *s, int i, int32_t at, enum what what)
{
    const steno_segment *seg = &s->r->t->segs[i];
    char text[WCLI_TOKEN_SZ];
    const int speaks = s->r->t->speakers != NULL;
    if (what == LINE) put_blanks(s->f, (speaks ? strlen("(speaker 0)") : 0) + 2);
    else if (speaks) sink_text(s->f, whisper_cli_speaker(&s->r->t->speakers[i]));
    if (what != LINE) sink_text(s->f, "> ");
    for (int32_t k = 0; k < seg->n_tokens; k++) {
        if (seg->tokens[k] >= s->end) continue;
        whisper_cli_token(text, s->r->t->model, seg->tokens[k]);
        if (what == ALL || (what == ONE && k == at)) text_put(s->f, TEXT_DRAWTEXT, text, strlen(text));
        else if (what == ONE || k != at) put_blanks(s->f, strlen(text));
        else for (size_t n = strlen(text); n > 0; n--) sink_char(s->f, '_');
        if (what == ONE && k == at) sink_char(s->f, '|');
    }
}

static void wts_put_segment(const struct script *s, int i)
{
    static const char at_rest[] = "x=(w-text_w)/2:y=h/2", beside[] = "x=(w-text_w)/2+8:y=h/2", below[] = "x=(w-text_w)/2+8:y=h/2+16";
    const struct transcript *t = s->r->t;
    const steno_segment *seg = &t->segs[i];
    int first = 1;
    if (i) sink_char(s->f, ',');
    text_begin(s, "gray", at_rest);
    text_end(s, seg->t0_ms, seg->t0_ms);
    for (int32_t k = 0; k < seg->n_tokens; k++) {
        const steno_token *tok = &t->tokens[t->first_token[i] + k];
        if (seg->tokens[k] >= s->end) continue;
        if (first) {
            sink_char(s->f, ',');
            text_begin(s, "gray", at_rest);
            put_words(s, i, k, ALL);
            text_end(s, seg->t0_ms, seg->t1_ms);
        }
        first = 0;
        sink_char(s->f, ',');
        text_begin(s, "lightgreen", beside);
        put_words(s, i, k, ONE);
        text_end(s, tok->t0_ms, tok->t1_ms);
        sink_char(s->f, ',');
        text_begin(s, "lightgreen", below);
        put_words(s, i, k, LINE);
        text_end(s, tok->t0_ms, tok->t1_ms);
    }
}

/* Is the name of a file safe to write without quotes, for the shell and for programs that parse options? */
static int is_plain(const char *name)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+,=@%";
    return name[strspn(name, safe)] == '\0' && name[0] != '-';
}

/* Write the name of a file as one shell word that no program takes for an option or a URL; unchanged if possible. */
static void put_name(struct sink *f, const char *name, const char *behind)
{
    if (is_plain(name)) {
        sink_format(f, "%s%s", name, behind);
        return;
    }
    if (name[0] != '/' && name[0] != '.') sink_text(f, "./");
    text_put_shell(f, name);
    sink_text(f, behind);
}

/* Write a shell command that prints a text and the name after it. */
static void put_echo(struct sink *f, const char *text, const char *name)
{
    sink_format(f, "echo \"%s", text);
    if (!is_plain(name)) sink_char(f, '"');
    put_name(f, name, is_plain(name) ? ".mp4\"\n\n" : ".mp4\n\n");
}

static void whisper_cli_wts(struct sink *f, const struct whisper_cli_result *r)
{
    const struct script s = { f, r, steno_token_id(r->t->model, STENO_TOKEN_END) };
    sink_text(f, "#!/bin/bash\n\nffmpeg -i ");
    put_name(f, r->input, " ");
    sink_format(f, "-f lavfi -i color=size=1200x120:duration=%g:rate=25:color=black -vf \"",
                (double)((float)(r->n_samples + 1000) / 16000));
    for (int i = 0; i < r->t->n; i++) wts_put_segment(&s, i);
    sink_text(f, "\" -c:v libx264 -pix_fmt yuv420p -y ");
    put_name(f, r->input, ".mp4\n\n\n");
    put_echo(f, "Your video has been saved to ", r->input);
    put_echo(f, "  ffplay ", r->input);
}

/* ---- text files -------------------------------------------------------------------------------------------------------------- */

static const int32_t *speaker_of(const struct transcript *t, int i)
{
    return t->speakers ? &t->speakers[i] : NULL;
}

static void put_text(struct sink *f, enum text_form form, const char *text)
{
    text_put(f, form, text, strlen(text));
}

static void put_times(struct sink *f, const steno_segment *s, char sep)
{
    write_time(f, s->t0_ms, 1, sep);
    sink_text(f, " --> ");
    write_time(f, s->t1_ms, 1, sep);
    sink_char(f, '\n');
}

static void put_txt(struct sink *f, const struct whisper_cli_result *r)
{
    for (int i = 0; i < r->t->n; i++) {
        const char *text = r->t->segs[i].text;
        sink_text(f, whisper_cli_speaker(speaker_of(r->t, i)));
        put_text(f, TEXT_LINE, r->t->speakers ? text : text + strspn(text, " \t"));
        sink_char(f, '\n');
    }
}

static void put_vtt(struct sink *f, const struct whisper_cli_result *r)
{
    sink_text(f, "WEBVTT\n\n");
    for (int i = 0; i < r->t->n; i++) {
        put_times(f, &r->t->segs[i], '.');
        if (r->t->speakers) sink_format(f, "<v Speaker%c>", whisper_cli_speaker_letter(r->t, i));
        write_cue_text(f, TEXT_VTT, r->t->segs[i].text);
        sink_text(f, "\n\n");
    }
}

static void put_srt(struct sink *f, const struct whisper_cli_result *r)
{
    for (int i = 0; i < r->t->n; i++) {
        sink_format(f, "%" PRId32 "\n", i + 1 + r->offset_n);
        put_times(f, &r->t->segs[i], ',');
        sink_text(f, whisper_cli_speaker(speaker_of(r->t, i)));
        write_cue_text(f, TEXT_SRT, r->t->segs[i].text);
        sink_text(f, "\n\n");
    }
}

static void put_csv(struct sink *f, const struct whisper_cli_result *r)
{
    sink_format(f, "start,end,%stext\n", r->t->speakers ? "speaker," : "");
    for (int i = 0; i < r->t->n; i++) {
        sink_format(f, "%" PRId64 ",%" PRId64 ",", r->t->segs[i].t0_ms, r->t->segs[i].t1_ms);
        if (r->t->speakers) sink_format(f, "%c,", whisper_cli_speaker_letter(r->t, i));
        sink_char(f, '"');
        put_text(f, TEXT_CSV, r->t->segs[i].text);
        sink_text(f, "\"\n");
    }
}

static void put_lrc(struct sink *f, const struct whisper_cli_result *r)
{
    sink_text(f, "[by:whisper.cpp]\n");
    for (int i = 0; i < r->t->n; i++) {
        const int64_t ms = r->t->segs[i].t0_ms;
        sink_format(f, "[%02" PRId64 ":%02d.%02d]", ms / 60000, (int)(ms / 1000 % 60), (int)(ms % 1000 / 10));
        sink_text(f, whisper_cli_speaker(speaker_of(r->t, i)));
        put_text(f, TEXT_LRC, r->t->segs[i].text);
        sink_char(f, '\n');
    }
}

static void put_score(struct sink *f, const struct whisper_cli_result *r)
{
    char text[WCLI_TOKEN_SZ];
    const struct transcript *t = r->t;
    for (int i = 0; i < t->n; i++)
        for (int32_t k = 0; k < t->segs[i].n_tokens; k++) {
            const steno_token *tok = &t->tokens[t->first_token[i] + k];
            put_text(f, TEXT_TOKEN, whisper_cli_token(text, t->model, tok->id));
            sink_format(f, "\t%g\n", (double)tok->p);
        }
}

const struct whisper_cli_writer whisper_cli_writers[] = {
    { WCLI_TXT, ".txt", put_txt },    { WCLI_VTT, ".vtt", put_vtt },           { WCLI_SRT, ".srt", put_srt },
    { WCLI_WTS, ".wts", whisper_cli_wts }, { WCLI_CSV, ".csv", put_csv },     { WCLI_JSON, ".json", whisper_cli_json },
    { WCLI_LRC, ".lrc", put_lrc },    { WCLI_SCORE, ".score.txt", put_score }, { 0, NULL, NULL },
};

/* ---- standard output --------------------------------------------------------------------------------------------------------- */

/* Prints an empty line, then one line per segment with its times and the model's text. Without times the texts are joined, unless
 * speakers are shown. If colours are requested, they are also written to pipes and files. */

void whisper_cli_console_begin(struct whisper_cli_console *c, uint64_t given, const steno_model *m, int hidden)
{
    *c = (struct whisper_cli_console){ .given = given, .model = m, .hidden = hidden,
                                       .late = (given & (WCLI_CUT | WCLI_SPECIAL)) != 0 };
}

static void console_put_style(uint64_t given, double p)
{
    enum { N = 7 };
    static const short palette[N] = { 160, 166, 208, 215, 227, 114, 71 };
    if (!(p >= 0)) p = 0;
    const int i = (int)((float)pow(p, 3) * (float)N);
    char sequence[32];
    if (given & WCLI_COLORS) snprintf(sequence, sizeof sequence, "\033[38;5;%dm", palette[i >= N ? N - 1 : i]);
    else snprintf(sequence, sizeof sequence, "\033[%dm", p < 0.33 ? 7 : p < 0.66 ? 4 : 2); /* inverse, underlined, dim */
    terminal_style(stdout, sequence);
}

/* Source of the token probabilities of a segment: its session, or a view. */
struct styled {
    const steno_session *session;
    const steno_token *tokens;
};

static void console_put_tokens(struct sink *f, const struct whisper_cli_console *c, const struct styled *from, const steno_segment *seg,
                               const char *speaker)
{
    char text[WCLI_TOKEN_SZ];
    const int32_t end = steno_token_id(c->model, STENO_TOKEN_END);
    for (int32_t k = 0; k < seg->n_tokens; k++) {
        steno_token tok = { .size = sizeof tok };
        if (!(c->given & WCLI_SPECIAL) && seg->tokens[k] >= end) continue;
        if (from->tokens) tok = from->tokens[k];
        else steno_token_get(from->session, seg->id, k, &tok);
        sink_text(f, speaker);
        console_put_style(c->given, (double)tok.p);
        whisper_cli_token(text, c->model, seg->tokens[k]);
        text_put(f, TEXT_PIECE, text, strlen(text));
        terminal_style(stdout, "\033[0m");
    }
}

static void console_put_segment(struct whisper_cli_console *c, const struct styled *from, const steno_segment *seg, const int32_t *who)
{
    struct sink f = sink_to_stream(stdout);
    if (c->hidden) return;
    if (!c->begun) sink_char(&f, '\n');
    c->begun = 1;
    if (!(c->given & WCLI_BARE)) {
        sink_char(&f, '[');
        write_time(&f, seg->t0_ms, 1, '.');
        sink_text(&f, " --> ");
        write_time(&f, seg->t1_ms, 1, '.');
        sink_text(&f, "]  ");
    }
    if (c->given & (WCLI_COLORS | WCLI_CONFIDENCE)) {
        console_put_tokens(&f, c, from, seg, whisper_cli_speaker(who));
    } else {
        sink_text(&f, whisper_cli_speaker(who));
        text_put(&f, TEXT_LINE, seg->text, strlen(seg->text));
    }
    if (c->given & WCLI_TURNS && seg->speaker_turn) sink_text(&f, WRITE_SPEAKER_TURN);
    if (!(c->given & WCLI_BARE) || who) sink_char(&f, '\n');
}

void whisper_cli_console_segment(struct whisper_cli_console *c, const steno_session *s, const steno_segment *seg, const int32_t *who)
{
    if (seg->text[0]) console_put_segment(c, &(struct styled){ .session = s }, seg, who);
}

void whisper_cli_console_all(struct whisper_cli_console *c, const struct transcript *t)
{
    for (int i = 0; i < t->n; i++)
        console_put_segment(c, &(struct styled){ .tokens = t->tokens + t->first_token[i] }, &t->segs[i],
                            t->speakers ? &t->speakers[i] : NULL);
}
