/* steno: UTF-8 for writers and messages. SPDX-License-Identifier: MIT
 *
 * Text comes from three places that cannot be trusted alike: the model (valid UTF-8 by contract), the command line and file names (any
 * bytes). Everything that leaves the program passes through here, so that the output is always valid UTF-8. */
#ifndef STENO_TOOLS_U8_H
#define STENO_TOOLS_U8_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { U8_BAD = -1 };

/* Code point at s[0..n); *used receives its length in bytes (1 when the byte begins nothing valid). @return code point or U8_BAD */
int32_t u8_decode(const char *s, size_t n, size_t *used);

/* Byte position of the first thing that is not UTF-8, or -1 when all of s is valid. */
int64_t u8_invalid_at(const char *s);

/* The part of s without white space at either end, as Python's str.strip() sees white space. @return start; *n receives the length */
const char *u8_strip(const char *s, size_t *n);

/* Code points in s[n]; a byte that begins nothing valid counts as one. */
size_t u8_length(const char *s, size_t n);

/* s without control characters and bad bytes (both become \xNN), for messages. Writes at most n bytes, always NUL-terminated. */
void u8_printable(char *out, size_t n, const char *s);

/* s as a JSON string with quotes; everything outside printable ASCII as \uXXXX (what Python's json.dump writes). */
void u8_json(FILE *f, const char *s);
void u8_json_part(FILE *f, const char *s, size_t len); /* of len bytes */

/* Edit distance of two short words (insert, delete, replace, swap neighbours); long ones count as far apart. */
int u8_distance(const char *a, const char *b);

/* Whether a mistyped `word` is probably meant to be `name`; smaller is nearer, -1: not near. */
int u8_near(const char *word, const char *name);
#endif
