/* steno tests: NUMA nodes of machines that are written as folders. SPDX-License-Identifier: MIT */
#include "folder.h"
#include "harness.h"
#include "models/numa.h"
#include <linux/mempolicy.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct folder own;
static const char *const files[] = { "online", "has_memory", "node0/cpulist", "node1/cpulist", "node2/cpulist", "node1000/cpulist" };

static void put(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/devices/system/node/%s", own.path, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int setup(void **state)
{
    static const char *const folders[] = { "", "/system", "/system/node", "/system/node/node0", "/system/node/node1", "/system/node/node2",
                                           "/system/node/node1000" };
    char path[512];
    (void)state;
    own = folder_new();
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/devices%s", own.path, folders[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    put("online", "0-2,1000\n");
    put("has_memory", "0-1,1000\n");
    put("node0/cpulist", "0-3,8-11\n");
    put("node1/cpulist", "4-7,12\n");
    put("node2/cpulist", "\n");
    put("node1000/cpulist", "8191\n");
    return 0;
}

static int teardown(void **state)
{
    static const char *const folders[] = { "/system/node/node0", "/system/node/node1", "/system/node/node2", "/system/node/node1000",
                                           "/system/node", "/system", "" };
    char path[512];
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/devices/system/node/%s", own.path, files[i]);
        remove(path);
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/devices%s", own.path, folders[i]);
        remove(path);
    }
    folder_remove(&own);
    return 0;
}

static struct numa_cpus all(void)
{
    struct numa_cpus c;
    memset(&c, 0xff, sizeof c);
    return c;
}

static int has(const struct numa_cpus *c, int cpu) { return (int)(c->word[cpu / NUMA_WORD] >> cpu % NUMA_WORD & 1); }

static int count(const struct numa_cpus *c)
{
    int n = 0;
    for (int i = 0; i < NUMA_CPUS; i++) n += has(c, i);
    return n;
}

static void test_the_processors_of_a_node(void **state)
{
    struct numa_cpus c = all();
    char why[NUMA_WHY_SZ] = "";
    (void)state;
    assert_int_equal(numa_find(&c, why, own.path, "0"), 0);
    assert_int_equal(count(&c), 8);
    assert_true(has(&c, 0) && has(&c, 3) && !has(&c, 4) && has(&c, 8) && has(&c, 11) && !has(&c, 12));
    c = all();
    assert_int_equal(numa_find(&c, why, own.path, "1"), 1);
    assert_true(count(&c) == 5 && has(&c, 12));
    c = all();
    assert_int_equal(numa_find(&c, why, own.path, "1000"), 1000);
    assert_true(count(&c) == 1 && has(&c, 8191));
    assert_string_equal(why, "");
}

static void test_only_those_that_the_process_may_use(void **state)
{
    struct numa_cpus c = { { 0x90 } }; /* 4 and 7, as a container gives them */
    char why[NUMA_WHY_SZ];
    (void)state;
    assert_int_equal(numa_find(&c, why, own.path, "1"), 1);
    assert_true(count(&c) == 2 && has(&c, 4) && has(&c, 7));
    assert_int_equal(numa_find(&c, why, own.path, "1"), 1); /* again */
    assert_int_equal(count(&c), 2);
    assert_int_equal(numa_find(&c, why, own.path, "0"), -1);
    assert_string_equal(why, "this process may use none of the processors of node 0 (0-3,8-11)");
}

static void refused(const char *typed, const char *reason)
{
    struct numa_cpus c = all();
    char why[NUMA_WHY_SZ] = "";
    assert_int_equal(numa_find(&c, why, own.path, typed), -1);
    if (strcmp(why, reason) != 0) fail_msg("%s: %s, not %s", typed, why, reason);
}

static void test_what_is_no_node_is_refused_with_a_list(void **state)
{
    (void)state;
    static const char *const absent[] = { "3", "999", "1024", "99999999999999999999" };
    static const char *const none[] = { "", "isolate", "-1", "0-1", "0x0", " 0", "1 " };
    char want[256];
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        snprintf(want, sizeof want, "there is no node %s; the nodes of this machine are 0-2,1000", absent[i]);
        refused(absent[i], want);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        snprintf(want, sizeof want, "\"%s\" is not the number of a node; the nodes of this machine are 0-2,1000", none[i]);
        refused(none[i], want);
    }
}

static void test_nodes_without_processors_or_memory(void **state)
{
    (void)state;
    refused("2", "node 2 has memory, but no processors; the nodes of this machine are 0-2,1000");
    put("has_memory", "0,1000\n");
    refused("1", "node 1 has no memory; the nodes with memory are 0,1000");
    put("has_memory", ""); /* an old kernel */
    struct numa_cpus c = all();
    char why[NUMA_WHY_SZ];
    assert_int_equal(numa_find(&c, why, own.path, "1"), 1);
}

static void test_a_system_without_nodes(void **state)
{
    char want[256];
    (void)state;
    put("online", "");
    snprintf(want, sizeof want, "this system has no list of NUMA nodes (%s/devices/system/node)", own.path);
    refused("0", want);
    static const char *const odd[] = { "x\n", ",\n", "-\n", "1-\n", "0x1\n", "5-2\n", "99999999999999999999\n" };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        struct numa_cpus c = all();
        char why[NUMA_WHY_SZ] = "";
        put("online", odd[i]);
        assert_int_equal(numa_find(&c, why, own.path, "2"), -1);
        assert_true(strlen(why) > 0);
    }
}

/* ---- this machine ------------------------------------------------------------------------------------------------------------ */

static void *policy_of_thread(void *mode)
{
    if (syscall(SYS_get_mempolicy, mode, NULL, 0UL, NULL, 0UL) != 0) *(int *)mode = -1;
    return NULL;
}

/* @return 0, or the number of what does not hold */
static int bound(const char *node)
{
    struct numa_cpus one = { { 0 } }, now = { { 0 } };
    pthread_t id;
    int mine = -1, of_thread = -1;
    if (numa_bind(node, 1) != 0) return 1;
    if (syscall(SYS_sched_getaffinity, 0, sizeof now, &now) < 0 || count(&now) < 1) return 2;
    for (int i = 0; i < NUMA_CPUS && !count(&one); i++)
        if (has(&now, i)) one.word[i / NUMA_WORD] |= 1UL << i % NUMA_WORD;
    if (syscall(SYS_sched_setaffinity, 0, sizeof one, &one) != 0 || numa_bind(node, 1) != 0) return 3;
    if (syscall(SYS_sched_getaffinity, 0, sizeof now, &now) < 0 || count(&now) != 1) return 4; /* none is added */
    policy_of_thread(&mine);
    if (pthread_create(&id, NULL, policy_of_thread, &of_thread) || pthread_join(id, NULL)) return 5;
    if (mine != of_thread || (mine != MPOL_BIND && mine != -1 && mine != MPOL_DEFAULT)) return 6;
    return mine == MPOL_BIND ? 0 : 7;
}

static void test_this_process_is_bound(void **state)
{
    char node[16] = "";
    FILE *f = fopen("/sys/devices/system/node/has_cpu", "r");
    (void)state;
    if (f && !fgets(node, sizeof node, f)) node[0] = '\0';
    if (f) fclose(f);
    node[strspn(node, "0123456789")] = '\0';
    if (!node[0]) skip(); /* a kernel without nodes */
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) _exit(bound(node));
    int status = 0;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 7) print_message("memory policies are not allowed here\n");
    else assert_int_equal(WEXITSTATUS(status), 0);
}

#define ON_MACHINE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_MACHINE(test_the_processors_of_a_node),
        ON_MACHINE(test_only_those_that_the_process_may_use),
        ON_MACHINE(test_what_is_no_node_is_refused_with_a_list),
        ON_MACHINE(test_nodes_without_processors_or_memory),
        ON_MACHINE(test_a_system_without_nodes),
        cmocka_unit_test(test_this_process_is_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
