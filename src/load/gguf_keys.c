/* steno: keys and values of GGUF files. SPDX-License-Identifier: MIT
 *
 * No length is trusted: it is checked against the rest of the file before memory is allocated for it. Long lists stay in the file; only
 * their extent is checked here. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "load/gguf.h"
#include "load/vocab.h"

enum { TEXT_MAX = 64 << 20,
       LIST_MAX = 1 << 24,
       KEYS_MAX = META_ENTRIES_MAX };

static const uint8_t value_sz[GGUF_VALUES] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };

int gguf_cut(const struct gguf *g, const char *where)
{
    if (g->r.err != STENO_EFORMAT)
        return err_set(g->e, g->r.err, "%s: read failed at byte %" PRIu64 ", in %s", g->f->name, g->r.pos, where);
    return err_set(g->e, STENO_EFORMAT, "%s: the file ends at byte %" PRIu64 ", inside %s; is the copy complete?", g->f->name, g->f->size,
                   where);
}

static int is_printable(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] <= ' ' || s[i] > '~') return 0;
    return 1;
}

static int read_key(struct gguf *g, uint64_t i, const char **key)
{
    const uint64_t at = g->r.pos, n = rd_u64(&g->r);
    if (g->r.err) return gguf_cut(g, "the keys");
    if (n < 1 || n > GGUF_KEY_MAX)
        return err_set(g->e, STENO_EFORMAT, "%s: key %" PRIu64 " of %" PRIu64 " at byte %" PRIu64 " has a name of %" PRIu64
                       " bytes, want 1..%d", g->f->name, i, g->n_keys, at, n, GGUF_KEY_MAX);
    if (n > rd_left(&g->r)) return g->r.err = STENO_EFORMAT, gguf_cut(g, "the name of a key");
    char *s = arena_alloc(&g->scratch, (size_t)n + 1);
    if (!s) return err_nomem(g->e, (size_t)n, "a model's configuration");
    rd_bytes(&g->r, s, (size_t)n);
    if (g->r.err) return gguf_cut(g, "the name of a key");
    if (!is_printable(s, (size_t)n))
        return err_set(g->e, STENO_EFORMAT, "%s: key %" PRIu64 " of %" PRIu64 " at byte %" PRIu64
                       ": its name is not of printable characters", g->f->name, i, g->n_keys, at);
    *key = s;
    return STENO_OK;
}

static int text_length(struct gguf *g, const char *key, uint64_t *n)
{
    *n = rd_u64(&g->r);
    if (g->r.err) return gguf_cut(g, key);
    if (*n > rd_left(&g->r) || *n > TEXT_MAX)
        return err_set(g->e, STENO_EFORMAT, "%s: key %s: a text of %" PRIu64 " bytes before byte %" PRIu64 ", %" PRIu64
                       " are left and %d are the most", g->f->name, key, *n, g->r.pos, rd_left(&g->r), TEXT_MAX);
    return STENO_OK;
}

static int read_text(struct gguf *g, struct meta_entry *v)
{
    uint64_t n = 0;
    int rc = text_length(g, v->key, &n);
    char *s = rc ? NULL : malloc((size_t)n + 1);
    if (!rc && !s) return err_nomem(g->e, (size_t)n, "a model's configuration");
    if (rc) return rc;
    rd_bytes(&g->r, s, (size_t)n);
    s[n] = 0;
    v->kind = META_TEXT;
    v->text = s;
    rc = g->r.err ? gguf_cut(g, v->key) : meta_add(g->meta, v, g->e);
    free(s);
    return rc;
}

/* Skip a list and register its place in the file. */
static int read_list(struct gguf *g, const char *key)
{
    struct rd *r = &g->r;
    const uint32_t type = rd_u32(r);
    const uint64_t n = rd_u64(r);
    if (r->err) return gguf_cut(g, key);
    if (type == GGUF_LIST) return err_set(g->e, STENO_EFORMAT, "%s: key %s is a list of lists, which no reader takes", g->f->name, key);
    if (type >= GGUF_VALUES)
        return err_set(g->e, STENO_EFORMAT, "%s: key %s is a list of the unknown type %" PRIu32, g->f->name, key, type);
    const uint64_t least = type == GGUF_TEXT ? 8 : value_sz[type];
    if (n > rd_left(r) / least || n > LIST_MAX)
        return err_set(g->e, STENO_EFORMAT, "%s: key %s lists %" PRIu64 " values before byte %" PRIu64 ", %" PRIu64
                       " bytes are left and %d values are the most", g->f->name, key, n, r->pos, rd_left(r), LIST_MAX);
    struct meta_list l = { .key = key, .n = n, .file = *g->f, .offset = r->pos };
    l.type = (enum meta_list_type)(type > GGUF_LIST ? type - 1 : type); /* the same order, without lists of lists */
    int rc = STENO_OK;
    for (uint64_t i = 0; type == GGUF_TEXT && i < n && !rc; i++) {
        uint64_t len;
        rc = text_length(g, key, &len);
        if (!rc) rd_skip(r, len);
    }
    if (rc) return rc;
    if (type != GGUF_TEXT) rd_skip(r, n * value_sz[type]);
    l.size = r->pos - l.offset;
    return meta_add_list(g->meta, &l, g->e);
}

/* Writers store the same key in different widths, so the table has only whole numbers, other numbers, and truth values. */
static void read_number(struct rd *r, uint32_t type, struct meta_entry *v)
{
    v->kind = META_INT;
    switch (type) {
    case GGUF_U8: v->i = rd_u8(r); break;
    case GGUF_I8: v->i = (int8_t)rd_u8(r); break;
    case GGUF_U16: v->i = rd_u16(r); break;
    case GGUF_I16: v->i = (int16_t)rd_u16(r); break;
    case GGUF_U32: v->i = rd_u32(r); break;
    case GGUF_I32: v->i = rd_i32(r); break;
    case GGUF_BOOL: v->kind = META_BOOL, v->i = rd_u8(r); break;
    case GGUF_F32: v->kind = META_NUM, v->x = (double)rd_f32(r); break;
    case GGUF_F64: {
        const uint64_t bits = rd_u64(r);
        v->kind = META_NUM;
        memcpy(&v->x, &bits, sizeof v->x);
        break;
    }
    default: {
        const uint64_t u = rd_u64(r);
        v->i = (int64_t)u;
        if (type == GGUF_U64 && v->i < 0) v->kind = META_NUM, v->x = (double)u;
    }
    }
}

static int check_alignment(struct gguf *g, uint32_t type, const struct meta_entry *v)
{
    if (strcmp(v->key, "general.alignment") != 0) return STENO_OK;
    if (type != GGUF_U32) return err_set(g->e, STENO_EFORMAT, "%s: %s is not of the type u32", g->f->name, v->key);
    if (v->i < 1 || v->i > GGUF_ALIGN_MAX || v->i & (v->i - 1))
        return err_set(g->e, STENO_EFORMAT, "%s: %s is %" PRId64 ", want a power of two up to %d", g->f->name, v->key, v->i,
                       GGUF_ALIGN_MAX);
    g->align = (uint64_t)v->i;
    return STENO_OK;
}

static int read_value(struct gguf *g, const char *key)
{
    const uint32_t type = rd_u32(&g->r);
    struct meta_entry v = { .key = key, .source = g->f->name };
    if (g->r.err) return gguf_cut(g, key);
    if (type >= GGUF_VALUES)
        return err_set(g->e, STENO_EFORMAT, "%s: key %s has a value of the unknown type %" PRIu32 " at byte %" PRIu64, g->f->name, key,
                       type, g->r.pos - 4);
    if (type == GGUF_LIST || type == GGUF_TEXT) {
        const int rc = check_alignment(g, type, &v);
        return rc ? rc : type == GGUF_LIST ? read_list(g, key)
                                           : read_text(g, &v);
    }
    read_number(&g->r, type, &v);
    if (g->r.err) return gguf_cut(g, key);
    if (v.kind == META_BOOL && v.i > 1)
        return err_set(g->e, STENO_EFORMAT, "%s: key %s is true or false, but stored as %" PRId64, g->f->name, key, v.i);
    const int rc = check_alignment(g, type, &v);
    return rc ? rc : meta_add(g->meta, &v, g->e);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int check_once(struct gguf *g)
{
    const struct meta *m = g->meta;
    const size_t n = (size_t)m->n + m->n_lists;
    const char **key = arena_array(&g->scratch, n, sizeof *key);
    if (!key) return err_nomem(g->e, n * sizeof *key, "the keys of a configuration");
    for (uint32_t i = 0; i < m->n; i++) key[i] = m->entry[i].key;
    for (uint32_t i = 0; i < m->n_lists; i++) key[m->n + i] = m->list[i].key;
    if (n) qsort(key, n, sizeof *key, by_name);
    for (size_t i = 1; i < n; i++)
        if (!strcmp(key[i], key[i - 1])) return err_set(g->e, STENO_EFORMAT, "%s: key %s is written twice", g->f->name, key[i]);
    return STENO_OK;
}

int gguf_read_keys(struct gguf *g)
{
    enum { LEAST = 13 /* bytes of a key with a value */ };
    if (g->n_keys > rd_left(&g->r) / LEAST || g->n_keys > KEYS_MAX)
        return err_set(g->e, STENO_EFORMAT, "%s: the header counts %" PRIu64 " keys, but %" PRIu64
                       " bytes follow, and %d keys are the most", g->f->name, g->n_keys, rd_left(&g->r), KEYS_MAX);
    for (uint64_t i = 0; i < g->n_keys; i++) {
        const char *key = NULL;
        int rc = read_key(g, i, &key);
        if (!rc) rc = read_value(g, key);
        if (rc) return rc;
    }
    return check_once(g);
}

/* ---- counts of layers and heads --------------------------------------------------------------------------------------------------- */

/* Language models of every architecture use the same keys after the architecture's name. A number that would cause a division by zero or
 * exhaust memory is refused here, before any family reads it. The family decides which keys are required. */

enum { WORD_SZ = 160,
       LAYERS_MAX = 512,
       HEADS_MAX = 65536,
       WIDTH_MAX = 1 << 24 };

struct network {
    const struct weights *w;
    const char *architecture;
    steno_error *e;
};

static void word(char out[WORD_SZ], const struct network *n, const char *tail)
{
    snprintf(out, WORD_SZ, "%.80s.%s", n->architecture, tail);
}

static int number(const struct network *n, const char *tail, int32_t lo, int32_t hi, int32_t *out)
{
    char key[WORD_SZ];
    word(key, n, tail);
    *out = 0;
    return meta_int(&n->w->meta, n->w->name, key, lo, hi, 1, out, n->e);
}

/* One number for all layers, or a list with one number per layer; 0 when the key is absent. A layer without attention may have no heads. */
static int heads_of_layer(const struct network *n, const char *tail, int32_t layer, int32_t *out)
{
    char key[WORD_SZ];
    double x;
    word(key, n, tail);
    const struct meta_list *l = meta_find_list(&n->w->meta, key);
    if (!l) return number(n, tail, 1, HEADS_MAX, out);
    const int rc = meta_list_numbers(l, (uint64_t)layer, 1, &x, n->e);
    if (rc) return rc;
    if (!(x >= 0 && x <= HEADS_MAX))
        return err_set(n->e, STENO_EFORMAT, "%s: %s is %g for layer %d, want 0..%d", n->w->name, key, x, (int)layer, HEADS_MAX);
    *out = (int32_t)x;
    return STENO_OK;
}

static int check_heads(const struct network *n, int32_t layers)
{
    for (int32_t i = 0; i < layers; i++) {
        int32_t heads = 0, kv_heads = 0;
        int rc = heads_of_layer(n, "attention.head_count", i, &heads);
        if (!rc) rc = heads_of_layer(n, "attention.head_count_kv", i, &kv_heads);
        if (!rc && heads && kv_heads && heads % kv_heads)
            rc = err_set(n->e, STENO_EFORMAT, "%s: layer %d: %d heads of queries do not share %d heads of keys and values evenly",
                         n->w->name, (int)i, (int)heads, (int)kv_heads);
        if (rc) return rc;
    }
    return STENO_OK;
}

static int check_rope(const struct network *n, int32_t d_head)
{
    int32_t rope = 0;
    const int rc = number(n, "rope.dimension_count", 1, WIDTH_MAX, &rope);
    if (rc || !rope) return rc;
    if (rope % 2) return err_set(n->e, STENO_EFORMAT, "%s: %s.rope.dimension_count is %d, want an even number", n->w->name, n->architecture,
                                 (int)rope);
    if (d_head && rope > d_head)
        return err_set(n->e, STENO_EFORMAT, "%s: %s.rope.dimension_count is %d, but a head has %d", n->w->name, n->architecture, (int)rope,
                       (int)d_head);
    return STENO_OK;
}

static int check_epsilons(const struct network *n)
{
    static const char *const tail[] = { "attention.layer_norm_rms_epsilon", "attention.layer_norm_epsilon" };
    for (int i = 0; i < 2; i++) {
        char key[WORD_SZ];
        double x;
        word(key, n, tail[i]);
        const int rc = meta_num(&n->w->meta, n->w->name, key, 1e-30, 1, 1, &x, n->e);
        if (rc) return rc;
    }
    return STENO_OK;
}

int gguf_check_network(const struct weights *w, const char *architecture, steno_error *e)
{
    const struct network n = { w, architecture, e };
    int32_t layers, width, heads, d_key, d_value;
    if (!n.architecture) return err_set(e, STENO_EFORMAT, "%s: general.architecture is missing, or no text", w->name);
    int rc = number(&n, "block_count", 1, LAYERS_MAX, &layers);
    if (!rc) rc = number(&n, "embedding_length", 1, WIDTH_MAX, &width);
    if (!rc) rc = number(&n, "attention.key_length", 1, WIDTH_MAX, &d_key);
    if (!rc) rc = number(&n, "attention.value_length", 1, WIDTH_MAX, &d_value);
    if (!rc) rc = check_heads(&n, layers);
    if (!rc) rc = heads_of_layer(&n, "attention.head_count", 0, &heads);
    if (!rc) rc = check_rope(&n, d_key ? d_key : heads ? width / heads
                                                       : 0);
    return rc ? rc : check_epsilons(&n);
}

/* ---- vocabularies ----------------------------------------------------------------------------------------------------------------- */

/* Speech models list their pieces as ARCHITECTURE.vocab, ready to be joined. Language models list them as tokenizer.ggml.tokens, with
 * scores, types, pairs and special ids in other keys. These are validated here and stay in the table for the readers of such models. */

static const char prefix[] = "tokenizer.ggml.";
enum { TYPE_BYTE = 6,
       TYPES = 256 /* types read at a time */ };

struct vocab_words {
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
    struct vocab_words *v = user;
    const uint64_t left = v->l->n - i;
    int rc = STENO_OK;
    if (v->type && i % TYPES == 0) rc = meta_list_numbers(v->type, i, left < TYPES ? left : TYPES, v->types, v->e);
    if (rc || v->types[i % TYPES] != TYPE_BYTE) return rc;
    if (n == 6 && !memcmp(s, "<0x", 3) && is_hex(s[3]) && is_hex(s[4]) && s[5] == '>') return STENO_OK;
    return err_set(v->e, STENO_EFORMAT, "%s: token %" PRIu64 " stands for a byte, but is not written <0xHH>", v->l->file.name, i);
}

static int check_pair(void *user, uint64_t i, const char *s, size_t n)
{
    const struct vocab_words *v = user;
    const char *space = n > 2 ? memchr(s + 1, ' ', n - 2) : NULL;
    return space ? STENO_OK
                 : err_set(v->e, STENO_EFORMAT, "%s: pair %" PRIu64 " of %smerges has no space between two texts", v->l->file.name, i,
                           prefix);
}

static int check_beside(const struct meta *m, const struct vocab_words *v)
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
static int check_ids(const struct meta *m, const struct vocab_words *v)
{
    static const char tail[] = "_token_id";
    for (uint32_t i = 0; i < m->n; i++) {
        const struct meta_entry *it = &m->entry[i];
        const size_t n = strlen(it->key), n_tail = sizeof tail - 1;
        if (strncmp(it->key, prefix, sizeof prefix - 1) != 0 || n < n_tail || strcmp(it->key + n - n_tail, tail) != 0) continue;
        struct meta_entry id = *it;
        if (!meta_is_whole(&id))
            return err_set(v->e, STENO_EFORMAT, "%s: %s is no whole number, want an id of %" PRIu64 " tokens", it->source, it->key,
                           v->l->n);
        if (id.i < 0 || (uint64_t)id.i >= v->l->n)
            return err_set(v->e, STENO_EFORMAT, "%s: %s is %" PRId64 ", want an id of %" PRIu64 " tokens", it->source, it->key, id.i,
                           v->l->n);
    }
    return STENO_OK;
}

static int check_tokenizer(const struct weights *w, steno_error *e)
{
    const struct meta *m = &w->meta;
    struct vocab_words v = { .l = meta_find_list(m, "tokenizer.ggml.tokens"), .type = meta_find_list(m, "tokenizer.ggml.token_type"),
                            .e = e };
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
