/* steno: option names in messages. SPDX-License-Identifier: MIT
 *
 * Messages name an option as the user typed it. The library's parameter fields have other names. The library checks the parameters with
 * its table, and its reasons are printed here with the option names. */
#ifndef STENO_TOOLS_OPTION_NAMES_H
#define STENO_TOOLS_OPTION_NAMES_H
#include "cli/args.h"
#include <steno/steno.h>

enum { OPTION_TEXT_SZ = 1024 };

/* Was the option `name` typed? "" is never typed; with g NULL no option was. */
int option_was_given(const struct args_given *g, const char *name);

/* From here on the option counts as not typed, because it applied to something else. */
void option_forget(struct args_given *g, const char *name);

/* The option as typed, "--no-NAME" or "-x"; otherwise "--NAME". @return out */
const char *option_name(char out[OPTION_TEXT_SZ], const struct args_given *g, const char *name);

/* Replace field names in a reason by option names, and name another program that sets the first of them. @return out */
const char *option_reason(char out[OPTION_TEXT_SZ], const struct args_given *g, const char *reason);

/* Let the library check the parameters; those whose options were typed count as requested. @return EXIT_OK or EXIT_USAGE, after a
 * message */
int option_check(const struct args_given *g, const steno_model *m, enum steno_call call, const void *params);

/* Does the model support this field of steno_transcribe_params? */
int option_served(const steno_model *m, const char *field);
int option_reads_chunks(const steno_model *m); /* decodes a stream chunk by chunk, and never changes a word */
#endif
