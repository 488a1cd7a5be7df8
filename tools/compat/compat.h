/* steno: command lines of other programs. SPDX-License-Identifier: MIT
 *
 * A dialect is a table of another program's options and their steno equivalents; the rest of steno does not depend on it. It is selected
 * by "--compat NAME" as the first argument, or by the name under which the program is called. An option that steno cannot serve is
 * refused by name. A usage error ends with the other program's exit code, unless that is 0. All other errors end with steno's codes, so
 * failures that the other program ignores are visible.
 *
 * Options are translated in table order. If an option is repeated, the last value counts. Inputs come last, after "--". Functions do
 * what no row can express: `put` for one option, `run` for the whole dialect, with access to all typed values. */
#ifndef STENO_TOOLS_DIALECT_H
#define STENO_TOOLS_DIALECT_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct compat_call;

/* Value type of an option. The parser checks the spelling of numbers; the steno option checks the range. */
enum compat_takes { COMPAT_NOTHING, COMPAT_TEXT, COMPAT_INT, COMPAT_NUM,
                     COMPAT_BOOL, COMPAT_INT_NONE, COMPAT_NUM_NONE /* Python's True or False; a number or None */ };

/* Which values of a repeated option are kept. */
enum compat_lists { COMPAT_LAST, COMPAT_INPUT, COMPAT_OUTPUT };

struct compat_option {
    const char *name;    /* as typed ("--vad-maxseg"); NULL: it cannot be typed and always applies */
    const char *alias;   /* second spelling ("-bs"), may be NULL */
    const char *to;      /* equivalent steno words; % is replaced by the value; may be NULL */
    /* adds steno words, used instead of `to`; may be NULL. @return EXIT_OK, or the exit code after a message */
    int (*put)(struct compat_call *c, const char *value);
    const char *dflt;    /* default value; NULL: no default, and the option then has no effect */
    const char *env;     /* environment variable with its value, may be NULL */
    const char *choices; /* "a|b": values that the other program accepts, NULL: any (argparse.h) */
    const char *taken;   /* the only supported value, NULL: any */
    const char *refused; /* reason why the option, or any other value, is refused; NULL: it is accepted */
    const char *help;    /* help text, if the steno words do not explain it; may be NULL */
    uint64_t sets;       /* bits that this option sets when given; each dialect defines them */
    uint64_t clears;     /* bits that it clears */
    uint64_t needs;      /* bits without which the option has no effect */
    char takes;          /* enum compat_takes */
    char lists;          /* enum compat_lists: which values count */
};

enum compat_manner {
    COMPAT_INPUTS = 1,   /* words without a leading dash, and "-", are inputs */
    COMPAT_EQUALS = 2,   /* --option=value */
    COMPAT_JOINED = 4,   /* -oDIR: a value may directly follow a one-letter alias */
    COMPAT_SHORTENED = 8, /* long names may be abbreviated while they are unambiguous */
    COMPAT_AT_FILE = 16  /* @FILE as the only argument: its lines are the arguments */
};

struct compat {
    const char *name;    /* name of the program */
    const char *usage;   /* usage line, printed as the only reply to a usage error; NULL: errors get a message */
    const struct compat_option *options; /* ends with an all-zero row */
    uint64_t needed;     /* bits of required options */
    unsigned manner;     /* enum compat_manner */
    int mistake;         /* exit code of usage errors, found by the dialect or by steno's parser */
    /* parses the arguments itself and reports errors; NULL: parse by `manner`.
     * @return EXIT_OK, or the code to end with */
    int (*type)(struct compat_call *c, int argc, char **argv);
    int (*run)(struct compat_call *c); /* @return the exit code */
    const char *refused; /* reason why this dialect is unavailable; NULL: it is available */
};

/* A parsed command line and its translation. */
struct compat_call {
    const struct compat *compat;
    const char *called;  /* name of the program in messages */
    int n_options;
    char **value;        /* [n_options] last value typed, NULL: none */
    char *is_given;      /* [n_options] */
    uint64_t given;      /* bits of the options given */
    char **input;        /* [n_inputs] */
    char **output;       /* [n_outputs] */
    int n_inputs, n_outputs;
    char **word;         /* [n_words] steno words */
    int n_words;
    int room;            /* capacity of `word` */
    int is_own;          /* 1: words that are added were not typed */
    char own[512];       /* options among these, " --NAME" each */
    void *made;          /* memory of generated words */
    int failed;          /* 1: memory for words ran out */
};

/* Run the arguments in the dialect; `called` is the program's name in messages. @return the exit code */
int compat_run(const struct compat *d, const char *called, int argc, char **argv);

/* ---- functions for a dialect's code ------------------------------------------------------------------------------------------- */

/* The last value typed, else the default, else NULL; `name` is the name of a row. */
const char *compat_value(const struct compat_call *c, const char *name);
int compat_is_given(const struct compat_call *c, const char *name);

/* Add steno words separated by spaces, or one word unchanged. The text must live as long as the call. */
void compat_put(struct compat_call *c, const char *words);
void compat_put_word(struct compat_call *c, const char *word);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void compat_put_format(struct compat_call *c, const char *fmt, ...);

/* Report a usage error. @return the dialect's exit code for usage errors */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
int compat_mistake(const struct compat_call *c, const char *fmt, ...);

/* Translate a verb's exit code: usage errors get the dialect's code, all others keep steno's. */
int compat_code(const struct compat_call *c, int code);

/* Print every option with its steno equivalent. */
void compat_help(FILE *f, const struct compat_call *c);

/* ---- list of the dialects ---------------------------------------------------------------------------------------------------- */

/* A program's file defines its dialects, one for each name of the program. A new program needs a line here and one in compat_list.c. */
extern const struct compat compat_whisper[], compat_funasr[], compat_whisper_cli[]; /* each ends with a NULL name */

/* @return NULL if there is no dialect of that name */
const struct compat *compat_find(const char *name);

/* Dialect `i` of all dialects; NULL past the last one. */
const struct compat *compat_at(int i);

/* Find a dialect by the program's name, which may have a folder and an ending. */
const struct compat *compat_of_program(const char *called);

/* Names of all available dialects, separated by commas. */
void compat_names(char *out, size_t n);
#endif
