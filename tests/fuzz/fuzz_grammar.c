/* steno: fuzzing of grammars. SPDX-License-Identifier: MIT
 *
 * Text up to the first NUL is the grammar, the ids that are tried follow, a byte each. Ids are the bytes and a few strings. The mask
 * must allow what steps allow, a text that is not rejected must be able to go on or end, and a refusal must name the place. */
#include <stdlib.h>
#include <string.h>
#include "search/grammar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { N_MORE = 10, N_TEXT = 256 + N_MORE, N_STEPS = 12 };

static const char *const more[N_MORE] = { "ab", "abc", "", "\xe4\xb8", "\x80\x80", "\xf0\x9f", "aaaaaaaa", "\xd0\xb0\xd0", "1.", " a" };

static void vocab_fill(struct vocab *v, struct arena *a)
{
    static uint8_t byte[256];
    if (vocab_init(v, a, N_TEXT + 1, N_TEXT, NULL)) abort();
    for (int i = 0; i < 256; i++) {
        byte[i] = (uint8_t)i;
        vocab_set(v, i, &byte[i], 1);
    }
    for (int i = 0; i < N_MORE; i++) vocab_set(v, 256 + i, (const uint8_t *)more[i], (uint32_t)strlen(more[i]));
}

/* @return 0: there was no memory for the states */
static int check_state(struct matcher *m, int32_t at, int may_need_nul)
{
    uint32_t mask[N_TEXT / 32 + 1], any = 0;
    const uint32_t *found = matcher_mask(m, at);
    if (!found && !*matcher_why(m)) abort();
    if (!found) return 0;
    memcpy(mask, found, (N_TEXT + 31) / 32 * sizeof *mask);
    for (int32_t id = 0; id < N_TEXT; id++) {
        const int32_t next = matcher_next(m, at, id);
        const int allowed = mask[id / 32] >> id % 32 & 1;
        if (next == MATCH_NOMEM) return 0;
        if ((next >= 0) != allowed) abort();
        any |= (uint32_t)allowed;
    }
    if (!any && !may_need_nul && !matcher_complete(m, at)) abort();
    return 1;
}

static void try_ids(const struct grammar *g, const struct vocab *v, const char *text, const uint8_t *ids, size_t n)
{
    struct matcher *m;
    steno_error e = { 0 };
    if (matcher_open(&m, g, v, N_TEXT, N_TEXT, &e)) {
        if (!e.text[0] || m) abort();
        return;
    }
    const int may_need_nul = strchr(text, '\\') != NULL; /* \x00, which no id may begin with */
    int32_t at = matcher_start(m);
    for (size_t i = 0; i <= n && i < N_STEPS && at >= 0; i++) {
        if (!check_state(m, at, may_need_nul)) break;
        if (i < n) at = matcher_next(m, at, ids[i] < 0xf8 ? ids[i] : 256 + (ids[i] - 0xf8)); /* F8..FF begin no character */
    }
    matcher_reset(m);
    (void)check_state(m, matcher_start(m), may_need_nul);
    matcher_close(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a;
    struct vocab v;
    struct grammar *g;
    steno_error e = { 0 };
    char *text = malloc(n + 1);
    if (!text) return 0;
    if (n) memcpy(text, data, n);
    text[n] = 0;
    const size_t len = strlen(text);
    char *own = realloc(text, len + 1); /* so that reading past the end is seen */
    if (own) text = own;
    arena_init(&a);
    vocab_fill(&v, &a);
    if (!grammar_open(&g, text, NULL, &e)) {
        try_ids(g, &v, text, len < n ? data + len + 1 : data, len < n ? n - len - 1 : 0);
        grammar_close(g);
    } else if (g || e.status != STENO_EARG || strncmp(e.text, "grammar, line ", 14) != 0) {
        abort(); /* a refusal has a reason and leaves nothing */
    }
    arena_free(&a);
    free(text);
    return 0;
}
