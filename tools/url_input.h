/* steno: an address as an input. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_URL_INPUT_H
#define STENO_TOOLS_URL_INPUT_H
#include <steno/steno.h>
#include <stdint.h>

enum { URL_LIMIT_MB = 4096 };

/* As steno_media_params.open wants it: an address is fetched, everything else is a path.
 * @param user  an int64_t, most bytes of an input; NULL: URL_LIMIT_MB */
int url_input_open(void *user, const char *path, steno_error *e);
#endif
