/* steno: fuzzing of settings in YAML. SPDX-License-Identifier: MIT */
#include "fuzz/input/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    settings_try(meta_read_yaml, data, n);
    return 0;
}
