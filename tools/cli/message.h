/* steno: messages on standard error. SPDX-License-Identifier: MIT
 *
 * One line per message, prefixed by "steno: ", without control characters, even in file names. A visible progress bar is wiped first. */
#ifndef STENO_TOOLS_MESSAGE_H
#define STENO_TOOLS_MESSAGE_H

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
#endif
