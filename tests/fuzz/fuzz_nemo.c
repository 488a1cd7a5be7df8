/* steno: fuzzing of .nemo files, from the archive to the model. SPDX-License-Identifier: MIT
 *
 * Checksums of the archive's headers are made right first, so that a change of a header reaches its reader. */
#include <stdio.h>
#include <string.h>
#include <steno/steno.h>
#include "fuzz/input/weights.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { BLOCK = 512, SUM_AT = 148, MAGIC_AT = 257 };

static void mend_sums(uint8_t *bytes, size_t n)
{
    for (uint8_t *p = bytes; n >= BLOCK; p += BLOCK, n -= BLOCK) {
        unsigned sum = 8 * ' ';
        char text[8];
        if (memcmp(p + MAGIC_AT, "ustar", 5) != 0) continue;
        for (int i = 0; i < BLOCK; i++) sum += i >= SUM_AT && i < SUM_AT + 8 ? 0 : p[i];
        snprintf(text, sizeof text, "%06o", sum & 0777777);
        memcpy(p + SUM_AT, text, sizeof text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    uint8_t *bytes = malloc(n ? n : 1); /* without room behind it, so that reading past the end is seen */
    steno_model *m = NULL;
    steno_error e = { 0 };
    if (!bytes) return 0;
    if (n) memcpy(bytes, data, n);
    mend_sums(bytes, n);
    weights_try("fuzz.nemo", bytes, n);
    if (steno_model_open_memory(&m, bytes, n, NULL, &e) && (!e.status || !e.text[0])) abort();
    steno_model_close(m);
    free(bytes);
    return 0;
}
