/* steno tests: sounds without speech, with small models of each family. SPDX-License-Identifier: MIT
 *
 * These models were trained on speech alone and write text on anything. By default what they write on silence, the last of 16 bits, hum and
 * noise is left out, and speech beside it stays as it is. */
#include <math.h>
#include "funasr.h"
#include "online_dir.h"

enum { RATE = 16000, SOUNDS = 6 };
static const char *const sound_name[SOUNDS] = { "silence", "a constant", "the last bit", "hum at -30 dB", "hum at -60 dB", "noise" };

/* writes: 1 if the model writes on silence, so that guards have work. waits: seconds of hum and noise that its streams cannot judge yet */
struct tried_model { const char *path; int writes, waits; const char *speech; };
static struct golden_path online;
static const struct tried_model models[] = {
    { "parakeet/nemo/parakeet-digits-tdt_ctc.nemo", 1, 0, "parakeet/audio/phrases.wav" },
    { "parakeet/nemo/parakeet-digits-rnnt.nemo", 1, 0, "parakeet/audio/phrases.wav" },
    { "parakeet/nemo/parakeet-digits-ctc.nemo", 1, 0, "parakeet/audio/phrases.wav" },
    { "nemotron/nemotron-tiny.nemo", 1, 2, "parakeet/audio/phrases.wav" },
    { "funasr/models/paraformer/pt", 1, 0, "funasr/audio/zh_synth_long.wav" },
    { "", 0, 2, "funasr/audio/zh_synth_long.wav" }, /* Paraformer for streams */
    { "funasr/models/sensevoice/pt", 0, 0, "funasr/audio/zh_synth_long.wav" },
    { "funasr/models/nano/pt", 0, 0, "funasr/audio/zh_synth_long.wav" },
    { "qwen3-asr/orig", 1, 0, "funasr/audio/zh_synth_long.wav" },
};
enum { MODELS = sizeof models / sizeof *models };

static struct golden_path material_file(const char *name)
{
    struct golden_path p = { "" };
    const char *shared = getenv("STENO_SHARED");
    if (shared) snprintf(p.s, sizeof p.s, "%s/material/%s", shared, name);
    return p;
}

static float noise_at(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (float)(int32_t)*seed / 2147483648.0f;
}

static void sound_fill(float *pcm, int64_t n, int which)
{
    uint32_t seed = 7;
    for (int64_t i = 0; i < n; i++) {
        const double hum = sin(2 * 3.14159265358979 * 50 * (double)i / RATE), white = (double)noise_at(&seed);
        const double x[SOUNDS] = { 0, 0.01, (double)lround(white * 1.5) / 32768, 0.0447 * hum, 0.00141 * hum, 0.01 * white };
        pcm[i] = (float)x[which];
    }
}

static steno_session *open_of(const struct tried_model *k, steno_model **m)
{
    steno_session *s;
    steno_error e;
    const struct golden_path path = *k->path ? material_file(k->path) : online;
    if (model_open_f32(m, path.s, &e)) fail_msg("%s", e.text);
    assert_int_equal(steno_session_open(&s, *m, NULL, NULL, NULL), 0);
    return s;
}

static steno_session *open_with_speech(const struct tried_model *of, steno_model **m, struct sound *speech)
{
    *speech = (struct sound){ 0 };
    assert_int_equal(sound_read(speech, material_file(of->speech).s), 0);
    return open_of(of, m);
}

static int n_best; /* of the next requests */

/* Without text there is no list, or its texts are empty. */
static void check_hypotheses(const steno_session *s, const char *name)
{
    steno_hypothesis h = { .size = sizeof h };
    for (int i = 0; !*steno_text(s) && !steno_hypothesis_get(s, i, &h); i++)
        if (*h.text || h.n_tokens) fail_msg("%s: hypothesis '%s'", name, h.text);
}

static void transcribe(steno_session *s, const float *pcm, int64_t n, int guards)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.guards = guards;
    p.n_best = n_best;
    if (n_best > 1) p.beam_size = 4;
    if (steno_transcribe(s, pcm, n, &p)) fail_msg("%s", steno_last_error(s));
}

/* Is any text left out, with its flag, its times and a text? */
static int is_left_out(const steno_session *s, int64_t n)
{
    steno_left_out l = { .size = sizeof l };
    for (int i = 0; !steno_left_out_get(s, i, &l); i++) {
        assert_true(*l.text && l.flags & STENO_FLAG_NO_SPEECH);
        assert_true(l.t0_ms >= 0 && l.t0_ms <= l.t1_ms && l.t1_ms <= n / 16 + 1000);
    }
    return steno_left_out_count(s);
}

/* Text after the first `waits` seconds. */
static int has_text_behind(const steno_session *s, int waits)
{
    steno_segment g = { .size = sizeof g };
    for (int i = 0; !steno_segment_get(s, i, &g); i++)
        if (g.t1_ms > 1000 * waits) return 1;
    return 0;
}

static void test_sounds_without_speech_give_no_text(void **state)
{
    static const int seconds[] = { 1, 10, 40 };
    float *pcm = calloc(40 * RATE, sizeof *pcm);
    assert_non_null(pcm);
    (void)state;
    for (int k = 0; k < MODELS; k++) {
        int written = 0;
        steno_model *m;
        steno_session *s = open_of(&models[k], &m);
        n_best = k < 3; /* the others have no lists of a best path */
        for (int which = 0; which < SOUNDS; which++)
            for (int i = 0; i < (which ? 2 : 3); i++) {
                const int64_t n = (int64_t)seconds[i] * RATE;
                if ((which == 1 || which > 2) && seconds[i] < 2) continue; /* steady for two seconds or more */
                sound_fill(pcm, n, which);
                transcribe(s, pcm, n, STENO_GUARDS_OFF);
                const int writes = *steno_text(s) != 0;
                assert_int_equal(steno_left_out_count(s), 0);
                transcribe(s, pcm, n, STENO_GUARDS_FLAG);
                const int waits = which == 1 || which > 2 ? models[k].waits : 0;
                if (waits ? has_text_behind(s, waits) : *steno_text(s) != 0)
                    fail_msg("%s, %s of %d s: '%s'", models[k].path, sound_name[which], seconds[i], steno_text(s));
                check_hypotheses(s, models[k].path);
                if (!is_left_out(s, n) && writes && !waits) fail_msg("%s, %s: nothing is left out", models[k].path, sound_name[which]);
                written += writes;
            }
        for (int which = 0; which < 4 && k < 3; which += 3) { /* with beams, silence and hum */
            n_best = 3;
            sound_fill(pcm, 10 * RATE, which);
            transcribe(s, pcm, 10 * RATE, STENO_GUARDS_FLAG);
            if (*steno_text(s)) fail_msg("%s, %s with beams: '%s'", models[k].path, sound_name[which], steno_text(s));
            check_hypotheses(s, models[k].path);
            assert_int_equal(steno_hypothesis_count(s), 0);
        }
        n_best = 0;
        if (models[k].writes && written < 3) fail_msg("%s writes on %d sounds: the test tries little", models[k].path, written);
        steno_session_close(s);
        steno_model_close(m);
    }
    free(pcm);
}

/* Spans of a voice-activity model are longer than clips without one. */
static void test_long_spans_without_speech_give_no_text(void **state)
{
    const int64_t n = 58 * RATE;
    steno_vad_params v;
    steno_model *vad;
    steno_error e;
    float *pcm = calloc((size_t)n, sizeof *pcm);
    assert_non_null(pcm);
    (void)state;
    sound_fill(pcm, n, 3);
    if (steno_model_open(&vad, funasr_file("%s", "fsmn-vad/pt").s, NULL, &e)) fail_msg("%s", e.text);
    steno_vad_params_init(&v);
    v.threshold = -1; /* all of it is speech */
    for (int k = 0; k < MODELS; k++) {
        steno_transcribe_params p;
        steno_model *m;
        if (models[k].waits) continue; /* streams have no long clips */
        steno_session *s = open_of(&models[k], &m);
        steno_transcribe_params_init(&p);
        p.vad_model = vad;
        p.vad = &v;
        for (int guards = 0; guards < 2; guards++) {
            p.guards = guards;
            if (steno_transcribe(s, pcm, n, &p)) fail_msg("%s: %s", models[k].path, steno_last_error(s));
            assert_true(steno_span_count(s) == 1);
            if (guards && *steno_text(s)) fail_msg("%s: '%s'", models[k].path, steno_text(s));
        }
        steno_session_close(s);
        steno_model_close(m);
    }
    steno_model_close(vad);
    free(pcm);
}

/* Speech is speech down to peaks of three steps of 16 bits, rounded or not, and in noise of 16 bits. */
static void test_speech_stays_at_any_level(void **state)
{
    enum { AS_IT_IS, NOISY, ROUNDED };
    static const struct { float gain; int how; } level[] = { { 1, AS_IT_IS },     { 0.01f, NOISY },    { 0.002f, NOISY },
                                                             { 1e-3f, AS_IT_IS }, { 3e-4f, AS_IT_IS }, { 3.2e-4f, ROUNDED } };
    (void)state;
    for (int k = 0; k < MODELS; k++) {
        steno_model *m;
        struct sound a;
        steno_session *s = open_with_speech(&models[k], &m, &a);
        float *pcm = calloc((size_t)a.n, sizeof *pcm);
        assert_non_null(pcm);
        for (size_t g = 0; g < sizeof level / sizeof *level; g++) {
            uint32_t seed = 3;
            for (int64_t i = 0; i < a.n; i++) {
                pcm[i] = a.pcm[i] * level[g].gain + (level[g].how == NOISY ? noise_at(&seed) / 32768 : 0);
                if (level[g].how == ROUNDED) pcm[i] = (float)lround((double)pcm[i] * 32768) / 32768;
            }
            transcribe(s, pcm, a.n, STENO_GUARDS_OFF);
            char *want = strdup(steno_text(s));
            assert_non_null(want);
            transcribe(s, pcm, a.n, STENO_GUARDS_FLAG);
            if (strcmp(steno_text(s), want) != 0)
                fail_msg("%s, gain %g: '%s', want '%s'", models[k].path, (double)level[g].gain, steno_text(s), want);
            free(want);
        }
        free(pcm);
        sound_free(&a);
        steno_session_close(s);
        steno_model_close(m);
    }
}

static int count_of(const char *text, const char *part)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part)) n++;
    return n;
}

/* Is sample `at` within speech or the first second after it? */
static int is_speech(int64_t at, int64_t gap, int64_t n)
{
    return (at > gap && at < gap + n) || (at > n + 2 * gap && at < 2 * n + 2 * gap);
}

/* The words of speech are kept as often as they are found without guards; what is left out lies in the silence, and segments begin near
 * speech. */
static void test_speech_beside_silence_stays(void **state)
{
    enum { GAP = 6 * RATE };
    int words = 0;
    (void)state;
    for (int k = 0; k < MODELS; k++) {
        steno_model *m;
        struct sound a;
        steno_session *s = open_with_speech(&models[k], &m, &a);
        const int64_t n = 2 * a.n + 3 * GAP;
        float *pcm = calloc((size_t)n, sizeof *pcm);
        assert_non_null(pcm);
        memcpy(pcm + GAP, a.pcm, (size_t)a.n * sizeof *pcm);
        memcpy(pcm + a.n + 2 * GAP, a.pcm, (size_t)a.n * sizeof *pcm);
        transcribe(s, a.pcm, a.n, STENO_GUARDS_OFF);
        char *alone = strdup(steno_text(s));
        transcribe(s, pcm, n, STENO_GUARDS_OFF);
        char *all = strdup(steno_text(s));
        assert_true(all && alone && *alone);
        const int said = count_of(all, alone) <= 2 ? count_of(all, alone) : 0; /* twice; a model that writes one letter proves nothing */
        words += said;
        transcribe(s, pcm, n, STENO_GUARDS_FLAG);
        if (count_of(steno_text(s), alone) < said)
            fail_msg("%s: '%s' of '%s', want '%s'", models[k].path, steno_text(s), all, alone);
        if (strlen(steno_text(s)) > strlen(all) || (!models[k].waits && strcmp(steno_text(s), all) != 0)) /* clips keep all */
            fail_msg("%s: '%s' of '%s'", models[k].path, steno_text(s), all);
        steno_left_out l = { .size = sizeof l };
        for (int i = 0; !steno_left_out_get(s, i, &l); i++) {
            int speech = 0;
            for (int64_t at = l.t0_ms; at <= l.t1_ms; at += 10) speech |= is_speech(at * 16, GAP, a.n);
            if (speech) fail_msg("%s: '%s' at %d to %d ms is left out", models[k].path, l.text, (int)l.t0_ms, (int)l.t1_ms);
        }
        free(all);
        free(alone);
        free(pcm);
        sound_free(&a);
        steno_session_close(s);
        steno_model_close(m);
    }
    assert_true(words >= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sounds_without_speech_give_no_text),
        cmocka_unit_test(test_long_spans_without_speech_give_no_text),
        cmocka_unit_test(test_speech_stays_at_any_level),
        cmocka_unit_test(test_speech_beside_silence_stays),
    };
    if (funasr_missing()) return 77;
    online = online_dir("models/paraformer/pt/model.pt", "models/paraformer-online/pt/config.yaml");
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    online_dir_remove(online);
    return failed;
}
