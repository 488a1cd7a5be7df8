/* steno fuzz: any bytes as a text whose words are looked for. SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include "text/words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    size_t last = 0;
    for (size_t at, end = 0; mixed_word_next(text, size, &at, &end); last = end) {
        if (at < last || end <= at || end > size) abort();
        mixed_ends_marked(text + at, end - at);
        mixed_begins_marked(text + at, end - at);
    }
    return 0;
}
