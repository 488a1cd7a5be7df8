/* steno: output of writers: bytes, and numbers as text. SPDX-License-Identifier: MIT */
#include "sink.h"
#include <math.h>
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

/* ---- numbers as Python writes them ------------------------------------------------------------------------------------------- */

/* Results are compared byte for byte with the reference's JSON. So the digits must be the fewest that round-trip, and the switch to
 * exponents must be the same as in Python: fixed notation for decimal exponents -4..15. NaN and infinity become null, because JSON has no
 * NaN; only Python writes one. */

const char *num_repr(char *out, double v)
{
    char sci[32], digits[20];
    if (!isfinite(v)) return strcpy(out, "null");
    for (int n = 1; n <= 17; n++) {
        snprintf(sci, sizeof sci, "%.*e", n - 1, fabs(v));
        if (strtod(sci, NULL) == fabs(v)) break;
        char *last = strchr(sci, 'e') - 1; /* above a power of two the next decimal may fit although the nearest does not */
        if (*last == '9' || n == 17) continue;
        ++*last;
        if (strtod(sci, NULL) == fabs(v)) break;
    }
    const char *e = strchr(sci, 'e');
    const int exp10 = atoi(e + 1);
    int n = 0;
    for (const char *p = sci; p < e; p++)
        if (*p != '.' && n < 18) digits[n++] = *p;
    while (n > 1 && digits[n - 1] == '0') n--; /* "1.0e+01" should not occur; this makes sure */
    digits[n] = '\0';
    const char *sign = signbit(v) ? "-" : "";
    if (exp10 < -4 || exp10 > 15)
        snprintf(out, NUM_SZ, "%s%c%s%se%c%02d", sign, digits[0], n > 1 ? "." : "", digits + 1, exp10 < 0 ? '-' : '+', abs(exp10));
    else if (exp10 < 0)
        snprintf(out, NUM_SZ, "%s0.%.*s%s", sign, -exp10 - 1, "000", digits);
    else if (exp10 + 1 >= n)
        snprintf(out, NUM_SZ, "%s%s%.*s.0", sign, digits, exp10 + 1 - n, "0000000000000000");
    else
        snprintf(out, NUM_SZ, "%s%.*s.%s", sign, exp10 + 1, digits, digits + exp10 + 1);
    return out;
}
