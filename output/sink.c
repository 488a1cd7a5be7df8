/* steno: output of writers. SPDX-License-Identifier: MIT */
#include "sink.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SZ = 512 };

void sink_bytes(struct sink *s, const char *bytes, size_t n)
{
    if (!s->failed && n && s->write(s->user, bytes, n)) s->failed = 1;
}

void sink_text(struct sink *s, const char *text)
{
    sink_bytes(s, text, strlen(text));
}

void sink_char(struct sink *s, int c)
{
    const char byte = (char)c;
    sink_bytes(s, &byte, 1);
}

void sink_format(struct sink *s, const char *fmt, ...)
{
    char line[LINE_SZ], *text = line;
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    const int n = vsnprintf(line, sizeof line, fmt, ap);
    if (n >= LINE_SZ) {
        text = malloc((size_t)n + 1);
        if (text) vsnprintf(text, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    va_end(ap);
    if (n < 0 || !text) s->failed = 1;
    else sink_bytes(s, text, (size_t)n);
    if (text != line) free(text);
}

static int memory_write(void *user, const char *bytes, size_t n)
{
    struct sink_memory *m = user;
    if (n > SIZE_MAX / 4 - m->n) return -1;
    if (n >= m->cap - m->n) {
        const size_t cap = 2 * (m->n + n) + 64;
        char *more = realloc(m->p, cap);
        if (!more) return -1;
        m->p = more;
        m->cap = cap;
    }
    memcpy(m->p + m->n, bytes, n);
    m->n += n;
    m->p[m->n] = '\0';
    return 0;
}

struct sink sink_to_memory(struct sink_memory *m)
{
    return (struct sink){ .write = memory_write, .user = m };
}

static int stream_write(void *user, const char *bytes, size_t n)
{
    return fwrite(bytes, 1, n, user) < n;
}

struct sink sink_to_stream(FILE *f)
{
    return (struct sink){ .write = stream_write, .user = f };
}
