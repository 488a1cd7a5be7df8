/* steno-hub: links to contents. SPDX-License-Identifier: MIT */
#include "blob_link.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int hub_blob_of_link(char hash[HUB_HASH_SZ], const char *path)
{
    char target[PATH_MAX];
    const ssize_t n = readlink(path, target, sizeof target - 1);
    if (n <= 0) return 0;
    target[n] = '\0';
    const char *name = strrchr(target, '/');
    if (!name || name - target < 5 || strncmp(name - 5, "blobs", 5) != 0) return 0;
    if (!hub_is_hex(name + 1, 64) && !hub_is_hex(name + 1, 40)) return 0;
    snprintf(hash, HUB_HASH_SZ, "%s", name + 1);
    return 1;
}
