/* steno tests: what arbitrary bytes promise to hold, as a file of sound. SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include "media.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    atomic_int stop = 0;
    const struct media_input in = { .name = "fuzz", .mem = data, .fd = -1, .size = (int64_t)n, .stop = &stop };
    int64_t begin = 0;
    const int64_t size = media_promised_size(&in, &begin);
    if (size < -1 || begin < 0) abort();
    if (begin > (int64_t)n && size < begin) abort(); /* sound begins in the file, or in what is missing of it */
    const int is_one = media_ogg_is_one(&in) | media_ts_is_one(&in, 0x100) | media_ps_is_one(&in) |
                       media_avi_has_no_sound(&in, 0, (int64_t)n) | media_avi_is_first(&in, (int64_t)n / 2);
    if (is_one < 0 || is_one > 1) abort();
    return 0;
}
