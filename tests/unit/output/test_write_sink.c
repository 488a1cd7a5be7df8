/* steno tests: where text goes. SPDX-License-Identifier: MIT */
#include "write_help.h"
#include <stdio.h>

/* Takes `room` bytes, all of a call or nothing. */
struct narrow { size_t room, n; int calls; };

static int narrow_write(void *user, const char *bytes, size_t n)
{
    struct narrow *to = user;
    (void)bytes;
    to->calls++;
    if (n > to->room - to->n) return -1;
    to->n += n;
    return 0;
}

static void test_memory_holds_what_was_written_and_ends_with_a_nul(void **state)
{
    (void)state;
    struct sink_memory m = { 0 };
    struct sink s = sink_to_memory(&m);
    char want[3000] = "", line[900];
    for (int i = 0; i < 3; i++) {
        sink_char(&s, 'a' + i);
        sink_text(&s, "");
        sink_bytes(&s, "xyz", 2);
        memset(line, '0' + i, sizeof line - 1); /* longer than any line that is laid out at once */
        line[sizeof line - 1] = '\0';
        sink_format(&s, "%s %d\n", line, i);
        snprintf(want + strlen(want), sizeof want - strlen(want), "%cxy%s %d\n", 'a' + i, line, i);
    }
    assert_false(s.failed);
    assert_int_equal(m.n, strlen(want));
    assert_string_equal(m.p, want);
    free(m.p);
}

static void test_a_sink_that_refuses_bytes_is_asked_no_more_by_any_writer(void **state)
{
    (void)state;
    const steno_segment seg = { .t1_ms = 1000, .text = " one", .avg_logprob = -1 };
    const struct transcript_source source = { .input = "a.wav" };
    const struct transcript t = { .segs = &seg, .n = 1, .text = " one", .language = "en", .first_timestamp = -1, .source = &source };
    for (const struct writer *w = writers; w->name; w++) {
        struct narrow all = { .room = SIZE_MAX };
        struct sink s = { .write = narrow_write, .user = &all };
        w->write(&s, &t);
        assert_false(s.failed);
        for (size_t room = 0; room < all.n; room += 1 + room / 8) {
            struct narrow to = { .room = room };
            s = (struct sink){ .write = narrow_write, .user = &to };
            w->write(&s, &t);
            if (!s.failed) fail_msg("%s in %zu bytes", w->name, room);
            const int calls = to.calls;
            sink_text(&s, "more");
            assert_int_equal(to.calls, calls);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_holds_what_was_written_and_ends_with_a_nul),
        cmocka_unit_test(test_a_sink_that_refuses_bytes_is_asked_no_more_by_any_writer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
