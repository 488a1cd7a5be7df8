/* steno: command lines of other programs. SPDX-License-Identifier: MIT */
#include "dialect.h"
#include "message.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPTIONS = 48, MOST_WORDS = 96, TEXT_SZ = 2048, EXIT_MISTAKE = 1 };

static const struct dialect *const all[] = { dialects_funasr };

const struct dialect *dialect_find(const char *name)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (const struct dialect *d = all[i]; d->name; d++)
            if (strcmp(d->name, name) == 0) return d;
    return NULL;
}

const struct dialect *dialect_of_program(const char *called)
{
    char name[64];
    const char *slash = strrchr(called, '/'), *base = slash ? slash + 1 : called;
    const char *dot = strrchr(base, '.');
    const size_t n = dot && strcmp(dot, ".exe") == 0 ? (size_t)(dot - base) : strlen(base);
    if (n >= sizeof name) return NULL;
    memcpy(name, base, n);
    name[n] = '\0';
    return dialect_find(name);
}

void dialect_names(char *out, size_t n)
{
    size_t at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (const struct dialect *d = all[i]; d->name; d++)
            if (!d->refused && at < n) at += (size_t)snprintf(out + at, n - at, "%s%s", at ? ", " : "", d->name);
}

/* ---- what was typed ---------------------------------------------------------------------------------------------------------- */

struct typed {
    char *value[MOST_OPTIONS];   /* of each option, in the order of the table */
    char is_given[MOST_OPTIONS];
    unsigned given;              /* bits */
};

static int usage(const struct dialect *d, const char *called)
{
    fprintf(stderr, "usage: %s %s\n", called, d->usage);
    return EXIT_MISTAKE;
}

static int refuse(const struct dialect_option *o, const char *value)
{
    if (o->taken) message("%s %s %s", o->name, value, o->refused);
    else message("%s %s", o->name, o->refused);
    return EXIT_MISTAKE;
}

static int find_option(const struct dialect *d, const char *name)
{
    for (int i = 0; i < MOST_OPTIONS && (d->options[i].name || d->options[i].to); i++)
        if (d->options[i].name && strcmp(d->options[i].name, name) == 0) return i;
    return -1;
}

static int type(struct typed *t, const struct dialect *d, const char *called, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        const int k = find_option(d, argv[i]);
        if (k < 0) return usage(d, called);
        const struct dialect_option *o = &d->options[k];
        if (o->takes_value && i + 1 == argc) return usage(d, called);
        if (o->takes_value) t->value[k] = argv[++i];
        t->is_given[k] = 1;
        t->given |= o->sets;
        if (o->refused && (!o->taken || strcmp(argv[i], o->taken) != 0)) return refuse(o, argv[i]);
    }
    return (t->given & d->needed) == d->needed ? EXIT_OK : usage(d, called);
}

/* ---- what it becomes --------------------------------------------------------------------------------------------------------- */

struct line {
    char *word[MOST_WORDS + 1];
    int n;
    char text[TEXT_SZ]; /* of words that are ours */
    size_t used;
};

static void put(struct line *l, const char *word, size_t n)
{
    char *to = l->text + l->used;
    if (l->n == MOST_WORDS || l->used + n + 1 > TEXT_SZ) return; /* no table is as long */
    memcpy(to, word, n);
    to[n] = '\0';
    l->used += n + 1;
    l->word[l->n++] = to;
}

/* Milliseconds as seconds; as C's atoi reads them, and what is not more than 0 is a minute. */
static void put_seconds(struct line *l, const char *value)
{
    char text[32];
    const long ms = strtol(value, NULL, 10);
    put(l, text, (size_t)snprintf(text, sizeof text, "%.3f", ms > 0 ? (double)ms / 1000 : 60.0));
}

static void put_option(struct line *l, const struct dialect_option *o, char *value)
{
    for (const char *p = o->to; *p;) {
        const size_t n = strcspn(p, " ");
        if (n == 3 && !memcmp(p, "%ms", 3)) put_seconds(l, value ? value : o->dflt);
        else if (n != 1 || *p != '%') put(l, p, n);
        else if (l->n < MOST_WORDS) l->word[l->n++] = value;
        p += n + strspn(p + n, " ");
    }
}

static void translate(struct line *l, const struct dialect *d, const struct typed *t)
{
    for (int i = 0; i < MOST_OPTIONS && (d->options[i].name || d->options[i].to); i++) {
        const struct dialect_option *o = &d->options[i];
        const int holds = !o->name || t->is_given[i] || o->dflt;
        if (o->to && holds && (t->given & o->needs) == o->needs) put_option(l, o, o->env ? getenv(o->env) : t->value[i]);
    }
}

int dialect_run(const struct dialect *d, const char *called, int argc, char **argv)
{
    struct typed t = { .given = 0 };
    struct line l = { .n = 0 };
    if (d->refused) {
        message("%s %s", d->name, d->refused);
        return EXIT_MISTAKE;
    }
    int code = type(&t, d, called, argc, argv);
    if (code != EXIT_OK) return code;
    translate(&l, d, &t);
    code = d->run(l.n, l.word, t.given);
    return code == EXIT_USAGE ? EXIT_MISTAKE : code;
}
