/* steno: command-line options as a table. SPDX-License-Identifier: MIT
 *
 * Long options accept _ for -, --name=value and --name value. Short options accept -x value and -xvalue, and flags may be joined (-qv).
 * A value may begin with a dash ("--logprob-threshold -1"). -- ends the options. */
#include "cli/args.h"
#include "cli/message.h"
#include "cli/time_text.h"
#include "cli/words.h"
#include "path.h"
#include "sink.h"
#include "utf8.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <steno/steno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME_MAX_LEN = 64 };

/* ---- words ------------------------------------------------------------------------------------------------------------------- */

/* Index of `word` in "a|b|c", or -1; then `nearest` receives the most similar word, or "". */
static int word_find(const char *words, const char *word, char *nearest)
{
    char w[NAME_MAX_LEN];
    int best = -1;
    nearest[0] = '\0';
    for (int i = 0; arg_word(w, words, i); i++) {
        if (strcmp(w, word) == 0) return i;
        const int d = word_near(word, w);
        if (d >= 0 && (best < 0 || d < best)) {
            best = d;
            strcpy(nearest, w);
        }
    }
    return -1;
}

static int bad_word(const char *spelled, const char *words, const char *word, const char *nearest)
{
    if (nearest[0]) return message_usage("%s: unknown value \"%s\"; did you mean %s?", spelled, word, nearest);
    return message_usage("%s: unknown value \"%s\"; it takes %s", spelled, word, words);
}

/* ---- values ------------------------------------------------------------------------------------------------------------------ */

static int set_list(const struct arg *r, unsigned *bits, const char *spelled, const char *text)
{
    char word[NAME_MAX_LEN], nearest[NAME_MAX_LEN], all[NAME_MAX_LEN];
    *bits = 0;
    for (const char *p = text;; p++) {
        const size_t n = strcspn(p, ",");
        snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), p);
        const int i = word_find(r->value, word, nearest);
        if (i < 0) return bad_word(spelled, r->value, word, nearest);
        if (strcmp(word, "all") == 0)
            for (int k = 0; arg_word(all, r->value, k) && (r->hi == 0 || k < (int)r->hi); k++) *bits |= k == i ? 0 : 1u << k;
        else
            *bits |= 1u << i;
        p += n;
        if (!*p) return ARGS_RUN;
    }
}

static int read_time(int64_t *ms, const char *text)
{
    const char *behind = time_read(text, ms);
    return behind && !*behind;
}

static int bad_time(const char *spelled, const char *text)
{
    return message_usage("%s: \"%s\" is not a time; write 1:30, 1:02:03 or 1:02:03.500", spelled, text);
}

static int set_int(const struct arg *r, int64_t *to, const char *spelled, const char *text)
{
    char *end;
    errno = 0;
    int64_t ms;
    const int is_time = r->kind == ARG_MS && strchr(text, ':');
    if (is_time && !read_time(&ms, text)) return bad_time(spelled, text);
    const long long v = is_time ? ms : strtoll(text, &end, 10);
    if (!is_time && (end == text || *end || text[0] == ' ')) return message_usage("%s: \"%s\" is not a whole number", spelled, text);
    if (errno == ERANGE || (double)v < r->lo || (double)v > r->hi)
        return message_usage("%s: %s is out of range; it takes %.0f to %.0f", spelled, text, r->lo, r->hi);
    *to = v;
    return ARGS_RUN;
}

static int set_num(const struct arg *r, double *to, const char *spelled, const char *text)
{
    char *end;
    if (r->none && strcmp(text, "none") == 0) {
        *to = NAN;
        return ARGS_RUN;
    }
    int64_t ms;
    const int is_time = r->kind == ARG_S && strchr(text, ':');
    if (is_time && !read_time(&ms, text)) return bad_time(spelled, text);
    const double v = is_time ? (double)ms / 1000 : strtod(text, &end);
    if (!is_time && (end == text || *end || text[0] == ' ' || !isfinite(v)))
        return message_usage("%s: \"%s\" is not a number%s", spelled, text, r->none ? " and not the word none" : "");
    if (v < r->lo || v > r->hi) return message_usage("%s: %s is out of range; it takes %g to %g", spelled, text, r->lo, r->hi);
    *to = v;
    return ARGS_RUN;
}

static int add_text(struct arg_texts *to, const char *spelled, const char *text)
{
    if (to->n == ARG_TEXTS_MAX) return message_usage("%s: at most %d of them", spelled, ARG_TEXTS_MAX);
    to->text[to->n++] = text;
    return ARGS_RUN;
}

/* `text` is NULL for flags and pairs, whose value is `on`. `spelled` is the option as the user wrote it. */
static int set(const struct arg *row, char *opts, const char *spelled, const char *text, int on)
{
    char dflt[ARG_DFLT_SZ];
    const struct arg full = arg_full(row, dflt), *r = &full;
    void *at = opts + r->at;
    char nearest[NAME_MAX_LEN];
    switch (r->kind) {
    case ARG_FLAG:
    case ARG_PAIR:
        *(int *)at = on;
        return ARGS_RUN;
    case ARG_MS:
    case ARG_INT: return set_int(r, at, spelled, text);
    case ARG_S:
    case ARG_NUM: return set_num(r, at, spelled, text);
    case ARG_LIST: return set_list(r, at, spelled, text);
    case ARG_WORD:
        *(int *)at = word_find(r->value, text, nearest);
        return *(int *)at < 0 ? bad_word(spelled, r->value, text, nearest) : ARGS_RUN;
    default: break;
    }
    if (!text[0] && !r->none) return message_usage("%s: the value is empty", spelled);
    if (r->kind == ARG_TEXTS) return add_text(at, spelled, text);
    *(const char **)at = text;
    return ARGS_RUN;
}

static void set_defaults(const struct args *a, char *opts)
{
    char dflt[ARG_DFLT_SZ];
    for (const struct arg *r = a->rows; r->kind != ARG_END; r++) {
        const struct arg full = arg_full(r, dflt);
        if (r->kind != ARG_GROUP && full.dflt) set(&full, opts, r->name, full.dflt, strcmp(full.dflt, "on") == 0);
    }
}

/* ---- paths ------------------------------------------------------------------------------------------------------------------- */

static int has(const char *value, size_t n, const char *word)
{
    const size_t len = strlen(word);
    for (size_t k = 0; k + len <= n; k++)
        if (memcmp(value + k, word, len) == 0) return 1;
    return 0;
}

static int names_path(const char *value, size_t n)
{
    static const char *const words[] = { "FILE", "PATH", "DIR", "MODEL", "OUT" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has(value, n, words[i])) return !has(value, n, "=");
    return 0;
}

int args_takes_path(const struct arg *r)
{
    return (r->kind == ARG_TEXT || r->kind == ARG_TEXTS) && names_path(r->value, strlen(r->value));
}

/* A value that the help calls "TEXT|@FILE" is a path only behind its @; "FILE|TEXT" may be either, and is then a path if it is there. */
static void slashes(const char *value, size_t n, char *text)
{
    struct stat st;
    const char *at = memchr(value, '@', n);
    if (!names_path(value, n) || (at && text[0] != '@')) return;
    if (!at && has(value, n, "TEXT") && stat(text, &st)) return;
    path_typed(text + (at != NULL));
}

/* The i-th operand, from 0, in a usage such as "[OPTION]... -m MODEL QUERY FILE..."; the last one stands for all after it. */
static const char *operand_of(const char *usage, int i, size_t *n)
{
    const char *word = "";
    size_t len = 0, skip = 1;
    *n = 0;
    for (const char *p = usage; *p && *p != '\n'; p += len + strspn(p + len, " ")) {
        len = strcspn(p, " \n");
        if (skip) skip = 0;
        else if (p[0] == '-' && len == 2) skip = 1;
        else word = p, *n = len, i--;
        if (i < 0) break;
    }
    return word;
}

static void operand_slashes(const struct args *a, int i, char *text)
{
    size_t n;
    const char *value = operand_of(a->usage, i, &n);
    slashes(value, n, text);
}

/* ---- options ----------------------------------------------------------------------------------------------------------------- */

const struct arg *args_find_long(const struct args *a, const char *name, int *on)
{
    *on = 1;
    if (strcmp(name, args_help_row.name) == 0) return &args_help_row;
    if (strcmp(name, args_help_all_row.name) == 0) return &args_help_all_row;
    if (strcmp(name, args_help_man_row.name) == 0) return &args_help_man_row;
    for (const struct arg *r = a->rows; r->kind != ARG_END; r++) {
        if (r->kind == ARG_GROUP) continue;
        if (strcmp(name, r->name) == 0) return r;
        if (r->kind == ARG_PAIR && strncmp(name, "no-", 3) == 0 && strcmp(name + 3, r->name) == 0) {
            *on = 0;
            return r;
        }
    }
    return NULL;
}

const struct arg *args_find_short(const struct args *a, char letter)
{
    if (letter == args_help_row.letter) return &args_help_row;
    for (const struct arg *r = a->rows; r->kind != ARG_END; r++)
        if (r->kind != ARG_GROUP && r->letter == letter) return r;
    return NULL;
}

/* The verb's equivalent of another program's option, or NULL. */
static const char *known_elsewhere(const struct args *a, const char *name)
{
    static const struct { const char *there, *here; } names[] = {
        { "n-predict", "max-tokens" }, { "predict", "max-tokens" },      { "max-new-tokens", "max-tokens" },
        { "n_predict", "max-tokens" }, { "system-prompt", "system" },    { "reverse-prompt", "stop" },
        { "n-ctx", "ctx-size" },       { "chat-template", "prompt-template" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (const struct arg *r = a->rows; !strcmp(names[i].there, name) && r->kind != ARG_END; r++)
            if (r->kind != ARG_GROUP && !strcmp(r->name, names[i].here)) return r->name;
    return NULL;
}

static int unknown_long(const struct args *a, const char *name)
{
    const char *elsewhere = known_elsewhere(a, name);
    if (elsewhere) return message_usage("unknown option --%s; here it is --%s", name, elsewhere);
    char best_name[NAME_MAX_LEN] = "", cand[NAME_MAX_LEN];
    int best = -1;
    for (const struct arg *r = a->rows; r->kind != ARG_END; r++) {
        for (int no = 0; r->kind != ARG_GROUP && no <= (r->kind == ARG_PAIR); no++) {
            snprintf(cand, sizeof cand, "%s%s", no ? "no-" : "", r->name);
            const int d = word_near(name, cand);
            if (d < 0 || (best >= 0 && d >= best)) continue;
            best = d;
            strcpy(best_name, cand);
        }
    }
    if (best >= 0) return message_usage("unknown option --%s; did you mean --%s?", name, best_name);
    return message_usage("unknown option --%s; \"steno %s --help\" lists them", name, a->verb);
}

/* Where parsed values are stored. */
struct target {
    const struct args *args;
    char *opts;
    struct args_given *given; /* may be NULL */
};

static int take(const struct target *t, const struct arg *r, const char *spelled, char how, char *text)
{
    if (text && args_takes_path(r)) slashes(r->value, strlen(r->value), text);
    const int rc = set(r, t->opts, spelled, text, how != '!');
    const size_t i = (size_t)(r - t->args->rows);
    if (rc != ARGS_RUN || !t->given || i >= ARGS_MAX) return rc;
    t->given->row[i].how = how;
    t->given->row[i].text = text;
    return rc;
}

static int is_help(const struct arg *r)
{
    return r == &args_help_row || r == &args_help_all_row || r == &args_help_man_row;
}

static int print_help(const struct args *a, const struct arg *r)
{
    if (r == &args_help_man_row) args_man(a);
    else args_help(a, r == &args_help_all_row);
    return message_flush();
}

/* Parse one "--name", "--name=value" or "--name value". */
static int parse_long(const struct target *t, int argc, char **argv, int *i)
{
    const struct args *a = t->args;
    char name[NAME_MAX_LEN], spelled[NAME_MAX_LEN + 2];
    char *text = strchr(argv[*i], '=');
    const size_t n = text ? (size_t)(text - argv[*i]) - 2 : strlen(argv[*i]) - 2;
    if (n >= sizeof name) return message_usage("unknown option %.80s; \"steno %s --help\" lists them", argv[*i], a->verb);
    memcpy(name, argv[*i] + 2, n);
    name[n] = '\0';
    for (char *p = name; *p; p++)
        if (*p == '_') *p = '-';
    int on;
    const struct arg *r = args_find_long(a, name, &on);
    if (!r) return unknown_long(a, name);
    if (is_help(r)) return print_help(a, r);
    snprintf(spelled, sizeof spelled, "--%s", name);
    if (!args_takes_value(r)) return text ? message_usage("%s takes no value", spelled) : take(t, r, spelled, on ? '-' : '!', NULL);
    if (!text && *i + 1 >= argc) return message_usage("%s needs a value (%s)", spelled, r->value);
    return take(t, r, spelled, '-', text ? text + 1 : argv[++*i]);
}

/* Parse one "-x", "-xvalue", "-x value" or "-xyz". */
static int parse_short(const struct target *t, int argc, char **argv, int *i)
{
    const struct args *a = t->args;
    for (char *p = argv[*i] + 1; *p; p++) {
        const struct arg *r = args_find_short(a, *p);
        char spelled[3] = { '-', *p, '\0' };
        if (!r) return message_usage("unknown option -%s; \"steno %s --help\" lists them", p, a->verb);
        if (is_help(r)) return print_help(a, r);
        if (args_takes_value(r)) {
            if (!p[1] && *i + 1 >= argc) return message_usage("%s needs a value (%s)", spelled, r->value);
            return take(t, r, spelled, *p, p[1] ? p + 1 : argv[++*i]);
        }
        const int rc = take(t, r, spelled, *p, NULL);
        if (rc != ARGS_RUN) return rc;
    }
    return ARGS_RUN;
}

int args_parse(const struct args *a, void *opts, struct args_given *given, int argc, char **argv, int *n_operands)
{
    const struct target t = { a, opts, given };
    int n = 0, options = 1;
    if (given) *given = (struct args_given){ .args = a };
    set_defaults(a, opts);
    for (int i = 0; i < argc; i++) {
        int rc = ARGS_RUN;
        if (!options || argv[i][0] != '-' || !argv[i][1]) argv[n++] = argv[i];
        else if (strcmp(argv[i], "--") == 0) options = 0;
        else if (argv[i][1] == '-') rc = parse_long(&t, argc, argv, &i);
        else rc = parse_short(&t, argc, argv, &i);
        if (rc != ARGS_RUN) return rc;
    }
    for (int i = 0; i < n; i++) operand_slashes(a, i, argv[i]);
    *n_operands = n;
    return ARGS_RUN;
}

/* ---- values as JSON ---------------------------------------------------------------------------------------------------------- */

static void json_value(struct sink *f, const struct arg *r, const void *at)
{
    char text[NAME_MAX_LEN], num[NUM_SZ];
    const char *sep = "[";
    switch (r->kind) {
    case ARG_FLAG:
    case ARG_PAIR: sink_text(f, *(const int *)at ? "true" : "false"); break;
    case ARG_MS:
    case ARG_INT: sink_format(f, "%" PRId64, *(const int64_t *)at); break;
    case ARG_S:
    case ARG_NUM: sink_text(f, isfinite(*(const double *)at) ? num_repr(num, *(const double *)at) : "null"); break;
    case ARG_WORD: utf8_json(f, arg_word(text, r->value, *(const int *)at) ? text : ""); break;
    case ARG_LIST:
        for (int i = 0; arg_word(text, r->value, i); i++) {
            if (!(*(const unsigned *)at >> i & 1)) continue;
            sink_text(f, sep);
            utf8_json(f, text);
            sep = ", ";
        }
        sink_text(f, *sep == '[' ? "[]" : "]");
        break;
    case ARG_TEXTS:
        for (int i = 0; i < ((const struct arg_texts *)at)->n; i++) {
            sink_text(f, sep);
            utf8_json(f, ((const struct arg_texts *)at)->text[i]);
            sep = ", ";
        }
        sink_text(f, *sep == '[' ? "[]" : "]");
        break;
    default:
        if (*(const char *const *)at) utf8_json(f, *(const char *const *)at);
        else sink_text(f, "null");
    }
}

void args_json(struct sink *f, const struct arg *rows, const void *opts, const char *but)
{
    char nearest[NAME_MAX_LEN];
    const char *sep = "{";
    int left_out = 0;
    for (const struct arg *r = rows; r->kind != ARG_END; r++) {
        if (r->kind == ARG_GROUP) left_out = word_find(but, r->help, nearest) >= 0;
        if (r->kind == ARG_GROUP || left_out) continue;
        sink_format(f, "%s\"%s\": ", sep, r->name);
        json_value(f, r, (const char *)opts + r->at);
        sep = ", ";
    }
    sink_text(f, *sep == '{' ? "{}" : "}");
}
