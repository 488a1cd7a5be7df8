/* steno tests: results of the f16 model against the reference's, whole collection. SPDX-License-Identifier: MIT
 *
 * Needs the collection named by STENO_SHARED; without it every test here is skipped. */
#include "golden.h"

static const char *const short_files[] = { "en_short.wav", "de_8k.wav", "zh_short.wav", "tiny50ms.wav" };
enum { N_SHORT = sizeof short_files / sizeof *short_files };

static json_t *collection(void)
{
    return json_open(shared_file("golden/golden.json").s);
}

static void report(const struct tally *t, const char *what)
{
    print_message("%s: %d cases, %d differ, %d not stable, %d files not decodable by this build\n", what, t->cases, t->differ, t->unstable,
                  t->undecoded);
}

static void run_files(struct tally *t, json_t *golden, const char *level, int threads, int only_short, const char *only)
{
    struct engine g;
    engine_open(&g, shared_file("whisper-digits.bin").s, level, threads);
    struct tolerance numbers = exact_numbers;
    const char *name;
    json_t *file;
    if (only_short)
        for (int i = 0; i < N_SHORT; i++) file_run(t, &g, golden, short_files[i], audio_of(short_files[i]).s, only, case_equal, &numbers);
    else
        json_object_foreach(json_object_get(golden, "files"), name, file)
            file_run(t, &g, golden, name, audio_of(name).s, only, case_equal, &numbers);
    engine_close(&g);
}

static void test_every_stable_case_equals_the_reference(void **state)
{
    (void)state;
    json_t *golden = collection();
    struct tally t = { 0 };
    run_files(&t, golden, NULL, 1, SANITIZED, SANITIZED ? "greedy prompt" : NULL);
    report(&t, "1 thread");
    json_decref(golden);
    assert_int_equal(t.differ, 0);
    assert_true(t.cases >= (SANITIZED ? 7 : 328)); /* none may drop out unseen */
}

static void test_short_files_equal_the_reference_at_every_level_and_number_of_threads(void **state)
{
    (void)state;
    if (SANITIZED) skip();
    json_t *golden = collection();
    const char *level[LEVELS_MAX];
    const int n = levels_for_models(level);
    for (int i = 0; i < n; i++)
        for (int threads = i ? 1 : 2; threads <= (i ? 4 : 2); threads *= 2) { /* plain C takes its time: once */
            struct tally t = { 0 };
            char what[64];
            run_files(&t, golden, level[i], threads, 1, i ? "greedy prompt" : "greedy");
            snprintf(what, sizeof what, "%s, %d threads", level[i], threads);
            report(&t, what);
            assert_int_equal(t.differ, 0);
            assert_true(t.cases >= 3);
        }
    json_decref(golden);
}

/* Probabilities of the five languages the reference lists for a file. */
static int languages_differ(const struct engine *g, const char *name, json_t *probs, const float *ours)
{
    const char *code;
    json_t *p;
    int bad = 0;
    if (json_object_size(probs) < 5) fail_msg("golden.json, %s: %zu languages", name, json_object_size(probs));
    json_object_foreach(probs, code, p)
    {
        int i = 0;
        while (steno_model_language(g->model, i) && strcmp(steno_model_language(g->model, i), code) != 0) i++;
        const double want = json_number_value(p);
        if (fabs((double)ours[i] - want) <= 1e-4 * want + 1e-7) continue;
        print_error("golden.json, %s: probability of %s is %.9g, want %.9g\n", name, code, (double)ours[i], want);
        bad++;
    }
    return bad;
}

static int64_t sound_pull(void *user, float *pcm, int64_t n)
{
    struct sound *s = user;
    const int64_t take = s->n < n ? s->n : n;
    memcpy(pcm, s->pcm, (size_t)take * sizeof *pcm);
    s->pcm += take;
    s->n -= take;
    return take;
}

static void test_language_probabilities_equal_the_reference(void **state)
{
    (void)state;
    json_t *golden = collection(), *file;
    struct engine g;
    engine_open(&g, shared_file("whisper-digits.bin").s, NULL, 1);
    const char *name;
    int bad = 0, n = 0;
    json_object_foreach(json_object_get(golden, "files"), name, file)
    {
        struct sound snd;
        float probs[100] = { 0 };
        if (json_integer_value(json_object_get(file, "samples")) > 480000 || sound_read(&snd, audio_of(name).s)) continue;
        struct sound rest = snd;
        const steno_source src = { sound_pull, NULL, &rest };
        const int best = steno_detect_language(g.session, &src, probs, 100);
        assert_true(best >= 0);
        bad += languages_differ(&g, name, json_object_get(file, "language_probs"), probs);
        double sum = 0;
        for (int i = 0; i < 100; i++) sum += (double)probs[i];
        assert_true(fabs(sum - 1) < 1e-5);
        for (int i = 0; i < 100; i++) assert_true(probs[i] <= probs[best]);
        assert_string_equal(steno_language(g.session), steno_model_language(g.model, best));
        sound_free(&snd);
        n++;
    }
    print_message("%d files\n", n);
    assert_int_equal(bad, 0);
    assert_true(n >= 12);
    engine_close(&g);
    json_decref(golden);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_stable_case_equals_the_reference),
        cmocka_unit_test(test_short_files_equal_the_reference_at_every_level_and_number_of_threads),
        cmocka_unit_test(test_language_probabilities_equal_the_reference),
    };
    const int missing = collection_missing();
    return missing ? missing : cmocka_run_group_tests(tests, NULL, NULL);
}
