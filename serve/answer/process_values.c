/* steno-serve: what the process uses now, from Linux's /proc. SPDX-License-Identifier: MIT */
#include "process_values.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* The beginning of a file as text. @return 0 or -1 */
static int text_of(const char *path, char *text, size_t n)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    const ssize_t got = read(fd, text, n - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    return got > 0 ? 0 : -1;
}

static double resident(void)
{
    char text[256];
    long long pages;
    if (text_of("/proc/self/statm", text, sizeof text) || sscanf(text, "%*d %lld", &pages) != 1) return -1;
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* Unix time: the start is given in ticks since the machine started, so both clocks are read. */
static double started(void)
{
    char text[2048];
    struct timespec wall, up;
    if (text_of("/proc/self/stat", text, sizeof text)) return -1;
    const char *at = strrchr(text, ')'); /* the name of the program may have spaces */
    for (int field = 2; at && field < 22; field++) {
        at = strchr(at, ' ');
        if (at) at++;
    }
    if (!at || clock_gettime(CLOCK_REALTIME, &wall) || clock_gettime(CLOCK_BOOTTIME, &up)) return -1;
    const double since = (double)strtoull(at, NULL, 10) / (double)sysconf(_SC_CLK_TCK);
    return (double)wall.tv_sec + (double)wall.tv_nsec / 1e9 - ((double)up.tv_sec + (double)up.tv_nsec / 1e9) + since;
}

static double descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    double n = -1; /* without the one of the listing */
    const struct dirent *e;
    if (!d) return -1;
    while ((e = readdir(d)))
        if (e->d_name[0] != '.') n++;
    closedir(d);
    return n;
}

void process_values(struct process_values *v)
{
    struct timespec cpu;
    struct rlimit files;
    *v = (struct process_values){ .resident_bytes = resident(), .start_s = started(), .open_fds = descriptors(), .cpu_s = -1,
                                  .max_fds = -1 };
    if (!clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu)) v->cpu_s = (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9;
    if (!getrlimit(RLIMIT_NOFILE, &files)) v->max_fds = (double)files.rlim_cur;
}
