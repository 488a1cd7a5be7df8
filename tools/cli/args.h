/* steno: command-line options as a table. SPDX-License-Identifier: MIT
 *
 * Each option is one row: its spelling, accepted values, default, destination and help text. Parsing, defaults, --help and error
 * messages read the same rows, so they agree. */
#ifndef STENO_TOOLS_ARGS_H
#define STENO_TOOLS_ARGS_H
#include "sink.h"
#include <stddef.h>

enum arg_kind {
    ARG_END = 0,
    ARG_GROUP, /* a heading of the help; only `help` counts */
    ARG_FLAG,  /* int: 1 when given */
    ARG_PAIR,  /* int: --name gives 1, --no-name gives 0 */
    ARG_INT,   /* int64_t in [lo, hi] */
    ARG_NUM,   /* double in [lo, hi]; with `none` set, the word none is accepted, too, and gives NAN */
    ARG_MS,    /* ARG_INT of milliseconds; may be written as a time: 1:30, 1:02:03.5 */
    ARG_S,     /* ARG_NUM of seconds; may be written as a time */
    ARG_TEXT,  /* const char *, not empty unless `none` is set */
    ARG_TEXTS, /* struct arg_texts: a text for each time that the option is given */
    ARG_WORD,  /* int: index of one of the words of `value`, which are separated by | */
    ARG_LIST   /* unsigned: bits of the words of `value`, given with commas; "all" means the first `hi` words, or every word if hi is 0 */
};

enum { ARG_TEXTS_MAX = 16 };
struct arg_texts {
    const char *text[ARG_TEXTS_MAX]; /* [n] */
    int n;
};

struct arg {
    const char *name; /* without dashes */
    char letter;      /* one-letter form, or 0 */
    char kind;        /* enum arg_kind */
    char none;        /* meaning as above */
    size_t at;        /* offset of the value in the verb's options */
    const char *value; /* name of the value in the help; the words of ARG_WORD and ARG_LIST */
    const char *dflt; /* default, written as on the command line ("on" and "off" for pairs); NULL: zero */
    double lo, hi;
    const char *help;
};

#define ARG_HEADING(text) { .kind = ARG_GROUP, .help = text }

/* As a default: take default and range from the library's parameter that the option sets. */
#define ARG_OF_PARAM "\1"

/* The library's parameter that the option `name` sets. Usually it has the same name, with _ for -.
 * @param unit  receives the factor from the option's unit to the parameter's, such as 1000 for seconds */
void arg_param(char *out, size_t n, const char *name, double *unit);

struct args {
    const char *verb;  /* "transcribe" */
    const char *usage; /* "[OPTION]… FILE…" */
    const char *about; /* purpose of the verb, one or more lines */
    const struct arg *rows;
};

enum { ARGS_RUN = -1 }; /* returned by args_parse: continue */

/* Which options were given and how they were spelled, in row order. */
enum { ARGS_MAX = 192 };
struct args_given {
    const struct args *args;
    const char *program, *own; /* whose command line it is, and the options that this program sets by itself, " --NAME" each; NULL: none */
    struct { char how; const char *text; } row[ARGS_MAX]; /* how: 0 not given, '-' --NAME, '!' --no-NAME, else the letter */
};

/* The row, completed from the library's table of parameters; `dflt` then has the default. */
enum { ARG_DFLT_SZ = 64 };
struct arg arg_full(const struct arg *r, char dflt[ARG_DFLT_SZ]);

/* Fill *opts with the defaults, parse argv[0..argc) into it, and record the given options in *given (may be NULL).
 *
 * Operands are moved to the front of argv and counted in *n_operands. Text values point into argv. Values and operands that are paths,
 * by the names that the help gives them, get the slashes of path_typed.
 * @return ARGS_RUN, or the exit code to end with (after the help or an error message) */
int args_parse(const struct args *a, void *opts, struct args_given *given, int argc, char **argv, int *n_operands);

/* Print the help, with the common options or with all; print the verb's manual page (roff). */
void args_help(const struct args *a, int all);
void args_man(const struct args *a);
/* --help and --help-all, common to all verbs; --help-man is used by the build. */
extern const struct arg args_help_row, args_help_all_row, args_help_man_row;

/* The row of "--name" (with dashes) or of "-letter", also of --help; NULL if there is none. *on: 0 for --no-name. */
const struct arg *args_find_long(const struct args *a, const char *name, int *on);
const struct arg *args_find_short(const struct args *a, char letter);
int args_takes_value(const struct arg *r);
/* Is the value a file or a folder, or may it be one? */
int args_takes_path(const struct arg *r);
/* Copy word `i` of "a|b|c" into out[ARG_WORD_SZ]. @return 1, or 0 past the last one */
enum { ARG_WORD_SZ = 64 };
int arg_word(char *out, const char *words, int i);

/* Write the values of *opts as a JSON object on one line, with the names of the rows as keys. Options under the headings in `but`
 * ("Output|Messages") are left out. The word none and absent texts become null. */
void args_json(struct sink *f, const struct arg *rows, const void *opts, const char *but);
#endif
