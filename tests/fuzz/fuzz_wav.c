/* steno tests: the built-in WAV reader on arbitrary bytes. SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include "media.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    atomic_int stop = 0;
    const struct media_input in = { .name = "fuzz", .mem = data, .fd = -1, .size = (int64_t)n, .stop = &stop };
    steno_error e = { 0 };
    void *d;
    if (media_wav.open(&d, &in, &e) != STENO_OK) {
        if (d || e.status == STENO_OK || !e.text[0]) abort(); /* a refusal has a reason and leaves nothing */
        return 0;
    }
    float pcm[1000];
    int64_t total = 0, again = 0, got;
    while ((got = media_wav.read(d, pcm, 1000, &e)) > 0) {
        for (int64_t i = 0; i < got; i++)
            if (!(pcm[i] >= -1.0f && pcm[i] < 1.0f)) abort();
        total += got;
    }
    media_wav.select(d, media_wav.channels(d) - 1); /* the last one alone is as long */
    if (got < 0 || total == 0 || total > (int64_t)n || media_wav.rewind(d, &e) != STENO_OK) abort();
    while ((got = media_wav.read(d, pcm, 7, &e)) > 0) again += got;
    if (again != total) abort();
    media_wav.close(d);
    return 0;
}
