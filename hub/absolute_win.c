/* steno-hub: what an absolute path is on Windows. SPDX-License-Identifier: MIT */
#include "absolute.h"

int hub_is_absolute(const char *path)
{
    return win_is_absolute(path);
}
