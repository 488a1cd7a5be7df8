/* steno: command lines of other programs. SPDX-License-Identifier: MIT
 *
 * A dialect is a table of the other program's options and of what each becomes in ours; the rest of the program does not know of it. It is
 * chosen by "--compat NAME" before everything else, or by the name that the program is called by. What another program's option asks for
 * and cannot be had here is refused by that option's name. Mistakes end with exit code 1, as there; all else with ours, so that what failed
 * there in silence does not here. */
#ifndef STENO_TOOLS_DIALECT_H
#define STENO_TOOLS_DIALECT_H
#include "transcript.h"

struct dialect_option {
    const char *name;    /* as it is typed ("--vad-maxseg"); NULL: it cannot be typed, and always holds */
    const char *to;      /* our words for it: % stands for its value, %ms for its value in seconds; NULL: none */
    const char *dflt;    /* its %ms where it is not given; NULL: it has none, and nothing comes of it then */
    const char *env;     /* the environment's name for its value, NULL: none */
    const char *taken;   /* the one value that is served, NULL: any */
    const char *refused; /* why it, or any other value, is refused; NULL: it is not */
    unsigned sets;       /* bits that it sets when it is given, by the dialect's own meaning */
    unsigned needs;      /* bits without which nothing comes of it */
    char takes_value;
};

struct dialect {
    const char *name;    /* of the program */
    const char *usage;   /* its options, on a line */
    const struct dialect_option *options; /* ends with one that is all zero */
    unsigned needed;     /* bits of options that must be given */
    int (*run)(int argc, char **argv, unsigned given);
    const char *refused; /* why there is no such dialect here; NULL: there is */
};

/* @return NULL: there is no dialect of that name */
const struct dialect *dialect_find(const char *name);

/* By the name that the program is called by, with folders and ending. */
const struct dialect *dialect_of_program(const char *called);

/* The names of all that are served, separated by commas. */
void dialect_names(char *out, size_t n);

/* Do what the arguments ask for in the dialect; `called` is the name in messages. @return the exit code */
int dialect_run(const struct dialect *d, const char *called, int argc, char **argv);

/* What a dialect writes in place of a format: the text of an input, by the bits that were given. */
struct dialect_writer {
    void (*write)(struct sink *f, const struct transcript *t, unsigned given);
    unsigned given;
};

/* As cmd_transcribe, written by w, with tags in texts where the model has any, and numbers spelled as its file asks for. */
int dialect_transcribe(int argc, char **argv, const struct dialect_writer *w);

extern const struct dialect dialects_funasr[]; /* ends with a NULL name */
#endif
