/* steno: command lines as Python's argparse reads them. SPDX-License-Identifier: MIT
 *
 * First every word is classified as an option or an argument, then words are processed from left to right. Long options may be
 * abbreviated. A value follows its option as the next word, after "=", or directly after a one-letter option. A word that looks like a
 * negative number is a value. Positional arguments must be contiguous; those after a later option are rejected. */
#ifndef STENO_TOOLS_ARGPARSE_H
#define STENO_TOOLS_ARGPARSE_H
#include "compat/compat.h"

/* The `type` function of a dialect. An option without a value is --help, and parsing stops there. Errors are printed with the usage, as
 * argparse prints them. @return EXIT_OK, or the code to end with */
int argparse_type(struct compat_call *c, int argc, char **argv);

/* Report an error: usage, then "PROGRAM: error: ...". @return the dialect's exit code for usage errors */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
int argparse_error(const struct compat_call *c, const char *fmt, ...);

/* Parse a number as Python's int() and float() do, but without blanks and underscores. @return 1, or 0 if it is not a number */
enum { ARGPARSE_NUMBER_SZ = 64 };
int argparse_number(char out[ARGPARSE_NUMBER_SZ], const char *text, int takes);

/* The program's name in its own messages. */
const char *argparse_program(const struct compat_call *c);
#endif
