/* steno: a process on one NUMA node, as numactl --cpunodebind=N --membind=N does, by system calls of Linux. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_NUMA_H
#define STENO_TOOLS_NUMA_H
#include <stddef.h>

enum { NUMA_CPUS = 1 << 13, NUMA_NODES = 1 << 10, NUMA_WORD = 8 * sizeof(long), NUMA_WHY_SZ = 512 };

struct numa_cpus { unsigned long word[NUMA_CPUS / NUMA_WORD]; }; /* a bit per logical processor, as the kernel's masks */

/* Read the nodes of a machine from `sysfs` ("/sys"). typed: the number of a node. cpus: those the process may use; then those of them in
 * the node. @return the node, or -1 with a reason */
int numa_find(struct numa_cpus *cpus, char why[NUMA_WHY_SZ], const char *sysfs, const char *typed);

/* Bind this thread, and all that it starts from now on, to the processors of a node, and their memory to the node's. May be called again.
 * quiet: no note if the system lets memory follow its threads only; it is printed once. @return EXIT_OK or EXIT_USAGE after a message */
int numa_bind(const char *typed, int quiet);
int numa_bind_from(const char *sysfs, const char *typed, int quiet); /* with the nodes of another folder than "/sys" */
#endif
