/* steno: how Windows writes paths. SPDX-License-Identifier: MIT */
#include "path.h"
#include <string.h>

int path_is_absolute(const char *path)
{
    return win_is_absolute(path);
}

char *path_typed(char *path)
{
    return path && !strstr(path, "://") ? win_slashes(path) : path;
}
