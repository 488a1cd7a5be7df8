/* steno: fuzzing of vocabularies in files of their own. SPDX-License-Identifier: MIT
 *
 * First byte: the form - JSON, added tokens, tiktoken, SentencePiece. What is accepted must be a full table of bounded strings. */
#include <stdlib.h>
#include <string.h>
#include "load/vocab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int read_form(int form, struct vocab_list *l, struct vocab_list *extra, const struct file *f, steno_error *e)
{
    switch (form & 3) {
    case 0: return vocab_read_json(l, extra, f, e);
    case 1: return vocab_read_added(l, f, e);
    case 2: return vocab_read_tiktoken(l, f, e);
    default: return vocab_read_sentencepiece(l, f, e);
    }
}

static void check_table(const struct weights *w)
{
    uint32_t sum = 0;
    if (!w->vocab || !w->n_vocab_entries) abort();
    for (uint32_t i = 0; i < w->n_vocab_entries; i++) {
        if (!w->vocab[i].s || w->vocab[i].n > VOCAB_STRING) abort();
        for (uint32_t k = 0; k < w->vocab[i].n; k++) sum += w->vocab[i].s[k];
    }
    if (sum == UINT32_MAX) abort(); /* so that every byte is read */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (!n) return 0;
    struct vocab_list list = { .name = "fuzz" }, extra = { .name = "fuzz" };
    struct weights w = { 0 };
    struct file f;
    steno_error e = { 0 };
    uint8_t *own = malloc(n); /* one byte shorter than the input: reading past the end is seen */
    if (!own) return 0;
    memcpy(own, data + 1, n - 1);
    own = n > 1 ? realloc(own, n - 1) : own;
    if (!own) return 0;
    arena_init(&w.arena);
    file_from_memory(&f, "fuzz", own, n - 1);
    int rc = read_form(data[0], &list, &extra, &f, &e);
    if (!rc) rc = vocab_list_fill(&list, &extra, &e);
    if (!rc) rc = vocab_list_done(&list, &w, &e);
    if (!rc) check_table(&w);
    else if (!e.status || !e.text[0] || w.vocab) abort(); /* a refusal has a reason and leaves nothing */
    vocab_list_free(&list);
    vocab_list_free(&extra);
    arena_free(&w.arena);
    free(own);
    return 0;
}
