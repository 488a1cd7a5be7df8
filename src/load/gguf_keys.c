/* steno: keys and values of GGUF files. SPDX-License-Identifier: MIT
 *
 * No length is trusted: it is checked against the rest of the file before memory is allocated for it. Long lists stay in the file; only
 * their extent is checked here. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "load/gguf.h"

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
    char *s = arena_alloc(&g->scrap, (size_t)n + 1);
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
    const char **key = arena_array(&g->scrap, n, sizeof *key);
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
