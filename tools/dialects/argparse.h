/* steno: command lines as Python's argparse reads them. SPDX-License-Identifier: MIT
 *
 * Every word is first told to be an option or not, then they are taken from left to right. Long options may be cut short; a value stands
 * behind its option, behind "=", or right behind one letter; what looks like a negative number is a value. Positional words are one run:
 * those that come behind a later option are too many. */
#ifndef STENO_TOOLS_ARGPARSE_H
#define STENO_TOOLS_ARGPARSE_H
#include "dialect.h"

/* For `type` of a dialect: an option without a value is --help, behind which nothing is read. A mistake is told with the usage, as argparse
 * does. @return EXIT_OK, or the code to end with */
int argparse_type(struct dialect_call *c, int argc, char **argv);

/* Report a mistake: usage, then "PROGRAM: error: ...". @return the dialect's exit code for mistakes */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
int argparse_error(const struct dialect_call *c, const char *fmt, ...);

/* A number as Python's int() and float() read it, without blanks and underscores. @return 1, or 0: it is none */
enum { ARGPARSE_NUMBER_SZ = 64 };
int argparse_number(char out[ARGPARSE_NUMBER_SZ], const char *text, int takes);

/* What a program is called in its own messages. */
const char *argparse_program(const struct dialect_call *c);
#endif
