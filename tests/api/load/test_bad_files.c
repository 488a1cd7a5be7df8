/* steno tests: the collection of damaged models, through the library and the program. SPDX-License-Identifier: MIT
 *
 * Each file that must be refused is refused by steno_model_open, by `steno` and by `steno info` in the same words, which name the file; a
 * child of its own does it, with a second of processor time and little memory. Skipped where STENO_SHARED does not name the collection. */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <steno/steno.h>
#include "harness.h"

enum { CPU_S = SANITIZED ? 10 : 1, GROWTH_KB = 64 << 10, EXIT_MODEL = 3, CANNOT_RUN = 99 };
enum { BY_LIBRARY, BY_INFO, BY_TRANSCRIBE, N_WAYS };
static const char *const way_name[N_WAYS] = { "steno_model_open", "steno info", "steno" };

static const char *shared;
static char program[600];

struct ended { int code, signal; long rss_kb; char text[2048]; };

static void open_model(const char *path)
{
    steno_model *m;
    steno_error e;
    const int rc = steno_model_open(&m, path, NULL, &e);
    if (rc) fprintf(stderr, "steno: %s\n", e.text);
    steno_model_close(m);
    fflush(stderr);
    _exit(rc ? EXIT_MODEL : 0);
}

static void child(int way, const char *path, int to)
{
    const struct rlimit cpu = { CPU_S, CPU_S };
    const int none = open("/dev/null", O_RDWR);
    setrlimit(RLIMIT_CPU, &cpu);
    dup2(none, 0);
    dup2(none, 1);
    dup2(to, 2);
    setenv("HOME", "/nowhere", 1);
    unsetenv("STENO_MODEL");
    unsetenv("XDG_CACHE_HOME");
    if (way == BY_LIBRARY && !path) _exit(0);
    if (way == BY_LIBRARY) open_model(path);
    if (!path) execl(program, "steno", "--version", (char *)NULL);
    else if (way == BY_INFO) execl(program, "steno", "info", path, (char *)NULL);
    else execl(program, "steno", "-m", path, "tests/data/demo.wav", (char *)NULL);
    _exit(CANNOT_RUN);
}

/* path NULL: nothing but the start, for comparison */
static struct ended run(int way, const char *path)
{
    struct ended r = { 0 };
    struct rusage used;
    int pipe_fd[2], status;
    size_t n = 0;
    assert_int_equal(pipe(pipe_fd), 0);
    const pid_t id = fork();
    if (!id) child(way, path, pipe_fd[1]);
    assert_true(id > 0);
    close(pipe_fd[1]);
    for (ssize_t got = 1; got > 0 && n + 1 < sizeof r.text; n += got > 0 ? (size_t)got : 0)
        got = read(pipe_fd[0], r.text + n, sizeof r.text - 1 - n);
    close(pipe_fd[0]);
    assert_int_equal(wait4(id, &status, 0, &used), id);
    r.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    r.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    r.rss_kb = used.ru_maxrss;
    return r;
}

/* @return 1 when it was refused */
static int check(int way, const char *path, int may_open, long rss_kb, struct ended *r)
{
    *r = run(way, path);
    if (r->signal) fail_msg("%s %s: ended by signal %d: %s", way_name[way], path, r->signal, r->text);
    if (!r->code && may_open) return 0;
    if (r->code != EXIT_MODEL) fail_msg("%s %s: exit code %d, want %d: %s", way_name[way], path, r->code, EXIT_MODEL, r->text);
    if (strncmp(r->text, "steno: ", 7) != 0 || strncmp(r->text + 7, path, strlen(path)) != 0)
        fail_msg("%s: the message does not name %s: %s", way_name[way], path, r->text);
    if (strchr(r->text, '\n') != strrchr(r->text, '\n')) fail_msg("%s %s: several lines: %s", way_name[way], path, r->text);
    if (!SANITIZED && r->rss_kb > rss_kb + GROWTH_KB)
        fail_msg("%s %s: memory grew to %ld KiB, from %ld", way_name[way], path, r->rss_kb, rss_kb);
    return 1;
}

static void test_damaged_models_are_refused_in_the_same_words_by_library_and_program(void **state)
{
    (void)state;
    char path[600];
    snprintf(path, sizeof path, "%.500s/material/bad/bad.json", shared);
    json_t *list = json_load_file(path, 0, NULL), *it;
    size_t i;
    int n_refused = 0, n_ways = access(program, X_OK) ? 1 : N_WAYS;
    long rss_kb[N_WAYS];
    assert_non_null(list);
    if (n_ways == 1) print_message("%s is not there: the library alone is tried\n", program);
    for (int w = 0; w < n_ways; w++) rss_kb[w] = run(w, NULL).rss_kb;
    json_array_foreach(list, i, it)
    {
        const char *file = json_string_value(json_object_get(it, "file"));
        const int may_open = !strcmp(json_string_value(json_object_get(it, "expect")), "either");
        struct ended r[N_WAYS];
        snprintf(path, sizeof path, "%.400s/material/bad/%.100s", shared, file);
        for (int w = 0; w < n_ways; w++)
            if (check(w, path, may_open, rss_kb[w], &r[w])) n_refused++;
            else snprintf(r[w].text, sizeof r[w].text, "opens");
        for (int w = 1; w < n_ways && !may_open; w++)
            if (strcmp(r[w].text, r[0].text) != 0) fail_msg("%s prints: %s%s prints: %s", way_name[w], r[w].text, way_name[0], r[0].text);
    }
    json_decref(list);
    print_message("%d refusals\n", n_refused);
    assert_true(n_refused >= 100 * n_ways);
}

int main(void)
{
    const char *build = getenv("STENO_BUILD");
    shared = getenv("STENO_SHARED");
    if (!shared) {
        fprintf(stderr, "skipped: STENO_SHARED does not name the collection of damaged models\n");
        return 77;
    }
    snprintf(program, sizeof program, "%.500s/steno", build ? build : ".");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged_models_are_refused_in_the_same_words_by_library_and_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
