/* steno: recording an error. SPDX-License-Identifier: MIT
 *
 * Messages quote file names and texts from outside. They are cleaned here, once, so that every message is one line of valid UTF-8 that
 * cannot drive a terminal. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/utf8.h"

/* Length of the printable character at s[n], 0 if there is none. */
static size_t char_len(const char *s, size_t n)
{
    uint32_t cp;
    const size_t len = utf8_next(s, n, &cp);
    return len && cp >= 0x20 && (cp < 0x7f || cp >= 0xa0) ? len : 0;
}

static void clean(char *text, int was_cut)
{
    char *s = text, *const end = s + strlen(text);
    while (s < end) {
        const size_t n = char_len(s, (size_t)(end - s));
        if (n == 0 && was_cut && end - s < 4 && ((uint8_t)*s & 0xc0) == 0xc0) {
            *s = 0; /* the limit cut this character */
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

const char *err_status_text(int status)
{
    switch (status) {
    case STENO_OK: return "no error";
    case STENO_EARG: return "bad argument";
    case STENO_ENOMEM: return "out of memory";
    case STENO_EIO: return "cannot read";
    case STENO_EFORMAT: return "damaged file";
    case STENO_EUNSUPPORTED: return "not supported";
    case STENO_ECANCELED: return "canceled";
    case STENO_ESOURCE: return "audio source failed";
    case STENO_ENOVOCAB: return "no vocabulary";
    default: return "unknown status";
    }
}
