/* steno: milliseconds that look like seconds. SPDX-License-Identifier: MIT */
#include "cli/time_units.h"
#include "cli/message.h"
#include <stdlib.h>
#include <string.h>

enum { SECOND_MS = 1000 };

/* The value typed for --NAME, or NULL. */
static const char *typed(const struct args_given *g, const char *name)
{
    const struct arg *rows = g->args->rows;
    for (int i = 0; rows[i].kind != ARG_END; i++)
        if (rows[i].kind != ARG_GROUP && strcmp(rows[i].name, name) == 0) return g->row[i].how ? g->row[i].text : NULL;
    return NULL;
}

void time_units_tell(const struct args_given *g)
{
    static const char *const names[] = { "offset-ms", "duration-ms" };
    for (int i = 0; i < 2; i++) {
        const char *number = typed(g, names[i]), *time = typed(g, names[1 - i]);
        if (!number || !time || strchr(number, ':') || !strchr(time, ':')) continue;
        const long n = strtol(number, NULL, 10);
        if (n <= 0 || n >= SECOND_MS) continue;
        message("note: --%s %ld is %ld milliseconds; %ld s is %ld:%02ld", names[i], n, n, n, n / 60, n % 60);
    }
}
