/* steno: fuzzing of the reader of .npy files. SPDX-License-Identifier: MIT
 *
 * An accepted file has as many numbers as its shape; a refusal has a reason. */
#include <stdlib.h>
#include "cli/npy_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct npy a;
    const char *bad = npy_read(&a, data, n);
    size_t product = 1;
    float sum = 0;
    for (int i = 0; i < a.n_dims; i++) product *= (size_t)a.dim[i];
    if (!bad && (!a.v || a.n != product || a.n > n)) abort();
    if (bad && !*bad) abort();
    for (size_t i = 0; i < a.n && a.v; i++) sum += a.v[i];
    if (sum == 1.5f) a.n_dims = 0; /* so that every number is read */
    free(a.v);
    return 0;
}
