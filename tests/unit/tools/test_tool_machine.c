/* steno tests: facts about this machine. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "harness.h"
#include "models/host.h"

#ifdef _WIN32
#define CHILD "\"%s\" peak"
#else
#define CHILD "exec '%s' peak" /* without a shell between them */
#endif

enum { LARGE = 200 << 20, KEPT = 64 << 20 };

static void *held(size_t n)
{
    volatile char *p = malloc(n); /* else the memory would not be touched */
    for (size_t i = 0; p && i < n; i += 4096) p[i] = 1;
    return (void *)p;
}

/* What the program that starts this one has held is not this one's. */
static void test_peak_memory_is_that_of_this_process_alone(void **state)
{
    (void)state;
    if (SANITIZED) skip();
    void *large = held(LARGE);
    char exe[512], command[600];
    assert_non_null(large);
    const int64_t mine = host_peak_rss();
    assert_true(mine >= LARGE);
    const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    assert_true(n > 0);
    exe[n] = '\0';
    snprintf(command, sizeof command, CHILD, exe);
    FILE *p = popen(command, "r");
    long long other = 0;
    assert_non_null(p);
    assert_int_equal(fscanf(p, "%lld", &other), 1);
    assert_int_equal(pclose(p), 0);
    assert_true(other >= KEPT);
    if (other > LARGE / 2 + KEPT / 2) fail_msg("a child that holds %d bytes has %lld", KEPT, other);
    assert_int_equal(host_peak_rss() >= mine, 1);
    free(large);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "peak")) {
        void *some = held(KEPT);
        if (!some) return 1;
        printf("%lld\n", (long long)host_peak_rss());
        free(some);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_peak_memory_is_that_of_this_process_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
