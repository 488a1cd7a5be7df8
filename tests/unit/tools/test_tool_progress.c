/* steno: the progress bar fits its terminal and shows the whole run. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "cli/progress.h"
#include <string.h>

static struct progress in_hand(struct progress_bar *b, const char *doing, int64_t done_ms, int64_t total_ms)
{
    struct progress p;
    progress_begin(&p, b, "a.wav", 0, 1);
    p.doing = doing;
    p.done_ms = done_ms;
    p.total_ms = total_ms;
    b->first = NULL;
    return p;
}

static void check(const struct progress_bar *b, int columns, const char *want)
{
    char text[256];
    progress_text(text, b, columns, b->first ? b->first->begun_us + 10000000 : b->begun_us + 10000000);
    assert_string_equal(text, want);
}

static void test_one_input_shows_its_position(void **state)
{
    (void)state;
    struct progress_bar b = { .n_files = 1 };
    struct progress p = in_hand(&b, NULL, 62000, 310000);
    b.first = &p;
    check(&b, 80, "[####--------------------] 01:02 / 05:10  6.2x  00:40 left");
    check(&b, 43, "[#-------] 01:02 / 05:10  6.2x  00:40 left");
    check(&b, 42, "[##-----------] 01:02 / 05:10  00:40 left");
    check(&b, 40, "[##---------] 01:02 / 05:10  00:40 left");
    check(&b, 30, "[##-----------] 01:02 / 05:10");
    check(&b, 20, "[##----------] 20 %");
    check(&b, 16, "[#-------] 20 %");
    check(&b, 15, "01:02 / 05:10");
    check(&b, 10, "20 %");
}

static void test_progress_before_the_first_text_is_shown(void **state)
{
    (void)state;
    struct progress_bar b = { .n_files = 1 };
    struct progress p = in_hand(&b, "finding speech", 62000, 310000);
    b.first = &p;
    check(&b, 80, "[####--------------------] finding speech 01:02 / 05:10");
    p.total_ms = 0; /* a pipe does not say how long it will be */
    check(&b, 80, "[------------------------] finding speech 01:02");
    progress_read_all(&p, 62000);
    check(&b, 80, "[------------------------] 00:00 / 01:02  0.0x  --:-- left");
}

static void test_several_inputs_are_one_bar(void **state)
{
    (void)state;
    struct progress_bar b = { .n_files = 4, .n_done = 1, .past_ms = 40000 };
    struct progress p = in_hand(&b, NULL, 30000, 60000), q = in_hand(&b, NULL, 30000, 60000);
    p.begun_us = q.begun_us = 0;
    b.first = &p;
    p.next = &q;
    check(&b, 80, "[############------------] 1/4 files  10.0x  00:10 left");
    check(&b, 40, "[####----] 1/4 files  10.0x  00:10 left");
    q.doing = "listening"; /* audio that is only read is not done */
    check(&b, 80, "[#########---------------] 1/4 files  7.0x  00:16 left");
    q.doing = NULL;
    q.n_parts = 2; /* the first of two channels */
    check(&b, 80, "[##########--------------] 1/4 files  10.0x  00:12 left");
    p.next = NULL;
    p.doing = "listening";
    check(&b, 80, "[######------------------] 1/4 files  listening 00:30 / 01:00");
}

static void test_no_line_is_wider_than_the_terminal(void **state)
{
    (void)state;
    static const int64_t lengths[] = { 0, 1, 59999, 3600000, 1000000000, INT64_MAX / 1000 };
    static const char *const doing[] = { NULL, "listening", "finding speech" };
    char text[256];
    for (int n = 1; n <= 100000; n *= 10)
        for (size_t k = 0; k < 6 * 3; k++)
            for (int columns = 0; columns <= 300; columns++) {
                struct progress_bar b = { .n_files = n, .n_done = n - 1 };
                struct progress p = in_hand(&b, doing[k % 3], lengths[k / 3] / 2, lengths[k / 3]);
                b.first = &p;
                memset(text, 'x', sizeof text);
                progress_text(text, &b, columns, p.begun_us + 1);
                assert_non_null(memchr(text, 0, sizeof text));
                if ((int)strlen(text) > (columns > 1 ? columns - 1 : 0)) fail_msg("%d columns: \"%s\"", columns, text);
            }
}

static void test_inputs_come_and_go_in_any_order(void **state)
{
    (void)state;
    struct progress_bar b;
    struct progress p[3];
    progress_bar_begin(&b, PROGRESS_NONE, 0, 3);
    for (int i = 0; i < 3; i++) progress_begin(&p[i], &b, "a.wav", 0, 1);
    progress_update(&p[1], 1000, 2000);
    progress_end(&p[1]);
    progress_end(&p[1]); /* twice does no harm */
    progress_bar_done(&b, 1);
    assert_int_equal(b.past_ms, 1000);
    assert_ptr_equal(b.first, &p[2]);
    progress_end(&p[2]);
    progress_end(&p[0]);
    assert_null(b.first);
    assert_int_equal(b.past_ms, 1000); /* the others had reported nothing */
    progress_update(&p[0], 1, 1); /* finished */
    assert_int_equal(b.n_done, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_input_shows_its_position),
        cmocka_unit_test(test_progress_before_the_first_text_is_shown),
        cmocka_unit_test(test_several_inputs_are_one_bar),
        cmocka_unit_test(test_no_line_is_wider_than_the_terminal),
        cmocka_unit_test(test_inputs_come_and_go_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
