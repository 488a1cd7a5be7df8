/* steno tests: the small Parakeet of the tree against NeMo. SPDX-License-Identifier: MIT
 *
 * Texts and word times of two recordings, as NeMo 3.0.0 gives them, at every level and in every arithmetic. */
#include "golden.h"
#include "levels.h"

enum { WORDS = 4, ROW_MS = 80 };

struct word { const char *text; int from, to; /* rows */ };

static const struct clip { const char *file, *text; int n_words; struct word word[WORDS]; } clips[] = {
    { "models/parakeet-digits/phrases.wav", "Four zero, nine eight.", 4,
      { { "Four", 0, 6 }, { " zero,", 6, 14 }, { " nine", 16, 21 }, { " eight.", 21, 27 } } },
    { "models/parakeet-digits/three.wav", "One two three.", 3, { { "One", 0, 6 }, { " two", 6, 10 }, { " three.", 14, 22 } } },
};
enum { CLIPS = sizeof clips / sizeof *clips };

static void check_clip(steno_session *s, const struct clip *c, const char *how)
{
    steno_transcribe_params p;
    struct sound a = { 0 };
    steno_transcribe_params_init(&p);
    p.word_timestamps = 1;
    assert_int_equal(sound_read(&a, c->file), 0);
    if (steno_transcribe(s, a.pcm, a.n, &p)) fail_msg("%s: %s", how, steno_last_error(s));
    sound_free(&a);
    if (strcmp(steno_text(s), c->text) != 0) fail_msg("%s, %s: '%s', want '%s'", how, c->file, steno_text(s), c->text);
    assert_int_equal(steno_segment_count(s), 1);
    for (int i = 0; i < c->n_words; i++) {
        steno_word w = { .size = sizeof w };
        assert_int_equal(steno_word_get(s, 0, i, &w), 0);
        if (strcmp(w.text, c->word[i].text) != 0 || w.t0_ms != c->word[i].from * ROW_MS || w.t1_ms != c->word[i].to * ROW_MS)
            fail_msg("%s, %s: word '%s' from %d to %d ms", how, c->file, w.text, (int)w.t0_ms, (int)w.t1_ms);
    }
}

static void check_model(const char *level, enum steno_compute compute, const char *name)
{
    char how[64];
    steno_model_params p;
    steno_model *m;
    steno_session *s;
    steno_error e;
    steno_model_params_init(&p);
    p.cpu_level = level;
    p.compute = (int32_t)compute;
    snprintf(how, sizeof how, "%s, %s", level, name);
    if (steno_model_open(&m, "models/parakeet-digits", &p, &e)) fail_msg("%s: %s", how, e.text);
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    for (int i = 0; i < CLIPS; i++) check_clip(s, &clips[i], how);
    steno_session_close(s);
    steno_model_close(m);
}

static void test_texts_and_times_equal_nemos_at_every_level_in_every_arithmetic(void **state)
{
    static const struct { enum steno_compute compute; const char *name; } arithmetic[] = {
        { STENO_COMPUTE_AUTO, "auto" }, { STENO_COMPUTE_F32, "f32" }, { STENO_COMPUTE_INT16, "int16" }, { STENO_COMPUTE_BF16, "bf16" },
        { STENO_COMPUTE_INT8, "int8" },
    };
    const char *level[LEVELS_MAX];
    (void)state;
    levels_for_models(level);
    for (int l = 0; level[l]; l++)
        for (size_t i = 0; i < sizeof arithmetic / sizeof *arithmetic; i++)
            check_model(level[l], arithmetic[i].compute, arithmetic[i].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_texts_and_times_equal_nemos_at_every_level_in_every_arithmetic) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
