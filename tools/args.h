/* steno: command-line options as a table. SPDX-License-Identifier: MIT
 *
 * One row per option says how it is spelled, what it accepts, its default, where the value goes and what the help prints. Parsing,
 * defaults, --help and the messages about mistakes all read the same rows, so they cannot disagree. */
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
    ARG_NUM,   /* double in [lo, hi]; with `none` set also the word none, which gives NAN */
    ARG_MS,    /* ARG_INT of milliseconds, which may be written as a time, too: 1:30, 1:02:03.5 */
    ARG_S,     /* ARG_NUM of seconds, also as a time */
    ARG_TEXT,  /* const char *, not empty unless `none` is set */
    ARG_WORD,  /* int: index into the words of `value`, which are separated by | */
    ARG_LIST   /* unsigned: bit set over the words of `value`; several are separated by commas; the word all means the
                  first `hi` words, or with hi 0 every one */
};

struct arg {
    const char *name; /* without dashes */
    char letter;      /* short form, or 0 */
    char kind;        /* enum arg_kind */
    char none;        /* see above */
    size_t at;        /* offset of the value in the verb's options */
    const char *value; /* what the help calls the value; the words of WORD and LIST */
    const char *dflt; /* default, written as on the command line ("on" and "off" for pairs), NULL: zero */
    double lo, hi;
    const char *help;
};

#define ARG_HEADING(text) { .kind = ARG_GROUP, .help = text }

/* In place of a default: that of the library's parameter that the option sets, and its range. */
#define ARG_OF_PARAM "\1"

/* The library's parameter that the option `name` sets: the one of its name, with _ for -, but for a few.
 * @param unit  receives how much of it one of the option's units is: milliseconds for seconds */
void arg_param(char *out, size_t n, const char *name, double *unit);

struct args {
    const char *verb;  /* "transcribe" */
    const char *usage; /* "[OPTION]… FILE…" */
    const char *about; /* what the verb does; one or more lines */
    const struct arg *rows;
};

enum { ARGS_RUN = -1 }; /* from args_parse: go on */

/* Which options were given, and how they were spelled, by the order of the rows. */
enum { ARGS_MOST = 192 };
struct args_given {
    const struct args *args;
    struct { char how; const char *text; } row[ARGS_MOST]; /* how: 0 not at all, '-' --NAME, '!' --no-NAME, else the letter */
};

/* The row, completed from the library's table of parameters; `dflt` then holds its default. */
enum { ARG_DFLT_SZ = 64 };
struct arg arg_full(const struct arg *r, char dflt[ARG_DFLT_SZ]);

/* Parse argv[0..argc) into *opts, which is first filled with the defaults, and note in *given (may be NULL) what there was.
 *
 * Operands are moved to the front of argv, *n_operands is their number; text values point into argv.
 * @return ARGS_RUN, or the exit code to end with (help was printed, or a message about a mistake) */
int args_parse(const struct args *a, void *opts, struct args_given *given, int argc, char **argv, int *n_operands);

/* What args_help.c prints: the options that are often used, or all; and a manual page (roff) of the verb. */
void args_help(const struct args *a, int all);
void args_man(const struct args *a);
/* --help and --help-all, which every verb has; --help-man is for the build. */
extern const struct arg args_help_row, args_help_all_row, args_help_man_row;

/* The row of "--name", written with dashes, or of "-letter", --help among them; NULL: there is none. *on: 0 for --no-name. */
const struct arg *args_find_long(const struct args *a, const char *name, int *on);
const struct arg *args_find_short(const struct args *a, char letter);
int args_takes_value(const struct arg *r);
/* Copy word `i` of "a|b|c" into out[ARG_WORD_SZ]. @return 1, or 0 past the last one */
enum { ARG_WORD_SZ = 64 };
int arg_word(char *out, const char *words, int i);

/* The values of *opts as a JSON object on one line, by the names of the rows; options below the headings in `but` ("Output|Messages") are
 * left out, the word none and texts that were not given are null. */
void args_json(struct sink *f, const struct arg *rows, const void *opts, const char *but);
#endif
