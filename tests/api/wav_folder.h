/* steno tests: WAV files of the shipped recording. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_API_WAV_FOLDER_H
#define STENO_TESTS_API_WAV_FOLDER_H
#include "folder.h"
#include "shipped.h"

/* Writes a WAV file: the recording over and over, times `volume`, without its last `shorter` bytes. */
static inline struct folder_file wav_put(struct folder *d, const char *name, int channels, int64_t samples, size_t shorter, float volume)
{
    const struct audio a = demo_audio(0, 0, 1);
    const uint32_t frame = 2 * (uint32_t)channels, data = frame * (uint32_t)samples;
    const uint32_t head[] = { 0x46464952, data + 36, 0x45564157, 0x20746d66, 16, 1u | (uint32_t)channels << 16, RATE, RATE * frame,
                              frame | 16u << 16, 0x61746164, data };
    uint8_t *bytes = calloc(1, sizeof head + data);
    assert_non_null(bytes);
    memcpy(bytes, head, sizeof head);
    for (int64_t i = 0; i < samples; i++)
        for (int c = 0; c < channels; c++) {
            const int16_t v = (int16_t)(a.pcm[i % a.n] * volume * 32767 / (float)(c + 1));
            memcpy(bytes + sizeof head + (size_t)(i * channels + c) * 2, &v, sizeof v);
        }
    folder_put(d, name, bytes, sizeof head + data - shorter);
    free(bytes);
    free(a.pcm);
    return folder_at(d, name);
}
#endif
