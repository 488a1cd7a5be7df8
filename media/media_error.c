/* steno-media: recording an error. SPDX-License-Identifier: MIT
 *
 * libsteno has the same function, but this library uses only its public header. File names are bytes: those that are not UTF-8, or that
 * could control a terminal, become '?'. */
#include "media.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Length of the printable character at s, which ends with a NUL; 0 if there is none. */
static int char_len(const unsigned char *s)
{
    if (s[0] < 0x80) return s[0] >= 0x20 && s[0] != 0x7f;
    const int n = s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    uint32_t code = s[0] & (0x7fu >> n);
    for (int i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0;
        code = code << 6 | (s[i] & 0x3fu);
    }
    static const uint32_t least[] = { 0, 0, 0xa0, 0x800, 0x10000 }; /* below: control characters and overlong forms */
    return code >= least[n] && code <= 0x10ffff && (code & ~0x7ffu) != 0xd800 ? n : 0;
}

int media_fail(steno_error *e, int status, const char *fmt, ...)
{
    if (!e) return status;
    char text[sizeof e->text];
    va_list args;
    va_start(args, fmt);
    if (vsnprintf(text, sizeof text, fmt, args) < 0) text[0] = 0;
    va_end(args);
    for (unsigned char *s = (unsigned char *)text; *s;) {
        const int n = char_len(s);
        if (n == 0) *s = '?';
        s += n ? n : 1;
    }
    memcpy(e->text, text, strlen(text) + 1);
    e->status = status;
    return status;
}

int media_nomem(steno_error *e, size_t need, const char *what)
{
    return media_fail(e, STENO_ENOMEM, "out of memory: %zu bytes for %s", need, what);
}

int media_no_track(const struct media_input *in, int track, int n, int status, steno_error *e)
{
    return media_fail(e, status, "%s: has no audio track %d; %s %d, counted from 1", in->name, track, n == 1 ? "the only one is" :
                      "the last one is", n);
}
