/* steno tests: NUMA nodes of machines that are written as folders. SPDX-License-Identifier: MIT */
#include "folder.h"
#include "harness.h"
#include "models/numa.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/mempolicy.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
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
    refused("2", "node 2 has no processors; the nodes of this machine are 0-2,1000");
    put("has_memory", "0-2,1000\n");
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

static int node_of_this_thread; /* one that it runs on now, so it may use it */
static struct numa_cpus allowed;

/* Writes a node of this machine with the last of the processors that this process may use. @return 0: this system does not let them be
 * chosen, or knows no nodes */
static int one_processor(void)
{
    char text[32], name[64], path[512];
    unsigned long memory[NUMA_NODES / NUMA_WORD] = { 0 };
    unsigned node;
    int last = -1;
    if (syscall(SYS_getcpu, NULL, &node, NULL) != 0 || syscall(SYS_sched_getaffinity, 0, sizeof allowed, &allowed) < 0) return 0;
    const int known = syscall(SYS_get_mempolicy, NULL, memory, (unsigned long)NUMA_NODES, NULL, (unsigned long)MPOL_F_MEMS_ALLOWED) == 0;
    if (node > 1 || (known && !(memory[0] >> node & 1))) return 0; /* the nodes of setup that have memory */
    if (syscall(SYS_sched_setaffinity, 0, sizeof allowed, &allowed) < 0) return 0;
    for (int i = 0; i < NUMA_CPUS; i++)
        if (has(&allowed, i)) last = i;
    node_of_this_thread = (int)node;
    snprintf(path, sizeof path, "/sys/devices/system/node/node%u", node);
    snprintf(name, sizeof name, "node%u/cpulist", node);
    snprintf(text, sizeof text, "%d\n", last);
    put(name, text);
    return access(path, F_OK) == 0;
}

static int bind_it(int quiet)
{
    char node[16];
    snprintf(node, sizeof node, "%d", node_of_this_thread);
    return numa_bind_from(own.path, node, quiet);
}

/* @return 0, or the number of what does not hold */
static int is_bound(void)
{
    struct numa_cpus now = { { 0 } };
    pthread_t id;
    int mine = -1, of_thread = -1;
    if (bind_it(1) != 0) return 1;
    if (syscall(SYS_sched_getaffinity, 0, sizeof now, &now) < 0 || count(&now) != 1) return 2;
    if (bind_it(1) != 0) return 3; /* again */
    if (syscall(SYS_sched_getaffinity, 0, sizeof now, &now) < 0 || count(&now) != 1) return 4;
    policy_of_thread(&mine);
    if (pthread_create(&id, NULL, policy_of_thread, &of_thread) || pthread_join(id, NULL)) return 5;
    if (mine != of_thread || (mine != MPOL_BIND && mine != -1 && mine != MPOL_DEFAULT)) return 6;
    return mine == MPOL_BIND ? 0 : 7;
}

/* Runs `what` in a process of its own, because a process stays bound. @return its result */
static int apart(int (*what)(void))
{
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) _exit(what());
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_this_process_is_bound(void **state)
{
    (void)state;
    if (!one_processor()) skip();
    const int fault = apart(is_bound);
    if (fault == 7) print_message("memory policies are not allowed here\n");
    else assert_int_equal(fault, 0);
}

/* ---- filters of system calls ------------------------------------------------------------------------------------------------- */

static int filter_error;
enum { NO_FILTER = 100 };

/* With a filter that answers set_mempolicy with filter_error. @return 10 times the lines printed, and whether binding failed */
static int bind_under_filter(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_set_mempolicy, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)filter_error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { sizeof code / sizeof *code, code };
    int to[2], lines = 0, failed = 0;
    char c;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return NO_FILTER;
    if (pipe(to) || dup2(to[1], STDERR_FILENO) < 0) return NO_FILTER;
    close(to[1]);
    for (int i = 0; i < 2; i++) failed |= bind_it(0) != 0;
    fflush(NULL);
    close(STDERR_FILENO);
    while (read(to[0], &c, 1) == 1) lines += c == '\n';
    return 10 * lines + failed;
}

static void test_forbidden_policies_are_noted_once(void **state)
{
    static const int forbidden[] = { EPERM, EACCES, ENOSYS };
    (void)state;
    if (!one_processor()) skip();
    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++) {
        filter_error = forbidden[i];
        const int is = apart(bind_under_filter);
        if (is == NO_FILTER) skip();
        assert_int_equal(is, 10);
    }
    filter_error = EINVAL; /* a node whose memory this process may not use */
    assert_int_equal(apart(bind_under_filter), 21);
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
        ON_MACHINE(test_this_process_is_bound),
        ON_MACHINE(test_forbidden_policies_are_noted_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
