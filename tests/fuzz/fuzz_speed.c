/* steno tests: lines of what was measured of machines. SPDX-License-Identifier: MIT
 *
 * The first byte is the length of the key that is looked up in the line; a figure that is taken is one that a machine can have. */
#include "models/figures.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    double v[2];
    if (!n) return 0;
    const size_t n_line = n - 1, n_key = data[0] < n_line ? data[0] : n_line;
    char *line = malloc(n_line + 1), *key = malloc(n_key + 1);
    if (!line || !key) abort();
    memcpy(line, data + 1, n_line);
    line[n_line] = 0;
    memcpy(key, line, n_key);
    key[n_key] = 0;
    if (figures_line(v, 2, line, key)) {
        if (line[strlen(key)] != '\t') abort();
        for (int i = 0; i < 2; i++)
            if (!(v[i] > 0.01 && v[i] < 1e6)) abort();
    }
    free(line);
    free(key);
    return 0;
}
