/* steno: resources available to this process. SPDX-License-Identifier: MIT */
#include "models/host.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- small files ------------------------------------------------------------------------------------------------------------- */

int host_text(const char *path, char *out, size_t n)
{
    FILE *f = fopen(path, "r");
    const size_t got = f ? fread(out, 1, n - 1, f) : 0;
    if (f) fclose(f);
    out[got] = '\0';
    return got > 0;
}

/* The number after "KEY" at the start of a line of `text`, or 0. */
static int64_t number_after(const char *text, const char *key)
{
    for (const char *p = text; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
        if (strncmp(p, key, strlen(key)) == 0) return strtoll(p + strlen(key), NULL, 10);
    return 0;
}

/* ---- cgroups ----------------------------------------------------------------------------------------------------------------- */

struct limits {
    double quota;
    int64_t memory;
};

static void lower(struct limits *l, double quota, int64_t memory)
{
    if (quota > 0 && (l->quota == 0 || quota < l->quota)) l->quota = quota;
    /* version 1 has no "max"; a huge number means no limit */
    if (memory > 0 && memory < INT64_MAX >> 4 && (l->memory == 0 || memory < l->memory)) l->memory = memory;
}

/* Read the limits of one folder. cpu.max has the form "QUOTA PERIOD", and max means no limit. */
static void limits_of(struct limits *l, const char *dir, int v2)
{
    char path[PATH_MAX], text[64], *end;
    int64_t quota = 0, period = 0;
    snprintf(path, sizeof path, "%s/%s", dir, v2 ? "cpu.max" : "cpu.cfs_quota_us");
    if (host_text(path, text, sizeof text)) {
        quota = strtoll(text, &end, 10);
        period = v2 ? strtoll(end, NULL, 10) : 0;
    }
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", dir);
    if (!v2 && host_text(path, text, sizeof text)) period = strtoll(text, NULL, 10);
    if (quota > 0 && period > 0) lower(l, (double)quota / (double)period, 0);
    snprintf(path, sizeof path, "%s/%s", dir, v2 ? "memory.max" : "memory.limit_in_bytes");
    if (host_text(path, text, sizeof text)) lower(l, 0, strtoll(text, NULL, 10));
}

/* The limits of the group's folder and of all its parents apply. */
static void limits_up(struct limits *l, const char *root, const char *group, int v2)
{
    char dir[PATH_MAX - 32]; /* leaves space for a file's name */
    const size_t n_root = strlen(root);
    if ((size_t)snprintf(dir, sizeof dir, "%s%s", root, group) >= sizeof dir) dir[n_root] = '\0';
    for (;;) {
        limits_of(l, dir, v2);
        char *slash = strrchr(dir, '/');
        if (!slash || (size_t)(slash - dir) < n_root) return;
        *slash = '\0';
    }
}

/* Lines of /proc/self/cgroup have the form "ID:CONTROLLERS:/GROUP"; version 2 has no controllers. */
static void cgroup_get(struct host *h)
{
    char text[4096];
    struct limits l = { 0, 0 };
    host_text("/proc/self/cgroup", text, sizeof text);
    for (char *line = text, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next) *next++ = '\0';
        char *control = strchr(line, ':'), *group = control ? strchr(control + 1, ':') : NULL;
        if (!group) continue;
        *group++ = '\0';
        control++;
        if (!*control) {
            limits_up(&l, "/sys/fs/cgroup", group, 1);
            snprintf(h->cgroup, sizeof h->cgroup, "%s", group);
        }
        if (strstr(control, "cpu") == control || strstr(control, ",cpu")) limits_up(&l, "/sys/fs/cgroup/cpu", group, 0);
        if (strcmp(control, "memory") == 0) limits_up(&l, "/sys/fs/cgroup/memory", group, 0);
        if (*control && !h->cgroup[0]) snprintf(h->cgroup, sizeof h->cgroup, "%s", group);
    }
    h->quota = l.quota;
    h->memory_limit = l.memory;
}

/* ---- machine ----------------------------------------------------------------------------------------------------------------- */

/* The number of processors in the affinity mask, for any mask size of the kernel. */
static int allowed_cpus(void)
{
    int n = 0;
    for (int n_max = 1024; n == 0 && n_max <= 1 << 16; n_max *= 4) {
        cpu_set_t *set = CPU_ALLOC((size_t)n_max);
        if (!set) return 0;
        if (sched_getaffinity(0, CPU_ALLOC_SIZE((size_t)n_max), set) == 0) n = CPU_COUNT_S(CPU_ALLOC_SIZE((size_t)n_max), set);
        CPU_FREE(set);
    }
    return n;
}

/* The word in brackets: "always [madvise] never". */
static void huge_pages_get(char *out, size_t n)
{
    char text[64];
    out[0] = '\0';
    if (!host_text("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text)) return;
    const char *from = strchr(text, '['), *to = from ? strchr(from, ']') : NULL;
    if (to) snprintf(out, n, "%.*s", (int)(to - from - 1), from + 1);
}

/* Read a file about a cache of the first processor, without its line end. */
static int cache_text(int i, const char *name, char *out, size_t n)
{
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", i, name);
    if (!host_text(path, out, n)) return 0;
    out[strcspn(out, "\n")] = '\0';
    return 1;
}

static void caches_get(char *out, size_t n)
{
    char level[16], type[32], size[32], shared[256];
    size_t at = 0;
    out[0] = '\0';
    for (int i = 0; cache_text(i, "level", level, sizeof level); i++) {
        if (!cache_text(i, "type", type, sizeof type) || strcmp(type, "Instruction") == 0) continue;
        if (!cache_text(i, "size", size, sizeof size) || !cache_text(i, "shared_cpu_list", shared, sizeof shared)) continue;
        const int more = snprintf(out + at, n - at, "%sL%s %s (%s)", at ? ", " : "", level, size, shared);
        if (more < 0 || (size_t)more >= n - at) break;
        at += (size_t)more;
    }
    out[at] = '\0';
}

void host_get(struct host *h)
{
    char text[2048];
    memset(h, 0, sizeof *h);
    h->online = (int)sysconf(_SC_NPROCESSORS_ONLN);
    h->allowed = allowed_cpus();
    if (host_text("/proc/meminfo", text, sizeof text)) {
        h->memory = number_after(text, "MemTotal:") * 1024;
        h->available = number_after(text, "MemAvailable:") * 1024;
    }
    cgroup_get(h);
    huge_pages_get(h->huge_pages, sizeof h->huge_pages);
    caches_get(h->caches, sizeof h->caches);
}

/* Is `word` of length n a word of `line`? */
static int has_word(const char *line, const char *word, size_t n)
{
    for (const char *p = line; *p; p += strcspn(p, " \t\n")) {
        p += strspn(p, " \t\n");
        if (strncmp(p, word, n) == 0 && (p[n] == '\0' || strchr(" \t\n", p[n]))) return 1;
    }
    return 0;
}

void host_missing_flags(char *out, size_t n, const char *flags)
{
    char line[8192] = "";
    FILE *f = fopen("/proc/cpuinfo", "r");
    size_t at = 0;
    out[0] = '\0';
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0) break;
        else line[0] = '\0';
    if (f) fclose(f);
    for (const char *p = flags; line[0] && *p; p += strspn(p, " ")) {
        const size_t k = strcspn(p, " ");
        if (!has_word(line, p, k) && at + k + 2 < n) at += (size_t)snprintf(out + at, n - at, "%s%.*s", at ? " " : "", (int)k, p);
        p += k;
    }
}

/* getrusage's figure begins with the memory of the parent program. */
int64_t host_peak_rss(void)
{
    char line[256];
    struct rusage u;
    long long kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && !kb && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %lld", &kb) != 1) kb = 0;
    if (f) fclose(f);
    if (!kb && !getrusage(RUSAGE_SELF, &u)) kb = u.ru_maxrss;
    return (int64_t)kb * 1024;
}

/* ---- libraries --------------------------------------------------------------------------------------------------------------- */

struct library_search {
    int left;
    size_t n;
    char *out;
};

static int library_visit(struct dl_phdr_info *info, size_t size, void *user)
{
    struct library_search *s = user;
    char path[PATH_MAX];
    (void)size;
    /* the program itself and the kernel's library have no path */
    if (!info->dlpi_name || info->dlpi_name[0] != '/' || s->left-- > 0) return 0;
    snprintf(s->out, s->n, "%s", realpath(info->dlpi_name, path) ? path : info->dlpi_name);
    return 1;
}

int host_library(int i, char *out, size_t n)
{
    struct library_search s = { i, n, out };
    return dl_iterate_phdr(library_visit, &s);
}
