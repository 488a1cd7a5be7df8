/* steno: vocabularies inside GGUF files. SPDX-License-Identifier: MIT
 *
 * Speech models list their pieces as ARCHITECTURE.vocab, ready to be joined. Language models list them as tokenizer.ggml.tokens, with
 * scores, types, pairs and special ids in other keys. These are validated here and stay in the table for the readers of such models. */
#include <inttypes.h>
#include <string.h>
#include "load/gguf.h"
#include "load/vocab_list.h"

static const char prefix[] = "tokenizer.ggml.";
enum { TYPE_BYTE = 6,
       TYPES = 256 /* types read at a time */ };

struct words {
    struct vocab_list list;
    const struct meta_list *l, *type; /* type may be NULL: the file gives no types */
    double types[TYPES];              /* of the tokens from the last multiple of TYPES on */
    steno_error *e;
};

static int is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* A token of the byte type must be written <0xHH>. */
static int check_token(void *user, uint64_t i, const char *s, size_t n)
{
    struct words *v = user;
    const uint64_t left = v->l->n - i;
    int rc = STENO_OK;
    if (v->type && i % TYPES == 0) rc = meta_list_numbers(v->type, i, left < TYPES ? left : TYPES, v->types, v->e);
    if (rc || v->types[i % TYPES] != TYPE_BYTE) return rc;
    if (n == 6 && !memcmp(s, "<0x", 3) && is_hex(s[3]) && is_hex(s[4]) && s[5] == '>') return STENO_OK;
    return err_set(v->e, STENO_EFORMAT, "%s: token %" PRIu64 " stands for a byte, but is not written <0xHH>", v->l->file.name, i);
}

static int check_pair(void *user, uint64_t i, const char *s, size_t n)
{
    const struct words *v = user;
    const char *space = n > 2 ? memchr(s + 1, ' ', n - 2) : NULL;
    return space ? STENO_OK
                 : err_set(v->e, STENO_EFORMAT, "%s: pair %" PRIu64 " of %smerges has no space between two texts", v->l->file.name, i,
                           prefix);
}

static int check_beside(const struct meta *m, const struct words *v)
{
    static const char *const key[] = { "tokenizer.ggml.scores", "tokenizer.ggml.token_type" };
    for (int i = 0; i < 2; i++) {
        const struct meta_list *l = meta_find_list(m, key[i]);
        if (l && (l->type == META_LIST_TEXT || l->n < v->l->n))
            return err_set(v->e, STENO_EFORMAT, "%s: %s has %" PRIu64 " values, want numbers for %" PRIu64 " tokens", l->file.name,
                           key[i], l->n, v->l->n);
    }
    return STENO_OK;
}

/* Check that tokenizer.ggml.bos_token_id and similar keys are ids of existing tokens. */
static int check_ids(const struct meta *m, const struct words *v)
{
    static const char tail[] = "_token_id";
    for (uint32_t i = 0; i < m->n; i++) {
        const struct meta_entry *it = &m->entry[i];
        const size_t n = strlen(it->key), n_tail = sizeof tail - 1;
        if (strncmp(it->key, prefix, sizeof prefix - 1) != 0 || n < n_tail || strcmp(it->key + n - n_tail, tail) != 0) continue;
        if (it->kind != META_INT || it->i < 0 || (uint64_t)it->i >= v->l->n)
            return err_set(v->e, STENO_EFORMAT, "%s: %s is %" PRId64 ", want an id of %" PRIu64 " tokens", it->source, it->key, it->i,
                           v->l->n);
    }
    return STENO_OK;
}

static int check_tokenizer(const struct weights *w, steno_error *e)
{
    const struct meta *m = &w->meta;
    struct words v = { .l = meta_find_list(m, "tokenizer.ggml.tokens"), .type = meta_find_list(m, "tokenizer.ggml.token_type"), .e = e };
    const char *model = meta_text(m, "tokenizer.ggml.model", NULL);
    if (!v.l && (!model || !strcmp(model, "none") || !strcmp(model, "no_vocab"))) return STENO_OK;
    if (!v.l) return err_set(e, STENO_EFORMAT, "%s: tokenizer.ggml.model is %.40s, but tokenizer.ggml.tokens is missing", w->name, model);
    int rc = check_beside(m, &v);
    if (!rc) rc = check_ids(m, &v);
    if (!rc) rc = meta_list_texts(v.l, VOCAB_STRING, check_token, &v, e);
    const struct meta_list *pairs = meta_find_list(m, "tokenizer.ggml.merges");
    return rc || !pairs ? rc : meta_list_texts(pairs, 2 * VOCAB_STRING, check_pair, &v, e);
}

int gguf_read_vocab(struct weights *w, steno_error *e)
{
    for (uint32_t i = 0; i < w->meta.n_lists; i++) {
        const struct meta_list *l = &w->meta.list[i];
        const size_t n = strlen(l->key);
        if (n > 6 && !strcmp(l->key + n - 6, ".vocab")) return vocab_take_list(w, l, e);
    }
    return check_tokenizer(w, e);
}
