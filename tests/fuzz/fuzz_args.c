/* steno: fuzzing of the command line. SPDX-License-Identifier: MIT
 *
 * The first byte chooses a verb, the rest are its arguments, a line each. Two --help follow them, so that no verb ever runs: one may be
 * taken for the value of an option, the other ends the parsing. A lone -- would end the options instead and is left out; a table of this
 * file's own, with every kind of option, takes it. What is printed goes nowhere. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmd.h"
#include "cli/args.h"
#include "fuzz/input/argv.h"
#include "cli/message.h"

enum { N_VERBS = 7 };

struct opts { int flag, pair, word; unsigned list; int64_t number; double real; const char *text, *maybe; };

#define AT(field) offsetof(struct opts, field)
static const struct arg rows[] = {
    ARG_HEADING("Group"),
    { .name = "flag", .letter = 'f', .kind = ARG_FLAG, .at = AT(flag), .help = "a flag" },
    { .name = "some-pair", .kind = ARG_PAIR, .at = AT(pair), .dflt = "on", .help = "a pair" },
    { .name = "word", .letter = 'w', .kind = ARG_WORD, .at = AT(word), .value = "zero|one|two", .dflt = "one", .help = "a word" },
    { .name = "list", .letter = 'l', .kind = ARG_LIST, .at = AT(list), .value = "a|b|c|all", .dflt = "a", .hi = 2, .help = "words" },
    { .name = "number", .letter = 'n', .kind = ARG_INT, .at = AT(number), .value = "N", .dflt = "7", .lo = -10, .hi = 1e15,
      .help = "a number" },
    { .name = "real", .letter = 'r', .kind = ARG_NUM, .none = 1, .at = AT(real), .value = "X|none", .dflt = "0.5", .lo = -1, .hi = 1,
      .help = "a real number" },
    { .name = "text", .letter = 't', .kind = ARG_TEXT, .at = AT(text), .value = "TEXT", .help = "text" },
    { .name = "maybe", .kind = ARG_TEXT, .none = 1, .at = AT(maybe), .value = "TEXT", .dflt = "", .help = "text, perhaps empty" },
    { 0 },
};
static const struct args table = { "try", "[OPTION]... FILE", "Try options.", rows };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

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
    struct sink to = sink_to_stream(stdout);
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
    for (int i = 0; i < ARGV_SPARE; i++) argv[n++] = help;
    const int rc = run[verb % N_VERBS](n, argv);
    if (rc < 0 || rc > 6) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct argv_input in;
    char *again[ARGV_MAX];
    if (!n || argv_input_open(&in, data + 1, n - 1)) return 0;
    memcpy(again, in.argv, sizeof again);
    argv_input_quiet(&in);
    try_own(again, in.argc, in.text, n);
    try_verb(data[0], in.argv, in.argc);
    argv_input_close(&in);
    return 0;
}
