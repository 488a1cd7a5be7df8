/* steno: command lines of other programs. SPDX-License-Identifier: MIT
 *
 * A dialect is a table of the other program's options and of what each becomes in ours; the rest of the program does not know of it. It is
 * chosen by "--compat NAME" before everything else, or by the name that the program is called by. What another program's option asks for
 * and cannot be had here is refused by that option's name. A mistake ends with the exit code that it has there, unless that is 0; all else
 * ends with ours, so that what failed there in silence does not here.
 *
 * Words become our words in the order of the table, of an option that is typed twice the last value; inputs stand behind them all, behind
 * "--". What no row can say, a function does: of a row (`put`), or of the dialect (`run`), which has everything that was typed. */
#ifndef STENO_TOOLS_DIALECT_H
#define STENO_TOOLS_DIALECT_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct dialect_call;

/* What is behind an option. A number is judged by its spelling here, by its range where it goes. */
enum dialect_takes { DIALECT_NOTHING, DIALECT_TEXT, DIALECT_INT, DIALECT_NUM,
                     DIALECT_BOOL, DIALECT_INT_NONE, DIALECT_NUM_NONE /* Python's: True or False; a number or None */ };

/* What every value of an option is, however often it is typed. */
enum dialect_lists { DIALECT_LAST, DIALECT_INPUT, DIALECT_OUTPUT };

struct dialect_option {
    const char *name;    /* as it is typed ("--vad-maxseg"); NULL: it cannot be typed, and always holds */
    const char *alias;   /* the other way to type it ("-bs"), NULL: none */
    const char *to;      /* our words for it: % stands for its value; NULL: none */
    int (*put)(struct dialect_call *c, const char *value); /* adds our words for it, in place of `to`. @return EXIT_OK, or the code to end
                                                            * with after a message. NULL: `to` says it */
    const char *dflt;    /* its value where it is not given; NULL: it has none, and nothing comes of it then */
    const char *env;     /* the environment's name for its value, NULL: none */
    const char *choices; /* "a|b": the values that it has there, NULL: any (argparse.h) */
    const char *taken;   /* the one value that is served, NULL: any */
    const char *refused; /* why it, or any other value, is refused; NULL: it is not */
    const char *help;    /* what it does, where that is not what our words do; NULL: they say it */
    uint64_t sets;       /* bits that it sets when it is given, by the dialect's own meaning */
    uint64_t clears;     /* bits that it takes back */
    uint64_t needs;      /* bits without which nothing comes of it */
    char takes;          /* enum dialect_takes */
    char lists;          /* enum dialect_lists: all its values count */
};

enum dialect_manner {
    DIALECT_INPUTS = 1,   /* words that do not begin with a dash, and "-", are inputs */
    DIALECT_EQUALS = 2,   /* --option=value */
    DIALECT_JOINED = 4,   /* -oDIR: a value may stand right behind an alias of one letter */
    DIALECT_SHORTENED = 8, /* long names may be cut short as long as they are those of one option */
    DIALECT_AT_FILE = 16  /* @FILE, alone: the words are its lines */
};

struct dialect {
    const char *name;    /* of the program */
    const char *usage;   /* its options, on a line, which is all that a mistake is answered with; NULL: mistakes are told */
    const struct dialect_option *options; /* ends with one that is all zero */
    uint64_t needed;     /* bits of options that must be given */
    unsigned manner;     /* enum dialect_manner */
    int mistake;         /* exit code of what is typed wrong, here or where our words are read */
    int (*type)(struct dialect_call *c, int argc, char **argv); /* reads the words in a way of its own, and tells what is wrong with them.
                                                                  * @return EXIT_OK, or the code to end with. NULL: by `manner` */
    int (*run)(struct dialect_call *c); /* @return the exit code */
    const char *refused; /* why there is no such dialect here; NULL: there is */
};

/* What was typed, and what it became. */
struct dialect_call {
    const struct dialect *dialect;
    const char *called;  /* the program, in messages */
    int n_options;
    char **value;        /* [n_options] typed last, NULL: none */
    char *is_given;      /* [n_options] */
    uint64_t given;      /* bits */
    char **input;        /* [n_inputs] */
    char **output;       /* [n_outputs] */
    int n_inputs, n_outputs;
    char **word;         /* [n_words] ours */
    int n_words;
    int room;            /* of `word` */
    void *made;          /* words that were not typed */
    int failed;          /* 1: there is no memory for words */
};

/* Do what the arguments ask for in the dialect; `called` is the name in messages. @return the exit code */
int dialect_run(const struct dialect *d, const char *called, int argc, char **argv);

/* ---- for a dialect's own functions -------------------------------------------------------------------------------------------- */

/* As it was typed last, else its default, else NULL; `name` is that of a row. */
const char *dialect_value(const struct dialect_call *c, const char *name);
int dialect_is_given(const struct dialect_call *c, const char *name);

/* Add our words, separated by spaces; or one, as it stands: it lives as long as the call. */
void dialect_put(struct dialect_call *c, const char *words);
void dialect_put_word(struct dialect_call *c, const char *word);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void dialect_put_format(struct dialect_call *c, const char *fmt, ...);

/* Report a mistake in what was typed. @return the dialect's exit code for mistakes */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
int dialect_mistake(const struct dialect_call *c, const char *fmt, ...);

/* The dialect's code for a verb's: mistakes end as they do there, everything else as here. */
int dialect_code(const struct dialect_call *c, int code);

/* Every option with what becomes of it here. */
void dialect_help(FILE *f, const struct dialect_call *c);
#endif
