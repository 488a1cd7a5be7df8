/* steno: options as they were typed. SPDX-License-Identifier: MIT
 *
 * Who typed an option is told about it as it was typed; the library's fields, which options set, have names of their own that nobody
 * typed. Here the library judges options by its table, and what it says is told with their names. */
#ifndef STENO_TOOLS_OPTION_NAMES_H
#define STENO_TOOLS_OPTION_NAMES_H
#include "args.h"
#include <steno/steno.h>

enum { OPTION_TEXT_SZ = 1024 };

/* The option `name` was typed; "" is none. NULL for g: nothing was. */
int option_was_given(const struct args_given *g, const char *name);

/* It counts as not typed from here on: it was about something else. */
void option_forget(struct args_given *g, const char *name);

/* As it was typed, "--no-NAME" or "-x"; else "--NAME". @return out */
const char *option_name(char out[OPTION_TEXT_SZ], const struct args_given *g, const char *name);

/* A reason with the names of options in place of those of fields. @return out */
const char *option_reason(char out[OPTION_TEXT_SZ], const struct args_given *g, const char *reason);

/* Let the library judge parameters, of which those count as asked for whose options were typed. @return EXIT_OK or EXIT_USAGE, after a
 * message */
int option_check(const struct args_given *g, const steno_model *m, enum steno_call call, const void *params);

/* Whether the model serves a field of steno_transcribe_params. */
int option_served(const steno_model *m, const char *field);
#endif
