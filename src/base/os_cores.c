/* steno: usable processors, and their caches. SPDX-License-Identifier: MIT
 *
 * Two threads on the two halves of one core share its vector units, so the default counts physical cores: of each group of siblings only
 * the lowest-numbered one that the affinity mask allows. A container's quota limits both counts, at every level of the cgroup tree. A
 * fraction of a processor is rounded down, because a team is as slow as its slowest thread. */
#include "base/os.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__)

enum { MAX_CPUS = 1 << 13 };

struct cpus {
    cpu_set_t *set;
    size_t sz;
};

static int cpus_get(struct cpus *c)
{
    c->sz = CPU_ALLOC_SIZE(MAX_CPUS);
    c->set = CPU_ALLOC(MAX_CPUS);
    if (c->set && sched_getaffinity(0, c->sz, c->set) == 0) return 1;
    CPU_FREE(c->set);
    return 0;
}

/* Read the beginning of a small text file, NUL-terminated; 0 if it cannot be read. */
static int text_read(const char *path, char *buf, size_t n)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    size_t len = 0;
    for (ssize_t got; len + 1 < n && (got = read(fd, buf + len, n - 1 - len)) > 0;) len += (size_t)got;
    close(fd);
    buf[len] = 0;
    return len > 0;
}

/* A file about a processor, /sys/devices/system/cpu/cpuN/NAME. */
static int cpu_text(int cpu, const char *name, char *buf, size_t n)
{
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", cpu, name);
    return text_read(path, buf, n);
}

/* The next range of a list such as "0,64" or "0-1,4"; NULL after the last one. */
static const char *list_next(const char *s, long *first, long *last)
{
    char *end;
    if (*s < '0' || *s > '9') return NULL;
    *first = strtol(s, &end, 10);
    *last = *end == '-' ? strtol(end + 1, &end, 10) : *first;
    return *end == ',' ? end + 1 : "";
}

/* Whether a usable sibling has a lower number than `cpu`. */
static int has_lower_sibling(const struct cpus *c, int cpu)
{
    char list[256];
    long first, last;
    if (!cpu_text(cpu, "topology/thread_siblings_list", list, sizeof list)) return 0;
    for (const char *s = list; (s = list_next(s, &first, &last)) != NULL;)
        for (long i = first; i <= last && i < cpu; i++)
            if (CPU_ISSET_S((size_t)i, c->sz, c->set)) return 1;
    return 0;
}

/* The number of processors in a list of a processor, at least 1. */
static long list_count(int cpu, const char *name)
{
    char list[1024];
    long n = 0, first, last;
    if (!cpu_text(cpu, name, list, sizeof list)) return 1;
    for (const char *s = list; (s = list_next(s, &first, &last)) != NULL;) n += last - first + 1;
    return n > 0 ? n : 1;
}

/* The share of a cache per core. A cache shared by several cores is divided among them. The two halves of one core count as one: a team has
 * one thread per core. */
static size_t cache_of(int cpu, int level)
{
    for (int i = 0; i < 10; i++) {
        char name[64], text[32];
        snprintf(name, sizeof name, "cache/index%d/level", i);
        if (!cpu_text(cpu, name, text, sizeof text)) return 0;
        if (strtol(text, NULL, 10) != level) continue;
        snprintf(name, sizeof name, "cache/index%d/type", i);
        if (!cpu_text(cpu, name, text, sizeof text) || text[0] == 'I') continue; /* "Instruction", "Data", "Unified" */
        snprintf(name, sizeof name, "cache/index%d/size", i);
        if (!cpu_text(cpu, name, text, sizeof text)) return 0;
        const long kib = strtol(text, NULL, 10); /* "1024K" */
        snprintf(name, sizeof name, "cache/index%d/shared_cpu_list", i);
        const long cores = list_count(cpu, name) / list_count(cpu, "topology/thread_siblings_list");
        return kib > 0 && kib < LONG_MAX / 1024 ? (size_t)kib * 1024 / (size_t)(cores > 1 ? cores : 1) : 0;
    }
    return 0;
}

/* Whole processors that a quota allows; a large number if there is no quota. */
static long quota_of(const char *dir, int v2)
{
    const long none = MAX_CPUS;
    char path[640], text[64];
    long quota = -1, period = 0;
    snprintf(path, sizeof path, v2 ? "%s/cpu.max" : "%s/cpu.cfs_quota_us", dir);
    if (!text_read(path, text, sizeof text)) return none;
    char *end;
    quota = strtol(text, &end, 10);
    if (end == text) return none; /* "max" */
    if (v2) {
        period = strtol(end, NULL, 10);
    } else {
        snprintf(path, sizeof path, "%s/cpu.cfs_period_us", dir);
        if (text_read(path, text, sizeof text)) period = strtol(text, NULL, 10);
    }
    if (quota <= 0 || period <= 0) return none;
    return quota / period > 0 ? quota / period : 1;
}

/* The smallest quota from a group up to the root. Inside a container the path may be the host's; then only the root has data. */
static long quota_up(const char *root, const char *group, int v2)
{
    long best = MAX_CPUS;
    char dir[600];
    const int n = snprintf(dir, sizeof dir, "%s%s", root, group);
    if (n < 0 || n >= (int)sizeof dir) return quota_of(root, v2);
    for (size_t len = (size_t)n; len >= strlen(root);) {
        const long q = quota_of(dir, v2);
        if (q < best) best = q;
        while (len && dir[--len] != '/') {}
        dir[len] = 0;
    }
    return best;
}

static int has_controller(const char *list, const char *name)
{
    const size_t n = strlen(name);
    for (const char *s = list; s; s = strchr(s, ','), s = s ? s + 1 : NULL)
        if (strncmp(s, name, n) == 0 && (s[n] == 0 || s[n] == ',')) return 1;
    return 0;
}

/* Lines of /proc/self/cgroup read "ID:CONTROLLERS:/GROUP"; version 2 has no controllers. */
static long quota_get(void)
{
    char text[4096];
    if (!text_read("/proc/self/cgroup", text, sizeof text)) return MAX_CPUS;
    long best = MAX_CPUS;
    for (char *line = text; *line;) {
        char *const eol = line + strcspn(line, "\n");
        char *next = *eol ? eol + 1 : eol;
        *eol = 0;
        char *ctl = strchr(line, ':');
        char *group = ctl ? strchr(ctl + 1, ':') : NULL;
        if (group) {
            *group++ = 0;
            ctl++;
            long q = MAX_CPUS;
            if (!*ctl) q = quota_up("/sys/fs/cgroup", group, 1);
            else if (has_controller(ctl, "cpu")) q = quota_up("/sys/fs/cgroup/cpu", group, 0);
            if (q < best) best = q;
        }
        line = next;
    }
    return best;
}

static int count(int physical)
{
    struct cpus c;
    long n = 0;
    if (cpus_get(&c)) {
        for (int i = 0; i < MAX_CPUS; i++) n += CPU_ISSET_S((size_t)i, c.sz, c.set) && !(physical && has_lower_sibling(&c, i));
        CPU_FREE(c.set);
    } else {
        n = sysconf(_SC_NPROCESSORS_ONLN);
    }
    const long quota = quota_get();
    if (n > quota) n = quota;
    return n > 0 ? (int)n : 1;
}

/* With two kinds of cores, each kind has consecutive numbers: the minimum of the first and the last core. */
size_t os_cache(int level)
{
    struct cpus c;
    int first = 0, last = 0;
    if (!cpus_get(&c)) return cache_of(0, level);
    while (first < MAX_CPUS - 1 && !CPU_ISSET_S((size_t)first, c.sz, c.set)) first++;
    for (int i = first; i < MAX_CPUS; i++)
        if (CPU_ISSET_S((size_t)i, c.sz, c.set)) last = i;
    CPU_FREE(c.set);
    const size_t a = cache_of(first, level), b = cache_of(last, level);
    return a < b ? a : b;
}

#else

static int count(int physical)
{
    (void)physical;
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

size_t os_cache(int level)
{
    (void)level; /* not implemented on other systems */
    return 0;
}

#endif

int os_cpus(void)
{
    return count(0);
}

int os_cores(void)
{
    return count(1);
}
