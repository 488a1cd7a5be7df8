/* steno: fuzzing of the reader of mean and variance. SPDX-License-Identifier: MIT
 *
 * Four values of each are required. Accepted values are finite; a refusal has a reason. */
#include <math.h>
#include <stdlib.h>
#include "load/cmvn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct file f;
    struct arena a;
    float *shift, *scale;
    steno_error e = { 0 };
    arena_init(&a);
    file_from_memory(&f, "fuzz.mvn", data, n);
    if (!cmvn_read(&f, &a, 4, &shift, &scale, &e)) {
        for (int i = 0; i < 4; i++)
            if (!isfinite(shift[i]) || !isfinite(scale[i])) abort();
    } else if (!e.status || !e.text[0] || shift || scale) {
        abort(); /* a refusal has a reason and leaves nothing */
    }
    arena_free(&a);
    return 0;
}
