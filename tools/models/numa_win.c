/* steno: a process on one NUMA node: not on Windows. SPDX-License-Identifier: MIT */
#include "cli/message.h"
#include "models/numa.h"

int numa_bind(const char *typed, int quiet)
{
    (void)quiet;
    return message_usage("--numa %s: this version binds processes to nodes on Linux only", typed);
}
