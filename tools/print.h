/* steno: what the writers write, to a stream of the C library. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_PRINT_H
#define STENO_TOOLS_PRINT_H
#include <stdint.h>
#include <stdio.h>

void print_json(FILE *f, const char *s);          /* a string with quotes */
void print_json_stripped(FILE *f, const char *s); /* the same without white space at the ends */
void print_json_number(FILE *f, double value);    /* null for what is no number */
void print_name(FILE *f, const char *s, int width); /* of a file or a model, as messages show it, in at least `width` columns */
void print_stripped(FILE *f, const char *s);      /* a cell of a line, without white space at the ends */
void print_time(FILE *f, int64_t ms);             /* [HH:]MM:SS.mmm */
#endif
