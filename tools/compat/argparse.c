/* steno: command lines as Python's argparse reads them. SPDX-License-Identifier: MIT */
#include "compat/argparse.h"
#include "address.h"
#include "cli/message.h"
#include "utf8.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWN = -1, POSITIONAL = -2, AMBIGUOUS = -3 }; /* words that are not an option's row */

/* A word: its row, or one of the codes above, and its value. */
struct word {
    int row;
    char *value; /* value in the same word, or NULL */
};

const char *argparse_program(const struct compat_call *c)
{
    const char *slash = strrchr(c->called, '/');
    return slash ? slash + 1 : c->called;
}

int argparse_error(const struct compat_call *c, const char *fmt, ...)
{
    char what[2048], clean[sizeof what];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    address_hide(what);
    utf8_printable(clean, sizeof clean, what);
    fprintf(stderr, "usage: %s %s\n%s: error: %s\n", argparse_program(c), c->compat->usage, argparse_program(c), clean);
    return c->compat->mistake;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------------------- */

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Only digits, signs, a point and an exponent, because C's functions accept more. */
static int is_plain(const char *text, int takes)
{
    const int real = takes == COMPAT_NUM || takes == COMPAT_NUM_NONE;
    static const char *const words[] = { "nan", "inf", "infinity" };
    const char *p = text + (*text == '+' || *text == '-');
    for (size_t i = 0; real && i < sizeof words / sizeof *words; i++) {
        size_t k = 0;
        while (p[k] && (p[k] | 32) == words[i][k]) k++;
        if (!p[k] && !words[i][k]) return 1;
    }
    return *p && strspn(p, real ? "0123456789.eE+-" : "0123456789") == strlen(p);
}

int argparse_number(char out[ARGPARSE_NUMBER_SZ], const char *text, int takes)
{
    size_t n, k = 0;
    const char *s = utf8_strip(text, &n);
    char *end;
    if (n >= ARGPARSE_NUMBER_SZ) return 0;
    for (size_t i = 0; i < n; i++) {
        const int between = i > 0 && i + 1 < n && is_digit(s[i - 1]) && is_digit(s[i + 1]);
        if (s[i] == '_' && !between) return 0;
        if (s[i] != '_') out[k++] = s[i];
    }
    out[k] = '\0';
    if (!is_plain(out, takes)) return 0;
    strtod(out, &end);
    return !*end;
}

/* ---- classification of a word ------------------------------------------------------------------------------------------------ */

static int is_negative_number(const char *word)
{
    const char *p = word + 1;
    const size_t whole = strspn(p, "0123456789");
    if (whole && !p[whole]) return 1;
    return p[whole] == '.' && p[whole + 1] && strspn(p + whole + 1, "0123456789") == strlen(p + whole + 1);
}

static int find_exact(const struct compat_call *c, const char *word, size_t n)
{
    const struct compat_option *o = c->compat->options;
    for (int i = 0; i < c->n_options; i++) {
        if (o[i].name && strlen(o[i].name) == n && !memcmp(o[i].name, word, n)) return i;
        if (o[i].alias && strlen(o[i].alias) == n && !memcmp(o[i].alias, word, n)) return i;
    }
    return UNKNOWN;
}

/* Find names that begin with the n bytes of a word. @return their number; *row is the last one, `names` receives all */
static int find_prefix(const struct compat_call *c, const char *word, size_t n, int *row, char names[512])
{
    const struct compat_option *o = c->compat->options;
    size_t at = 0;
    int found = 0;
    for (int i = 0; i < c->n_options; i++) {
        if (!o[i].name || strncmp(o[i].name, word, n) != 0) continue;
        if (at < 400) at += (size_t)snprintf(names + at, 512 - at, "%s%s", found++ ? ", " : "", o[i].name);
        *row = i;
    }
    return found;
}

static void classify_long(const struct compat_call *c, char *word, struct word *w, char names[512])
{
    char *equals = strchr(word, '=');
    const size_t n = equals ? (size_t)(equals - word) : strlen(word);
    w->row = find_exact(c, word, n);
    w->value = equals ? equals + 1 : NULL;
    if (w->row != UNKNOWN) return;
    const int found = find_prefix(c, word, n, &w->row, names);
    if (found != 1) w->row = found ? AMBIGUOUS : strchr(word, ' ') ? POSITIONAL : UNKNOWN;
}

static void classify_short(const struct compat_call *c, char *word, struct word *w)
{
    char *equals = strchr(word, '=');
    w->row = find_exact(c, word, strlen(word));
    w->value = NULL;
    if (w->row != UNKNOWN) return;
    if (equals) {
        w->row = find_exact(c, word, (size_t)(equals - word));
        w->value = equals + 1;
        if (w->row != UNKNOWN) return;
    }
    w->row = find_exact(c, word, 2);
    w->value = word + 2;
    if (w->row != UNKNOWN) return;
    w->row = is_negative_number(word) || strchr(word, ' ') ? POSITIONAL : UNKNOWN;
}

static int classify(const struct compat_call *c, char *word, struct word *w)
{
    char names[512];
    *w = (struct word){ .row = POSITIONAL };
    if (word[0] != '-' || !word[1]) return EXIT_OK;
    if (word[1] != '-') classify_short(c, word, w);
    else classify_long(c, word, w, names);
    return w->row == AMBIGUOUS ? argparse_error(c, "ambiguous option: %s could match %s", word, names) : EXIT_OK;
}

/* ---- values ------------------------------------------------------------------------------------------------------------------ */

static const char *spelled(char out[96], const struct compat_option *o)
{
    const char *alias = o->alias ? o->alias : "", *name = o->name, *slash = o->alias ? "/" : "";
    if (o->takes) snprintf(out, 96, "%s%s%s", name, slash, alias);
    else snprintf(out, 96, "%s%s%s", alias, slash, name); /* -h/--help */
    return out;
}

/* 'a', 'b' of "a|b" */
static void list_choices(char *out, size_t n, const char *choices)
{
    size_t at = 0;
    for (const char *p = choices; *p && at + 4 < n;) {
        const size_t k = strcspn(p, "|");
        at += (size_t)snprintf(out + at, n - at, "%s'%.*s'", at ? ", " : "", (int)k, p);
        p += k + (p[k] == '|');
    }
}

static int is_choice(const char *choices, const char *value)
{
    const size_t n = strlen(value);
    for (const char *p = choices; *p;) {
        const size_t k = strcspn(p, "|");
        if (k == n && !memcmp(p, value, n)) return 1;
        p += k + (p[k] == '|');
    }
    return 0;
}

static int check_value(const struct compat_call *c, const struct compat_option *o, const char *value)
{
    static const char *const types[] = { [COMPAT_TEXT] = "str",      [COMPAT_INT] = "int",
                                         [COMPAT_NUM] = "float",     [COMPAT_BOOL] = "str2bool",
                                         [COMPAT_INT_NONE] = "optional_int", [COMPAT_NUM_NONE] = "optional_float" };
    char name[96], number[ARGPARSE_NUMBER_SZ], list[512];
    const int may_be_none = o->takes == COMPAT_INT_NONE || o->takes == COMPAT_NUM_NONE;
    int good = 1;
    if (o->takes == COMPAT_BOOL) good = strcmp(value, "True") == 0 || strcmp(value, "False") == 0;
    else if (o->takes > COMPAT_TEXT) good = (may_be_none && strcmp(value, "None") == 0) || argparse_number(number, value, o->takes);
    if (!good) return argparse_error(c, "argument %s: invalid %s value: '%s'", spelled(name, o), types[(int)o->takes], value);
    if (!o->choices || is_choice(o->choices, value)) return EXIT_OK;
    list_choices(list, sizeof list, o->choices);
    return argparse_error(c, "argument %s: invalid choice: '%s' (choose from %s)", spelled(name, o), value, list);
}

/* ---- parsing ----------------------------------------------------------------------------------------------------------------- */

struct reader {
    struct compat_call *c;
    char **argv;
    struct word *word; /* [argc] */
    int argc, at, ended; /* ended: --help was read */
    char extras[1024]; /* unrecognized arguments, reported in one message */
};

static void add_extra(struct reader *r, const char *word)
{
    const size_t n = strlen(r->extras);
    snprintf(r->extras + n, sizeof r->extras - n, " %s", word);
}

/* Take the positional words that begin here. They are inputs, unless an earlier run of words was. */
static void take_positionals(struct reader *r)
{
    struct compat_call *c = r->c;
    const int are_inputs = c->n_inputs == 0;
    int seen_end = 0;
    for (; r->at < r->argc && r->word[r->at].row == POSITIONAL; r->at++) {
        char *word = r->argv[r->at];
        if (are_inputs && !seen_end && strcmp(word, "--") == 0) seen_end = 1;
        else if (are_inputs) c->input[c->n_inputs++] = word;
        else add_extra(r, word);
    }
}

static int take_option(struct reader *r)
{
    struct compat_call *c = r->c;
    const struct word *w = &r->word[r->at];
    char name[96];
    char *value = w->value;
    if (w->row == UNKNOWN) {
        add_extra(r, r->argv[r->at++]);
        return EXIT_OK;
    }
    const struct compat_option *o = &c->compat->options[w->row];
    r->at++;
    if (!o->takes && value) return argparse_error(c, "argument %s: ignored explicit argument '%s'", spelled(name, o), value);
    r->ended = !o->takes;
    if (o->takes && !value) {
        if (r->at == r->argc || r->word[r->at].row != POSITIONAL || strcmp(r->argv[r->at], "--") == 0)
            return argparse_error(c, "argument %s: expected one argument", spelled(name, o));
        value = r->argv[r->at++];
    }
    c->value[w->row] = value;
    c->is_given[w->row] = 1;
    c->given |= o->sets;
    return o->takes ? check_value(c, o, value) : EXIT_OK;
}

static int read_all(struct reader *r)
{
    int code = EXIT_OK, ended = 0;
    for (int i = 0; i < r->argc && code == EXIT_OK; i++) {
        if (ended) r->word[i] = (struct word){ .row = POSITIONAL };
        else if (strcmp(r->argv[i], "--") == 0) {
            ended = 1;
            r->word[i] = (struct word){ .row = POSITIONAL };
        } else code = classify(r->c, r->argv[i], &r->word[i]);
    }
    while (r->at < r->argc && code == EXIT_OK && !r->ended) {
        if (r->word[r->at].row == POSITIONAL) take_positionals(r);
        else code = take_option(r);
    }
    if (code != EXIT_OK || r->ended) return code;
    if (!r->c->n_inputs) return argparse_error(r->c, "the following arguments are required: audio");
    return r->extras[0] ? argparse_error(r->c, "unrecognized arguments:%s", r->extras) : EXIT_OK;
}

int argparse_type(struct compat_call *c, int argc, char **argv)
{
    struct reader r = { .c = c, .argv = argv, .argc = argc };
    r.word = calloc((size_t)argc + 1, sizeof *r.word);
    if (!r.word) {
        message("out of memory for the options");
        return EXIT_MEMORY;
    }
    const int code = read_all(&r);
    free(r.word);
    return code;
}
