/* steno: what a language model says, as it comes. SPDX-License-Identifier: MIT */
#include "lm_stream.h"
#include <stdio.h>
#include <unistd.h>

struct lm_stream lm_stream_begin(int is_silent)
{
    return (struct lm_stream){ .is_silent = is_silent, .is_terminal = isatty(STDOUT_FILENO) };
}

/* Bytes of a character that a terminal would obey, 0: it shows it. Text is whole characters of UTF-8. */
static size_t order_at(const char *text, size_t n)
{
    const unsigned char c = (unsigned char)text[0];
    if (c == '\n' || c == '\t') return 0;
    if (c < 0x20 || c == 0x7f) return 1;
    return c == 0xc2 && n > 1 && (unsigned char)text[1] < 0xa0 ? 2 : 0;
}

static void show(const char *text, size_t n)
{
    for (size_t at = 0, len; at < n; at += len ? len : 1) {
        len = order_at(text + at, n - at);
        if (len) fputs("\xef\xbf\xbd", stdout);
        else putchar(text[at]);
    }
}

int lm_stream_token(void *user, const steno_token *tok, const char *text, size_t n)
{
    struct lm_stream *out = user;
    (void)tok;
    if (!n || out->is_silent) return 0;
    if (out->is_terminal) show(text, n);
    else fwrite(text, 1, n, stdout);
    out->ends_line = text[n - 1] == '\n';
    return fflush(stdout) != 0; /* nobody hears it: it ends, and whoever flushes next is told why */
}

void lm_stream_end(const struct lm_stream *out)
{
    if (!out->is_silent && !out->ends_line) putchar('\n');
}
