/* steno: segments on a screen. SPDX-License-Identifier: MIT
 *
 * A token may end inside a character. Such tokens are combined and shown with the probability of the first. So the output is always
 * valid UTF-8, without escape sequences inside characters. */
#include "cli/console.h"
#include "cli/message.h"
#include "cli/terminal.h"
#include "transcript.h"
#include "utf8.h"
#include "write.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int console_color(FILE *f, int when)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if (when) return when == 1;
    return !(no && no[0]) && terminal_is(f) && term && term[0] && strcmp(term, "dumb") != 0;
}

int console_streams_meet(void)
{
    struct stat out, err;
    return fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 && out.st_dev == err.st_dev && out.st_ino == err.st_ino;
}

enum { N_COLORS = 7 };

/* Red to green in the 256-color palette of terminals. */
static const short palette[N_COLORS] = { 160, 202, 208, 214, 184, 148, 34 };

static void style_begin(FILE *f, const struct console *c, double p)
{
    if (!(p >= 0)) p = 0;
    char sequence[32];
    const int i = (int)floor(p * p * p * N_COLORS);
    if (c->colors) snprintf(sequence, sizeof sequence, "\033[38;5;%dm", palette[i >= N_COLORS ? N_COLORS - 1 : i]);
    else snprintf(sequence, sizeof sequence, "\033[%dm", p < 0.33 ? 7 : p < 0.66 ? 4 : 2); /* inverse, underlined, dim */
    terminal_style(f, sequence);
}

static int is_timestamp(const struct console *c, int32_t id)
{
    return c->first_timestamp >= 0 && id >= c->first_timestamp;
}

/* Text of the tokens from `at` on, up to a complete character. @return the number of tokens used */
static int piece_get(char buf[TOKEN_TEXT_SZ], const struct console *c, const steno_segment *seg, int at)
{
    if (!is_timestamp(c, seg->tokens[at])) {
        const int n = token_text(buf, c->model, c->first_timestamp, seg->tokens + at, seg->n_tokens - at);
        return n > 0 ? n : 1;
    }
    snprintf(buf, TOKEN_TEXT_SZ, "<|%.2f|>", (seg->tokens[at] - c->first_timestamp) * 0.02);
    if (!c->special) buf[0] = '\0';
    return 1;
}

/* On standard output a segment is one line; standard error is for the screen only. */
static enum text_form form_of(FILE *f)
{
    return f == stderr ? TEXT_SCREEN : TEXT_LINE;
}

/* White space at the start of the whole text is dropped. White space at the end is held back until more text follows. */
static void piece_put(FILE *f, const struct console *c, int styled, const char *text, double p, int *begun, char held[TOKEN_TEXT_SZ])
{
    size_t n;
    const char *s = utf8_strip(text, &n);
    const size_t lead = (size_t)(s - text), n_held = strlen(held);
    if (n == 0) {
        if (*begun) snprintf(held + n_held, TOKEN_TEXT_SZ - n_held, "%s", text);
        return;
    }
    struct sink to = sink_to_stream(f);
    if (*begun) text_put(&to, form_of(f), held, n_held);
    if (*begun) text_put(&to, form_of(f), text, lead);
    if (styled) style_begin(f, c, p);
    text_put(&to, form_of(f), s, n);
    if (styled) terminal_style(f, "\033[0m");
    snprintf(held, TOKEN_TEXT_SZ, "%s", s + n);
    *begun = 1;
}

static void put_tokens(FILE *f, const struct console *c, int styled, const steno_segment *seg)
{
    char text[TOKEN_TEXT_SZ], held[TOKEN_TEXT_SZ] = "";
    int begun = 0;
    for (int i = 0; i < seg->n_tokens;) {
        steno_token tok = { .size = sizeof tok };
        const int n = piece_get(text, c, seg, i);
        steno_token_get(c->session, seg->id, i, &tok);
        piece_put(f, c, styled, text, (double)tok.p, &begun, held);
        i += n;
    }
}

void console_text(FILE *f, const struct console *c, int styled, const steno_segment *seg)
{
    styled = styled && (c->colors || c->confidence);
    struct sink to = sink_to_stream(f);
    write_speaker(&to, c->speaker);
    if ((!styled && !c->special) || seg->n_tokens == 0) write_stripped(&to, form_of(f), seg->text);
    else put_tokens(f, c, styled, seg);
    if (seg->speaker_turn) fputs(WRITE_SPEAKER_TURN, f);
}
