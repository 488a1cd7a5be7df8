/* steno tests: windows in several languages. SPDX-License-Identifier: MIT
 *
 * Windows of three kinds, in the order of how sure the shipped model is of them: English, Chinese, and a whistle that sounds like
 * some language or other. */
#ifndef STENO_TESTS_LANGUAGES_H
#define STENO_TESTS_LANGUAGES_H
#include "funasr_model.h"
#include "shipped.h"

enum { WINDOW = 30 * RATE, KINDS = 3, MOST = 4 };
enum { ENGLISH_AT, CHINESE_AT }; /* places in the list of languages */

static steno_model *model;
static steno_session *session;
static float *kind[KINDS]; /* [WINDOW] */
static int lang[KINDS];    /* what is found in each, */
static float prob[KINDS];  /* and how probable it is */

static int no_window(void *user, int64_t at_ms)
{
    (void)user;
    (void)at_ms;
    return 0;
}

/* Only the language of windows of these kinds. @return windows that were encoded for it */
static int listen_to(const int *which, int n, int segments, double threshold)
{
    static float pcm[MOST * WINDOW];
    steno_timings t = { .size = sizeof t };
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.language_detection_segments = segments;
    p.language_detection_threshold = threshold;
    p.on_window = no_window;
    for (int i = 0; i < n; i++) memcpy(pcm + i * WINDOW, kind[which[i]], WINDOW * sizeof *pcm);
    steno_timings_reset(session);
    if (steno_transcribe(session, pcm, (int64_t)n * WINDOW, &p)) fail_msg("%s", steno_last_error(session));
    steno_timings_get(session, &t);
    return t.n_encodes;
}

static int found(void)
{
    int i = 0;
    while (strcmp(steno_model_language(model, i), steno_language(session)) != 0) i++;
    return i;
}

/* Sound into a window of its own, behind silence, before a sound as loud in all windows. */
static inline float *window_of(const float *pcm, int64_t n)
{
    float *w = calloc(WINDOW, sizeof *w);
    assert_non_null(w);
    for (int64_t i = 0; i < n; i++) w[RATE / 2 + i] = pcm[i];
    for (int i = 0; i < RATE / 20; i++) w[WINDOW - RATE + i] = 0.95f * (float)sin(0.3 * i);
    return w;
}

static inline struct audio chinese(void)
{
    enum { HEADER = 44, MOST_BYTES = 400000 };
    static uint8_t file[MOST_BYTES];
    FILE *f = fopen("tests/data/audio/zh_phrases.wav", "rb");
    assert_non_null(f);
    const size_t sz = fread(file, 1, sizeof file, f);
    fclose(f);
    assert_true(sz > HEADER);
    struct audio a = { calloc(sz / 2, sizeof(float)), (int64_t)(sz - HEADER) / 2 };
    assert_non_null(a.pcm);
    for (int64_t i = 0; i < a.n; i++) a.pcm[i] = (float)(int16_t)(file[HEADER + 2 * i] | file[HEADER + 2 * i + 1] << 8) / 32768;
    return a;
}

static int open_all(void **state)
{
    (void)state;
    const struct audio said[] = { demo_audio(0, 0, 1), chinese(), { calloc(3 * RATE, sizeof(float)), 3 * RATE } };
    model = shipped_open();
    session = session_new(model, NULL, 1);
    for (int i = 0; i < said[2].n; i++) said[2].pcm[i] = 0.3f * (float)sin(0.00001 * i * i);
    for (int i = 0; i < KINDS; i++) {
        kind[i] = window_of(said[i].pcm, said[i].n);
        free(said[i].pcm);
        listen_to(&i, 1, 1, 1);
        lang[i] = found();
        prob[i] = steno_language_prob(session, lang[i]);
    }
    return lang[0] == ENGLISH_AT && lang[1] == CHINESE_AT && lang[2] > CHINESE_AT && prob[0] > prob[1] && prob[1] > prob[2] ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    for (int i = 0; i < KINDS; i++) free(kind[i]);
    steno_session_close(session);
    steno_model_close(model);
    return 0;
}
#endif
