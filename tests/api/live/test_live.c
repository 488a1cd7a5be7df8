/* steno tests: streams that are transcribed chunk by chunk, when things go wrong. SPDX-License-Identifier: MIT
 *
 * Alone, and beside another stream in a batch with one lane, which changes hands with every chunk: every allocation fails once, calls are
 * ended wherever they ask, samples are no numbers. The session goes on as if nothing had been. */
#include "funasr_families.h"
#include "heap.h"

enum { HEARD = 7 * RATE, ALLOCATIONS_MAX = 3000 };
enum told { ASKED, WINDOW, SEGMENT, PROGRESS, READ, TOLD };

struct watch {
    struct tap tap;
    steno_session *s;
    int64_t count[TOLD], end_at;
    enum told end_in;
};

static void told(struct watch *w, enum told what)
{
    if (++w->count[what] == w->end_at && what == w->end_in && what != ASKED) steno_cancel(w->s);
}

static int64_t watch_read(void *user, float *pcm, int64_t n)
{
    struct watch *w = user;
    told(w, READ);
    return tap_read(&w->tap, pcm, n);
}

static int should_abort(void *user)
{
    struct watch *w = user;
    told(w, ASKED);
    return w->end_in == ASKED && w->end_at && w->count[ASKED] >= w->end_at;
}

static int on_window(void *user, int64_t at_ms)
{
    (void)at_ms;
    told(user, WINDOW);
    return 1;
}

static void on_segment(void *user, const steno_segment *g)
{
    (void)g;
    told(user, SEGMENT);
}

static void on_progress(void *user, int64_t done_ms, int64_t total_ms)
{
    (void)done_ms, (void)total_ms;
    told(user, PROGRESS);
}

static steno_transcribe_params params_of(struct watch *w)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.word_timestamps = 1;
    p.encoder_chunk_look_back = -1;
    p.user = w;
    p.should_abort = should_abort;
    p.on_window = on_window;
    p.on_segment = on_segment;
    p.on_progress = on_progress;
    return p;
}

/* Two sessions of a batch with one lane, or one by itself. */
struct pair { steno_batch *b; steno_session *s[2]; };

static struct pair pair_open(int together)
{
    struct pair x = { 0 };
    steno_batch_params bp;
    steno_session_params sp;
    steno_batch_params_init(&bp);
    steno_session_params_init(&sp);
    bp.max_windows = 1;
    if (together) assert_int_equal(steno_batch_open(&x.b, live, NULL, &bp, NULL), 0);
    sp.batch = x.b;
    for (int i = 0; i < (together ? 2 : 1); i++) assert_int_equal(steno_session_open(&x.s[i], live, NULL, &sp, NULL), 0);
    return x;
}

static void pair_close(struct pair *x)
{
    steno_session_close(x->s[0]);
    steno_session_close(x->s[1]);
    steno_batch_close(x->b);
}

/* The first session reads the audio, the second one beside it. @return the status of the first */
static int hear(struct pair *x, struct watch *w, uint64_t *digest)
{
    struct watch other = { .tap = { .pcm = audio.pcm + RATE, .n = HEARD } };
    const steno_transcribe_params p = params_of(w), q = params_of(&other);
    const steno_source src = { watch_read, NULL, w }, beside = { watch_read, NULL, &other };
    w->s = x->s[0];
    other.s = x->s[1];
    w->tap = (struct tap){ .pcm = audio.pcm, .n = HEARD, .piece = 3000 };
    int rc = x->b ? steno_batch_add(x->b, x->s[0], &src, &p) : steno_transcribe_source(x->s[0], &src, &p);
    if (x->b && !rc) {
        steno_batch_add(x->b, x->s[1], &beside, &q);
        steno_batch_run(x->b);
        if (*steno_last_error(x->s[0])) rc = strstr(steno_last_error(x->s[0]), "cancel") ? STENO_ECANCELED : STENO_ENOMEM;
    }
    *digest = result_digest(x->s[0]);
    return rc;
}

static void test_a_stream_goes_on_after_every_allocation_has_failed(void **state)
{
    (void)state;
    need_counting();
    for (int together = 0; together < 2; together++) {
        uint64_t want, got;
        int failed = 0;
        struct watch w = { 0 };
        struct pair x = pair_open(together);
        assert_int_equal(hear(&x, &w, &want), 0);
        assert_true(steno_segment_count(x.s[0]) >= 2);
        pair_close(&x);
        for (int64_t n = 0;; n++) {
            x = pair_open(together);
            count_begin(n);
            const int rc = hear(&x, &w, &got);
            const struct heap h = count_end();
            if (rc && (rc != STENO_ENOMEM || !*steno_last_error(x.s[0])))
                fail_msg("allocation %lld fails: status %d \"%s\"", (long long)n, rc, steno_last_error(x.s[0]));
            if (!rc && got != want) fail_msg("allocation %lld fails: another result and no error", (long long)n);
            if (hear(&x, &w, &got) || got != want) fail_msg("after allocation %lld failed: %s", (long long)n, steno_last_error(x.s[0]));
            failed += rc != 0;
            pair_close(&x);
            if (h.calls <= n) break;
            assert_true(n < ALLOCATIONS_MAX);
        }
        assert_true(failed > 10);
    }
}

static void test_a_callback_ends_a_stream_anywhere(void **state)
{
    (void)state;
    for (int together = 0; together < 2; together++) {
        uint64_t want, got;
        struct watch all = { 0 };
        struct pair x = pair_open(together);
        assert_int_equal(hear(&x, &all, &want), 0);
        for (enum told what = ASKED; what < TOLD; what++)
            for (int part = 0; part < 5; part++) {
                struct watch w = { .end_in = what, .end_at = 1 + (all.count[what] - 1) * part / 5 };
                const int rc = hear(&x, &w, &got);
                if (rc != STENO_ECANCELED)
                    fail_msg("call %d of callback %d: status %d (%s)", (int)w.end_at, (int)what, rc, steno_last_error(x.s[0]));
                assert_int_equal(steno_segment_count(x.s[0]), w.count[SEGMENT]);
            }
        struct watch after = { 0 };
        assert_int_equal(hear(&x, &after, &got), 0);
        assert_true(got == want);
        pair_close(&x);
    }
}

/* Audio long after them is decoded again. */
static void test_samples_that_are_no_numbers_do_not_end_a_stream(void **state)
{
    (void)state;
    enum { N = 40 * RATE };
    float *pcm = malloc(N * sizeof *pcm);
    assert_non_null(pcm);
    memcpy(pcm, audio.pcm, N * sizeof *pcm);
    for (int i = 0; i < 100; i++) pcm[3 * RATE + i * 7] = i % 3 ? NAN : i % 2 ? INFINITY : -3e38f;
    struct pair x = pair_open(0);
    assert_int_equal(steno_transcribe(x.s[0], pcm, N, NULL), 0);
    const int n = steno_segment_count(x.s[0]);
    steno_segment g = { .size = sizeof g };
    assert_true(n > 0);
    assert_int_equal(steno_segment_get(x.s[0], n - 1, &g), 0);
    assert_true(g.start > 30 && g.end <= 41);
    pair_close(&x);
    free(pcm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stream_goes_on_after_every_allocation_has_failed),
        cmocka_unit_test(test_a_callback_ends_a_stream_anywhere),
        cmocka_unit_test(test_samples_that_are_no_numbers_do_not_end_a_stream),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
