/* steno: decimal numbers of settings. SPDX-License-Identifier: MIT
 *
 * strtod uses the decimal point of the process's locale, and the locale belongs to the caller. */
#include "load/decimal.h"

#include <float.h>

enum { EXACT_EXP = 22, MAX_EXP = 5000 }; /* 10^22 is the last power of ten that a double holds exactly */

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t digits(const char *s, size_t n, size_t at)
{
    while (at < n && is_digit(s[at])) at++;
    return at;
}

size_t decimal_scan(const char *s, size_t n, int strict, int *whole)
{
    size_t at = n && (s[0] == '-' || (s[0] == '+' && !strict));
    const size_t first = at;
    at = digits(s, n, at);
    size_t n_digits = at - first;
    *whole = 1;
    if (strict && (!n_digits || (n_digits > 1 && s[first] == '0'))) return 0;
    if (at < n && s[at] == '.') {
        const size_t end = digits(s, n, at + 1), more = end - at - 1;
        if (strict && !more) return 0;
        n_digits += more;
        at = end;
        *whole = 0;
    }
    if (!n_digits) return 0;
    if (at < n && (s[at] == 'e' || s[at] == 'E')) {
        size_t e = at + 1;
        if (e < n && (s[e] == '-' || s[e] == '+')) e++;
        const size_t end = digits(s, n, e);
        if (end == e) return strict ? 0 : at;
        at = end;
        *whole = 0;
    }
    return at;
}

int decimal_whole(const char *s, size_t n, int64_t *out)
{
    const int minus = n && s[0] == '-';
    const uint64_t max = (uint64_t)INT64_MAX + (uint64_t)minus;
    uint64_t v = 0;
    for (size_t i = n && !is_digit(s[0]); i < n; i++) {
        const uint64_t d = (uint64_t)(s[i] - '0');
        if (v > (max - d) / 10) return 0;
        v = 10 * v + d;
    }
    *out = minus && v ? -(int64_t)(v - 1) - 1 : (int64_t)v;
    return 1;
}

/* The digits as an integer, at most 19 of them, and the exponent for it. */
static uint64_t mantissa(const char *s, size_t n, int *exp10)
{
    uint64_t m = 0;
    int e = 0, seen_point = 0;
    size_t i = n && !is_digit(s[0]) && s[0] != '.';
    for (; i < n && (is_digit(s[i]) || s[i] == '.'); i++) {
        if (s[i] == '.') {
            seen_point = 1;
            continue;
        }
        const int fits = m <= (UINT64_MAX - 9) / 10;
        if (fits) m = 10 * m + (uint64_t)(s[i] - '0');
        if (e > -MAX_EXP && e < MAX_EXP) e += !fits - seen_point;
    }
    int x = 0, minus = 0;
    for (i += i < n; i < n; i++) {
        if (!is_digit(s[i])) minus = s[i] == '-';
        else if (x < MAX_EXP) x = 10 * x + (s[i] - '0');
    }
    *exp10 = e + (minus ? -x : x);
    return m;
}

double decimal_value(const char *s, size_t n)
{
    int e;
    const uint64_t m = mantissa(s, n, &e);
    const double sign = n && s[0] == '-' ? -1 : 1;
    const int up = e > 0;
    if (!m) return sign * 0.0;
    if (m < UINT64_C(1) << DBL_MANT_DIG && e >= -EXACT_EXP && e <= EXACT_EXP) { /* both exact, so one rounding */
        double power = 1;
        for (int i = up ? e : -e; i; i--) power *= 10;
        return sign * (up ? (double)m * power : (double)m / power);
    }
    long double x = (long double)m, ten = 10;
    for (unsigned i = (unsigned)(up ? e : -e); i; i >>= 1, ten *= ten)
        if (i & 1) x = up ? x * ten : x / ten;
    return sign * (double)x;
}
