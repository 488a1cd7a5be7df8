/* steno-media: bytes with random access, and errors. SPDX-License-Identifier: MIT */
#include "media.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- errors ------------------------------------------------------------------------------------------------------------------ */

/* libsteno has the same function, but this library uses only its public header. File names are bytes: those that are not UTF-8, or that
 * could control a terminal, become '?'. */

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

/* ---- bytes ------------------------------------------------------------------------------------------------------------------- */

int media_input_stopped(const struct media_input *in)
{
    return (in->stop && atomic_load(in->stop)) || (in->ask && in->ask(in->user));
}

int64_t media_input_read(const struct media_input *in, int64_t at, void *dst, size_t n)
{
    if (at < 0) return -EINVAL;
    if (in->live) {
        const int64_t have = in->pull(in->live, at, at + 1);
        if (have <= at) return have < 0 ? have : 0;
        if ((int64_t)n > have - at) n = (size_t)(have - at);
    }
    if (at >= in->size) return 0;
    if ((int64_t)n > in->size - at) n = (size_t)(in->size - at);
    if (at < in->head_sz) {
        if ((int64_t)n > in->head_sz - at) n = (size_t)(in->head_sz - at);
        memcpy(dst, in->head + at, n);
        return (int64_t)n;
    }
    const int64_t own = at - in->head_sz + in->skip;
    if (own < 0) return -ESPIPE; /* the bytes were read before and have been dropped */
    if (in->mem) {
        memcpy(dst, in->mem + own, n);
        return (int64_t)n;
    }
    ssize_t got;
    do got = pread(in->fd, dst, n, (off_t)own);
    while (got < 0 && errno == EINTR && !media_input_stopped(in));
    return got < 0 ? -errno : (int64_t)got;
}

int64_t media_input_ready(const struct media_input *in, int64_t at, int64_t least, int64_t n)
{
    const int64_t have = in->live ? in->pull(in->live, at, at + least) : in->size;
    if (have <= at) return have < 0 ? have : 0;
    return have - at < n ? have - at : n;
}

int media_input_exactly(const struct media_input *in, int64_t at, void *dst, size_t n)
{
    size_t have = 0;
    while (have < n) {
        const int64_t got = media_input_read(in, at + (int64_t)have, (char *)dst + have, n - have);
        if (got <= 0) return 0;
        have += (size_t)got;
    }
    return 1;
}
