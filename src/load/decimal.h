/* steno: decimal numbers of settings. SPDX-License-Identifier: MIT */
#ifndef STENO_LOAD_DECIMAL_H
#define STENO_LOAD_DECIMAL_H
#include <stddef.h>
#include <stdint.h>

/* Length of the longest number at s: [sign] digits [. digits] [e [sign] digits]. `strict` selects JSON's rules (no plus sign, no leading
 * zero, a digit on both sides of the point), otherwise YAML's. 0: no number. *whole: 1 if it has neither point nor exponent. */
size_t decimal_scan(const char *s, size_t n, int strict, int *whole);
/* Value of n characters that decimal_scan found, independent of the locale. Exact up to 15 digits with small exponents, else within 1
 * ulp. */
double decimal_value(const char *s, size_t n);
/* Whole number of n characters that decimal_scan found. @return 0: out of range */
int decimal_whole(const char *s, size_t n, int64_t *out);
#endif
