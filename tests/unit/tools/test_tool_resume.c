/* steno tests: what is kept of a run, and its inputs, when memory runs out. SPDX-License-Identifier: MIT
 *
 * Every allocation fails in turn. In each case results of finished inputs stay, the journal of an unfinished one is whole
 * as far as it goes, and a run with all its memory goes on from there. */
#define COUNT_LIBRARIES
#include "api/heap.h"
#include "input/inputs.h"
#include "cli/message.h"
#include "input/resume.h"
#include "writers.h"
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 400 }; /* allocations of a run, at most */

static char folder[] = "/tmp/steno-resume-XXXXXX";
static steno_model *model;
static char *inputs[] = { (char *)"a.wav", (char *)"b.wav" };

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int set_up(void **state)
{
    (void)state;
    steno_error e;
    if (steno_model_open(&model, "models/whisper-digits/whisper-digits.bin", NULL, &e)) fail_msg("%s", e.text);
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    for (int i = 0; i < 2; i++) write_file(inputs[i], inputs[i]);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[80];
    steno_model_close(model);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") || system(command);
}

static const char found[] = "found"; /* the bytes of each result */

/* A run of both inputs. */
struct made { struct resume r; struct out_naming naming; char *left[2]; int place[2], n, code; };

static void begin(struct made *m, int requested)
{
    *m = (struct made){ .naming = { .dir = "out", .formats = 1u << WRITER_TXT, .n_inputs = 2 }, .left = { inputs[0], inputs[1] },
                        .place = { 0, 1 }, .n = 2 };
    m->r = (struct resume){ .dir = "out", .naming = &m->naming, .requested = requested, .quiet = 1, .n_inputs = 2 };
    m->code = resume_begin(&m->r, 1, (const steno_model *[]){ model }, 1, "options");
    if (m->code == EXIT_OK) m->code = resume_skip(&m->r, m->left, m->place, &m->n);
}

static void end(struct made *m, int ended)
{
    resume_end(&m->r, inputs, 2, ended);
}

static struct job_input input(int i)
{
    return (struct job_input){ .file = inputs[i], .index = i, .channel = JOB_MIX };
}

static void finish(struct made *m, int i)
{
    const struct job_input in = input(i);
    char path[32];
    size_t n;
    resume_data(&m->r, &in, &n);
    snprintf(path, sizeof path, "out/%c.txt", 'a' + i);
    struct stamp_bytes bytes = stamp_no_bytes();
    stamp_add(&bytes, found, sizeof found - 1);
    resume_wrote(&m->r, &in, path, WRITER_TXT, &bytes);
    resume_done(&m->r, &in);
}

/* Three pieces of an input, as far as they are not kept already. */
static void find(struct made *m, int i)
{
    static const char *const piece[] = { "one ", "two ", "three " };
    const struct job_input in = input(i);
    size_t n;
    const char *kept = resume_data(&m->r, &in, &n);
    char before[32] = "";
    if (kept) memcpy(before, kept, n);
    assert_non_null(strstr("_one two three ", n ? before : "_"));
    for (size_t k = 0, at = 0; k < 3; at += strlen(piece[k++]))
        if (at >= n) resume_point(&m->r, &in, piece[k], strlen(piece[k]), 1000);
}

/* The first is finished, of the second two pieces are kept. */
static void begun(void)
{
    struct made m;
    assert_int_equal(system("rm -rf out && mkdir out"), 0);
    begin(&m, 1);
    assert_int_equal(m.code, EXIT_OK);
    write_file("out/a.txt", found);
    finish(&m, 0);
    const struct job_input in = input(1);
    size_t n;
    assert_null(resume_data(&m.r, &in, &n));
    resume_point(&m.r, &in, "one ", 4, 500);
    resume_point(&m.r, &in, "two ", 4, 900);
    end(&m, 1);
}

/* With all memory: how much of the second is kept; -1: it is finished. The first is. */
static int what_is_kept(void)
{
    struct made m;
    size_t n = 0;
    begin(&m, 1);
    assert_int_equal(m.code, EXIT_OK);
    for (int i = 0; i < m.n; i++) assert_string_equal(m.left[i], inputs[1]);
    if (m.n) {
        const struct job_input in = input(1);
        const char *kept = resume_data(&m.r, &in, &n);
        assert_true(n == 0 || memcmp(kept, "one two three ", n) == 0);
    }
    const int is_finished = !m.n;
    end(&m, 1);
    return is_finished ? -1 : (int)n;
}

static void test_kept_results_are_continued_after_a_failed_allocation(void **state)
{
    (void)state;
    need_counting();
    int failed = 0, less = 0;
    for (int k = 0;; k++) {
        struct made m;
        assert_true(k < MOST);
        begun();
        count_begin(k);
        begin(&m, 1);
        if (m.code == EXIT_OK) {
            assert_int_equal(m.n, 1);
            find(&m, 1);
        }
        end(&m, 1);
        const int64_t calls = count_end().calls;
        const int kept = what_is_kept();
        assert_true(kept >= 8 && kept <= 14); /* what was there before is never lost */
        failed += m.code == EXIT_MEMORY;
        less += kept < 14;
        if (calls <= k) break;
    }
    assert_true(failed > 3 && less > 5);
}

static void test_finished_results_stay_when_memory_failed(void **state)
{
    (void)state;
    need_counting();
    int again = 0;
    for (int k = 0;; k++) {
        struct made m;
        assert_true(k < MOST);
        begun();
        count_begin(k);
        begin(&m, 1);
        heap.counting = 0;
        if (m.code == EXIT_OK) {
            find(&m, 1);
            write_file("out/b.txt", found);
            heap.counting = 1;
            finish(&m, 1);
        }
        end(&m, 0);
        const int64_t calls = count_end().calls;
        assert_int_equal(access("out/a.txt", F_OK), 0);
        if (m.code == EXIT_OK) assert_int_equal(access("out/b.txt", F_OK), 0);
        again += what_is_kept() >= 0;
        if (calls <= k) break;
    }
    assert_true(again > 3);
    begun();
    assert_int_equal(what_is_kept(), 8);
}

static void test_spent_time_is_that_of_all_runs(void **state)
{
    (void)state;
    struct made m;
    size_t n;
    begun();
    begin(&m, 1);
    const struct job_input in = input(1);
    assert_non_null(resume_data(&m.r, &in, &n));
    assert_int_equal(resume_spent(&m.r, &in), 900);
    resume_point(&m.r, &in, "three ", 6, 50);
    end(&m, 1);
    begin(&m, 1);
    assert_non_null(resume_data(&m.r, &in, &n));
    assert_int_equal(resume_spent(&m.r, &in), 950);
    end(&m, 1);
}

/* The inputs of some operands when the k-th allocation fails. @return the exit code */
static int expand(int k, int64_t *calls)
{
    char *operands[] = { (char *)"talks", (char *)"@list", (char *)"*.wav" };
    struct inputs in;
    count_begin(k);
    const int code = inputs_expand(&in, operands, 3, 1);
    *calls = count_end().calls;
    if (code == EXIT_OK) {
        assert_int_equal(in.n, 6);
        assert_string_equal(in.file[0], "talks/c.wav");
        assert_string_equal(in.file[1], "talks/old/d.wav");
        assert_string_equal(in.file[2], "b.wav");
        assert_string_equal(in.file[3], "talks/old/d.wav");
        assert_string_equal(in.file[5], "b.wav");
    }
    inputs_free(&in);
    return code;
}

static void test_names_of_inputs_are_all_there_or_none(void **state)
{
    (void)state;
    int64_t calls = 0;
    int refused = 0;
    assert_int_equal(system("mkdir -p talks/old && touch talks/c.wav talks/old/d.wav"), 0);
    write_file("list", "b.wav\n# a pattern\ntalks/*/*.wav\n");
    for (int k = 0; calls >= k; k++) {
        const int code = expand(k, &calls);
        assert_true(code == EXIT_OK || code == EXIT_MEMORY);
        refused += code == EXIT_MEMORY;
        if (!COUNTING) break;
    }
    assert_true(!COUNTING || refused > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept_results_are_continued_after_a_failed_allocation),
        cmocka_unit_test(test_finished_results_stay_when_memory_failed),
        cmocka_unit_test(test_spent_time_is_that_of_all_runs),
        cmocka_unit_test(test_names_of_inputs_are_all_there_or_none),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
