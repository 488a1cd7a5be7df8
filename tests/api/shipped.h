/* steno tests: the shipped model and recording. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_SHIPPED_H
#define STENO_TESTS_SHIPPED_H
#include "api/random_model.h"

static char const shipped_model[] = "models/whisper-digits/whisper-digits.bin";
static char const demo_text[] = " zero nine one eight. two seven."; /* of tests/data/demo.wav, 3.7 s */

enum { RATE = 16000 };

struct audio { float *pcm; int64_t n; };

/* PCM of tests/data/demo.wav behind `lead` and before `tail` samples of silence, `times` times over. */
static inline struct audio demo_audio(int64_t lead, int64_t tail, int times)
{
    enum { HEADER = 44 };
    static uint8_t file[400000];
    FILE *f = fopen("tests/data/demo.wav", "rb");
    if (!f) fail_msg("tests/data/demo.wav cannot be read: tests run in the source folder");
    const size_t sz = fread(file, 1, sizeof file, f);
    fclose(f);
    assert_true(sz > HEADER && !memcmp(file, "RIFF", 4) && !memcmp(file + 36, "data", 4));
    const int64_t n = sz > HEADER ? (int64_t)(sz - HEADER) / 2 : 0, one = lead + n + tail;
    struct audio a = { calloc((size_t)(one * times), sizeof(float)), one * times };
    assert_non_null(a.pcm);
    for (int k = 0; k < times; k++)
        for (int64_t i = 0; i < n; i++) {
            const uint8_t *s = file + HEADER + 2 * i;
            a.pcm[k * one + lead + i] = (float)(int16_t)(s[0] | s[1] << 8) / 32768;
        }
    return a;
}

static inline steno_model *shipped_open_as(enum steno_compute compute)
{
    steno_model *m;
    steno_error e;
    steno_model_params p;
    steno_model_params_init(&p);
    p.compute = (int32_t)compute;
    if (steno_model_open(&m, shipped_model, &p, &e)) fail_msg("%s", e.text);
    return m;
}

static inline steno_model *shipped_open(void) { return shipped_open_as(STENO_COMPUTE_AUTO); }

static inline steno_transcribe_params params_new(void)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.language = "en";
    return p;
}

/* All contents of a result, as one number; of flags those that are asked for. */
static inline uint64_t result_digest_flags(const steno_session *s, uint32_t flags)
{
    uint64_t h = 14695981039346656037u;
    const char *text = steno_text(s);
    for (size_t i = 0; text[i]; i++) h = (h ^ (uint8_t)text[i]) * 1099511628211u;
    for (int i = 0; i < steno_segment_count(s); i++) {
        steno_segment g = { .size = sizeof g };
        steno_segment_get(s, i, &g);
        uint64_t bits;
        const double judged[] = { g.avg_logprob, g.compression_ratio, g.no_speech_prob, g.temperature };
        for (size_t k = 0; k < sizeof judged / sizeof *judged; k++) {
            memcpy(&bits, &judged[k], sizeof bits);
            h = (h ^ bits) * 1099511628211u;
        }
        const uint64_t part[] = { (uint64_t)g.t0_ms, (uint64_t)g.t1_ms, (uint64_t)g.seek_frames, (uint64_t)g.n_tokens, g.flags & flags };
        for (size_t k = 0; k < sizeof part / sizeof *part; k++) h = (h ^ part[k]) * 1099511628211u;
        for (int j = 0; j < g.n_tokens; j++) {
            steno_token t = { .size = sizeof t };
            uint32_t p;
            steno_token_get(s, i, j, &t);
            memcpy(&p, &t.logprob, sizeof p);
            h = ((h ^ (uint64_t)g.tokens[j]) * 1099511628211u ^ p) * 1099511628211u;
        }
        for (int j = 0; j < g.n_words; j++) {
            steno_word w = { .size = sizeof w };
            steno_word_get(s, i, j, &w);
            memcpy(&bits, &w.probability, sizeof bits);
            h = ((h ^ (uint64_t)w.t0_ms) * 1099511628211u ^ bits) * 1099511628211u;
        }
    }
    for (int i = 0; i < steno_hypothesis_count(s); i++) {
        steno_hypothesis f = { .size = sizeof f };
        uint64_t bits;
        steno_hypothesis_get(s, i, &f);
        memcpy(&bits, &f.score, sizeof bits);
        h = ((h ^ bits) * 1099511628211u ^ (uint64_t)f.at_ms) * 1099511628211u + (uint64_t)f.place;
        for (int j = 0; f.text[j]; j++) h = (h ^ (uint8_t)f.text[j]) * 1099511628211u;
        for (int j = 0; j < f.n_tokens; j++) {
            uint32_t p;
            memcpy(&p, &f.logprobs[j], sizeof p);
            h = ((h ^ (uint64_t)f.tokens[j]) * 1099511628211u ^ p) * 1099511628211u;
        }
    }
    return h;
}

static inline uint64_t result_digest(const steno_session *s) { return result_digest_flags(s, UINT32_MAX); }
#endif
