/* steno: tokenizers inside GGUF files. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "load/byte_alphabet.h"
#include "load/tokenizer.h"
#include "load/vocab.h"

/* ---- tokens and pairs in the spelling of files ------------------------------------------------------------------------------------ */

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

int32_t tokenizer_id_of(const struct weights *w, const char *text)
{
    for (uint32_t i = 0; text && i < w->n_vocab_entries; i++)
        if (w->vocab[i].n == strlen(text) && !memcmp(w->vocab[i].s, text, w->vocab[i].n)) return (int32_t)i;
    return -1;
}

/* generation_config.json: eos_token_id, a number or a list. */
void tokenizer_ends_find(struct tokenizer_file *t, const struct weights *w)
{
    char key[64] = "generation.eos_token_id";
    for (int i = -1; i < TOKENIZER_ENDS && t->n_ends < TOKENIZER_ENDS; i++) {
        if (i >= 0) snprintf(key, sizeof key, "generation.eos_token_id.%d", i);
        const int32_t id = (int32_t)meta_whole(&w->meta, key, 0, t->n - 1, -1);
        if (id < 0) continue;
        if (t->eos < 0) t->eos = id;
        t->end[t->n_ends++] = id;
    }
}

/* ---- tokenizer.ggml.* ------------------------------------------------------------------------------------------------------------- */

/* Reads tokenizer.ggml.*. The keys were validated when the file was opened (gguf_keys.c). */

struct gguf_words {
    struct tokenizer_file *t;
    struct weights *w;
    struct vocab_list list;
    struct tokenizer_pairs pairs;
    double *type, *score;      /* [n] or NULL */
    steno_error *e;
};

static enum vocab_type type_of(double type)
{
    static enum vocab_type const known[] = { VOCAB_NORMAL, VOCAB_NORMAL, VOCAB_UNKNOWN, VOCAB_CONTROL, VOCAB_USER_DEFINED, VOCAB_UNUSED,
                                             VOCAB_BYTE };
    return type >= 0 && type < 7 ? known[(int)type] : VOCAB_UNUSED;
}

static int take_token(void *user, uint64_t i, const char *s, size_t n)
{
    struct gguf_words *v = user;
    const enum vocab_type type = v->type ? type_of(v->type[i]) : VOCAB_NORMAL;
    char text[VOCAB_STRING];
    memcpy(text, s, n);
    const int64_t len = tokenizer_bytes(v->t->form, type, text, n);
    if (len < 0)
        return err_set(v->e, STENO_EFORMAT, "%s: token %" PRIu64 " is not written in the alphabet of byte-level pairs", v->w->name, i);
    const int rc = vocab_list_add(&v->list, (int64_t)i, text, (size_t)len, v->e);
    vocab_list_mark(&v->list, v->score ? (float)v->score[i] : 0, type);
    return rc;
}

static int take_pair(void *user, uint64_t i, const char *s, size_t n)
{
    struct gguf_words *v = user;
    char text[2 * VOCAB_STRING];
    (void)i;
    memcpy(text, s, n);
    const size_t left = (size_t)((char *)memchr(text + 1, ' ', n - 1) - text); /* a space exists: gguf_keys.c */
    return tokenizer_pair_add(&v->pairs, v->t->form, (struct tokenizer_text){ text, left },
                              (struct tokenizer_text){ text + left + 1, n - left - 1 }, v->e);
}

/* Read the numbers of a list, one per token. *out is NULL if the list is absent. */
static int numbers(double **out, struct arena *a, const struct weights *w, const char *key, uint64_t n, steno_error *e)
{
    const struct meta_list *l = meta_find_list(&w->meta, key);
    *out = l ? arena_array(a, (size_t)n, sizeof **out) : NULL;
    if (!l) return STENO_OK;
    return *out ? meta_list_numbers(l, 0, n, *out, e) : err_nomem(e, (size_t)n * sizeof **out, "a vocabulary");
}

/* The pattern for the name in the file. */
static int pattern_find(struct tokenizer_file *t, const struct weights *w, steno_error *e)
{
    const char *pre = meta_text(&w->meta, "tokenizer.ggml.pre", "default");
    for (const struct tokenizer_cut *c = t->names->cut; c->name; c++) {
        if (strcmp(c->name, pre) != 0) continue;
        t->pattern = c->pattern;
        t->whole_first = c->whole_first;
        t->adds_bos = c->adds_bos;
        return STENO_OK;
    }
    return err_set(e, STENO_EUNSUPPORTED, "%s: text is split by '%.40s' (tokenizer.ggml.pre), which this version does not know; it knows "
                                          "%s", w->name, pre, t->names->known);
}

static int read_form(struct tokenizer_file *t, const struct weights *w, steno_error *e)
{
    const char *model = meta_text(&w->meta, "tokenizer.ggml.model", "");
    if (!strcmp(model, t->names->bytes)) {
        t->form = TOKENIZER_BYTES;
        t->bos = t->eos = 11; /* the default of the reference */
        return pattern_find(t, w, e);
    }
    if (t->names->words && !strcmp(model, t->names->words)) {
        t->form = TOKENIZER_WORDS;
        t->words = tokenizer_words_usual;
        t->space_first = t->adds_bos = t->adds_eos = 1;
        t->bos = 101;
        t->eos = 102;
        return STENO_OK;
    }
    if (strcmp(model, t->names->pieces) != 0)
        return err_set(e, STENO_EUNSUPPORTED, "%s: a tokenizer of the kind '%.40s'; this version has %s and %s", w->name, model,
                       t->names->bytes, t->names->pieces);
    t->form = TOKENIZER_PIECES;
    t->space_first = t->adds_bos = 1;
    t->bos = 1;
    t->eos = 2;
    return STENO_OK;
}

struct number_key { const char *key; int32_t lo, hi, *to; };

static int read_number(const struct weights *w, const struct number_key *s, steno_error *e)
{
    const struct meta_entry *it = meta_find(&w->meta, s->key);
    if (!it || it->kind != META_BOOL) return meta_int(&w->meta, w->name, s->key, s->lo, s->hi, 1, s->to, e);
    *s->to = (int32_t)it->i;
    return STENO_OK;
}

/* Keys of word tokenizers. Older keys give the same ids under other names. The misspelt name is the one in all files. */
static int read_word_numbers(struct tokenizer_file *t, const struct weights *w, int32_t n, steno_error *e)
{
    int32_t unknown = 100;
    const struct number_key keys[] = {
        { "tokenizer.ggml.cls_token_id", 0, n - 1, &t->bos }, { "tokenizer.ggml.seperator_token_id", 0, n - 1, &t->eos },
        { "tokenizer.ggml.add_sep_token", 0, 1, &t->adds_eos }, { "tokenizer.ggml.unknown_token_id", 0, n - 1, &unknown },
        { "tokenizer.ggml.normalizer.lowercase", 0, 1, &t->words.lowers },
        { "tokenizer.ggml.normalizer.strip_accents", 0, 1, &t->words.strips },
    };
    int rc = STENO_OK;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !rc; i++) rc = read_number(w, &keys[i], e);
    if (!rc && unknown < n) t->entry[unknown].type = VOCAB_UNKNOWN;
    return rc;
}

/* The chat template. If only named templates exist, use the one called default, or the only one. */
static const char *template_of(const struct meta *m)
{
    static const char name[] = "tokenizer.chat_template.";
    const char *text = meta_text(m, "tokenizer.chat_template", meta_text(m, "tokenizer.chat_template.default", NULL));
    int n = 0;
    for (uint32_t i = 0; i < m->n && !text; i++)
        if (!strncmp(m->entry[i].key, name, sizeof name - 1) && m->entry[i].kind == META_TEXT && n++) text = "";
    for (uint32_t i = 0; i < m->n && n == 1 && !text; i++)
        if (!strncmp(m->entry[i].key, name, sizeof name - 1) && m->entry[i].kind == META_TEXT) text = m->entry[i].text;
    return text; /* empty: several templates, but no default */
}

static int read_numbers(struct tokenizer_file *t, const struct weights *w, int32_t n, steno_error *e)
{
    const struct number_key keys[] = {
        { "tokenizer.ggml.bos_token_id", 0, n - 1, &t->bos }, { "tokenizer.ggml.eos_token_id", 0, n - 1, &t->eos },
        { "tokenizer.ggml.eot_token_id", 0, n - 1, &t->eot }, { "tokenizer.ggml.eom_token_id", 0, n - 1, &t->eom },
        { "tokenizer.ggml.add_bos_token", 0, 1, &t->adds_bos }, { "tokenizer.ggml.add_eos_token", 0, 1, &t->adds_eos },
        { "tokenizer.ggml.add_space_prefix", 0, 1, &t->space_first },
    };
    int rc = STENO_OK;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !rc; i++) rc = read_number(w, &keys[i], e);
    if (!rc && t->form == TOKENIZER_WORDS) rc = read_word_numbers(t, w, n, e);
    if (t->bos >= n) t->bos = -1;
    if (t->eos >= n) t->eos = -1;
    t->chat_template = template_of(&w->meta);
    return rc;
}

static int read_words(struct gguf_words *v, const struct meta_list *tokens, struct arena *scratch)
{
    const struct meta_list *pairs = meta_find_list(&v->w->meta, "tokenizer.ggml.merges");
    int rc = numbers(&v->type, scratch, v->w, "tokenizer.ggml.token_type", tokens->n, v->e);
    if (!rc) rc = numbers(&v->score, scratch, v->w, "tokenizer.ggml.scores", tokens->n, v->e);
    if (!rc) rc = meta_list_texts(tokens, VOCAB_STRING, take_token, v, v->e);
    if (!rc) rc = vocab_list_done(&v->list, v->w, v->e);
    if (rc || v->t->form != TOKENIZER_BYTES) return rc;
    if (!pairs) return err_set(v->e, STENO_EFORMAT, "%s: tokenizer.ggml.merges is missing", v->w->name);
    rc = meta_list_texts(pairs, 2 * VOCAB_STRING, take_pair, v, v->e);
    return rc ? rc : tokenizer_pairs_done(v->t, &v->pairs, v->w, v->e);
}

int tokenizer_read_gguf(struct tokenizer_file *t, struct weights *w, steno_error *e)
{
    struct gguf_words v = { .t = t, .w = w, .list = { .name = w->name }, .e = e };
    const struct meta_list *tokens = meta_find_list(&w->meta, "tokenizer.ggml.tokens");
    struct arena scratch;
    if (tokens->n > VOCAB_IDS)
        return err_set(e, STENO_EFORMAT, "%s: %" PRIu64 " tokens, want at most %d", w->name, tokens->n, VOCAB_IDS);
    arena_init(&scratch);
    int rc = read_form(t, w, e);
    if (!rc) rc = read_words(&v, tokens, &scratch);
    t->entry = w->vocab;
    t->n = w->n_vocab_entries;
    if (!rc) rc = read_numbers(t, w, (int32_t)t->n, e);
    vocab_list_free(&v.list);
    tokenizer_pairs_free(&v.pairs);
    arena_free(&scratch);
    return rc;
}
