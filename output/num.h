/* steno: numbers as Python writes them. SPDX-License-Identifier: MIT */
#ifndef STENO_OUT_NUM_H
#define STENO_OUT_NUM_H

enum { NUM_SZ = 64 };

/* The shortest decimal that reads back as v, spelled as Python's repr and json.dump spell it: "3.0", "0.1", "1e-05", "1e+16", "NaN",
 * "Infinity". out has NUM_SZ bytes. @return out */
const char *num_repr(char *out, double v);
#endif
