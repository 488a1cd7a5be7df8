/* steno: a process on one NUMA node. SPDX-License-Identifier: MIT
 *
 * A team's threads are started by the thread that opens it, and inherit its processors and its memory policy. Weights and scratch are then
 * pages of the node, whichever thread touches them first, and the default number of threads counts the node's cores. */
#include "models/numa.h"
#include "cli/message.h"
#include "models/host.h"
#include <errno.h>
#include <limits.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LIST_SZ = 1 << 14 };

/* Read a list such as "0-3,8" from a file of the nodes. A file that is missing, or empty, is an empty list. */
static void list_read(char list[LIST_SZ], const char *sysfs, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/devices/system/node/%s", sysfs, name);
    host_text(path, list, LIST_SZ);
    list[strcspn(list, "\n")] = '\0';
}

static int list_has(const char *list, long number)
{
    while (*list >= '0' && *list <= '9') {
        char *end;
        const long first = strtol(list, &end, 10), last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        if (first <= number && number <= last) return 1;
        list = *end == ',' ? end + 1 : "";
    }
    return 0;
}

/* @return -1: not a number; NUMA_NODES: one that no kernel has */
static int number_of(const char *typed)
{
    const size_t n = strspn(typed, "0123456789");
    if (!n || typed[n]) return -1;
    const long node = n < 9 ? strtol(typed, NULL, 10) : NUMA_NODES;
    return node < NUMA_NODES ? (int)node : NUMA_NODES;
}

int numa_find(struct numa_cpus *cpus, char why[NUMA_WHY_SZ], const char *sysfs, const char *typed)
{
    char nodes[LIST_SZ], list[LIST_SZ], name[64];
    int n = 0;
    list_read(nodes, sysfs, "online");
    const int node = number_of(typed), is_there = node >= 0 && node < NUMA_NODES && list_has(nodes, node);
    if (!nodes[0]) snprintf(why, NUMA_WHY_SZ, "this system has no list of NUMA nodes (%s/devices/system/node)", sysfs);
    else if (node < 0)
        snprintf(why, NUMA_WHY_SZ, "\"%.40s\" is not the number of a node; the nodes of this machine are %.200s", typed, nodes);
    else if (!is_there) snprintf(why, NUMA_WHY_SZ, "there is no node %.40s; the nodes of this machine are %.200s", typed, nodes);
    if (!is_there) return -1;
    snprintf(name, sizeof name, "node%d/cpulist", node);
    list_read(list, sysfs, name);
    for (int i = 0; i < NUMA_CPUS; i++) {
        unsigned long *word = &cpus->word[i / NUMA_WORD];
        const unsigned long bit = 1UL << i % NUMA_WORD;
        if (!list_has(list, i)) *word &= ~bit;
        n += (*word & bit) != 0;
    }
    const int is_empty = !list[0];
    if (!is_empty && !n) snprintf(why, NUMA_WHY_SZ, "this process may use none of the processors of node %d (%.200s)", node, list);
    if (!is_empty && !n) return -1;
    list_read(list, sysfs, "has_memory");
    if (is_empty)
        snprintf(why, NUMA_WHY_SZ, "node %d has %sno processors; the nodes of this machine are %.200s", node,
                 list_has(list, node) ? "memory, but " : "", nodes);
    if (is_empty) return -1;
    if (!list[0] || list_has(list, node)) return node; /* old kernels have no such list */
    snprintf(why, NUMA_WHY_SZ, "node %d has no memory; the nodes with memory are %.200s", node, list);
    return -1;
}

/* Memory policies may be refused by the kernel, or by a filter of system calls, whose errors are the container's. */
static int is_forbidden(int error)
{
    return error == EPERM || error == EACCES || error == ENOSYS;
}

int numa_bind_from(const char *sysfs, const char *typed, int quiet)
{
    static int is_noted; /* a team may be opened again, in processes of its own, too */
    struct numa_cpus cpus = { { 0 } };
    unsigned long nodes[NUMA_NODES / NUMA_WORD] = { 0 };
    char why[NUMA_WHY_SZ];
    if (syscall(SYS_sched_getaffinity, 0, sizeof cpus, &cpus) < 0)
        return message_usage("--numa: the processors of this process are not known: %s", strerror(errno));
    const int node = numa_find(&cpus, why, sysfs, typed);
    if (node < 0) return message_usage("--numa: %s", why);
    if (syscall(SYS_sched_setaffinity, 0, sizeof cpus, &cpus) < 0)
        return message_usage("--numa: threads cannot be bound to node %d: %s", node, strerror(errno));
    nodes[node / NUMA_WORD] = 1UL << node % NUMA_WORD;
    if (syscall(SYS_set_mempolicy, MPOL_BIND, nodes, (unsigned long)NUMA_NODES + 1) == 0) return EXIT_OK;
    if (!is_forbidden(errno)) return message_usage("--numa: memory cannot be bound to node %d: %s", node, strerror(errno));
    if (!quiet && !is_noted)
        message("note: --numa: memory policies are not allowed here (containers need CAP_SYS_NICE); memory comes from node %d while it "
                "has any", node);
    is_noted = 1;
    return EXIT_OK;
}

int numa_bind(const char *typed, int quiet) { return numa_bind_from("/sys", typed, quiet); }
