/* steno: error messages for parameters, in the caller's names. SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "task/params.h"

/* Writes up to n - 1 bytes of the name that the caller's user knows for a field. */
static void name_add(const struct judge *j, char *to, size_t n, const char *field, int with_value)
{
    const steno_param_names *own = j->names;
    const char *name = own && own->name ? own->name(own->user, field, with_value) : NULL;
    const struct param *r = param_find(j->call, field);
    const int is_number = r && r->kind != STENO_PARAM_TEXT && r->kind != STENO_PARAM_LIST && r->kind != STENO_PARAM_CALL;
    if (name) snprintf(to, n, "%s", name);
    else if (with_value && is_number) snprintf(to, n, "%s is %.10g", field, param_number(r, j->p));
    else snprintf(to, n, "%s", field);
}

int param_refuse(const struct judge *j, const char *fmt, ...)
{
    char raw[sizeof j->e->text], told[sizeof raw] = "", field[64];
    size_t n = 0;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(raw, sizeof raw, fmt, ap);
    va_end(ap);
    for (const char *p = raw; *p && n + 1 < sizeof told;) {
        const char *end = *p == '{' ? strchr(p, '}') : NULL;
        if (!end || end - p > (ptrdiff_t)sizeof field) {
            told[n++] = *p++;
            told[n] = '\0';
            continue;
        }
        const int with_value = end[-1] == '=';
        snprintf(field, sizeof field, "%.*s", (int)(end - p - 1 - with_value), p + 1);
        name_add(j, told + n, sizeof told - n, field, with_value);
        n += strlen(told + n);
        p = end + 1;
    }
    return err_set(j->e, STENO_EARG, "%s", told);
}
