/* steno tests: voice activity against the reference. SPDX-License-Identifier: MIT
 *
 * FSMN-VAD's real weights on every file of the collection: probabilities frame by frame, spans under every offline setting that the
 * collection holds, from the FunASR folder, its weights alone and GGUF. */
#include "funasr.h"

enum { LONGEST = 16000 * 190 };

static const struct setting { const char *name; int64_t end_silence, segment; } settings[] = {
    { "default_dynamic", -1, -1 },       { "fixed800", 800, -1 },         { "fixed500", 500, -1 },
    { "dynamic_max5s", -1, 5000 },       { "dynamic_max15s", -1, 15000 }, { "dynamic_max30s", -1, 30000 },
    { "fixed800_max5s", 800, 5000 },     { "fixed800_max15s", 800, 15000 },
};
enum { N_SETTINGS = sizeof settings / sizeof *settings };

static int group_begin(void **state)
{
    (void)state;
    funasr_open("fsmn-vad/golden/golden.json", "fsmn-vad/pt");
    return 0;
}

/* A file of the collection; three_minutes.wav is made by joining others, by its recipe. */
static void audio_read(struct sound *s, const char *name)
{
    static const char *const parts[] = { "vad_example.wav", "pauses.wav", "asr_example.wav", "speech_in_noise.wav",
                                         "jfk.wav",         "sample.wav", "vad_example.wav" };
    if (strcmp(name, "three_minutes.wav") != 0) {
        assert_int_equal(sound_read(s, funasr_file("audio/vad/%s", name).s), 0);
        return;
    }
    *s = (struct sound){ malloc(LONGEST * sizeof(float)), 0 };
    assert_non_null(s->pcm);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct sound part;
        audio_read(&part, parts[i]);
        const int64_t room = 2880000 - s->n, take = part.n < room ? part.n : room;
        memcpy(s->pcm + s->n, part.pcm, (size_t)take * sizeof *part.pcm);
        s->n += take;
        sound_free(&part);
    }
}

struct frames { float *p; int64_t n, cap; };

static void on_frame(void *user, int64_t t_ms, float p_speech)
{
    struct frames *f = user;
    assert_int_equal(t_ms, f->n * 10);
    assert_true(f->n < f->cap);
    f->p[f->n++] = 1 - p_speech;
}

static void find(steno_session *s, const struct sound *a, int64_t piece, const steno_vad_params *p)
{
    struct pcm_feed feed = { a, 0, piece };
    const steno_source src = { pcm_read, NULL, &feed };
    if (steno_find_speech(s, &src, p)) fail_msg("%s", steno_last_error(s));
}

static void compare_spans(steno_session *s, const char *file, const char *setting, json_t *want)
{
    const size_t n = json_array_size(want);
    for (size_t i = 0; i < n; i++) {
        steno_span v = { .size = sizeof v, .t0_ms = -1, .t1_ms = -1 };
        steno_span_get(s, (int)i, &v);
        const json_int_t t0 = json_integer_value(json_array_get(json_array_get(want, i), 0));
        const json_int_t t1 = json_integer_value(json_array_get(json_array_get(want, i), 1));
        if (v.t0_ms != t0 || v.t1_ms != t1)
            fail_msg("%s, %s: span %zu is %lld-%lld, want %lld-%lld", file, setting, i, (long long)v.t0_ms, (long long)v.t1_ms,
                     (long long)t0, (long long)t1);
    }
    if (steno_span_count(s) != (int)n) fail_msg("%s, %s: %d spans, want %zu", file, setting, steno_span_count(s), n);
}

static void test_probabilities_and_spans_equal_the_reference_under_every_setting(void **state)
{
    (void)state;
    steno_session *s;
    assert_int_equal(steno_session_open(&s, model, NULL, NULL, NULL), 0);
    const char *name;
    json_t *file;
    int n_compared = 0;
    json_object_foreach(golden, name, file) {
        struct sound a;
        audio_read(&a, name);
        assert_int_equal(a.n, json_integer_value(json_object_get(file, "samples")));
        char stem[64];
        snprintf(stem, sizeof stem, "%.*s", (int)strlen(name) - 4, name);
        struct npy want = funasr_tensor("fsmn-vad/golden/%s.psil.npy", stem);
        struct frames f = { calloc(want.n + 1, sizeof(float)), 0, (int64_t)want.n };
        for (int k = 0; k < N_SETTINGS && !(SANITIZED && k > 1); k++) { /* the network is the same each time */
            steno_vad_params p;
            steno_vad_params_init(&p);
            p.max_end_silence_ms = settings[k].end_silence;
            p.max_segment_ms = settings[k].segment;
            if (!k) p.user = &f, p.on_frame = on_frame;
            find(s, &a, k % 3 == 1 ? 4321 : 0, &p);
            compare_spans(s, name, settings[k].name, json_object_get(json_object_get(file, "segments"), settings[k].name));
            n_compared++;
        }
        assert_int_equal(f.n, want.n);
        double worst = 0;
        for (size_t i = 0; i < want.n; i++) worst = fmax(worst, fabs((double)f.p[i] - want.v[i]));
        print_message("%s: %zu frames, largest difference of a probability %.2g\n", name, want.n, worst);
        assert_true(worst <= 1e-4);
        free(f.p);
        free(want.v);
        sound_free(&a);
    }
    assert_true(SANITIZED || n_compared >= 9 * N_SETTINGS);
    steno_session_close(s);
}

/* Every level, one and two threads, other pieces, another spelling: spans are the same. */
static void test_spans_do_not_depend_on_level_threads_pieces_or_spelling(void **state)
{
    (void)state;
    struct sound a;
    audio_read(&a, "vad_example.wav");
    json_t *want = json_object_get(json_object_get(json_object_get(golden, "vad_example.wav"), "segments"), "fixed800");
    steno_vad_params p;
    steno_vad_params_init(&p);
    p.max_end_silence_ms = 800;
    const char *level[LEVELS_MAX];
    levels_for_models(level);
    for (int l = 0; level[l]; l++) {
        for (int threads = 1; threads <= 2; threads++) {
            steno_team *team;
            steno_model *m;
            steno_session *s;
            steno_error e;
            steno_model_params mp;
            steno_model_params_init(&mp);
            mp.cpu_level = level[l];
            assert_int_equal(steno_team_open(&team, threads, &e), 0);
            const char *const form = threads == 1 ? "pt" : l % 2 ? "pt/model.pt" : "gguf/fsmn-vad.gguf";
            if (steno_model_open(&m, funasr_file("fsmn-vad/%s", form).s, &mp, &e)) fail_msg("%s", e.text);
            assert_int_equal(steno_session_open(&s, m, team, NULL, &e), 0);
            find(s, &a, threads == 1 ? 1 + 997 * l : 160000, &p);
            compare_spans(s, "vad_example.wav", mp.cpu_level, want);
            steno_session_close(s);
            steno_model_close(m);
            steno_team_close(team);
        }
    }
    sound_free(&a);
}

int main(void)
{
    if (funasr_missing()) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probabilities_and_spans_equal_the_reference_under_every_setting),
        cmocka_unit_test(test_spans_do_not_depend_on_level_threads_pieces_or_spelling),
    };
    return cmocka_run_group_tests(tests, group_begin, funasr_close);
}
