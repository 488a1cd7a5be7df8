/* steno tests: clips of Parakeet models that share the memory of beams. SPDX-License-Identifier: MIT */
#include "heap.h"
#include "parakeet_model.h"

static steno_model *tdt;

static int model_open(void **state)
{
    (void)state;
    tdt = funasr_open(pk_tdt_folder, NULL);
    return 0;
}

static int model_close(void **state)
{
    (void)state;
    steno_model_close(tdt);
    return 0;
}

enum { MANY = 8, MANY_S = 3 };

static steno_batch *many_open(const steno_model *m, steno_session **s)
{
    steno_batch *b;
    s[0] = session_in_batch(&b, m, MANY, 1);
    const steno_session_params sp = session_params_in(b);
    for (int i = 1; i < MANY; i++) assert_int_equal(steno_session_open(&s[i], m, NULL, &sp, NULL), 0);
    return b;
}

static int64_t many_memory(const steno_model *m, steno_batch *b)
{
    const steno_batch_params bp = batch_params_of(MANY, 1);
    const steno_session_params sp = session_params_in(b);
    return steno_batch_memory(m, NULL, &bp) + MANY * steno_session_memory(m, NULL, &sp);
}

static void many_close(steno_batch *b, steno_session **s)
{
    for (int i = 0; i < MANY; i++) steno_session_close(s[i]);
    steno_batch_close(b);
}

static steno_transcribe_params params_with(int beams)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.beam_size = beams;
    p.guards = STENO_GUARDS_OFF; /* bursts of noise, and pauses, have tokens */
    return p;
}

/* Runs MANY requests of a batch together, each with so many seconds of the audio. */
static void many_run(steno_batch *b, steno_session *const *s, const struct audio *a, int seconds, const steno_transcribe_params *p)
{
    struct tap tap[MANY];
    for (int i = 0; i < MANY; i++) {
        tap[i] = (struct tap){ .pcm = a->pcm + i * RATE, .n = seconds * RATE };
        const steno_source src = tap_source(&tap[i]);
        assert_int_equal(steno_batch_add(b, s[i], &src, &p[i]), 0);
    }
    assert_int_equal(steno_batch_run(b), 0);
}

/* Each with the same beams. */
static void many_run_with(steno_batch *b, steno_session *const *s, const struct audio *a, int seconds, int beams)
{
    steno_transcribe_params p[MANY];
    for (int i = 0; i < MANY; i++) p[i] = params_with(beams);
    many_run(b, s, a, seconds, p);
}

/* A published size. Whatever the beams, a batch of clips takes what it reports; those for which there is no room wait. */
static void test_beams_take_the_memory_that_is_reported(void **state)
{
    (void)state;
    need_counting();
    steno_model *m;
    steno_session *s[MANY];
    enum { LONGER_S = 10, TEXTS = 512 << 10 /* bytes: results, and the tokens of searches */ };
    const struct audio a = bursts((MANY + LONGER_S) * RATE);
    assert_int_equal(steno_model_open_random(&m, "parakeet-tdt_ctc-110m", "f16", 1, NULL, NULL), 0);
    count_begin(-1);
    steno_batch *b = many_open(m, s);
    const int64_t opened = heap.bytes, said = many_memory(m, b);
    many_run_with(b, s, &a, LONGER_S, RUN_BEAMS);
    const int64_t most = count_end().most;
    if (llabs(said - opened) > opened / 20) fail_msg("%lld bytes reported, %lld opened", (long long)said, (long long)opened);
    if (most - opened > TEXTS) fail_msg("%lld bytes opened, %lld with beams", (long long)opened, (long long)most);
    many_close(b, s);
    steno_model_close(m);
    free(a.pcm);
}

/* Closes all. @return bytes of results, which sessions give back beside their own memory, own[MANY] */
static int64_t results_close(steno_batch *b, steno_session **s, int64_t own)
{
    const int64_t before = heap.bytes;
    for (int i = 0; i < MANY; i++) steno_session_close(s[i]);
    const int64_t results = before - heap.bytes - MANY * own;
    steno_batch_close(b);
    return results;
}

/* Clips are as long as they may be, and each is alone in its run. */
static void test_the_memory_that_is_reported_counts_the_tokens_of_texts(void **state)
{
    (void)state;
    need_counting();
    enum { LONG_S = 119, OTHERS = 128 << 10 /* bytes: tables of any model, ends of arenas */ };
    static const int beams[] = { 4, RUN_BEAMS };
    const struct audio a = bursts((MANY + LONG_S) * RATE);
    for (size_t k = 0; k < sizeof beams / sizeof *beams; k++) {
        steno_session *s[MANY];
        count_begin(-1);
        steno_batch *b = many_open(tdt, s);
        const steno_session_params sp = session_params_in(b);
        const int64_t said = many_memory(tdt, b);
        many_run_with(b, s, &a, LONG_S, beams[k]);
        assert_true(pk_tokens(s[0]) > 400);
        heap.most = heap.bytes;
        many_run_with(b, s, &a, LONG_S, beams[k]); /* results have their memory now */
        const int64_t took = heap.most - results_close(b, s, steno_session_memory(tdt, NULL, &sp));
        count_end();
        if (llabs(said - took) > OTHERS)
            fail_msg("%d beams: %lld bytes reported, %lld taken", beams[k], (long long)said, (long long)took);
    }
    free(a.pcm);
}

/* All clips begin in one run; the memory is enough for some of them at a time. */
static void test_clips_that_wait_for_slots_have_the_same_texts(void **state)
{
    (void)state;
    static const int beams[] = { 2, 5, 12, RUN_BEAMS };
    const struct audio a = bursts((MANY + MANY_S) * RATE);
    steno_session *s[MANY], *alone = session_new(tdt, NULL, 1);
    steno_batch *b = many_open(tdt, s);
    for (size_t k = 0; k < sizeof beams / sizeof *beams; k++) {
        const steno_transcribe_params p = params_with(beams[k]);
        many_run_with(b, s, &a, MANY_S, beams[k]);
        for (int i = 0; i < MANY; i++) {
            assert_int_equal(steno_transcribe(alone, a.pcm + i * RATE, MANY_S * RATE, &p), 0);
            assert_true(pk_tokens(alone) > 5 && result_digest(s[i]) == result_digest(alone));
        }
    }
    many_close(b, s);
    steno_session_close(alone);
    free(a.pcm);
}

/* Clips with all slots, with some and with none in one run. */
static void test_clips_with_different_beams_have_the_texts_of_each_alone(void **state)
{
    (void)state;
    static const int beams[MANY] = { 2, RUN_BEAMS, 0, 2, RUN_BEAMS, 7, 1, 2 };
    const struct audio a = bursts((MANY + MANY_S) * RATE);
    steno_session *s[MANY], *alone = session_new(tdt, NULL, 1);
    steno_batch *b = many_open(tdt, s);
    steno_transcribe_params p[MANY];
    for (int turn = 0; turn < MANY; turn++) {
        for (int i = 0; i < MANY; i++) p[i] = params_with(beams[(i + turn) % MANY]);
        many_run(b, s, &a, MANY_S, p);
        for (int i = 0; i < MANY; i++) {
            assert_int_equal(steno_transcribe(alone, a.pcm + i * RATE, MANY_S * RATE, &p[i]), 0);
            assert_true(pk_tokens(alone) > 5 && result_digest(s[i]) == result_digest(alone));
        }
    }
    many_close(b, s);
    steno_session_close(alone);
    free(a.pcm);
}

/* At call number `at` of its own, another request is canceled: by its session or by its callback. */
struct canceling { int calls, at; steno_session *other; int other_aborts, other_calls; };

static int cancel_other(void *user)
{
    struct canceling *c = user;
    if (++c->calls != c->at) return 0;
    if (c->other) steno_cancel(c->other);
    else c->other_aborts = 1;
    return 0;
}

static int other_aborts(void *user)
{
    struct canceling *c = user;
    c->other_calls++;
    return c->other_aborts;
}

/* Every clip takes nearly all slots, so only the first one is decoded when the other is canceled, which is then not decoded. */
static void test_a_clip_that_waits_for_slots_can_be_canceled(void **state)
{
    (void)state;
    enum { OTHER = 5 };
    const struct audio a = bursts((MANY + MANY_S) * RATE);
    steno_session *s[MANY];
    steno_batch *b = many_open(tdt, s);
    steno_transcribe_params p[MANY];
    struct canceling c = { 0 };
    uint64_t want[MANY];
    for (int i = 0; i < MANY; i++) p[i] = params_with(RUN_BEAMS);
    p[0].should_abort = cancel_other;
    p[OTHER].should_abort = other_aborts;
    p[0].user = p[OTHER].user = &c;
    many_run(b, s, &a, MANY_S, p);
    for (int i = 0; i < MANY; i++) want[i] = result_digest(s[i]);
    const struct canceling whole = c;
    assert_true(whole.calls > 160 && whole.other_calls > 20);
    for (int by_session = 0; by_session < 2; by_session++) {
        c = (struct canceling){ .at = whole.calls / MANY / 2, .other = by_session ? s[OTHER] : NULL };
        many_run(b, s, &a, MANY_S, p);
        assert_true(c.calls < whole.calls && c.other_calls < whole.other_calls / 4);
        for (int i = 0; i < MANY; i++)
            if (i != OTHER) assert_true(result_digest(s[i]) == want[i]);
        assert_non_null(strstr(steno_last_error(s[OTHER]), "cancel"));
        assert_int_equal(pk_tokens(s[OTHER]), 0);
    }
    c = (struct canceling){ 0 };
    many_run(b, s, &a, MANY_S, p);
    for (int i = 0; i < MANY; i++) assert_true(result_digest(s[i]) == want[i]);
    many_close(b, s);
    free(a.pcm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beams_take_the_memory_that_is_reported),
        cmocka_unit_test(test_the_memory_that_is_reported_counts_the_tokens_of_texts),
        cmocka_unit_test(test_clips_that_wait_for_slots_have_the_same_texts),
        cmocka_unit_test(test_clips_with_different_beams_have_the_texts_of_each_alone),
        cmocka_unit_test(test_a_clip_that_waits_for_slots_can_be_canceled),
    };
    return cmocka_run_group_tests(tests, model_open, model_close);
}
