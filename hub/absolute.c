/* steno-hub: what an absolute path is. SPDX-License-Identifier: MIT */
#include "absolute.h"

int hub_is_absolute(const char *path)
{
    return path[0] == '/';
}
