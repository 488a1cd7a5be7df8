/* steno: how the system writes paths. SPDX-License-Identifier: MIT */
#include "path.h"

int path_is_absolute(const char *path)
{
    return path[0] == '/';
}

char *path_typed(char *path)
{
    return path;
}
