/* steno: fuzzing of the command line. SPDX-License-Identifier: MIT
 *
 * The first byte chooses a verb, the rest are its arguments, a line each. Two --help follow them, so that no verb ever runs: one may be
 * taken for the value of an option, the other ends the parsing. A lone -- would end the options instead and is left out; a table of this
 * file's own, with every kind of option, takes it. What is printed goes nowhere. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "args.h"
#include "print.h"
#include "cmd.h"

enum { MOST = 64, HELP = 2, N_VERBS = 7 };

struct opts { int flag, pair, word; unsigned list; int64_t number; double real; const char *text, *maybe; };

#define AT(field) offsetof(struct opts, field)
static const struct arg rows[] = {
    { NULL, 0, ARG_GROUP, 0, 0, NULL, NULL, 0, 0, "Group" },
    { "flag", 'f', ARG_FLAG, 0, AT(flag), NULL, NULL, 0, 0, "a flag" },
    { "some-pair", 0, ARG_PAIR, 0, AT(pair), NULL, "on", 0, 0, "a pair" },
    { "word", 'w', ARG_WORD, 0, AT(word), "zero|one|two", "one", 0, 0, "a word" },
    { "list", 'l', ARG_LIST, 0, AT(list), "a|b|c|all", "a", 0, 2, "words" },
    { "number", 'n', ARG_INT, 0, AT(number), "N", "7", -10, 1e15, "a number" },
    { "real", 'r', ARG_NUM, 1, AT(real), "X|none", "0.5", -1, 1, "a real number" },
    { "text", 't', ARG_TEXT, 0, AT(text), "TEXT", NULL, 0, 0, "text" },
    { "maybe", 0, ARG_TEXT, 1, AT(maybe), "TEXT", "", 0, 0, "text, perhaps empty" },
    { 0 },
};
static const struct args table = { "try", "[OPTION]... FILE", "Try options.", rows };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Put streams in place of the standard ones, which a fuzzer needs itself. */
static void streams_swap(FILE **out, FILE **err)
{
#ifdef __GLIBC__
    FILE *o = stdout, *e = stderr;
    stdout = *out;
    stderr = *err;
    *out = o;
    *err = e;
#else
    (void)out;
    (void)err;
#endif
}

/* What was taken is in range and points into the arguments. */
static void check(const struct opts *o, char *const *argv, int n_operands, const char *text, size_t n)
{
    int bad = (o->flag | o->pair) >> 1 || o->word < 0 || o->word > 2 || !o->list || o->list >> 3;
    bad |= o->number < -10 || o->number > 1000000000000000 || o->real < -1 || o->real > 1;
    const char *const value[] = { o->text, *o->maybe ? o->maybe : NULL };
    for (int i = 0; i < 2; i++) bad |= value[i] && (value[i] < text || value[i] > text + n);
    for (int i = 0; i < n_operands; i++) bad |= argv[i] < text || argv[i] > text + n;
    if (bad) abort();
}

static void try_own(char **argv, int argc, const char *text, size_t n)
{
    struct opts o = { 0 };
    int n_operands = -1;
    const int rc = args_parse(&table, &o, NULL, argc, argv, &n_operands);
    if (rc != ARGS_RUN) return;
    if (n_operands < 0 || n_operands > argc) abort();
    check(&o, argv, n_operands, text, n);
    struct sink to = print_sink(stdout);
    args_json(&to, rows, &o, "Nothing");
}

static void try_verb(unsigned verb, char **argv, int argc)
{
    static int (*const run[N_VERBS])(int argc, char **argv) = { cmd_transcribe, cmd_translate, cmd_detect, cmd_vad,
                                                                cmd_info, cmd_doctor, cmd_bench };
    char help[] = "--help";
    int n = 0;
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--") != 0) argv[n++] = argv[i];
    for (int i = 0; i < HELP; i++) argv[n++] = help;
    const int rc = run[verb % N_VERBS](n, argv);
    if (rc < 0 || rc > 6) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static FILE *nowhere;
    if (!nowhere) nowhere = fopen("/dev/null", "w");
    if (!n || !nowhere) return 0;
    char *text = malloc(n), *argv[MOST + HELP], *again[MOST];
    int argc = 0;
    if (!text) return 0;
    memcpy(text, data + 1, n - 1);
    text[n - 1] = '\n';
    for (char *at = text; at < text + n && argc < MOST; argc++) {
        char *end = memchr(at, '\n', (size_t)(text + n - at));
        *end = 0;
        argv[argc] = again[argc] = at;
        at = end + 1;
    }
    FILE *out = nowhere, *err = nowhere;
    streams_swap(&out, &err);
    try_own(again, argc, text, n);
    try_verb(data[0], argv, argc);
    streams_swap(&out, &err);
    free(text);
    return 0;
}
