/* steno: UTF-8 for writers and messages. SPDX-License-Identifier: MIT
 *
 * Text comes from sources of different trust: the model (valid UTF-8 by contract), the command line and file names (any bytes). All output
 * of the program passes through here, so it is always valid UTF-8. */
#ifndef STENO_OUT_UTF8_H
#define STENO_OUT_UTF8_H
#include "sink.h"
#include <stddef.h>
#include <stdint.h>

enum { UTF8_BAD = -1 };

/* Code point at s[0..n); *used receives its length in bytes (1 if the byte begins nothing valid). @return code point or UTF8_BAD */
int32_t utf8_decode(const char *s, size_t n, size_t *used);

/* Byte position of the first invalid UTF-8, or -1 if all of s is valid. */
int64_t utf8_invalid_at(const char *s);

/* The part of s without white space at either end, as defined by Python's str.strip(). @return start; *n receives the length */
const char *utf8_strip(const char *s, size_t *n);

/* Code points in s[n]; an invalid byte counts as one. */
size_t utf8_length(const char *s, size_t n);

/* Copies s for messages. Control characters and invalid bytes become \xNN. Writes at most n bytes, always NUL-terminated. */
void utf8_printable(char *out, size_t n, const char *s);

/* Writes s as a JSON string with quotes; everything outside printable ASCII as \uXXXX (as Python's json.dump does). */
void utf8_json(struct sink *f, const char *s);
void utf8_json_part(struct sink *f, const char *s, size_t len); /* len bytes */
#endif
