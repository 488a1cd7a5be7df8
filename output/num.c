/* steno: numbers as Python writes them. SPDX-License-Identifier: MIT
 *
 * Results are compared byte for byte with the reference's JSON. So the digits must be the fewest that round-trip, and the switch to
 * exponents must be the same as in Python: fixed notation for decimal exponents -4..15. NaN and infinity become null, because JSON has no
 * NaN; only Python writes one. */
#include "num.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *num_repr(char *out, double v)
{
    char sci[32], digits[20];
    if (!isfinite(v)) return strcpy(out, "null");
    for (int n = 1; n <= 17; n++) {
        snprintf(sci, sizeof sci, "%.*e", n - 1, fabs(v));
        if (strtod(sci, NULL) == fabs(v)) break;
        char *last = strchr(sci, 'e') - 1; /* above a power of two the next decimal may fit although the nearest does not */
        if (*last == '9' || n == 17) continue;
        ++*last;
        if (strtod(sci, NULL) == fabs(v)) break;
    }
    const char *e = strchr(sci, 'e');
    const int exp10 = atoi(e + 1);
    int n = 0;
    for (const char *p = sci; p < e; p++)
        if (*p != '.' && n < 18) digits[n++] = *p;
    while (n > 1 && digits[n - 1] == '0') n--; /* "1.0e+01" should not occur; this makes sure */
    digits[n] = '\0';
    const char *sign = signbit(v) ? "-" : "";
    if (exp10 < -4 || exp10 > 15)
        snprintf(out, NUM_SZ, "%s%c%s%se%c%02d", sign, digits[0], n > 1 ? "." : "", digits + 1, exp10 < 0 ? '-' : '+', abs(exp10));
    else if (exp10 < 0)
        snprintf(out, NUM_SZ, "%s0.%.*s%s", sign, -exp10 - 1, "000", digits);
    else if (exp10 + 1 >= n)
        snprintf(out, NUM_SZ, "%s%s%.*s.0", sign, digits, exp10 + 1 - n, "0000000000000000");
    else
        snprintf(out, NUM_SZ, "%s%.*s.%s", sign, exp10 + 1, digits, digits + exp10 + 1);
    return out;
}
