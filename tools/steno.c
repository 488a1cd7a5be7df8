/* steno: the main program. SPDX-License-Identifier: MIT
 *
 * The first argument is a verb; without a verb the arguments are files to transcribe. */
#include "cli/message.h"
#include "cli/signals.h"
#include "cli/terminal.h"
#include "cli/words.h"
#include "cmd.h"
#include "compat/compat.h"
#include "compat/other_cli.h"
#include "models/models_verbs.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct verb {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
    const struct args *args; /* its options, if those of other programs are recognised among them; else NULL */
};

static const struct verb verbs[] = { /* the first one is the default */
    { "transcribe", cmd_transcribe, "transcribe speech to text (the default verb)", &transcribe_args },
    { "translate", cmd_translate, "translate speech to English text", &translate_args },
    { "batch", cmd_batch, "transcribe a manifest of many files, on many machines", NULL },
    { "align", cmd_align, "print the times of the words of a known text", &align_args },
    { "detect", cmd_detect, "detect the language", &detect_args },
    { "vad", cmd_vad, "print spans of speech (voice activity detection)", &vad_args },
    { "stream", cmd_stream, "transcribe while audio arrives", NULL },
#if STENO_SERVE
    { "serve", cmd_serve, "serve transcription over HTTP", NULL },
#endif
    { "tokenize", cmd_tokenize, "print the tokens of a text", NULL },
    { "punctuate", cmd_punctuate, "punctuate a text", NULL },
    { "chat", cmd_chat, "chat with a language model", NULL },
    { "generate", cmd_generate, "answer a prompt, or continue it, with a language model", NULL },
    { "embed", cmd_embed, "print embedding vectors of texts", NULL },
    { "search", cmd_search, "search transcripts by meaning", NULL },
    { "convert", cmd_convert, "convert a model to another format", NULL },
    { "quantize", cmd_quantize, "convert a model to smaller weights", NULL },
    { "models", cmd_models, "download, list and remove models", NULL },
    { "info", cmd_info, "print contents and memory of a model", NULL },
    { "bench", cmd_bench, "time the phases of a model on this machine", &bench_args },
    { "compare", cmd_compare, "compare .npy files, or transcripts (CER, WER)", NULL },
    { "lint-subs", cmd_lint_subs, "check subtitles", NULL },
    { "doctor", cmd_doctor, "print features and problems of this machine", NULL },
    { "install-dialects", cmd_install_dialects, "make links named whisper, whisper-cli, ...", NULL },
    { "completions", cmd_completions, "print completions for bash, zsh or fish", NULL },
};

enum { N_VERBS = sizeof verbs / sizeof *verbs };

static void print_help(FILE *f)
{
    fputs("Usage: steno [OPTION]... FILE...\n"
          "       steno VERB [OPTION]... [OPERAND]...\n"
          "Speech recognition on the CPU. FILE is any audio or video file; - is standard\n"
          "input. Text goes to standard output, everything else to standard error.\n\n"
          "Verbs:\n", f);
    for (int i = 0; i < N_VERBS; i++)
        fprintf(f, "  %-16s %s\n", verbs[i].name, verbs[i].what);
    fputs("\nOften used:\n"
          "  -m, --model PATH|NAME      model; without it the best local one\n"
          "  -l, --language auto|CODE   language spoken (default: auto)\n"
          "  -f, --output-format LIST   txt, srt, vtt, tsv, json, ...; all: these five\n"
          "  -o, --output-dir DIR       write files instead of standard output\n"
          "      --demo                 use the small built-in model (spoken digits only)\n"
          "      --compat NAME          accept the options of another program: whisper\n"
          "                             (openai-whisper), whisper-cli, funasr; comes first\n\n"
          "  -h, --help [VERB]          print this help, or a verb's options\n"
          "      --version              print the version\n\n"
          "Exit codes: 0 all done, 1 some inputs failed, 2 usage, 3 model, 4 no input read,\n"
          "5 memory, 6 output not written, 7 download failed, 130 and 143 by a signal.\n", f);
}

/* The most similar verb to a mistyped word, or NULL. */
static const struct verb *near_verb(const char *word)
{
    const struct verb *best = NULL;
    int best_d = -1;
    for (int i = 0; i < N_VERBS; i++) {
        const int d = word_near(word, verbs[i].name);
        if (d < 0 || (best && d >= best_d)) continue;
        best = &verbs[i];
        best_d = d;
    }
    return best;
}

/* Synonyms of verbs. @return the verb, or NULL */
static const char *synonym_of(const char *word)
{
    static const struct { const char *word, *verb; } synonyms[] = {
        { "live", "stream" }, { "listen", "stream" }, { "lint", "lint-subs" }, { "language", "detect" },
        { "mic", "\"steno stream --mic\"" }, { "record", "\"steno stream --mic\"" }, { "dictate", "\"steno stream --mic\"" },
        { "subtitle", "\"steno transcribe -f srt\"" }, { "subtitles", "\"steno transcribe -f srt\"" },
    };
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (strcmp(word, synonyms[i].word) == 0) return synonyms[i].verb;
    return NULL;
}

/* What the user meant by a first word that is not a verb: a verb, or an action of `models` without that verb. An existing file is taken
 * as a file.
 * @return 1, or 0 if nothing is similar */
static int meant(char text[MODELS_MEANT_SZ], int argc, char **argv)
{
    struct stat st;
    if (argv[0][0] == '-' || strpbrk(argv[0], "./") || stat(argv[0], &st) == 0) return 0;
    if (models_meant_alone(text, argc, argv, 1)) return 1;
    const char *synonym = synonym_of(argv[0]);
    const struct verb *near = synonym ? NULL : near_verb(argv[0]);
    if (synonym || near) snprintf(text, MODELS_MEANT_SZ, "%s", synonym ? synonym : near->name);
    return synonym || near || models_meant_alone(text, argc, argv, 0);
}

/* @return NULL if there is no such verb */
static const struct verb *find_verb(const char *word)
{
    for (int i = 0; i < N_VERBS; i++)
        if (strcmp(word, verbs[i].name) == 0) return &verbs[i];
    return NULL;
}

static int run_verb(const struct verb *v, int argc, char **argv)
{
    const int code = v->args ? other_cli_check(v->args, argc, argv) : ARGS_RUN;
    return code == ARGS_RUN ? v->run(argc, argv) : code;
}

#ifndef STENO_NO_SERVE
#define STENO_NO_SERVE ""
#endif

/* Is it the verb that this build has not? An existing file is taken as a file. */
static int is_left_out(const char *word)
{
    struct stat st;
    return STENO_NO_SERVE[0] && strcmp(word, "serve") == 0 && stat(word, &st);
}

static int unknown_verb(int argc, char **argv)
{
    char text[MODELS_MEANT_SZ];
    if (is_left_out(argv[0])) return message_usage("steno serve is not available " STENO_NO_SERVE);
    if (meant(text, argc, argv)) return message_usage("unknown verb \"%s\"; did you mean %s?", argv[0], text);
    return message_usage("unknown verb \"%s\"; \"steno --help\" lists the verbs", argv[0]);
}

/* "help" and "--help", alone or before a verb, act as "VERB --help". */
static int help(int argc, char **argv)
{
    static char option[] = "--help";
    char *as_option = option;
    if (argc > 1) return message_usage("help takes one verb, not %d", argc);
    if (argc == 1) {
        const struct verb *v = find_verb(argv[0]);
        return v ? run_verb(v, 1, &as_option) : unknown_verb(1, argv);
    }
    print_help(stdout);
    return message_flush();
}

static int version(int argc)
{
    if (argc) return message_usage("version takes no operands");
    printf("steno %s\n", steno_version());
    return message_flush();
}

/* Run "--compat NAME" with the words after it. */
static int compat(const char *name, int argc, char **argv)
{
    char names[256];
    const struct compat *d = name ? compat_find(name) : NULL;
    if (d) return compat_run(d, name, argc, argv);
    compat_names(names, sizeof names);
    if (!name) return message_usage("--compat needs the name of a program: %s", names);
    return message_usage("--compat: unknown program \"%s\"; known programs: %s", name, names);
}

static int is_one_of(const char *word, const char *a, const char *b, const char *c)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

static int run(int argc, char **argv)
{
    const struct compat *d = argc > 0 ? compat_of_program(argv[0]) : NULL;
    if (d) return compat_run(d, argv[0], argc - 1, argv + 1);
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    const char *first = argv[1];
    if (is_one_of(first, "--help", "-h", "help")) return help(argc - 2, argv + 2);
    if (is_one_of(first, "--version", "-V", "version")) return version(argc - 2);
    if (strcmp(first, "--compat") == 0) return compat(argv[2], argc - 3, argv + 3);
    if (strncmp(first, "--compat=", 9) == 0) return compat(first + 9, argc - 2, argv + 2);
    const struct verb *v = find_verb(first);
    char text[MODELS_MEANT_SZ];
    if (v) return run_verb(v, argc - 2, argv + 2);
    if (is_left_out(first)) return unknown_verb(argc - 1, argv + 1);
    return meant(text, argc - 1, argv + 1) ? unknown_verb(argc - 1, argv + 1) : run_verb(verbs, argc - 1, argv + 1);
}

/* The number of a closed standard stream would be given to the next opened file. It is replaced by a stream that fails when used. */
static void hold_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) != -1) continue;
        const int held = open("/dev/null", fd == 1 ? O_RDONLY : O_WRONLY);
        (void)held; /* open returns the lowest free number, which is fd */
    }
}

/* Allocate the buffer now. The C library would do so at the first write, and report lack of memory as a full disk. */
static void buffer_standard_output(void)
{
    static char buffer[1 << 14];
    setvbuf(stdout, buffer, terminal_is(stdout) ? _IOLBF : _IOFBF, sizeof buffer);
}

/* With limited address space, a stack that must grow when memory is used up ends the program without a message. So it grows now, deeper
 * than any work of this thread needs. */
__attribute__((noinline)) static void grow_stack(void)
{
    enum { DEPTH = 512 << 10, PAGE = 4096 };
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) || space.rlim_cur == RLIM_INFINITY) return;
    char deep[DEPTH];
    volatile char *at = deep;
    for (size_t i = DEPTH; i >= PAGE; i -= PAGE) at[i - PAGE] = 0;
}

int main(int argc, char **argv)
{
    grow_stack();
    hold_standard_streams();
    if (terminal_begin()) {
        message("out of memory for standard output");
        return EXIT_MEMORY;
    }
    buffer_standard_output();
    signals_install();
    const int code = run(argc, argv);
    const int flushed = message_flush();
    terminal_end();
    return code == EXIT_OK ? flushed : code;
}
