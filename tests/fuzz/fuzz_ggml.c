/* steno: fuzzing of the .bin reader. SPDX-License-Identifier: MIT
 *
 * Opens the input as a model file and reads every tensor in both ways. */
#include "fuzz/input/model.h"
#include "fuzz/input/weights.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    size_t size;
    uint8_t *bytes = model_input(data, n, &size);
    if (bytes) weights_try("fuzz.bin", bytes, size);
    free(bytes);
    return 0;
}
