/* steno: command-line options as a table. SPDX-License-Identifier: MIT
 *
 * Long options accept _ for -, --name=value and --name value; short ones -x value, -xvalue, and flags may be joined (-qv). A value is
 * taken as it stands even when it begins with a dash ("--logprob-threshold -1"). -- ends the options. */
#include "args.h"
#include "num.h"
#include "message.h"
#include "utf8.h"
#include "word_near.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <steno/steno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_LEN = 64 };

static const struct arg help_row = { .name = "help", .letter = 'h', .kind = ARG_FLAG, .help = "print this help" };

/* ---- words ------------------------------------------------------------------------------------------------------------------- */

/* Copy word `i` of "a|b|c" into out[NAME_MAX_LEN]. @return 1, or 0 past the last one */
static int word_at(char *out, const char *words, int i)
{
    const char *p = words;
    while (i-- > 0) {
        p = strchr(p, '|');
        if (!p) return 0;
        p++;
    }
    const size_t n = strcspn(p, "|");
    snprintf(out, NAME_MAX_LEN, "%.*s", (int)n, p);
    return 1;
}

/* Index of `word` among "a|b|c", or -1; then `nearest` receives the most similar one, or "". */
static int word_find(const char *words, const char *word, char *nearest)
{
    char w[NAME_MAX_LEN];
    int best = -1;
    nearest[0] = '\0';
    for (int i = 0; word_at(w, words, i); i++) {
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

/* ---- the library's table ----------------------------------------------------------------------------------------------------- */

void arg_param(char *out, size_t n, const char *name, double *unit)
{
    static const struct { const char *option, *param; double unit; } others[] = {
        { "sample-length", "sample_len", 1 }, { "word-threshold", "token_threshold", 1 }, { "chunk-length", "chunk_ms", 1000 },
        { "max-len", "token_timestamps", 1 }, { "suppress-non-speech", "suppress_tokens", 1 }, { "vad", "clip_timestamps", 1 },
        { "vad-threshold", "threshold", 1 }, { "vad-min-silence-ms", "max_end_silence_ms", 1 },
        { "vad-max-speech-s", "max_segment_ms", 1000 }, { "vad-merge-s", "merge_ms", 1000 }, { "vad-schedule", "schedule", 1 },
        { "vad-chunk-ms", "chunk_size_ms", 1 }, { "vad-min-speech-ms", "min_speech_ms", 1 },
        { "cpu", "cpu_level", 1 }, { "cmvn", "no_cmvn", 1 }, { "ctx-size", "text_ctx", 1 },
        { "batch-size", "max_windows", 1 }, { "dump", "on_rows", 1 }, { "keep-tags", "tags", 1 }, { "rich-text", "tags", 1 },
    };
    *unit = 1;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(others[i].option, name) != 0) continue;
        *unit = others[i].unit;
        snprintf(out, n, "%s", others[i].param);
        return;
    }
    snprintf(out, n, "%s", name);
    for (char *p = out; *p; p++)
        if (*p == '-') *p = '_';
}

/* @return 1, or 0 when no call has such a field */
static int param_of(steno_param *p, const char *name)
{
    static const enum steno_call calls[] = { STENO_CALL_TRANSCRIBE, STENO_CALL_FIND_SPEECH, STENO_CALL_OPEN, STENO_CALL_GENERATE,
                                             STENO_CALL_EMBED };
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++)
        for (int i = 0; p->size = sizeof *p, steno_param_get(NULL, calls[c], i, p) == STENO_OK; i++)
            if (strcmp(p->name, name) == 0) return 1;
    return 0;
}

static void dflt_write(char *out, const struct arg *r, const steno_param *p, double unit)
{
    char word[NAME_MAX_LEN];
    const int is_none = p->has_none && (p->value == p->none || (isnan(p->value) && isnan(p->none)));
    const int inverse = strncmp(p->name, "no_", 3) == 0;
    if (r->kind == ARG_PAIR || r->kind == ARG_FLAG) strcpy(out, (p->value > 0) != inverse ? "on" : "off");
    else if (r->kind == ARG_WORD) snprintf(out, ARG_DFLT_SZ, "%s", word_at(word, r->value, (int)p->value) ? word : "");
    else if (is_none && r->none) strcpy(out, "none");
    else snprintf(out, ARG_DFLT_SZ, "%.10g", p->value / unit);
}

struct arg arg_full(const struct arg *r, char dflt[ARG_DFLT_SZ])
{
    struct arg full = *r;
    steno_param p;
    char param[NAME_MAX_LEN];
    double unit;
    if (!r->dflt || strcmp(r->dflt, ARG_OF_PARAM) != 0) return full;
    arg_param(param, sizeof param, r->name, &unit);
    full.dflt = NULL;
    if (!param_of(&p, param)) return full;
    full.lo = p.min / unit;
    full.hi = p.max / unit;
    if (r->kind != ARG_TEXT) dflt_write(dflt, r, &p, unit);
    full.dflt = r->kind == ARG_TEXT ? p.text : dflt;
    return full;
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
            for (int k = 0; word_at(all, r->value, k) && (r->hi == 0 || k < (int)r->hi); k++) *bits |= k == i ? 0 : 1u << k;
        else
            *bits |= 1u << i;
        p += n;
        if (!*p) return ARGS_RUN;
    }
}

static int set_int(const struct arg *r, int64_t *to, const char *spelled, const char *text)
{
    char *end;
    errno = 0;
    const long long v = strtoll(text, &end, 10);
    if (end == text || *end || text[0] == ' ') return message_usage("%s: \"%s\" is not a whole number", spelled, text);
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
    const double v = strtod(text, &end);
    if (end == text || *end || text[0] == ' ' || !isfinite(v))
        return message_usage("%s: \"%s\" is not a number%s", spelled, text, r->none ? " and not the word none" : "");
    if (v < r->lo || v > r->hi) return message_usage("%s: %s is out of range; it takes %g to %g", spelled, text, r->lo, r->hi);
    *to = v;
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
    case ARG_INT: return set_int(r, at, spelled, text);
    case ARG_NUM: return set_num(r, at, spelled, text);
    case ARG_LIST: return set_list(r, at, spelled, text);
    case ARG_WORD:
        *(int *)at = word_find(r->value, text, nearest);
        return *(int *)at < 0 ? bad_word(spelled, r->value, text, nearest) : ARGS_RUN;
    default: break;
    }
    if (!text[0] && !r->none) return message_usage("%s: the value is empty", spelled);
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

static int takes_value(const struct arg *r)
{
    return r->kind != ARG_FLAG && r->kind != ARG_PAIR;
}

/* ---- options ----------------------------------------------------------------------------------------------------------------- */

static const struct arg *find_long(const struct args *a, const char *name, int *on)
{
    *on = 1;
    if (strcmp(name, help_row.name) == 0) return &help_row;
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

static const struct arg *find_short(const struct args *a, char letter)
{
    if (letter == help_row.letter) return &help_row;
    for (const struct arg *r = a->rows; r->kind != ARG_END; r++)
        if (r->kind != ARG_GROUP && r->letter == letter) return r;
    return NULL;
}

/* What other programs call an option that the verb has, NULL: nothing known. */
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

/* Where the words go. */
struct target {
    const struct args *args;
    char *opts;
    struct args_given *given; /* may be NULL */
};

static int take(const struct target *t, const struct arg *r, const char *spelled, char how, const char *text)
{
    const int rc = set(r, t->opts, spelled, text, how != '!');
    const size_t i = (size_t)(r - t->args->rows);
    if (rc != ARGS_RUN || !t->given || i >= ARGS_MOST) return rc;
    t->given->row[i].how = how;
    t->given->row[i].text = text;
    return rc;
}

/* One "--name", "--name=value" or "--name value". */
static int parse_long(const struct target *t, int argc, char **argv, int *i)
{
    const struct args *a = t->args;
    char name[NAME_MAX_LEN], spelled[NAME_MAX_LEN + 2];
    const char *text = strchr(argv[*i], '=');
    const size_t n = text ? (size_t)(text - argv[*i]) - 2 : strlen(argv[*i]) - 2;
    if (n >= sizeof name) return message_usage("unknown option %.80s; \"steno %s --help\" lists them", argv[*i], a->verb);
    memcpy(name, argv[*i] + 2, n);
    name[n] = '\0';
    for (char *p = name; *p; p++)
        if (*p == '_') *p = '-';
    int on;
    const struct arg *r = find_long(a, name, &on);
    if (!r) return unknown_long(a, name);
    if (r == &help_row) {
        args_help(a);
        return message_flush();
    }
    snprintf(spelled, sizeof spelled, "--%s", name);
    if (!takes_value(r)) return text ? message_usage("%s takes no value", spelled) : take(t, r, spelled, on ? '-' : '!', NULL);
    if (!text && *i + 1 >= argc) return message_usage("%s needs a value (%s)", spelled, r->value);
    return take(t, r, spelled, '-', text ? text + 1 : argv[++*i]);
}

/* One "-x", "-xvalue", "-x value" or "-xyz". */
static int parse_short(const struct target *t, int argc, char **argv, int *i)
{
    const struct args *a = t->args;
    for (const char *p = argv[*i] + 1; *p; p++) {
        const struct arg *r = find_short(a, *p);
        char spelled[3] = { '-', *p, '\0' };
        if (!r) return message_usage("unknown option -%s; \"steno %s --help\" lists them", p, a->verb);
        if (r == &help_row) {
            args_help(a);
            return message_flush();
        }
        if (takes_value(r)) {
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
    *n_operands = n;
    return ARGS_RUN;
}

/* ---- help -------------------------------------------------------------------------------------------------------------------- */

enum { HELP_LEFT = 28, HELP_WIDTH = 80 };

/* `text` in words from column HELP_LEFT + 4 on; `column` is where the cursor stands. */
static void help_wrap(const char *text, size_t column)
{
    for (const char *p = text; *p;) {
        const size_t n = strcspn(p, " ");
        if (column + 1 + n > HELP_WIDTH) {
            printf("\n%*s", HELP_LEFT + 3, "");
            column = HELP_LEFT + 3;
        }
        printf(" %.*s", (int)n, p);
        column += 1 + n;
        p += n + strspn(p + n, " ");
    }
    putchar('\n');
}

/* What an option is called and takes; a list of words that is too long goes on below. @return whether there is room beside it */
static int help_left(const char *left)
{
    const size_t room = HELP_WIDTH - 2;
    const char *p = left;
    while (strlen(p) > room) {
        size_t n = room;
        while (n > 0 && p[n - 1] != '|') n--;
        if (n == 0) break;
        printf("  %.*s\n      ", (int)n, p);
        p += n;
    }
    const int fits = p == left && strlen(left) <= HELP_LEFT;
    printf("  %-*s", fits ? HELP_LEFT : 0, p);
    return fits;
}

static void help_line(const struct arg *row)
{
    char left[160], text[512], dflt[ARG_DFLT_SZ];
    const struct arg full = arg_full(row, dflt), *r = &full;
    const char *no = r->kind == ARG_PAIR ? "[no-]" : "";
    const char *gap = takes_value(r) ? " " : "", *value = takes_value(r) ? r->value : "";
    if (r->letter) snprintf(left, sizeof left, "-%c, --%s%s%s%s", r->letter, no, r->name, gap, value);
    else snprintf(left, sizeof left, "    --%s%s%s%s", no, r->name, gap, value);
    if (r->dflt) snprintf(text, sizeof text, "%s (default: %s)", r->help, r->dflt);
    else snprintf(text, sizeof text, "%s", r->help);
    const int fits = help_left(left);
    if (fits) putchar(' ');
    help_wrap(text, fits ? HELP_LEFT + 3 : HELP_WIDTH);
}

void args_help(const struct args *a)
{
    printf("Usage: steno %s %s\n%s\n", a->verb, a->usage, a->about);
    for (const struct arg *r = a->rows; r->kind != ARG_END; r++) {
        if (r->kind == ARG_GROUP) printf("\n%s:\n", r->help);
        else help_line(r);
    }
    printf("\nHelp:\n");
    help_line(&help_row);
}

/* ---- values as JSON ---------------------------------------------------------------------------------------------------------- */

static void json_value(struct sink *f, const struct arg *r, const void *at)
{
    char text[NAME_MAX_LEN], num[NUM_SZ];
    const char *sep = "[";
    switch (r->kind) {
    case ARG_FLAG:
    case ARG_PAIR: sink_text(f, *(const int *)at ? "true" : "false"); break;
    case ARG_INT: sink_format(f, "%" PRId64, *(const int64_t *)at); break;
    case ARG_NUM: sink_text(f, isfinite(*(const double *)at) ? num_repr(num, *(const double *)at) : "null"); break;
    case ARG_WORD: utf8_json(f, word_at(text, r->value, *(const int *)at) ? text : ""); break;
    case ARG_LIST:
        for (int i = 0; word_at(text, r->value, i); i++) {
            if (!(*(const unsigned *)at >> i & 1)) continue;
            sink_text(f, sep);
            utf8_json(f, text);
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
