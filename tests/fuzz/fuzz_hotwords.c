/* steno tests: arbitrary lines of hot words. SPDX-License-Identifier: MIT
 *
 * What is left is no longer than the text was, has as many lines, and each of them begins as it did. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "options/decode_opts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *text = malloc(n + 1), *was = malloc(n + 1);
    int line;
    if (!text || !was) abort();
    if (n) memcpy(text, data, n);
    text[n] = 0;
    strcpy(was, text);
    if (hotword_weights_cut(text, &line) != HOTWORDS_REFUSED)
        for (const char *p = text, *q = was; *p || *q;) {
            const size_t left = strcspn(p, "\n"), all = strcspn(q, "\n");
            if (left > all || memcmp(p, q, left) != 0) abort();
            p += left;
            q += all;
            if (*p != *q) abort();
            p += *p != 0;
            q += *q != 0;
        }
    free(text);
    free(was);
    return 0;
}
