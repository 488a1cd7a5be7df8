/* steno-hub: what an absolute path is. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_ABSOLUTE_H
#define STENO_HUB_ABSOLUTE_H

int hub_is_absolute(const char *path); /* does it begin at a root? */
#endif
