/* steno: times in text form. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_TIME_TEXT_H
#define STENO_TOOLS_TIME_TEXT_H
#include "cli/args.h"
#include <stdint.h>

/* Read "MM:SS" or "HH:MM:SS", optionally followed by ".mmm", up to the end of the text or a comma. Only the first number may exceed 59.
 * @return the end, or NULL if it is not such a time */
const char *time_read(const char *text, int64_t *ms);

/* Explain how --offset-ms or --duration-ms was read, if one is a number below one second and the other is written as a time. */
void time_units_report(const struct args_given *g);
#endif
