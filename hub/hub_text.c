/* steno-hub: text that grows. SPDX-License-Identifier: MIT */
#include "hub_text.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(struct hub_text *t, const char *text, size_t n)
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
    add(t, text, (size_t)n);
    free(text);
}

void hub_text_json(struct hub_text *t, const char *text)
{
    hub_text_add(t, "\"");
    for (const char *c = text; *c; c++) {
        char code[8];
        if ((unsigned char)*c < ' ') snprintf(code, sizeof code, "\\u%04x", (unsigned)*c);
        else snprintf(code, sizeof code, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
        add(t, code, strlen(code));
    }
    hub_text_add(t, "\"");
}
