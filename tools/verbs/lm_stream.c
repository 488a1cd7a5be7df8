/* steno: the text of a language model while it is generated. SPDX-License-Identifier: MIT */
#include "verbs/lm_stream.h"
#include <stdio.h>

struct lm_stream lm_stream_begin(int is_silent)
{
    return (struct lm_stream){ .is_silent = is_silent };
}

int lm_stream_token(void *user, const steno_token *tok, const char *text, size_t n)
{
    struct lm_stream *out = user;
    (void)tok;
    if (!n || out->is_silent) return 0;
    fwrite(text, 1, n, stdout);
    out->ends_line = text[n - 1] == '\n';
    return fflush(stdout) != 0; /* the reader is gone: stop generating; the next flush returns the reason */
}

void lm_stream_end(const struct lm_stream *out)
{
    if (!out->is_silent && !out->ends_line) putchar('\n');
}
