/* steno: fuzzing of the reader of ONNX files. SPDX-License-Identifier: MIT */
#include <string.h>
#include "fuzz/input/weights.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    uint8_t *bytes = n ? malloc(n) : NULL; /* without room behind it, so that reading past the end is seen */
    if (bytes) memcpy(bytes, data, n);
    if (bytes) weights_try("fuzz.onnx", bytes, n);
    free(bytes);
    return 0;
}
