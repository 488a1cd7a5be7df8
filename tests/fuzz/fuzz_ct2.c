/* steno: fuzzing of the reader of CTranslate2's model.bin. SPDX-License-Identifier: MIT */
#include <string.h>
#include "fuzz/input/weights.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    uint8_t *bytes = malloc(n ? n : 1); /* without room behind it, so that reading past the end is seen */
    if (bytes && n) memcpy(bytes, data, n);
    if (bytes) weights_try("model.bin", bytes, n);
    free(bytes);
    return 0;
}
