/* steno: command lines of other programs. SPDX-License-Identifier: MIT */
#include "compat/compat.h"
#include "cli/message.h"
#include "cli/text_file.h"
#include "path.h"
#include "utf8.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 20 };

/* ---- what was typed ---------------------------------------------------------------------------------------------------------- */

int compat_mistake(const struct compat_call *c, const char *fmt, ...)
{
    char what[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    char called[1024];
    utf8_printable(called, sizeof called, c->called);
    if (c->compat->usage) fprintf(stderr, "usage: %s %s\n", called, c->compat->usage);
    else message("%s; \"%s --help\" lists the options", what, c->called);
    return c->compat->mistake;
}

int compat_code(const struct compat_call *c, int code)
{
    return code == EXIT_USAGE ? c->compat->mistake : code;
}

static int refuse(const struct compat_call *c, const char *typed, const struct compat_option *o, const char *value)
{
    if (o->taken) message("%s %s %s", typed, value, o->refused);
    else message("%s %s", typed, o->refused);
    return c->compat->mistake;
}

static int is_end(const struct compat_option *o)
{
    return !o->name && !o->to && !o->put;
}

static int is_name(const struct compat_option *o, const char *name, size_t n)
{
    if (!o->name) return 0;
    return (strncmp(o->name, name, n) == 0 && !o->name[n]) || (o->alias && strncmp(o->alias, name, n) == 0 && !o->alias[n]);
}

/* Find an option by a name of n bytes. @return its row, -1: none, -2: ambiguous */
static int find_option(const struct compat_call *c, const char *name, size_t n)
{
    const struct compat_option *o = c->compat->options;
    int found = -1;
    for (int i = 0; i < c->n_options; i++)
        if (is_name(&o[i], name, n)) return i;
    if (!(c->compat->manner & COMPAT_SHORTENED) || n < 3 || strncmp(name, "--", 2) != 0) return -1;
    for (int i = 0; i < c->n_options; i++)
        if (o[i].name && strncmp(o[i].name, name, n) == 0) found = found == -1 ? i : -2;
    return found;
}

/* Find the row of a word. *value receives a value after "=" or after one letter, or NULL. */
static int find_word(const struct compat_call *c, char *word, char **value)
{
    char *equals = c->compat->manner & COMPAT_EQUALS && strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
    *value = equals ? equals + 1 : NULL;
    const int k = find_option(c, word, equals ? (size_t)(equals - word) : strlen(word));
    if (k >= 0 || !(c->compat->manner & COMPAT_JOINED) || word[1] == '-' || !word[1]) return k;
    *value = word + 2;
    const int short_one = find_option(c, word, 2);
    return short_one >= 0 && c->compat->options[short_one].takes ? short_one : -1;
}

static int is_number(const char *text, int takes)
{
    char *end;
    if (takes == COMPAT_NUM) strtod(text, &end);
    else strtoll(text, &end, 10);
    return end != text && !*end;
}

static int note(struct compat_call *c, int k, const char *typed, char *value)
{
    const struct compat_option *o = &c->compat->options[k];
    if (o->takes > COMPAT_TEXT && !is_number(value, o->takes))
        return compat_mistake(c, "%s: \"%s\" is not a %snumber", typed, value, o->takes == COMPAT_INT ? "whole " : "");
    if (o->takes) c->value[k] = value;
    if (o->lists == COMPAT_INPUT) c->input[c->n_inputs++] = value;
    if (o->lists == COMPAT_OUTPUT) c->output[c->n_outputs++] = value;
    c->is_given[k] = 1;
    c->given = (c->given | o->sets) & ~o->clears;
    if (o->refused && (!o->taken || strcmp(value, o->taken) != 0)) return refuse(c, typed, o, value);
    return EXIT_OK;
}

static int type_option(struct compat_call *c, int argc, char **argv, int *i)
{
    char *value, *typed = argv[*i];
    const int k = find_word(c, typed, &value);
    if (k == -2) return compat_mistake(c, "%s: several options begin so", typed);
    if (k < 0) return compat_mistake(c, "%s is not an option of %s", typed, c->compat->name);
    const int takes = c->compat->options[k].takes;
    if (value && !takes) return compat_mistake(c, "%s takes no value", typed);
    if (takes && !value && *i + 1 == argc) return compat_mistake(c, "%s needs a value", typed);
    if (takes && !value) value = argv[++*i];
    return note(c, k, typed, value);
}

static int is_input(const struct compat_call *c, const char *word)
{
    return c->compat->manner & COMPAT_INPUTS && (word[0] != '-' || !word[1]);
}

static int type(struct compat_call *c, int argc, char **argv)
{
    int code = EXIT_OK;
    for (int i = 0; i < argc && code == EXIT_OK; i++) {
        if (is_input(c, argv[i])) c->input[c->n_inputs++] = argv[i];
        else code = type_option(c, argc, argv, &i);
    }
    if (code != EXIT_OK || (c->given & c->compat->needed) == c->compat->needed) return code;
    return compat_mistake(c, "an option that must be given is missing");
}

static int row_of(const struct compat_call *c, const char *name)
{
    for (int i = 0; i < c->n_options; i++)
        if (is_name(&c->compat->options[i], name, strlen(name))) return i;
    return -1;
}

int compat_is_given(const struct compat_call *c, const char *name)
{
    const int k = row_of(c, name);
    return k >= 0 && c->is_given[k];
}

static const char *value_of(const struct compat_call *c, int k)
{
    const struct compat_option *o = &c->compat->options[k];
    const char *value = c->value[k] ? c->value[k] : o->env ? getenv(o->env) : NULL;
    return value ? value : o->dflt;
}

const char *compat_value(const struct compat_call *c, const char *name)
{
    const int k = row_of(c, name);
    return k >= 0 ? value_of(c, k) : NULL;
}

/* ---- translation ------------------------------------------------------------------------------------------------------------- */

struct made { /* a generated word */
    struct made *next;
    char text[];
};

/* Was an option of this name typed, in the other program's spelling? */
static int is_typed(const struct compat_call *c, const char *word)
{
    char name[64];
    const size_t n = strcspn(word, "=");
    snprintf(name, sizeof name, "%.*s", (int)n, word);
    if (compat_is_given(c, name)) return 1;
    for (size_t i = 2; i < n && i < sizeof name; i++)
        if (name[i] == '-') name[i] = '_';
    return compat_is_given(c, name);
}

static void note_own(struct compat_call *c, const char *word)
{
    const size_t at = strlen(c->own), n = strlen(word);
    if (c->is_own && !strncmp(word, "--", 2) && !is_typed(c, word) && at + n + 2 < sizeof c->own)
        snprintf(c->own + at, sizeof c->own - at, " %s", word);
}

void compat_put_word(struct compat_call *c, const char *word)
{
    if (c->n_words == c->room) {
        const int room = c->room ? 2 * c->room : 64;
        char **more = realloc(c->word, (size_t)room * sizeof *more);
        if (!more) {
            c->failed = 1;
            return;
        }
        c->word = more;
        c->room = room;
    }
    memcpy(&c->word[c->n_words++], &word, sizeof word); /* args_parse moves words and changes only \ of paths, which no literal has */
}

/* Add an empty word of n bytes. @return its memory, or NULL if out of memory */
static char *put_room(struct compat_call *c, size_t n)
{
    struct made *m = malloc(sizeof *m + n + 1);
    if (!m) {
        c->failed = 1;
        return NULL;
    }
    m->next = c->made;
    c->made = m;
    m->text[n] = '\0';
    compat_put_word(c, m->text);
    return m->text;
}

void compat_put_format(struct compat_call *c, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    const int n = vsnprintf(NULL, 0, fmt, ap);
    char *text = n < 0 ? NULL : put_room(c, (size_t)n);
    if (text) vsnprintf(text, (size_t)n + 1, fmt, again);
    if (text) note_own(c, text);
    va_end(again);
    va_end(ap);
}

/* % is replaced by `value` */
static void put_words(struct compat_call *c, const char *words, const char *value)
{
    for (const char *p = words; *p;) {
        const size_t n = strcspn(p, " ");
        if (value && n == 1 && *p == '%') compat_put_word(c, value);
        else compat_put_format(c, "%.*s", (int)n, p);
        p += n + strspn(p + n, " ");
    }
}

void compat_put(struct compat_call *c, const char *words)
{
    put_words(c, words, NULL);
}

static int translate(struct compat_call *c)
{
    int code = EXIT_OK;
    for (int i = 0; i < c->n_options && code == EXIT_OK; i++) {
        const struct compat_option *o = &c->compat->options[i];
        const int holds = !o->name || c->is_given[i] || o->dflt;
        if (!holds || (c->given & o->needs) != o->needs) continue;
        c->is_own = !c->is_given[i] && !c->value[i];
        if (o->put) code = o->put(c, value_of(c, i));
        else if (o->to) put_words(c, o->to, value_of(c, i));
    }
    c->is_own = 0;
    if (c->n_inputs && code == EXIT_OK) compat_put_word(c, "--");
    for (int i = 0; i < c->n_inputs && code == EXIT_OK; i++) compat_put_word(c, c->input[i]);
    return code;
}

void compat_help(FILE *f, const struct compat_call *c)
{
    fprintf(f, "usage: %s %s\nThe options of %s, and what they are here:\n", c->called,
            c->compat->usage ? c->compat->usage : "[OPTION]... FILE...", c->compat->name);
    for (const struct compat_option *o = c->compat->options; !is_end(o); o++) {
        char names[64];
        if (!o->name) continue;
        snprintf(names, sizeof names, "%s%s%s%s", o->alias ? o->alias : "", o->alias ? ", " : "", o->name, o->takes ? " X" : "");
        fprintf(f, "  %-34s %s%s%s\n", names, o->help ? o->help : o->refused ? o->refused : o->to ? o->to : "",
                o->dflt ? "; default " : "", o->dflt ? o->dflt : "");
    }
}

/* ---- running a dialect ------------------------------------------------------------------------------------------------------- */

/* Use the lines of a file as words. @return their number, or -1 after a message; *text and *words are malloc'd */
static int words_of_file(char **text, char ***words, const char *path)
{
    char why[TEXT_FILE_WHY];
    const int status = text_file_read(text, path, 0, FILE_MAX, why, sizeof why);
    if (status != TEXT_FILE_READ) {
        message("%s: %s", path, status == TEXT_FILE_NO_MEMORY ? "out of memory" : why);
        return -1;
    }
    int n = 0;
    for (const char *p = *text; *p; p++) n += *p == '\n';
    *words = calloc((size_t)n + 1, sizeof **words);
    if (!*words) {
        message("%s: out of memory", path);
        return -1;
    }
    n = 0;
    for (char *p = *text; *p;) {
        char *end = p + strcspn(p, "\n");
        const char last = *end;
        *end = '\0';
        if (end > p && end[-1] == '\r') end[-1] = '\0';
        (*words)[n++] = p;
        p = end + (last != '\0');
    }
    return n;
}

static int begin(struct compat_call *c, int argc)
{
    while (!is_end(&c->compat->options[c->n_options])) c->n_options++;
    c->value = calloc((size_t)c->n_options, sizeof *c->value);
    c->is_given = calloc((size_t)c->n_options, 1);
    c->input = calloc((size_t)argc + 1, sizeof *c->input);
    c->output = calloc((size_t)argc + 1, sizeof *c->output);
    return c->value && c->is_given && c->input && c->output ? EXIT_OK : EXIT_MEMORY;
}

static void end(struct compat_call *c)
{
    for (struct made *m = c->made, *next; m; m = next) {
        next = m->next;
        free(m);
    }
    free(c->word);
    free(c->output);
    free(c->input);
    free(c->is_given);
    free(c->value);
}

static int run_words(const struct compat *d, const char *called, int argc, char **argv)
{
    struct compat_call c = { .compat = d, .called = called };
    int code = begin(&c, argc), reported = 0;
    if (code == EXIT_OK) {
        code = d->type ? d->type(&c, argc, argv) : type(&c, argc, argv);
        for (int i = 0; i < c.n_inputs; i++) path_typed(c.input[i]);
        for (int i = 0; i < c.n_outputs; i++) path_typed(c.output[i]);
        if (code == EXIT_OK) code = translate(&c);
        reported = code != EXIT_OK;
    }
    if (c.failed) code = EXIT_MEMORY;
    if (code == EXIT_MEMORY && !reported) message("out of memory for the options");
    if (code == EXIT_OK) code = d->run(&c);
    end(&c);
    return code;
}

int compat_run(const struct compat *d, const char *called, int argc, char **argv)
{
    char *text = NULL, **words = NULL;
    int code;
    if (d->refused) {
        message("%s %s", d->name, d->refused);
        return d->mistake;
    }
    if (!(d->manner & COMPAT_AT_FILE) || argc != 1 || argv[0][0] != '@') return run_words(d, called, argc, argv);
    const int n = words_of_file(&text, &words, argv[0] + 1);
    code = n < 0 ? d->mistake : run_words(d, called, n, words);
    free(words);
    free(text);
    return code;
}
