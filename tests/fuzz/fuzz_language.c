/* steno tests: languages by arbitrary names. SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "text/language.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    steno_error e = { 0 };
    char *name = malloc(n + 1);
    if (!name) return 0;
    memcpy(name, data, n);
    name[n] = 0;
    const int found = language_find(name), near = language_near(name);
    if (found < -1 || found >= N_LANGUAGES || near < -1 || near >= N_LANGUAGES) abort();
    if (found >= 0 && language_find(language_code(found)) != found) abort();
    if (language_refuse(&e, name, language_code, N_LANGUAGES) != STENO_EARG || !e.text[0]) abort();
    language_is_auto(name);
    free(name);
    return 0;
}
