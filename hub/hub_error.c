/* steno-hub: errors as text and status, and text that grows. SPDX-License-Identifier: MIT */
#include "hub_error.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int hub_fail(struct hub_error *e, int status, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    e->status = status;
    e->unserved = 0;
    vsnprintf(e->text, sizeof e->text, fmt, ap);
    va_end(ap);
    return status;
}

int hub_write_status(int why)
{
    return why == ENOMEM ? HUB_ENOMEM : HUB_EWRITE;
}

int hub_no_memory(struct hub_error *e, const char *what)
{
    return hub_fail(e, HUB_ENOMEM, "out of memory for %s", what);
}

char *hub_format(const char *fmt, ...)
{
    va_list ap;
    char *text = NULL;
    va_start(ap, fmt);
    const int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    return n < 0 ? NULL : text;
}

/* ---- text that grows --------------------------------------------------------------------------------------------------------- */

static void text_add(struct hub_text *t, const char *text, size_t n)
{
    if (t->n + n + 1 > t->cap) {
        const size_t cap = 2 * (t->n + n + 1);
        char *p = realloc(t->p, cap);
        if (!p) {
            t->failed = 1;
            return;
        }
        t->p = p;
        t->cap = cap;
    }
    memcpy(t->p + t->n, text, n);
    t->n += n;
    t->p[t->n] = '\0';
}

void hub_text_add(struct hub_text *t, const char *fmt, ...)
{
    va_list ap;
    char *text = NULL;
    va_start(ap, fmt);
    const int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    if (n < 0) {
        t->failed = 1;
        return;
    }
    text_add(t, text, (size_t)n);
    free(text);
}

void hub_text_json(struct hub_text *t, const char *text)
{
    hub_text_add(t, "\"");
    for (const char *c = text; *c; c++) {
        char code[8];
        if ((unsigned char)*c < ' ') snprintf(code, sizeof code, "\\u%04x", (unsigned)*c);
        else snprintf(code, sizeof code, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
        text_add(t, code, strlen(code));
    }
    hub_text_add(t, "\"");
}
