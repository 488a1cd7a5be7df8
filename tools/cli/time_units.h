/* steno: milliseconds that look like seconds. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_TIME_UNITS_H
#define STENO_TOOLS_TIME_UNITS_H
#include "cli/args.h"

/* Explain how --offset-ms or --duration-ms was read, if one is a number below one second and the other is written as a time. */
void time_units_tell(const struct args_given *g);
#endif
