/* steno: options of other programs on steno's own command line. SPDX-License-Identifier: MIT
 *
 * The words are walked in the parser's order, so a value is not mistaken for an option, and are rewritten as steno options. Output
 * formats are collected, because steno has one option for all of them. If the other program writes its results beside the sound file,
 * the rewritten command names the folder of that file. */
#include "compat/other_cli.h"
#include "cli/message.h"
#include "cli/words.h"
#include "compat/compat.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME_SZ = 64, NAMES_SZ = 160, FORMATS_SZ = 96 };
/* beside the programs: a steno option with a Python value; a steno option with a missing dash */
enum { VALUES = N_OTHER_PROGRAMS, NO_PROGRAM };

struct other_cli {
    const struct args *args;
    int argc;
    char **argv;
    struct sink_memory text;    /* the command in steno's options */
    struct sink line;           /* writes to `text` */
    char names[NAMES_SZ];       /* the words that are not steno's */
    char formats[FORMATS_SZ];   /* separated by commas, from both kinds of options */
    const char *as, *input;     /* base name of the results; the first sound file */
    const char *verb, *reason;  /* the verb to use instead; why steno has no equivalent for a word */
    char reason_of[NAME_SZ], nothing[NAME_SZ];
    unsigned programs;          /* bits of enum other_cli_program and VALUES */
    int n, writes_files, has_dir; /* number of words that are not steno's; 1: they write files; 1: a folder is named */
};

static const struct { const char *name, *compat; } programs[N_OTHER_PROGRAMS] = {
    [OTHER_WHISPER_CPP] = { "whisper.cpp", "whisper-cli" },
    [OTHER_OPENAI] = { "openai-whisper", "whisper" },
    [OTHER_FASTER] = { "faster-whisper's command lines", NULL },
    [OTHER_FUNASR] = { "FunASR", "funasr" },
};

/* ---- the command in steno's options ------------------------------------------------------------------------------------------ */

static void put_word(struct other_cli *f, const char *word)
{
    sink_char(&f->line, ' ');
    shell_word(&f->line, word);
}

static void add_format(struct other_cli *f, const char *name)
{
    const size_t n = strlen(f->formats);
    snprintf(f->formats + n, FORMATS_SZ - n, "%s%s", n ? "," : "", name);
}

/* Write the words of `here`; % is replaced by the value. */
static void put_words(struct other_cli *f, const char *here, const char *value)
{
    char word[4096];
    for (const char *p = here; *p;) {
        const size_t n = strcspn(p, " ");
        const char *mark = memchr(p, '%', n);
        if (n == 3 && !memcmp(p, "%ms", 3)) snprintf(word, sizeof word, "%g", strtod(value, NULL) / 1000);
        else if (mark) snprintf(word, sizeof word, "%.*s%s", (int)(mark - p), p, value);
        else snprintf(word, sizeof word, "%.*s", (int)n, p);
        if (mark && mark == p && !f->input && n == 1 && p == here) f->input = value; /* the value is a sound file */
        put_word(f, word);
        p += n + strspn(p + n, " ");
    }
}

/* The folder of a path as put_word quotes it; "." if the path has none. */
static void put_folder(struct other_cli *f, const char *path)
{
    char dir[4096];
    const char *slash = path ? strrchr(path, '/') : NULL;
    const int n = slash && slash > path ? (int)(slash - path) : 1;
    snprintf(dir, sizeof dir, "%.*s", n, slash ? path : ".");
    put_word(f, "-o");
    put_word(f, dir);
}

static void put_results(struct other_cli *f)
{
    char template[4096];
    if (f->formats[0]) {
        put_word(f, "-f");
        put_word(f, f->formats);
    }
    if (!f->writes_files || f->has_dir) return;
    put_folder(f, f->as ? f->as : f->input);
    if (!f->as) return;
    const char *slash = strrchr(f->as, '/');
    snprintf(template, sizeof template, "%s.{format}", slash ? slash + 1 : f->as);
    put_word(f, "--output-template");
    put_word(f, template);
}

/* ---- classification of words ------------------------------------------------------------------------------------------------- */

static void note(struct other_cli *f, const char *word, int of)
{
    const size_t n = strlen(f->names);
    if (of != NO_PROGRAM) f->programs |= 1u << of;
    if (n + strlen(word) + 8 < NAMES_SZ) snprintf(f->names + n, NAMES_SZ - n, "%s%s", n ? ", " : "", word);
    f->n++;
}

static int looks_like_path(const char *word)
{
    return strpbrk(word, "./") != NULL || strcmp(word, "-") == 0;
}

static int is_file(const char *word)
{
    struct stat st;
    return stat(word, &st) == 0;
}

/* Split "--Fp16_x=5": `name` receives "--fp16-x". @return the value after "=", or NULL */
static const char *split(char name[NAME_SZ], const char *word)
{
    const char *eq = strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
    snprintf(name, NAME_SZ, "%.*s", eq ? (int)(eq - word) : (int)strlen(word), word);
    return eq ? eq + 1 : NULL;
}

static void dashes(char *name)
{
    for (char *p = name + strspn(name, "-"); *p; p++)
        if (*p == '_') *p = '-';
}

static int is_number(const char *word)
{
    char *end;
    strtod(word, &end);
    return end != word && !*end;
}

/* A model is a file of weights, or a name without an ending, which is a folder. */
static int looks_like_model(const char *word)
{
    static const char *const ends[] = { ".gguf", ".bin", ".onnx", ".pt", ".safetensors" };
    const char *slash = strrchr(word, '/'), *dot = strrchr(slash ? slash : word, '.');
    for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
        if (strcmp(dot, ends[i]) == 0) return 1;
    return !dot && slash;
}

/* Does the value match the row? `next` is NULL at the last word. */
static int takes(const struct other_word *w, const char *next)
{
    const char *v = w->value;
    if (!v) return 1;
    if (strcmp(v, OTHER_ALONE) == 0) return !next || next[0] == '-' || (looks_like_path(next) && !looks_like_model(next));
    if (!next) return strcmp(v, "%") == 0;
    if (strcmp(v, OTHER_PATH) == 0) return looks_like_path(next);
    if (strcmp(v, OTHER_NUMBER) == 0) return is_number(next);
    if (strcmp(v, OTHER_VAD) == 0) return strstr(next, "vad") || strstr(next, "silero");
    return strcmp(v, "%") == 0 || strcmp(v, next) == 0;
}

/* Is it a steno option's name, and has the row no rule for its value? */
static int is_ours(const struct other_cli *f, const struct other_word *w)
{
    char name[NAME_SZ];
    int on;
    const int any = !w->value || strcmp(w->value, "%") == 0 || strcmp(w->value, OTHER_NUMBER) == 0;
    snprintf(name, sizeof name, "%s", w->there);
    dashes(name);
    return any && strncmp(name, "--", 2) == 0 && args_find_long(f->args, name + 2, &on);
}

static int named(const struct other_word *w, const char *word, int exact)
{
    char a[NAME_SZ], b[NAME_SZ];
    if (exact) return strcmp(w->there, word) == 0;
    if (strncmp(word, "--", 2) != 0) return 0;
    snprintf(a, sizeof a, "%s", w->there);
    snprintf(b, sizeof b, "%s", word);
    dashes(a);
    dashes(b);
    return strcmp(a, b) == 0;
}

/* Find the row of a word. `value` receives its value, `used` the number of words. @return NULL if no row matches */
static const struct other_word *find_word(const struct other_cli *f, int i, const char **value, int *used)
{
    char name[NAME_SZ];
    const char *word = f->argv[i], *next = i + 1 < f->argc ? f->argv[i + 1] : NULL, *joined = split(name, word);
    for (int exact = 1; exact >= 0; exact--) {
        for (const struct other_word *w = other_words; w->there; w++) {
            const size_t n = strlen(w->there);
            const int is_setting = w->there[0] == '+';
            if (is_setting ? strncmp(word, w->there, n) != 0 || is_file(word) : !named(w, name, exact)) continue;
            const char *v = is_setting ? word + n : joined ? joined : next;
            if (is_ours(f, w) || !takes(w, v)) continue;
            const int alone = !w->value || strcmp(w->value, OTHER_ALONE) == 0;
            *value = alone ? "" : v ? v : "N";
            *used = 1 + (!alone && v && v == next);
            return w;
        }
    }
    return NULL;
}

/* ---- equivalents that depend on the verb ------------------------------------------------------------------------------------- */

static int verb_implies(const struct other_cli *f, const char *here)
{
    const char *verb = strncmp(here, "--task ", 7) == 0 ? here + 7 : here[0] == '=' ? here + 1 : "";
    return strcmp(verb, f->args->verb) == 0;
}

static const struct arg *find_ours(const struct other_cli *f, const char *name)
{
    int on;
    return args_find_long(f->args, name, &on);
}

static int transcribes(const struct other_cli *f)
{
    return strcmp(f->args->verb, "transcribe") == 0 || strcmp(f->args->verb, "translate") == 0;
}

/* Does the verb have every option in `here`? */
static int has_options(const struct other_cli *f, const char *here)
{
    char word[NAME_SZ];
    for (const char *p = here; *p;) {
        const size_t n = strcspn(p, " ");
        snprintf(word, sizeof word, "%.*s", (int)n, p);
        if (word[0] == '-' && !(word[1] == '-' ? find_ours(f, word + 2) : args_find_short(f->args, word[1]))) return 0;
        p += n + strspn(p + n, " ");
    }
    return 1;
}

/* A format: the verb's own, or --json if the verb has that instead. */
static const char *format_here(const struct other_cli *f, const char *here)
{
    char word[ARG_WORD_SZ];
    const struct arg *r = find_ours(f, "output-format");
    for (int i = 0; r && arg_word(word, r->value, i); i++)
        if (strcmp(word, here + 1) == 0) return here;
    return strncmp(here, ":json", 5) == 0 && find_ours(f, "json") ? "--json" : NULL;
}

/* Verbs with other options for the same thing. */
static const struct { const char *verb, *there, *here; } of_verbs[] = {
    { "vad", "--vad silero", "" },
    { "vad", "--vad-model %", "-m %" },
    { "vad", "--vad fsmn --vad-model %", "-m %" },
    { "vad", "--vad fsmn", "" },
    { "align", "--word-timestamps --alignment-heads %", "--alignment-heads %" },
};

/* The words of a row for this verb; NULL if the verb has no equivalent. */
static const char *words_of_verb(const struct other_cli *f, const char *here)
{
    if (!*here || here[0] == '!') return here;
    if (verb_implies(f, here)) return "";
    for (size_t i = 0; i < sizeof of_verbs / sizeof *of_verbs; i++)
        if (strcmp(of_verbs[i].verb, f->args->verb) == 0 && strcmp(of_verbs[i].there, here) == 0) return of_verbs[i].here;
    switch (here[0]) {
    case '=': return transcribes(f) ? here : NULL;
    case ':': return format_here(f, here);
    case '>': return find_ours(f, "output-template") ? here : NULL;
    case '%': return strstr(f->args->usage, "FILE") ? here : NULL;
    default: return has_options(f, here) ? here : NULL;
    }
}

static void note_reason(struct other_cli *f, const char *name, const char *reason)
{
    if (f->reason) return;
    f->reason = reason;
    snprintf(f->reason_of, sizeof f->reason_of, "%s", name);
}

static void take_word(struct other_cli *f, const struct other_word *w, const char *word, const char *value)
{
    char name[NAME_SZ];
    const char *here = words_of_verb(f, w->here);
    split(name, word);
    if (w->there[0] == '+') snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    note(f, name, w->program);
    if (!here) {
        snprintf(f->nothing, sizeof f->nothing, "\"steno %s\" has nothing of the kind", f->args->verb);
        note_reason(f, name, f->nothing);
    } else if (here[0] == ':') {
        add_format(f, here + 1);
        f->writes_files |= w->program == OTHER_WHISPER_CPP && find_ours(f, "output-dir");
    } else if (here[0] == '>') f->as = value;
    else if (here[0] == '=') f->verb = here + 1;
    else if (here[0] == '!') note_reason(f, name, here + 1);
    else put_words(f, here, value);
}

/* ---- steno options with foreign values --------------------------------------------------------------------------------------- */

/* 1: true, 0: false, -1: neither, or a file with that name */
static int truth(const char *word)
{
    const int yes = word && (strcmp(word, "True") == 0 || strcmp(word, "true") == 0);
    const int no = word && (strcmp(word, "False") == 0 || strcmp(word, "false") == 0);
    return (yes || no) && !is_file(word) ? yes : -1;
}

static void note_value(struct other_cli *f, const char *option, const char *value)
{
    char both[NAME_SZ + 8];
    snprintf(both, sizeof both, "%s %s", option, value);
    note(f, both, VALUES);
}

/* Handle a flag. @return the number of words used */
static int take_flag(struct other_cli *f, const struct arg *r, int on, const char *option, const char *joined, const char *next)
{
    char word[NAME_SZ + 8];
    const int is = truth(joined ? joined : next);
    if (is < 0) {
        put_word(f, option);
        return 1;
    }
    note_value(f, option, joined ? joined : next);
    snprintf(word, sizeof word, "--%s%s", is == on ? "" : "no-", r->name);
    if (is == on || r->kind == ARG_PAIR) put_word(f, word);
    return joined ? 1 : 2;
}

/* Handle an option with a value. @return the number of words used */
static int take_option(struct other_cli *f, const struct arg *r, const char *option, const char *joined, const char *next)
{
    const char *value = joined ? joined : next;
    if (!value) put_word(f, option);
    else if (strcmp(r->name, "output-format") == 0) add_format(f, value);
    else if (strcmp(value, "None") != 0) {
        f->has_dir |= strcmp(r->name, "output-dir") == 0;
        put_word(f, option);
        put_word(f, value);
    } else {
        note_value(f, option, value);
        if ((r->kind == ARG_NUM || r->kind == ARG_S) && r->none) {
            put_word(f, option);
            put_word(f, "none");
        }
    }
    return joined || !value ? 1 : 2;
}

/* Handle "--name" or "--name=value". @return the number of words used */
static int walk_long(struct other_cli *f, const char *word, const char *next)
{
    char name[NAME_SZ];
    int on;
    const char *joined = split(name, word);
    dashes(name);
    const struct arg *r = args_find_long(f->args, name + 2, &on);
    if (r) return args_takes_value(r) ? take_option(f, r, name, joined, next) : take_flag(f, r, on, name, joined, next);
    put_word(f, word);
    return 1;
}

/* The long option meant by "-output" and similar; NULL if the word is a group of letters. */
static const struct arg *meant_long(const struct other_cli *f, const char *word)
{
    char name[NAME_SZ];
    split(name, word);
    dashes(name);
    const size_t n = strlen(name + 1);
    for (const struct arg *r = f->args->rows; n >= 4 && r->kind != ARG_END; r++)
        if (r->kind != ARG_GROUP && strncmp(r->name, name + 1, n) == 0) return r;
    return NULL;
}

/* Handle "-x", "-xvalue", "-x value" or "-xyz". @return the number of words used */
static int walk_short(struct other_cli *f, const char *word, const char *next)
{
    char name[NAME_SZ + 2];
    const struct arg *r = meant_long(f, word);
    if (r) {
        note(f, word, NO_PROGRAM);
        snprintf(name, sizeof name, "--%s", r->name);
        return args_takes_value(r) ? take_option(f, r, name, NULL, next) : take_flag(f, r, 1, name, NULL, next);
    }
    for (const char *p = word + 1; *p; p++) {
        r = args_find_short(f->args, *p);
        if (!r) break;
        if (!args_takes_value(r)) continue;
        f->has_dir |= *p == 'o';
        if (*p == 'f' && (p[1] || next)) {
            add_format(f, p[1] ? p + 1 : next);
            return p[1] ? 1 : 2;
        }
        put_word(f, word);
        if (p[1] || !next) return 1;
        put_word(f, next);
        return 2;
    }
    put_word(f, word);
    return 1;
}

static void walk(struct other_cli *f)
{
    for (int i = 0, options = 1; i < f->argc;) {
        const char *word = f->argv[i], *next = i + 1 < f->argc ? f->argv[i + 1] : NULL, *value = NULL;
        int used = 1;
        const struct other_word *w = options && strchr("-+", word[0]) && word[0] ? find_word(f, i, &value, &used) : NULL;
        if (w) take_word(f, w, word, value);
        else if (options && strcmp(word, "--") == 0) {
            options = 0;
            put_word(f, word);
        } else if (!options || word[0] != '-' || !word[1]) {
            if (!f->input) f->input = word;
            put_word(f, word);
        } else used = word[1] == '-' ? walk_long(f, word, next) : walk_short(f, word, next);
        i += used;
    }
}

/* ---- the reply --------------------------------------------------------------------------------------------------------------- */

static int answer(struct other_cli *f)
{
    char whose[96] = "other programs'", all[160] = "";
    const char *program = "another program";
    const unsigned only_values = 1u << VALUES, of = f->programs == only_values ? 1u << OTHER_OPENAI : f->programs & ~only_values;
    for (int i = 0; i < N_OTHER_PROGRAMS; i++) {
        if (of != 1u << i) continue;
        program = programs[i].name;
        snprintf(whose, sizeof whose, "%s's", program);
        if (i == OTHER_FASTER) snprintf(whose, sizeof whose, "%s'", programs[i].name);
        const struct compat *d = programs[i].compat ? compat_find(programs[i].compat) : NULL;
        if (d && !d->refused) snprintf(all, sizeof all, " (steno --compat %s takes all its options)", programs[i].compat);
    }
    if (f->reason) return message_usage("%s is an option of %s: %s", f->reason_of, program, f->reason);
    const char *verb = f->verb ? f->verb : strcmp(f->args->verb, "transcribe") == 0 ? "" : f->args->verb;
    if (f->line.failed) return message_usage("%s: not steno's but %s%s", f->names, whose, all);
    const char *gap = *verb ? " " : "", *words = f->text.p ? f->text.p : "";
    return message_usage("%s: not steno's but %s%s; here: steno%s%s%s", f->names, whose, all, gap, verb, words);
}

int other_cli_check(const struct args *a, int argc, char **argv)
{
    struct other_cli f = { .args = a, .argc = argc, .argv = argv };
    f.line = sink_to_memory(&f.text);
    walk(&f);
    put_results(&f);
    const int code = f.n ? answer(&f) : ARGS_RUN;
    free(f.text.p);
    return code;
}
