/* steno: numbers that look like seconds beside times. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_TIME_UNITS_H
#define STENO_TOOLS_TIME_UNITS_H
#include "args.h"

/* Print how --offset-ms or --duration-ms was understood, where it is a number below one second and the other is written as a time. */
void time_units_tell(const struct args_given *g);
#endif
