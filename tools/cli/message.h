/* steno: messages and printed values. SPDX-License-Identifier: MIT
 *
 * A message is one line on standard error, prefixed by "steno: ", without control characters, even in file names. A visible progress bar
 * is wiped first. Values go to C streams by the functions of the writers. */
#ifndef STENO_TOOLS_MESSAGE_H
#define STENO_TOOLS_MESSAGE_H
#include <stdint.h>
#include <stdio.h>

/* Exit codes of every verb. */
enum exit_code {
    EXIT_OK = 0,
    EXIT_SOME = 1,    /* some inputs failed; the results of the others are written */
    EXIT_USAGE = 2,
    EXIT_MODEL = 3,   /* model missing, damaged or unsupported */
    EXIT_INPUT = 4,   /* no input could be read */
    EXIT_MEMORY = 5,
    EXIT_OUTPUT = 6,  /* output could not be written */
    EXIT_NETWORK = 7, /* the download failed */
    EXIT_SIGNAL = 128 /* + number of the signal */
};

#if defined(__GNUC__)
#define MESSAGE_FORMAT(f, a) __attribute__((format(printf, f, a)))
#else
#define MESSAGE_FORMAT(f, a)
#endif

void message(const char *fmt, ...) MESSAGE_FORMAT(1, 2);           /* "steno: …\n" */
int message_usage(const char *fmt, ...) MESSAGE_FORMAT(1, 2);      /* the same; @return EXIT_USAGE */
void message_file(const char *file, const char *reason);       /* "steno: FILE: reason"; FILE is not printed twice */
void message_bar(const char *line);                            /* draw the progress bar; NULL wipes it */

/* The exit code for a failed library call that involves a model. */
int message_model_error(const char *file, int status, const char *reason);

/* Print "steno: PATH: cannot write: reason", from an errno. @return EXIT_MEMORY if out of memory, else EXIT_OUTPUT */
int message_not_written(const char *path, int why);

/* Flush standard output. @return EXIT_OK, or as message_not_written (only the first failure is reported) */
int message_flush(void);

/* ---- files that are both read and written ------------------------------------------------------------------------------------ */

struct path_guard;

/* Report the status of a ledger call. @return its exit code */
int path_guard_code(const struct path_guard *l, int status);

/* Register `path` as read in this run; standard output must not be the same file. @param l  NULL: the run writes no other file */
int path_guard_code_read(struct path_guard *l, const char *what, const char *path);
int path_guard_code_stdout(struct path_guard *l); /* register standard output as written */

/* ---- values on C streams ----------------------------------------------------------------------------------------------------- */

void print_json(FILE *f, const char *s);          /* a string with quotes */
void print_json_stripped(FILE *f, const char *s); /* the same, without white space at both ends */
void print_json_number(FILE *f, double value);    /* null for NaN and infinity */
void print_name(FILE *f, const char *s, int width); /* name of a file or model as in messages, padded to `width` columns */
void print_stripped(FILE *f, const char *s);      /* a cell of a line, without white space at both ends */
void print_time(FILE *f, int64_t ms);             /* [HH:]MM:SS.mmm */
#endif
