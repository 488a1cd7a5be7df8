/* steno: URLs as inputs. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_URL_INPUT_H
#define STENO_TOOLS_URL_INPUT_H
#include <steno/steno.h>
#include <stdint.h>

enum { URL_LIMIT_MB = 4096 };

/* The function for steno_media_params.open: a URL is downloaded, everything else is a path.
 * @param user  an int64_t, the maximum size of an input in bytes; NULL selects URL_LIMIT_MB */
int url_input_open(void *user, const char *path, steno_error *e);
#endif
