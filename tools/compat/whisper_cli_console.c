/* steno: standard output of whisper.cpp's whisper-cli. SPDX-License-Identifier: MIT
 *
 * Prints an empty line, then one line per segment with its times and the model's text. Without times the texts are joined, unless
 * speakers are shown. If colours are requested, they are also written to pipes and files. */
#include "compat/whisper_cli_console.h"
#include "compat/whisper_cli_write.h"
#include "cli/terminal.h"
#include "write.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

void whisper_cli_console_begin(struct whisper_cli_console *c, uint64_t given, const steno_model *m, int hidden)
{
    *c = (struct whisper_cli_console){ .given = given, .model = m, .hidden = hidden,
                                       .late = (given & (WCLI_CUT | WCLI_SPECIAL)) != 0 };
}

static void put_style(uint64_t given, double p)
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

static void put_tokens(struct sink *f, const struct whisper_cli_console *c, const struct styled *from, const steno_segment *seg,
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
        put_style(c->given, (double)tok.p);
        whisper_cli_token(text, c->model, seg->tokens[k]);
        text_put(f, TEXT_PIECE, text, strlen(text));
        terminal_style(stdout, "\033[0m");
    }
}

static void put_segment(struct whisper_cli_console *c, const struct styled *from, const steno_segment *seg, const int32_t *who)
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
        put_tokens(&f, c, from, seg, whisper_cli_speaker(who));
    } else {
        sink_text(&f, whisper_cli_speaker(who));
        text_put(&f, TEXT_LINE, seg->text, strlen(seg->text));
    }
    if (c->given & WCLI_TURNS && seg->speaker_turn) sink_text(&f, WRITE_SPEAKER_TURN);
    if (!(c->given & WCLI_BARE) || who) sink_char(&f, '\n');
}

void whisper_cli_console_segment(struct whisper_cli_console *c, const steno_session *s, const steno_segment *seg, const int32_t *who)
{
    if (seg->text[0]) put_segment(c, &(struct styled){ .session = s }, seg, who);
}

void whisper_cli_console_all(struct whisper_cli_console *c, const struct transcript *t)
{
    for (int i = 0; i < t->n; i++)
        put_segment(c, &(struct styled){ .tokens = t->tokens + t->first_token[i] }, &t->segs[i], t->speakers ? &t->speakers[i] : NULL);
}
