/* steno tests: a sound in equal parts, whatever its length and whatever the pieces that it is read in. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "parts.h"

struct sound { int64_t at, n, piece, failing; int rewinds; }; /* failing: reading that sample fails, -1: none */

static int64_t read_count(void *user, float *pcm, int64_t n)
{
    struct sound *s = user;
    int64_t got = 0;
    if (s->at == s->failing) return STENO_ESOURCE;
    for (; got < n && got < s->piece && s->at < s->n && s->at != s->failing; got++) pcm[got] = (float)s->at++;
    return got;
}

static int rewind_count(void *user)
{
    struct sound *s = user;
    s->at = 0;
    s->rewinds++;
    return STENO_OK;
}

static int goes_on(void *user) { (void)user; return 0; }
static int stops(void *user) { return --*(int *)user <= 0; }

/* What whisper_full_parallel computes in ints: (n_samples - offset) / n for each, and the rest in the last. */
static void test_edges_are_those_of_the_reference(void **state)
{
    (void)state;
    static const int64_t samples[] = { 0, 1, 2, 3, 159, 160, 1799, 1800, 115498, 1039482 }, offsets[] = { 0, 1, 16, 1600, 48000 };
    static const int parts[] = { 1, 2, 3, 4, 7, 1024 };
    for (size_t s = 0; s < sizeof samples / sizeof *samples; s++)
        for (size_t o = 0; o < sizeof offsets / sizeof *offsets; o++)
            for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
                const int64_t all = samples[s], before = offsets[o] < all ? offsets[o] : all, each = (all - before) / parts[p];
                int64_t sum = 0;
                for (int k = 0; k < parts[p]; k++) {
                    const int64_t got = parts_edge(all, offsets[o], parts[p], k + 1) - parts_edge(all, offsets[o], parts[p], k);
                    const int64_t want = k + 1 == parts[p] ? all - sum : k ? each : before + each;
                    if (got != want) fail_msg("%lld samples behind %lld: part %d of %d has %lld, want %lld", (long long)all,
                                              (long long)before, k, parts[p], (long long)got, (long long)want);
                    sum += got;
                }
                assert_int_equal(sum, all);
            }
    assert_int_equal(parts_edge(INT64_C(1) << 40, 0, 1024, 1023), INT64_C(1023) << 30); /* no product of ints */
}

/* Read the current part to its end. */
static void expect_part(struct parts *p, int64_t piece)
{
    float pcm[997];
    const steno_source src = parts_source(p);
    int64_t at = parts_start(p), got;
    while ((got = src.read(src.user, pcm, piece)) > 0)
        for (int64_t i = 0; i < got; i++)
            if (pcm[i] != (float)at++) fail_msg("part %d: %g where sample %lld stands", p->at, (double)pcm[i], (long long)at - 1);
    assert_int_equal(got, 0);
    assert_int_equal(at, parts_end(p));
}

static void test_each_part_has_its_own_samples_as_often_as_it_is_read(void **state)
{
    (void)state;
    static const int64_t pieces[][2] = { { 1 << 20, 997 }, { 100, 33 }, { 7, 997 }, { 5000, 1 } };
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        for (int n = 2; n < 6; n++) {
            struct sound s = { .n = 10007, .piece = pieces[i][0], .failing = -1 };
            const steno_source from = { read_count, rewind_count, &s };
            struct parts p;
            assert_int_equal(parts_count(&from, goes_on, NULL), s.n);
            parts_begin(&p, n, s.n, 500, &from, NULL);
            for (int k = 0; k < n; k++) {
                parts_enter(&p, k);
                expect_part(&p, pieces[i][1]);
                assert_int_equal(parts_source(&p).rewind(&p), STENO_OK);
                expect_part(&p, pieces[i][1]);
            }
            assert_int_equal(s.rewinds, 1 + n); /* to go on with the next part takes none */
            parts_enter(&p, 0);
            expect_part(&p, pieces[i][1]);
        }
}

static void test_a_source_that_fails_or_ends_early_is_no_endless_part(void **state)
{
    (void)state;
    float pcm[100];
    int left = 3;
    struct parts p;
    struct sound s = { .n = 10000, .piece = 100, .failing = 6000 };
    const steno_source from = { read_count, rewind_count, &s };
    assert_int_equal(parts_count(&from, goes_on, NULL), STENO_ESOURCE);
    s = (struct sound){ .n = 10000, .piece = 100, .failing = -1 };
    assert_int_equal(parts_count(&from, stops, &left), STENO_ECANCELED);
    s = (struct sound){ .n = 10000, .piece = 100, .failing = 100 };
    parts_begin(&p, 2, 10000, 0, &from, NULL);
    parts_enter(&p, 1);
    assert_int_equal(parts_source(&p).read(&p, pcm, 100), STENO_ESOURCE); /* on the way */
    s = (struct sound){ .n = 5050, .piece = 100, .failing = -1 };
    parts_begin(&p, 3, 10000, 20000, &from, NULL);
    for (int k = 0; k < 3; k++) {
        int64_t n = 0, got;
        parts_enter(&p, k);
        while ((got = parts_source(&p).read(&p, pcm, 100)) > 0) n += got;
        assert_int_equal(got, 0);
        assert_int_equal(n, k ? 0 : 5050); /* an offset behind the end leaves all to the first */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges_are_those_of_the_reference),
        cmocka_unit_test(test_each_part_has_its_own_samples_as_often_as_it_is_read),
        cmocka_unit_test(test_a_source_that_fails_or_ends_early_is_no_endless_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
