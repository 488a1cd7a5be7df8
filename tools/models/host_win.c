/* steno: resources available to this process, on Windows. SPDX-License-Identifier: MIT
 *
 * There are no cgroups, and huge pages need a privilege that users do not have. Under Wine /proc is that of the system below, where this
 * process is another. */
#include "models/host.h"
#include <steno/steno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

void host_get(struct host *h)
{
    const int64_t page = sysconf(_SC_PAGESIZE), all = sysconf(_SC_PHYS_PAGES), free_pages = sysconf(_SC_AVPHYS_PAGES);
    memset(h, 0, sizeof *h);
    h->online = h->allowed = (int)sysconf(_SC_NPROCESSORS_ONLN);
    h->memory = all > 0 ? all * page : 0;
    h->available = free_pages > 0 ? free_pages * page : 0;
}

void host_missing_flags(char *out, size_t n, const char *flags)
{
    (void)flags;
    if (n) out[0] = '\0';
}

int64_t host_peak_rss(void)
{
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) ? 0 : (int64_t)u.ru_maxrss * 1024;
}

int host_library(int i, char *out, size_t n)
{
    (void)i, (void)out, (void)n;
    return 0;
}
