/* steno: output to a terminal, and lines typed at one. SPDX-License-Identifier: MIT
 *
 * The only state concerns the two standard streams. The replacement stream is made with the C library's fopencookie. Without fopencookie
 * (no glibc), standard output stays unchanged. */
#include "cli/terminal.h"
#include "cli/message.h"
#include "cli/signals.h"
#include "text_rules.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if STENO_LIBEDIT
#include <editline/readline.h>
#include <langinfo.h>
#include <locale.h>
#endif

enum { CHARACTER = 4 };

static int is_filtered;
static char held[CHARACTER]; /* the first bytes of an incomplete character */
static size_t n_held;

static int write_all(void *user, const char *bytes, size_t n)
{
    (void)user;
    while (n) {
        const ssize_t put = write(STDOUT_FILENO, bytes, n);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return -1;
        bytes += put;
        n -= (size_t)put;
    }
    return 0;
}

#ifdef __GLIBC__
/* Number of bytes at the end of s[n] that begin a character but do not complete it. */
static size_t unfinished(const char *s, size_t n)
{
    for (size_t k = 1; k < CHARACTER && k <= n; k++) {
        const unsigned char c = (unsigned char)s[n - k];
        if ((c & 0xC0) == 0x80) continue;
        const size_t len = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC2 ? 2 : 1;
        return len > k ? k : 0;
    }
    return 0;
}

static ssize_t filtered_write(void *user, const char *bytes, size_t n)
{
    struct sink out = { .write = write_all, .user = user };
    size_t at = 0;
    while (n_held && at < n && n_held < CHARACTER) { /* the rest of the held character */
        held[n_held++] = bytes[at++];
        if (unfinished(held, n_held) && n_held < CHARACTER) continue;
        text_put(&out, TEXT_TERMINAL, held, n_held);
        n_held = 0;
    }
    const size_t rest = unfinished(bytes + at, n - at);
    text_put(&out, TEXT_TERMINAL, bytes + at, n - at - rest);
    if (rest) {
        memcpy(held + n_held, bytes + n - rest, rest);
        n_held += rest;
    }
    return out.failed ? 0 : (ssize_t)n;
}

int terminal_begin(void)
{
    if (!isatty(STDOUT_FILENO)) return 0;
    FILE *f = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = filtered_write });
    if (!f) return -1;
    stdout = f;
    is_filtered = 1;
    return 0;
}
#else
int terminal_begin(void)
{
    return 0;
}
#endif

void terminal_end(void)
{
    struct sink out = { .write = write_all };
    if (n_held) text_put(&out, TEXT_TERMINAL, held, n_held);
    n_held = 0;
}

int terminal_is(FILE *f)
{
    return isatty(f == stdout ? STDOUT_FILENO : fileno(f));
}

void terminal_style(FILE *f, const char *sequence)
{
    if (f != stdout || !is_filtered) fputs(sequence, f);
    else if (fflush(f) == 0) write_all(NULL, sequence, strlen(sequence));
}

/* ---- line input -------------------------------------------------------------------------------------------------------------- */

/* libedit splits text by the locale; here all text is UTF-8. */
static void characters_are_utf8(void)
{
#if STENO_LIBEDIT
    if (!setlocale(LC_CTYPE, "") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0) setlocale(LC_CTYPE, "C.UTF-8");
#endif
}

int line_edit_open(struct line_edit *in)
{
    *in = (struct line_edit){ .is_terminal = isatty(STDIN_FILENO) && isatty(STDERR_FILENO) };
    characters_are_utf8();
    in->how = text_lines_open(&in->lines, "-", 1, TEXT_LINE_MAX, in->why, sizeof in->why);
    return line_edit_failed(in);
}

#if STENO_LIBEDIT
static char *edited_line(struct line_edit *in, const char *prompt)
{
    free(in->line);
    rl_outstream = stderr; /* keeps prompts off standard output, which has the answers */
    in->line = readline(prompt);
    if (in->line && *in->line) add_history(in->line);
    return in->line;
}
#endif

static char *plain_line(struct line_edit *in, const char *prompt)
{
    if (in->is_terminal) fputs(prompt, stderr);
    char *line = NULL;
    in->how = text_lines_next(&in->lines, &line, in->why, sizeof in->why);
    return line;
}

char *line_edit_next(struct line_edit *in, const char *prompt)
{
    signals_open_line(in->is_terminal);
#if STENO_LIBEDIT
    char *line = in->is_terminal ? edited_line(in, prompt) : plain_line(in, prompt);
#else
    char *line = plain_line(in, prompt);
#endif
    signals_open_line(0);
    if (!line && in->is_terminal) fputc('\n', stderr);
    return line;
}

int line_edit_failed(const struct line_edit *in)
{
    if (in->how == TEXT_FILE_READ) return EXIT_OK;
    message("standard input: %s", in->why);
    return in->how == TEXT_FILE_NO_MEMORY ? EXIT_MEMORY : EXIT_INPUT;
}

void line_edit_close(struct line_edit *in)
{
    text_lines_close(&in->lines);
    free(in->line);
}
