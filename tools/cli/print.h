/* steno: functions of the writers for C streams. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_PRINT_H
#define STENO_TOOLS_PRINT_H
#include <stdint.h>
#include <stdio.h>

void print_json(FILE *f, const char *s);          /* a string with quotes */
void print_json_stripped(FILE *f, const char *s); /* the same, without white space at both ends */
void print_json_number(FILE *f, double value);    /* null for NaN and infinity */
void print_name(FILE *f, const char *s, int width); /* name of a file or model as in messages, padded to `width` columns */
void print_stripped(FILE *f, const char *s);      /* a cell of a line, without white space at both ends */
void print_time(FILE *f, int64_t ms);             /* [HH:]MM:SS.mmm */
#endif
