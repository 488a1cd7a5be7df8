/* steno: recording an error. SPDX-License-Identifier: MIT
 *
 * Messages quote file names and texts from outside. They are cleaned here, once, so that every message is one line of valid UTF-8 that
 * cannot drive a terminal. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Length of the printable UTF-8 character at s, 0 when there is none. Overlong forms, surrogates and C1 controls count as none. */
static size_t char_len(const unsigned char *s)
{
    if (s[0] < 0x80) return s[0] >= 0x20 && s[0] != 0x7f;
    const size_t n = s[0] >= 0xc2 && s[0] <= 0xdf ? 2 : s[0] >= 0xe0 && s[0] <= 0xef ? 3 : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    if (s[0] == 0xc2 && s[1] < 0xa0) return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)) return 0;
    if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)) return 0;
    return n;
}

static void clean(char *text, int was_cut)
{
    unsigned char *s = (unsigned char *)text;
    unsigned char *const end = s + strlen(text);
    while (s < end) {
        const size_t n = char_len(s);
        if (n == 0 && was_cut && end - s < 4 && (*s & 0xc0) == 0xc0) {
            *s = 0; /* the cut went through this character */
            return;
        }
        if (n == 0) *s = '?';
        s += n ? n : 1;
    }
}

int err_set(steno_error *e, int status, const char *fmt, ...)
{
    if (!e) return status;
    char text[sizeof e->text]; /* arguments may point into e->text */
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (n < 0) text[0] = 0;
    clean(text, n >= (int)sizeof text);
    memcpy(e->text, text, strlen(text) + 1);
    e->status = status;
    return status;
}

int err_nomem(steno_error *e, size_t need, const char *what)
{
    return err_set(e, STENO_ENOMEM, "out of memory: %zu bytes for %s", need, what);
}

void err_clear(steno_error *e)
{
    if (!e) return;
    e->status = STENO_OK;
    e->text[0] = 0;
}
