/* steno: times in text form. SPDX-License-Identifier: MIT */
#include "cli/time_text.h"
#include "cli/message.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 3, DIGITS_MAX = 6 };

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
        p = n < PARTS ? digits(p, &part[n], n ? 2 : DIGITS_MAX) : NULL;
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

/* ---- milliseconds that look like seconds ------------------------------------------------------------------------------------- */

enum { SECOND_MS = 1000 };

/* The value typed for --NAME, or NULL. */
static const char *typed_value(const struct args_given *g, const char *name)
{
    const struct arg *rows = g->args->rows;
    for (int i = 0; rows[i].kind != ARG_END; i++)
        if (rows[i].kind != ARG_GROUP && strcmp(rows[i].name, name) == 0) return g->row[i].how ? g->row[i].text : NULL;
    return NULL;
}

void time_units_report(const struct args_given *g)
{
    static const char *const names[] = { "offset-ms", "duration-ms" };
    for (int i = 0; i < 2; i++) {
        const char *number = typed_value(g, names[i]), *time = typed_value(g, names[1 - i]);
        if (!number || !time || strchr(number, ':') || !strchr(time, ':')) continue;
        const long n = strtol(number, NULL, 10);
        if (n <= 0 || n >= SECOND_MS) continue;
        message("note: --%s %ld is %ld milliseconds; %ld s is %ld:%02ld", names[i], n, n, n, n / 60, n % 60);
    }
}
