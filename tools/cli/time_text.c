/* steno: times in text form. SPDX-License-Identifier: MIT */
#include "cli/time_text.h"
#include <stddef.h>

enum { PARTS = 3, DIGITS_MOST = 6 };

static const char *digits(const char *p, int64_t *v, int most)
{
    const char *from = p;
    for (*v = 0; *p >= '0' && *p <= '9' && p - from < most; p++) *v = *v * 10 + (*p - '0');
    return p > from ? p : NULL;
}

const char *time_read(const char *text, int64_t *ms)
{
    int64_t part[PARTS], scale = 100;
    int n = 0;
    const char *p = text;
    do {
        p = n < PARTS ? digits(p, &part[n], n ? 2 : DIGITS_MOST) : NULL;
        if (!p || (n && part[n] > 59)) return NULL;
        n++;
    } while (*p == ':' && p++);
    if (n < 2) return NULL;
    *ms = 0;
    for (int i = 0; i < n; i++) *ms = *ms * 60 + part[i];
    *ms *= 1000;
    if (*p == '.')
        for (p++; *p >= '0' && *p <= '9'; p++, scale /= 10) *ms += (*p - '0') * scale;
    return !*p || *p == ',' ? p : NULL;
}
