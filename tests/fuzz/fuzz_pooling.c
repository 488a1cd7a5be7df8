/* steno: fuzzing of how texts are pooled. SPDX-License-Identifier: MIT
 *
 * The input is a 1_Pooling/config.json or, with a space behind its first sign, a sentence_bert_config.json. What is taken is a pooling that
 * there is, and texts are not longer than before. */
#include <stdlib.h>
#include <string.h>
#include "model/family.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct weights w = { 0 };
    steno_model m = { .text_ctx = 512 };
    struct file f;
    steno_error e = { 0 };
    uint8_t *own = calloc(n ? n : 1, 1);
    if (!own) return 0;
    if (n) memcpy(own, data, n);
    file_from_memory(&f, "fuzz", own, n);
    arena_init(&w.arena);
    meta_init(&w.meta, &w.arena);
    w.name = "fuzz";
    int rc = meta_read_json(&w.meta, n > 1 && data[1] == ' ' ? "sentence" : "pooling", &f, &e);
    if (!rc) rc = model_read_pooling(&m, &w, STENO_POOLING_MEAN, &e);
    if (rc && (!e.status || !e.text[0])) abort();
    if (!rc && (m.lm.pooling < STENO_POOLING_MEAN || m.lm.pooling > STENO_POOLING_LAST || m.text_ctx < 1 || m.text_ctx > 512)) abort();
    arena_free(&w.arena);
    free(own);
    return 0;
}
