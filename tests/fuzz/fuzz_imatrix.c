/* steno: fuzzing of the reader of importance. SPDX-License-Identifier: MIT
 *
 * Both forms. Accepted columns are in order, finite and not below zero, and found by their name; a refusal has a reason. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "convert/imatrix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct file f;
    struct imatrix m;
    steno_error e = { 0 };
    file_from_memory(&f, "fuzz.dat", data, n);
    if (!imatrix_read(&m, &f, &e)) {
        if (!m.n) abort();
        for (uint32_t i = 0; i < m.n; i++) {
            uint64_t found = 0;
            const float *v = imatrix_find(&m, m.entry[i].name, &found);
            if (v != m.entry[i].v || found != m.entry[i].n || !found) abort();
            for (uint64_t k = 0; k < found; k++)
                if (!isfinite(v[k]) || v[k] < 0) abort();
        }
    } else if (!e.status || !e.text[0]) {
        abort(); /* a refusal has a reason */
    }
    imatrix_close(&m);
    return 0;
}
