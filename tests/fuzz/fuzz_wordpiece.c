/* steno: fuzzing of vocab.txt, words and composing. SPDX-License-Identifier: MIT
 *
 * The input is how words are cut, a vocab.txt and, behind a NUL, a text. Ids are those of the vocabulary; composed text is composed. */
#include <stdlib.h>
#include <string.h>
#include "load/tokenizer.h"
#include "load/vocab.h"
#include "text/unicode.h"
#include "text/wordpiece.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void try_words(const struct tokenizer_file *t, struct arena *a, unsigned flags, const char *text, size_t n)
{
    struct vocab v;
    struct buf ids = { 0 };
    steno_error e;
    struct wordpiece w = { .v = &v, .flags = flags & 15, .most_chars = 1 + (flags >> 4), .unknown = 0 };
    if (vocab_init(&v, a, (int32_t)t->n, (int32_t)t->n, &e)) return;
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->entry[i].type == VOCAB_NORMAL) vocab_set(&v, (int32_t)i, t->entry[i].s, t->entry[i].n);
        if (t->entry[i].n > w.most_bytes) w.most_bytes = t->entry[i].n;
    }
    if (vocab_index(&v, a, &e)) return;
    if (wordpiece_encode(&w, text, n, &ids, &e)) abort();
    if (ids.len / sizeof(int32_t) > UNICODE_PARTS * n) abort();
    for (size_t i = 0; i < ids.len / sizeof(int32_t); i++) {
        const int32_t id = ((const int32_t *)(const void *)ids.p)[i];
        if (id < 0 || id >= (int32_t)t->n) abort();
    }
    buf_free(&ids);
}

static void try_composing(const char *text, size_t n)
{
    struct buf once = { 0 }, twice = { 0 };
    if (unicode_compose(&once, text, n) || unicode_compose(&twice, once.p ? once.p : "", once.len)) abort();
    if (once.len != twice.len || (once.len && memcmp(once.p, twice.p, once.len) != 0)) abort();
    buf_free(&once);
    buf_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct weights w = { 0 };
    struct tokenizer_file t = { .bos = -1, .eos = -1, .eot = -1, .eom = -1 };
    struct file f;
    steno_error e = { 0 };
    if (!n) return 0;
    uint8_t *own = malloc(n);
    if (!own) return 0;
    memcpy(own, data, n);
    const uint8_t *nul = memchr(own + 1, 0, n - 1);
    const size_t n_vocab = nul ? (size_t)(nul - own) - 1 : n - 1, at = nul ? n_vocab + 2 : n;
    file_from_memory(&f, "fuzz", own + 1, n_vocab);
    arena_init(&w.arena);
    w.name = "fuzz";
    const int rc = tokenizer_read_txt(&t, &f, &w, &e);
    if (rc && (!e.status || !e.text[0])) abort();
    if (!rc && (!t.n || t.n > VOCAB_IDS || t.bos >= (int32_t)t.n || t.eos >= (int32_t)t.n)) abort();
    if (!rc) try_words(&t, &w.arena, own[0], (const char *)own + at, n - at);
    try_composing((const char *)own + at, n - at);
    arena_free(&w.arena);
    free(own);
    return 0;
}
