/* steno: fuzzing of what is shown of addresses. SPDX-License-Identifier: MIT
 *
 * What is shown has no query, no fragment and no password, is not longer than the address, and is shown as it is once more. */
#include "address.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_shown(const char *text, size_t n)
{
    char *shown = malloc(n + 1), *again = malloc(n + 1);
    if (shown && again) {
        address_shown(shown, n + 1, text);
        address_shown(again, n + 1, shown);
        if (strcmp(shown, again) != 0 || strpbrk(shown, "?#")) abort();
        const char *host = strstr(shown, "://");
        if (host && memchr(host + 3, '@', strcspn(host + 3, "/"))) abort();
    }
    free(shown);
    free(again);
}

static void check_hidden(const char *text, size_t n)
{
    char *once = strdup(text), *twice = NULL;
    if (once) {
        address_hide(once);
        if (strlen(once) > n) abort();
        twice = strdup(once);
    }
    if (twice) {
        address_hide(twice);
        if (strcmp(once, twice) != 0) abort();
    }
    free(once);
    free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *text = malloc(n + 1), *path;
    if (!text) return 0;
    memcpy(text, data, n);
    text[n] = '\0';
    if (address_is(text)) check_shown(text, strlen(text));
    check_hidden(text, strlen(text));
    path = address_path(text);
    if (path && address_is(text) && (!*path || path[strlen(path) - 1] == '/')) abort();
    free(path);
    free(text);
    return 0;
}
