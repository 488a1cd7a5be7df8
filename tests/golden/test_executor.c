/* steno tests: FunASR's models on another executor. SPDX-License-Identifier: MIT
 *
 * The small SenseVoice and FSMN-VAD's real weights, on the CPU's executor and on the plain one: ids of every row, texts, probabilities
 * of every frame, spans. */
#include "funasr.h"
#include "executor/side.h"

static void both_open(struct side g[2], const char *path)
{
    for (int i = 0; i < 2; i++) side_open(&g[i], NULL, funasr_file("%s", path).s, i, 1, 0);
}

static void both_close(struct side g[2])
{
    for (int i = 0; i < 2; i++) side_close(&g[i]);
}

static void test_sensevoice_is_the_same(void **state)
{
    (void)state;
    static const char *const names[] = { "en_george", "zh_synth" };
    struct side g[2];
    both_open(g, "models/sensevoice/pt");
    for (int k = 0; k < 2; k++) {
        struct sound a;
        assert_int_equal(sound_read(&a, funasr_file("audio/%s.wav", names[k]).s), 0);
        for (int i = 0; i < 2; i++)
            if (steno_transcribe(g[i].session, a.pcm, a.n, NULL)) fail_msg("%s", steno_last_error(g[i].session));
        assert_true(sides_agree(g) > 0);
        assert_string_equal(steno_language(g[0].session), steno_language(g[1].session));
        assert_true(inside_n_rows(g[0].session) > 20);
        assert_int_equal(inside_n_rows(g[0].session), inside_n_rows(g[1].session));
        for (uint32_t r = 0; r < inside_n_rows(g[0].session); r++) {
            const struct best *x = inside_best(g[0].session, (int)r), *y = inside_best(g[1].session, (int)r);
            if (x->id != y->id || x->logprob != y->logprob)
                fail_msg("%s, row %d: %d (%.9g) and %d (%.9g)", names[k], (int)r, (int)x->id, (double)x->logprob, (int)y->id,
                         (double)y->logprob);
        }
        sound_free(&a);
    }
    both_close(g);
}

enum { FRAMES = 2000 };

struct frames { float p[FRAMES]; int n; };

static void on_frame(void *user, int64_t t_ms, float p_speech)
{
    struct frames *f = user;
    (void)t_ms;
    assert_true(f->n < FRAMES);
    f->p[f->n++] = p_speech;
}

/* In pieces, so that the memory of the filters, or of cells, is used. */
static void voice_activity_is_the_same(const char *which)
{
    static struct frames f[2];
    struct side g[2];
    struct sound a;
    f[0].n = f[1].n = 0;
    both_open(g, which);
    assert_int_equal(sound_read(&a, funasr_file("audio/vad/%s", "speech_in_noise.wav").s), 0);
    for (int i = 0; i < 2; i++) {
        steno_vad_params p;
        steno_vad_params_init(&p);
        p.user = &f[i];
        p.on_frame = on_frame;
        struct pcm_feed feed = { &a, 0, 4321 };
        const steno_source src = { pcm_read, NULL, &feed };
        if (steno_find_speech(g[i].session, &src, &p)) fail_msg("%s", steno_last_error(g[i].session));
    }
    assert_true(f[0].n > 300);
    assert_int_equal(f[0].n, f[1].n);
    for (int i = 0; i < f[0].n; i++)
        if (f[0].p[i] != f[1].p[i]) fail_msg("frame %d: %.9g and %.9g", i, (double)f[0].p[i], (double)f[1].p[i]);
    const int n = steno_span_count(g[0].session);
    assert_true(n > 0);
    assert_int_equal(steno_span_count(g[1].session), n);
    for (int i = 0; i < n; i++) {
        steno_span v = { .size = sizeof v }, w = { .size = sizeof w };
        assert_int_equal(steno_span_get(g[0].session, i, &v), 0);
        assert_int_equal(steno_span_get(g[1].session, i, &w), 0);
        assert_true(v.t0_ms == w.t0_ms && v.t1_ms == w.t1_ms);
    }
    sound_free(&a);
    both_close(g);
}

static void test_voice_activity_is_the_same(void **state)
{
    (void)state;
    voice_activity_is_the_same("fsmn-vad/pt");
    voice_activity_is_the_same("silero/ggml-silero-v6.2.0.bin");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sensevoice_is_the_same),
        cmocka_unit_test(test_voice_activity_is_the_same),
    };
    if (funasr_missing()) return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
