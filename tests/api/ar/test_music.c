/* steno tests: notes give no text, and no speech is taken for notes. SPDX-License-Identifier: MIT */
#include "task/ar/sound_checks.h"
#include "shipped_session.h"

enum { SECONDS = 8, TIMBRES = 4 };

static const struct timbre { int partials, odd; double fall, vibrato; } timbres[TIMBRES] = {
    { 4, 0, 3, 0 }, { 1, 0, 0.5, 0 }, { 8, 0, 0.3, 0.35 }, { 5, 1, 0.1, 0.1 },
};

/* Adds notes of a scale, one behind the other, with a rest now and then. */
static void notes_add(struct audio *a, uint32_t seed, double base, double beat, double gain, const struct timbre *m)
{
    static const int scale[] = { 0, 2, 4, 5, 7, 9, 11, 12 };
    for (int64_t at = 0; at < a->n;) {
        const double hz = base * pow(2, scale[(int)(4 + 3.99 * (double)noise(&seed))] / 12.0);
        const int64_t n = (int64_t)(beat * RATE * (noise(&seed) > 0 ? 1 : 2)), rest = noise(&seed) > 0.7f ? RATE / 8 : 0;
        for (int64_t t = 0; t < n && at + t < a->n; t++) {
            const double s = (double)t / RATE, left = (double)(n - t) / RATE;
            const double shape = exp(-m->fall * s) * fmin(1, s / 0.02) * fmin(1, left / 0.02);
            const double phase = 2 * M_PI * hz * s + m->vibrato * sin(2 * M_PI * 5.5 * s);
            double x = 0;
            for (int k = 1; k <= m->partials; k++) x += sin((m->odd ? 2 * k - 1 : k) * phase) / k;
            a->pcm[at + t] += (float)(gain * shape * x);
        }
        at += n + rest;
    }
}

static struct audio melody(int which, uint32_t seed)
{
    struct audio a = { calloc(SECONDS * RATE, sizeof(float)), SECONDS * RATE };
    assert_non_null(a.pcm);
    notes_add(&a, seed, 261.63, 0.25, 0.1, &timbres[which]);
    return a;
}

static struct audio recording(const char *name)
{
    struct audio a = { calloc(30 * RATE, sizeof(float)), 0 };
    unsigned char b[2];
    FILE *f = fopen(name, "rb");
    assert_true(f && a.pcm && !fseek(f, 44, SEEK_SET));
    while (a.n < 30 * RATE && fread(b, 1, 2, f) == 2) a.pcm[a.n++] = (float)(int16_t)(b[0] | b[1] << 8) / 32768;
    fclose(f);
    return a;
}

static const struct { const char *name, *language; } recordings[] = {
    { "tests/data/audio/zh_phrases.wav", "zh" }, { "tests/data/golden/fr_phrases.wav", "fr" }, { "tests/data/golden/de_phrases.wav", "de" },
    { "tests/data/golden/es_phrases.wav", "es" }, { "tests/data/golden/en_twelve.wav", "en" }, { "tests/data/golden/zh_short.wav", "zh" },
    { "tests/data/demo.wav", "en" },
};
enum { RECORDINGS = sizeof recordings / sizeof *recordings };

static void test_melodies_give_no_text_by_default(void **state)
{
    (void)state;
    int written = 0;
    for (int i = 0; i < 3 * TIMBRES; i++) {
        struct audio a = melody(i % TIMBRES, (uint32_t)i + 1);
        steno_transcribe_params p = params_new();
        p.logprob_threshold = 0; /* no text is sure enough */
        p.temperature_increment_on_fallback = 0;
        p.no_speech_threshold = 1;
        for (int guards = STENO_GUARDS_OFF; guards <= STENO_GUARDS_RETRY; guards++) {
            p.guards = guards;
            run(&a, &p);
            if (!guards) written += *steno_text(session) != 0;
            else if (*steno_text(session)) fail_msg("melody %d, guards %d: '%s'", i, guards, steno_text(session));
            steno_left_out l = { .size = sizeof l };
            if (guards == STENO_GUARDS_OFF) continue;
            for (int k = 0; !steno_left_out_get(session, k, &l); k++) assert_true(*l.text && l.flags & STENO_FLAG_NO_SPEECH);
        }
        free(a.pcm);
    }
    if (written < TIMBRES) fail_msg("only %d melodies give text with guards off: the test tries little", written);
}

/* A text that is in no way doubtful stays, whatever the sound. */
static void test_a_text_that_is_sure_stays(void **state)
{
    (void)state;
    struct audio a = melody(0, 1);
    char text[600];
    steno_transcribe_params p = params_new();
    p.temperature_increment_on_fallback = 0;
    p.no_speech_threshold = 1;
    p.guards = STENO_GUARDS_OFF;
    run(&a, &p);
    snprintf(text, sizeof text, "%s", steno_text(session));
    p.guards = STENO_GUARDS_FLAG;
    p.logprob_threshold = -100;
    p.compression_ratio_threshold = 1000;
    run(&a, &p);
    assert_true(*text);
    assert_string_equal(steno_text(session), text);
    free(a.pcm);
}

/* Everything is doubtful here, so only the sound speaks for it: whole, quiet, and over a melody that is as loud. */
static void test_no_speech_is_taken_for_notes(void **state)
{
    (void)state;
    for (int i = 0; i < RECORDINGS; i++)
        for (int how = 0; how < 3; how++) {
            struct audio a = recording(recordings[i].name);
            char text[2000];
            if (how == 1) for (int64_t t = 0; t < a.n; t++) a.pcm[t] *= 0.01f;
            if (how == 2) notes_add(&a, 5, 196, 0.5, 0.02, &timbres[3]);
            steno_transcribe_params p = params_new();
            p.language = recordings[i].language;
            p.logprob_threshold = 0;
            p.temperature_increment_on_fallback = 0;
            p.no_speech_threshold = 1;
            p.guards = STENO_GUARDS_OFF;
            run(&a, &p);
            snprintf(text, sizeof text, "%s", steno_text(session));
            p.guards = STENO_GUARDS_FLAG;
            run(&a, &p);
            assert_true(*text);
            if (strcmp(steno_text(session), text)) fail_msg("%s, %d: '%s', not '%s'", recordings[i].name, how, steno_text(session), text);
            free(a.pcm);
        }
}

/* ---- texts that fall apart ---- */

static struct audio drums(uint32_t seed)
{
    struct audio a = { calloc(4 * RATE, sizeof(float)), 4 * RATE };
    assert_non_null(a.pcm);
    for (int64_t at = 0; at < a.n; at += (int64_t)(RATE * (0.2 + 0.1 * (double)noise(&seed)))) {
        const double fall = 20 + 15 * (double)noise(&seed), hz = 120 + 80 * (double)noise(&seed);
        for (int64_t t = 0; t < RATE / 4 && at + t < a.n; t++) {
            const double s = (double)t / RATE;
            a.pcm[at + t] += (float)(exp(-fall * s) * (0.2 * (double)noise(&seed) + 0.2 * sin(2 * M_PI * hz * s)));
        }
    }
    return a;
}

struct log { int n; steno_attempt a[16]; };

static void log_attempt(void *user, const steno_attempt *a)
{
    struct log *l = user;
    assert_true(l->n < 16);
    l->a[l->n++] = *a;
}

/* Draws that are as improbable as silence, and all others; what was kept. */
struct draws { int n, unsure; const steno_attempt *kept; };

static struct draws draws_of(const struct log *l, double threshold)
{
    struct draws d = { 0, 0, &l->a[l->n - 1] };
    for (int i = 0; i < l->n; i++) {
        if (l->a[i].index <= 0 || (i == l->n - 1 && l->a[i].index < l->a[i - 1].index)) continue; /* the best once more */
        d.n++;
        d.unsure += l->a[i].avg_logprob < threshold;
    }
    return d;
}

/* Every attempt fails here. That no draw is sure makes a window silent, or that two are not and the best text is not. */
static void test_a_window_is_silent_where_its_best_text_is_and_two_draws_are(void **state)
{
    (void)state;
    static const double ratios[] = { 0.8, 1.2, 2.4 }, sure[] = { -0.2, -0.4, -0.7, -1, -1.4 };
    int none_sure = 0, stays = 0;
    for (uint32_t seed = 1; seed < 6; seed++)
        for (int i = 0; i < 15; i++) {
            struct audio a = drums(seed);
            struct log l = { 0 };
            steno_transcribe_params p = params_new();
            p.no_speech_threshold = 0;
            p.compression_ratio_threshold = ratios[i / 5];
            p.logprob_threshold = sure[i % 5];
            p.sample_len = 24;
            p.user = &l;
            p.on_attempt = log_attempt;
            run(&a, &p);
            free(a.pcm);
            const struct draws d = draws_of(&l, p.logprob_threshold);
            if (!d.kept->failed || d.n < 2) continue;
            const int best = d.unsure >= 2 && d.kept->avg_logprob <= p.logprob_threshold, silent = d.unsure == d.n || best;
            none_sure += d.unsure == d.n;
            stays += !silent;
            steno_left_out o = { .size = sizeof o };
            const int whole = !steno_left_out_get(session, 0, &o) && o.is_window;
            if (silent != whole) fail_msg("seed %u, %d: %d draws, %d unsure, silent %d", (unsigned)seed, i, d.n, d.unsure, whole);
        }
    assert_true(none_sure > 0 && stays > 0);
}

/* Drums and clicks: draws at low temperatures are sure of a loop, those above them of nothing. A sentence that the speaker repeats is
 * sure in its best attempt, and one bad draw counts for nothing. */
static void test_a_text_falls_apart_where_draws_are_sure_of_loops_alone(void **state)
{
    (void)state;
    assert_true(draws_fall_apart(5, 2, 1));
    assert_true(draws_fall_apart(2, 0, 1));
    assert_true(draws_fall_apart(2, 0, 0));
    assert_false(draws_fall_apart(5, 2, 0));
    assert_false(draws_fall_apart(5, 4, 1));
    assert_false(draws_fall_apart(1, 0, 1));
    assert_false(draws_fall_apart(0, 0, 1));
}

/* ---- the rule itself, on spectra of its own ---- */

enum { BANDS = 80, FRAMES = 300 };

/* Frames are alike for `hold` of them, then another band is strong; each band is off by up to `shake` dB besides. */
static int stands(int frames, int hold, double shake)
{
    float *mel = calloc((size_t)frames * BANDS, sizeof *mel);
    uint32_t seed = 3;
    int band = 0;
    assert_non_null(mel);
    for (int t = 0; t < frames; t++) {
        if (t % hold == 0) band = (band + 11) % BANDS;
        for (int i = 0; i < BANDS; i++)
            mel[t * BANDS + i] = (float)(1 - fmin(60, 6 * abs(i - band)) / 40 + shake / 40 * (double)noise(&seed));
    }
    const int is = spectra_stand(mel, frames, BANDS);
    free(mel);
    return is;
}

static void test_notes_stand_and_speech_and_noise_do_not(void **state)
{
    (void)state;
    assert_true(stands(FRAMES, FRAMES, 0)); /* a tone */
    assert_true(stands(FRAMES, 25, 0));     /* a note of a quarter of a second */
    assert_true(stands(FRAMES, 25, 1));
    assert_false(stands(FRAMES, 4, 0));     /* as fast as speech */
    assert_false(stands(FRAMES, 1, 0));
    assert_false(stands(FRAMES, 25, 12));   /* notes in as much noise as notes */
}

static void test_a_sound_that_is_too_short_is_not_judged(void **state)
{
    (void)state;
    for (int n = 1; n < 56; n++) assert_false(stands(n, n, 0));
    assert_true(stands(56, 56, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_melodies_give_no_text_by_default),
        cmocka_unit_test(test_a_text_that_is_sure_stays),
        cmocka_unit_test(test_no_speech_is_taken_for_notes),
        cmocka_unit_test(test_a_window_is_silent_where_its_best_text_is_and_two_draws_are),
        cmocka_unit_test(test_a_text_falls_apart_where_draws_are_sure_of_loops_alone),
        cmocka_unit_test(test_notes_stand_and_speech_and_noise_do_not),
        cmocka_unit_test(test_a_sound_that_is_too_short_is_not_judged),
    };
    return cmocka_run_group_tests(tests, shipped_session_open, shipped_session_close);
}
