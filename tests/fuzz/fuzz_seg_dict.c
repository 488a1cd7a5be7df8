/* steno: fuzzing of dictionaries of words. SPDX-License-Identifier: MIT
 *
 * A dictionary, a NUL, and a phrase that is cut by it. Ids are the vocabulary's; a phrase that is more than white space has some. */
#include <stdlib.h>
#include <string.h>
#include "text/seg_dict.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const token[] = { "se@@", "ven", "\xe4\xbd\xa0", "a", "<unk>" };
    enum { TOKENS = sizeof token / sizeof *token, UNKNOWN = TOKENS - 1 };
    const uint8_t *nul = n ? memchr(data, 0, n) : NULL;
    const size_t n_dict = nul ? (size_t)(nul - data) : n, n_phrase = nul ? n - n_dict - 1 : 0;
    const char *phrase = nul ? (const char *)nul + 1 : "";
    struct arena a;
    struct seg_dict d;
    struct vocab v;
    struct buf ids = { 0 }, bare = { 0 };
    steno_error e = { 0 };
    arena_init(&a);
    if (vocab_init(&v, &a, TOKENS, TOKENS, &e)) abort();
    for (int32_t i = 0; i < TOKENS; i++) vocab_set(&v, i, (const uint8_t *)token[i], (uint32_t)strlen(token[i]));
    if (vocab_index(&v, &a, &e)) abort();
    const int rc = seg_dict_init(&d, &a, "fuzz", (const char *)data, n_dict, &e);
    if (rc && (!e.status || !e.text[0])) abort();
    if (!rc && utf8_valid((const uint8_t *)phrase, n_phrase) == n_phrase) {
        if (seg_dict_ids(&d, &v, UNKNOWN, phrase, n_phrase, &ids) || seg_dict_ids(NULL, &v, UNKNOWN, phrase, n_phrase, &bare)) abort();
        for (size_t i = 0; i < ids.len / sizeof(int32_t); i++)
            if ((uint32_t)((const int32_t *)(const void *)ids.p)[i] >= TOKENS) abort();
        if (ids.len && !bare.len) abort();
        for (uint32_t i = 0, len; i < d.n_lines; i++)
            if (!seg_dict_line(&d, i, &len) || !len) abort();
    }
    buf_free(&ids);
    buf_free(&bare);
    arena_free(&a);
    return 0;
}
