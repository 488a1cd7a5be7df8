/* steno: tokens and pairs in the spelling of files. SPDX-License-Identifier: MIT */
#include "load/tokenizer_text.h"
#include <stdlib.h>
#include <string.h>
#include "load/byte_alphabet.h"

struct tokenizer_words const tokenizer_words_usual = { 1, 1, 1, -1, 100 };

static int64_t pieces_bytes(char *s, size_t n)
{
    size_t to = 0;
    for (size_t i = 0; i < n;) {
        const int is_space = n - i >= 3 && !memcmp(s + i, "\xe2\x96\x81", 3);
        s[to++] = is_space ? ' ' : s[i];
        i += is_space ? 3 : 1;
    }
    return (int64_t)to;
}

static int64_t byte_token(char *s, size_t n)
{
    char digits[3] = { 0 };
    if (n != 6 || memcmp(s, "<0x", 3) != 0 || s[5] != '>') return -1;
    memcpy(digits, s + 3, 2);
    if (strspn(digits, "0123456789abcdefABCDEF") != 2) return -1;
    s[0] = (char)strtol(digits, NULL, 16);
    return 1;
}

/* GGUF files have the space sign before pieces that begin a word. */
static int64_t words_bytes(char *s, size_t n)
{
    if (n < 3 || memcmp(s, "\xe2\x96\x81", 3) != 0) return (int64_t)n;
    s[0] = ' ';
    memmove(s + 1, s + 3, n - 3);
    return (int64_t)n - 2;
}

int tokenizer_words_decode(struct weights *w, const char *mark, steno_error *e)
{
    const size_t n_mark = strlen(mark ? mark : (mark = "##"));
    size_t n = 1;
    for (uint32_t i = 0; i < w->n_vocab_entries; i++) n += (size_t)w->vocab[i].n + 1;
    uint8_t *bytes = arena_alloc(&w->arena, n);
    if (!bytes) return err_nomem(e, n, "the vocabulary");
    for (uint32_t i = 0; i < w->n_vocab_entries; i++) {
        struct vocab_entry *it = &w->vocab[i];
        if (it->type != VOCAB_NORMAL || !it->n) continue;
        const int within = it->n > n_mark && !memcmp(it->s, mark, n_mark);
        const size_t skip = within ? n_mark : 0;
        if (!within) bytes[0] = ' ';
        memcpy(bytes + !within, it->s + skip, it->n - skip);
        it->n = it->n - (uint32_t)skip + !within;
        it->s = bytes;
        bytes += it->n;
    }
    return STENO_OK;
}

int64_t tokenizer_bytes(enum tokenizer_form form, enum vocab_type type, char *s, size_t n)
{
    uint32_t bad;
    if (type == VOCAB_BYTE) return byte_token(s, n);
    if (type == VOCAB_CONTROL || type == VOCAB_UNKNOWN || type == VOCAB_UNUSED) return (int64_t)n;
    if (form == TOKENIZER_PIECES) return pieces_bytes(s, n);
    if (form == TOKENIZER_WORDS) return type == VOCAB_NORMAL ? words_bytes(s, n) : (int64_t)n;
    return type == VOCAB_NORMAL ? bytes_of_letters(s, n, &bad) : (int64_t)n;
}

int tokenizer_pair_add(struct tokenizer_pairs *p, enum tokenizer_form form, struct tokenizer_text left, struct tokenizer_text right,
                       steno_error *e)
{
    const int64_t a = tokenizer_bytes(form, VOCAB_NORMAL, left.s, left.n), b = tokenizer_bytes(form, VOCAB_NORMAL, right.s, right.n);
    if (a < 0 || b < 0) return STENO_OK;
    const struct tokenizer_pair it = { NULL, (uint32_t)a, (uint32_t)b };
    buf_add(&p->bytes, left.s, (size_t)a);
    buf_add(&p->bytes, right.s, (size_t)b);
    buf_add(&p->items, &it, sizeof it);
    return p->bytes.err || p->items.err ? err_nomem(e, p->bytes.len, "the pairs of a tokenizer") : STENO_OK;
}

int tokenizer_pairs_done(struct tokenizer_file *t, const struct tokenizer_pairs *p, struct weights *w, steno_error *e)
{
    const size_t n = p->items.len / sizeof *t->pair;
    uint8_t *bytes = arena_alloc(&w->arena, p->bytes.len + 1);
    t->pair = arena_array(&w->arena, n + 1, sizeof *t->pair);
    if (!bytes || !t->pair) return err_nomem(e, p->bytes.len, "the pairs of a tokenizer");
    if (p->bytes.len) memcpy(bytes, p->bytes.p, p->bytes.len);
    if (n) memcpy(t->pair, p->items.p, n * sizeof *t->pair);
    for (size_t i = 0; i < n; i++) {
        t->pair[i].s = bytes;
        bytes += (size_t)t->pair[i].left + t->pair[i].right;
    }
    t->n_pairs = (uint32_t)n;
    return STENO_OK;
}

void tokenizer_pairs_free(struct tokenizer_pairs *p)
{
    buf_free(&p->bytes);
    buf_free(&p->items);
}
