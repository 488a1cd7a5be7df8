/* steno: a worker of a batch that writes no messages costs its input only. SPDX-License-Identifier: MIT */
#include "batch/isolate.h"
#include "harness.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/steno-isolate-XXXXXX";

/* A worker that ends well with all inputs but "bad". There it writes a message about an input that it does not have. */
static int worker(void *user, struct pipe_worker *p)
{
    const struct pipe_message *wrong = user;
    const struct batch_source source = pipe_worker_source(p);
    struct batch_work *w;
    while (source.next(source.user, 0, &w) == JOB_NEXT_FILE) {
        const struct batch_outcome how = { .class = CLASS_INPUT, .reason = "a reason" };
        const struct transcript_source of = { .model = "model" };
        struct batch_done done = { .class = CLASS_INPUT };
        source.begun(source.user, w);
        if (strcmp(w->item.id, "bad") == 0) {
            if (write(p->to, wrong, sizeof *wrong) != sizeof *wrong) return 1;
            pause();
        }
        done.line = batch_work_line(&done.n, w, &how, NULL, &of);
        source.done(source.user, w, &done);
    }
    return 0;
}

static int n_lines(const char *path, const char *with)
{
    char line[4096];
    int n = 0;
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) n += strstr(line, with) != NULL;
    fclose(f);
    return n;
}

static void check(struct pipe_message wrong)
{
    struct batch_control c = { .manifest = "m", .n_shards = 1, .retries = 1, .quiet = 1, .source.model = "model", .journal.fd = -1 };
    const struct batch_isolate b = { .control = &c, .n_workers = 2, .n_slots = 1, .worker = worker, .user = &wrong };
    assert_int_equal(batch_control_check(&c), EXIT_OK);
    assert_int_equal(batch_control_open(&c, "out", 0), EXIT_OK);
    assert_int_equal(batch_control_begin(&c), EXIT_OK);
    assert_int_equal(batch_isolate(&b), EXIT_OK);
    assert_int_equal(batch_control_end(&c), EXIT_SOME);
    batch_control_free(&c);
    assert_int_equal(n_lines("out", "\"class\": \"input\""), 3);
    assert_int_equal(n_lines("out", "\"id\": \"bad\", \"class\": \"poison\""), 1);
    unlink("out");
}

static void test_a_broken_message_costs_one_input(void **state)
{
    (void)state;
    FILE *f = fopen("m", "w");
    assert_non_null(f);
    assert_true(fputs("a\nbad\nb\nc\n", f) >= 0);
    assert_int_equal(fclose(f), 0);
    check((struct pipe_message){ .kind = PIPE_DONE, .tag = 2 });
    check((struct pipe_message){ .kind = PIPE_DONE, .tag = -1 });
    check((struct pipe_message){ .kind = PIPE_STOPPED, .tag = 1 << 30 });
    check((struct pipe_message){ .kind = PIPE_INPUT });
    check((struct pipe_message){ .kind = 77 });
    unlink("m");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_broken_message_costs_one_input),
    };
    if (!mkdtemp(folder) || chdir(folder)) return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return chdir("/") || rmdir(folder) || failed;
}
