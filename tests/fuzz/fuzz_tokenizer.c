/* steno: fuzzing of language models' tokenizers. SPDX-License-Identifier: MIT
 *
 * The input is a file of a model, GGUF (its vocabulary alone is read) or, where it begins with a brace, a tokenizer.json. What is accepted
 * must be bounded, and its strings readable to the last byte. */
#include <stdlib.h>
#include <string.h>
#include "load/tokenizer.h"
#include "load/vocab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_tokens(const struct tokenizer_file *t)
{
    uint32_t sum = 0;
    if (!t->n || t->n > VOCAB_IDS || t->bos >= (int32_t)t->n || t->eos >= (int32_t)t->n || t->n_ends > TOKENIZER_ENDS) abort();
    if (t->form == TOKENIZER_BYTES && !t->pattern) abort();
    for (uint32_t i = 0; i < t->n; i++) {
        if (!t->entry[i].s || t->entry[i].n > VOCAB_STRING) abort();
        for (uint32_t k = 0; k < t->entry[i].n; k++) sum += t->entry[i].s[k];
    }
    for (uint32_t i = 0; i < t->n_pairs; i++)
        for (uint32_t k = 0; k < t->pair[i].left + t->pair[i].right; k++) sum += t->pair[i].s[k];
    if (sum == UINT32_MAX) abort(); /* so that every byte is read */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct tokenizer_cut const cuts[] = { { "gpt-2", NULL, "gpt2", 0, 0, NULL, 0 },
                                                 { "x", "\\p{L}+", "digits-1", 1, 1, NULL, 0 }, { 0 } };
    static struct tokenizer_names const names = { "gpt2", "llama", "bert", cuts, "some" };
    struct weights w = { 0 };
    struct tokenizer_file t = { .names = &names, .bos = -1, .eos = -1, .eot = -1, .eom = -1 };
    struct file f;
    steno_error e = { 0 };
    uint8_t *own = calloc(n ? n : 1, 1);
    if (!own) return 0;
    if (n) memcpy(own, data, n);
    file_from_memory(&f, "fuzz", own, n);
    int rc;
    if (n && data[0] == '{') {
        arena_init(&w.arena);
        meta_init(&w.meta, &w.arena);
        w.name = "fuzz";
        rc = tokenizer_read_json(&t, &f, &w, &e);
        if (!rc) check_tokens(&t);
        else if (!e.status || !e.text[0]) abort(); /* a refusal has a reason */
        arena_free(&w.arena);
    } else if (!weights_open(&w, &f, &e)) {
        if (meta_find_list(&w.meta, "tokenizer.ggml.tokens")) {
            rc = tokenizer_read_gguf(&t, &w, &e);
            if (!rc) check_tokens(&t);
            else if (!e.status || !e.text[0]) abort();
        }
        weights_close(&w);
    }
    free(own);
    return 0;
}
