/* steno: fuzzing of settings in YAML. SPDX-License-Identifier: MIT */
#include "fuzz/settings_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    settings_try(meta_read_yaml, data, n);
    return 0;
}
