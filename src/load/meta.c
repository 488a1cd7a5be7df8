/* steno: the settings in a model's files. SPDX-License-Identifier: MIT */
#include "load/meta.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/rd.h"

void meta_init(struct meta *m, struct arena *a)
{
    *m = (struct meta){ .arena = a };
}

static int grow(struct meta *m, const char *source, steno_error *e)
{
    if (m->n < m->cap) return STENO_OK;
    if (m->n >= META_ENTRIES_MAX)
        return err_set(e, STENO_EFORMAT, "%s: more than %d settings in a model's configuration", source ? source : "model",
                       META_ENTRIES_MAX);
    const uint32_t cap = m->cap ? 2 * m->cap : 64;
    struct meta_entry *entry = arena_array(m->arena, cap, sizeof *entry);
    if (!entry) return err_nomem(e, cap * sizeof *entry, "a model's configuration");
    if (m->n) memcpy(entry, m->entry, m->n * sizeof *entry);
    m->entry = entry;
    m->cap = cap;
    return STENO_OK;
}

static const char *copy(struct meta *m, const char *s)
{
    return s ? arena_strdup(m->arena, s, strlen(s)) : NULL;
}

int meta_add(struct meta *m, const struct meta_entry *entry, steno_error *e)
{
    const int rc = grow(m, entry->source, e);
    if (rc) return rc;
    struct meta_entry *to = &m->entry[m->n];
    *to = *entry;
    to->key = copy(m, entry->key);
    to->written = copy(m, entry->written);
    to->text = copy(m, entry->text);
    if (!to->key || (entry->text && !to->text) || (entry->written && !to->written))
        return err_nomem(e, strlen(entry->key), "a model's configuration");
    if (entry->kind == META_INT) to->x = (double)entry->i;
    m->n++;
    return STENO_OK;
}

const struct meta_entry *meta_find(const struct meta *m, const char *key)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (!strcmp(m->entry[i].key, key)) return &m->entry[i];
    return NULL;
}

static const char *name_of(const struct meta_entry *it, const char *key)
{
    return it && it->written ? it->written : key;
}

const char *meta_written(const struct meta *m, const char *key)
{
    return name_of(meta_find(m, key), key);
}

const char *meta_text(const struct meta *m, const char *key, const char *fallback)
{
    const struct meta_entry *it = meta_find(m, key);
    return it && it->kind == META_TEXT ? it->text : fallback;
}

void meta_lift(struct meta *m, const char *prefix)
{
    const size_t len = strlen(prefix);
    for (uint32_t i = 0; i < m->n; i++) {
        struct meta_entry *it = &m->entry[i];
        if (strncmp(it->key, prefix, len) != 0 || meta_find(m, it->key + len)) continue;
        if (!it->written) it->written = it->key;
        it->key += len;
    }
}

static const char *const kind_name[] = { "null", "true or false", "a whole number", "a number", "text" };

/* Equal values of a list become one. */
static int value_of_list(struct meta_entry *out, const struct meta_list *l, steno_error *e)
{
    enum { LAYERS_MAX = 512 };
    double x[LAYERS_MAX];
    if (!l->n || l->n > LAYERS_MAX)
        return err_set(e, STENO_EFORMAT, "%s: %s lists %" PRIu64 " values, want one of each layer", l->file.name, l->key, l->n);
    const int rc = meta_list_numbers(l, 0, l->n, x, e);
    if (rc) return rc;
    if (l->type == META_LIST_BOOL)
        return err_set(e, STENO_EFORMAT, "%s: %s is a list of %s, want numbers", l->file.name, l->key, kind_name[META_BOOL]);
    for (uint64_t i = 1; i < l->n; i++)
        if (!(x[i] >= x[0] && x[i] <= x[0])) /* also where one is no number */
            return err_set(e, STENO_EUNSUPPORTED, "%s: %s is %g in layer 0 and %g in layer %d: layers of different sizes are not served",
                           l->file.name, l->key, x[0], x[i], (int)i);
    *out = (struct meta_entry){ .key = l->key, .kind = META_NUM, .x = x[0], .source = l->file.name };
    return STENO_OK;
}

/* The number of a key. GGUF files may list one per layer. @return 1: the key is missing */
static int number_of(struct meta_entry *out, const struct meta *m, const char *key, steno_error *e)
{
    const struct meta_entry *it = meta_find(m, key);
    const struct meta_list *l = it ? NULL : meta_find_list(m, key);
    if (l) return value_of_list(out, l, e);
    if (it) *out = *it;
    return !it;
}

int meta_is_whole(struct meta_entry *it)
{
    const double most = 9007199254740992.0; /* 2^53: above it each f64 is whole */
    if (it->kind == META_NUM && it->x >= -most && it->x <= most && !(it->x < nearbyint(it->x)) && !(it->x > nearbyint(it->x)))
        it->kind = META_INT, it->i = (int64_t)it->x;
    return it->kind == META_INT;
}

int64_t meta_whole(const struct meta *m, const char *key, int64_t lo, int64_t hi, int64_t otherwise)
{
    steno_error e;
    struct meta_entry it;
    return !number_of(&it, m, key, &e) && meta_is_whole(&it) && it.i >= lo && it.i <= hi ? it.i : otherwise;
}

int meta_int(const struct meta *m, const char *where, const char *key, int32_t lo, int32_t hi, int fallback_ok, int32_t *out,
             steno_error *e)
{
    struct meta_entry it;
    const int rc = number_of(&it, m, key, e);
    if (rc == 1 && fallback_ok) return STENO_OK;
    if (rc == 1) return err_set(e, STENO_EFORMAT, "%s: %s is missing, want %d..%d", where, key, (int)lo, (int)hi);
    if (rc) return rc;
    if (!meta_is_whole(&it))
        return err_set(e, STENO_EFORMAT, "%s: %s is %s, want a whole number in %d..%d", it.source, name_of(&it, key), kind_name[it.kind],
                       (int)lo, (int)hi);
    if (it.i < lo || it.i > hi)
        return err_set(e, STENO_EFORMAT, "%s: %s is %lld, want %d..%d", it.source, name_of(&it, key), (long long)it.i, (int)lo, (int)hi);
    *out = (int32_t)it.i;
    return STENO_OK;
}

int meta_num(const struct meta *m, const char *where, const char *key, double lo, double hi, int fallback_ok, double *out,
             steno_error *e)
{
    struct meta_entry it;
    const int rc = number_of(&it, m, key, e);
    if (rc == 1 && fallback_ok) return STENO_OK;
    if (rc == 1) return err_set(e, STENO_EFORMAT, "%s: %s is missing, want %g..%g", where, key, lo, hi);
    if (rc) return rc;
    if (it.kind != META_INT && it.kind != META_NUM)
        return err_set(e, STENO_EFORMAT, "%s: %s is %s, want a number in %g..%g", it.source, name_of(&it, key), kind_name[it.kind], lo, hi);
    if (!(it.x >= lo && it.x <= hi))
        return err_set(e, STENO_EFORMAT, "%s: %s is %g, want %g..%g", it.source, name_of(&it, key), it.x, lo, hi);
    *out = it.x;
    return STENO_OK;
}

/* ---- long lists ------------------------------------------------------------------------------------------------------------------- */

/* A vocabulary or the ranks of its pairs have a hundred thousand values, which are never looked up by key. They stay in the file and are
 * read from end to end on request. */

static const uint8_t value_sz[] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 8, 8, 8 };

int meta_add_list(struct meta *m, const struct meta_list *list, steno_error *e)
{
    if (m->n_lists == m->cap_lists) {
        const uint32_t cap = m->cap_lists ? 2 * m->cap_lists : 8;
        struct meta_list *l = arena_array(m->arena, cap, sizeof *l);
        if (!l) return err_nomem(e, cap * sizeof *l, "a model's configuration");
        if (m->n_lists) memcpy(l, m->list, m->n_lists * sizeof *l);
        m->list = l;
        m->cap_lists = cap;
    }
    struct meta_list *to = &m->list[m->n_lists];
    *to = *list;
    to->key = arena_strdup(m->arena, list->key, strlen(list->key));
    if (!to->key) return err_nomem(e, strlen(list->key), "a model's configuration");
    m->n_lists++;
    return STENO_OK;
}

const struct meta_list *meta_find_list(const struct meta *m, const char *key)
{
    for (uint32_t i = 0; i < m->n_lists; i++)
        if (!strcmp(m->list[i].key, key)) return &m->list[i];
    return NULL;
}

static double read_value(struct rd *r, enum meta_list_type type)
{
    switch (type) {
    case META_LIST_U8:
    case META_LIST_BOOL: return rd_u8(r);
    case META_LIST_I8: return (int8_t)rd_u8(r);
    case META_LIST_U16: return rd_u16(r);
    case META_LIST_I16: return (int16_t)rd_u16(r);
    case META_LIST_U32: return rd_u32(r);
    case META_LIST_I32: return rd_i32(r);
    case META_LIST_F32: return (double)rd_f32(r);
    case META_LIST_U64: return (double)rd_u64(r);
    case META_LIST_I64: return (double)(int64_t)rd_u64(r);
    default: break;
    }
    const uint64_t bits = rd_u64(r);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Open the list's bytes. STENO_EFORMAT if the file has fewer than the list needs. */
static int list_begin(const struct meta_list *l, struct rd *r, steno_error *e)
{
    if (l->offset > l->file.size || l->size > l->file.size - l->offset)
        return err_set(e, STENO_EFORMAT, "%s: the list %s needs bytes %" PRIu64 "+%" PRIu64 ", the file has %" PRIu64, l->file.name, l->key,
                       l->offset, l->size, l->file.size);
    rd_init(r, &l->file, l->offset, l->offset + l->size);
    return STENO_OK;
}

int meta_list_numbers(const struct meta_list *l, uint64_t from, uint64_t n, double *out, steno_error *e)
{
    struct rd r;
    if (l->type == META_LIST_TEXT) return err_set(e, STENO_EFORMAT, "%s: %s is a list of texts, want numbers", l->file.name, l->key);
    if (from > l->n || n > l->n - from)
        return err_set(e, STENO_EFORMAT, "%s: the list %s has %" PRIu64 " values, want %" PRIu64, l->file.name, l->key, l->n, from + n);
    const int rc = list_begin(l, &r, e);
    if (rc) return rc;
    rd_skip(&r, from * value_sz[l->type]);
    for (uint64_t i = 0; i < n && !r.err; i++) out[i] = read_value(&r, l->type);
    return r.err ? err_set(e, r.err, "%s: the list %s ends before its %" PRIu64 " values", l->file.name, l->key, l->n) : STENO_OK;
}

int meta_list_texts(const struct meta_list *l, size_t max_sz, int (*take)(void *user, uint64_t i, const char *s, size_t n), void *user,
                    steno_error *e)
{
    struct rd r;
    if (l->type != META_LIST_TEXT) return err_set(e, STENO_EFORMAT, "%s: %s is a list of numbers, want texts", l->file.name, l->key);
    int rc = list_begin(l, &r, e);
    char *s = rc ? NULL : malloc(max_sz + 1);
    if (!rc && !s) rc = err_nomem(e, max_sz, "a list of texts");
    for (uint64_t i = 0; i < l->n && !rc; i++) {
        const uint64_t n = rd_u64(&r);
        if (!r.err && n > max_sz)
            rc = err_set(e, STENO_EFORMAT, "%s: text %" PRIu64 " of the list %s has %" PRIu64 " bytes, want at most %zu", l->file.name, i,
                         l->key, n, max_sz);
        if (rc) break;
        rd_bytes(&r, s, r.err ? 0 : (size_t)n);
        rc = r.err ? err_set(e, r.err, "%s: the list %s ends inside text %" PRIu64 " of %" PRIu64, l->file.name, l->key, i, l->n)
                   : take(user, i, s, (size_t)n);
    }
    free(s);
    return rc;
}
