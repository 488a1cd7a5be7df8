/* steno: whisper-cli's script for a karaoke video. SPDX-License-Identifier: MIT
 *
 * The script calls FFmpeg once. Each segment has a grey text, and each of its tokens has two green texts: its word in place, and a line
 * below it. Blanks stand for the other words, one per byte. A name or text with characters that the shell or a filter would interpret is
 * quoted; others are written as in whisper.cpp. */
#include "text_rules.h"
#include "compat/whisper_cli_write.h"
#include <string.h>

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

static void put_segment(const struct script *s, int i)
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

void whisper_cli_wts(struct sink *f, const struct whisper_cli_result *r)
{
    const struct script s = { f, r, steno_token_id(r->t->model, STENO_TOKEN_END) };
    sink_text(f, "#!/bin/bash\n\nffmpeg -i ");
    put_name(f, r->input, " ");
    sink_format(f, "-f lavfi -i color=size=1200x120:duration=%g:rate=25:color=black -vf \"",
                (double)((float)(r->n_samples + 1000) / 16000));
    for (int i = 0; i < r->t->n; i++) put_segment(&s, i);
    sink_text(f, "\" -c:v libx264 -pix_fmt yuv420p -y ");
    put_name(f, r->input, ".mp4\n\n\n");
    put_echo(f, "Your video has been saved to ", r->input);
    put_echo(f, "  ffplay ", r->input);
}
