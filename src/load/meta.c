/* steno: the settings in a model's files. SPDX-License-Identifier: MIT */
#include "load/meta.h"

#include <string.h>

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
    to->text = copy(m, entry->text);
    if (!to->key || (entry->text && !to->text)) return err_nomem(e, strlen(entry->key), "a model's configuration");
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

const char *meta_text(const struct meta *m, const char *key, const char *fallback)
{
    const struct meta_entry *it = meta_find(m, key);
    return it && it->kind == META_TEXT ? it->text : fallback;
}

static const char *const kind_name[] = { "null", "true or false", "a whole number", "a number", "text" };

int meta_int(const struct meta *m, const char *where, const char *key, int32_t lo, int32_t hi, int fallback_ok, int32_t *out,
             steno_error *e)
{
    const struct meta_entry *it = meta_find(m, key);
    if (!it && fallback_ok) return STENO_OK;
    if (!it) return err_set(e, STENO_EFORMAT, "%s: %s is missing, want %d..%d", where, key, (int)lo, (int)hi);
    if (it->kind != META_INT)
        return err_set(e, STENO_EFORMAT, "%s: %s is %s, want a whole number in %d..%d", it->source, key, kind_name[it->kind], (int)lo,
                       (int)hi);
    if (it->i < lo || it->i > hi)
        return err_set(e, STENO_EFORMAT, "%s: %s is %lld, want %d..%d", it->source, key, (long long)it->i, (int)lo, (int)hi);
    *out = (int32_t)it->i;
    return STENO_OK;
}

int meta_num(const struct meta *m, const char *where, const char *key, double lo, double hi, int fallback_ok, double *out,
             steno_error *e)
{
    const struct meta_entry *it = meta_find(m, key);
    if (!it && fallback_ok) return STENO_OK;
    if (!it) return err_set(e, STENO_EFORMAT, "%s: %s is missing, want %g..%g", where, key, lo, hi);
    if (it->kind != META_INT && it->kind != META_NUM)
        return err_set(e, STENO_EFORMAT, "%s: %s is %s, want a number in %g..%g", it->source, key, kind_name[it->kind], lo, hi);
    if (!(it->x >= lo && it->x <= hi))
        return err_set(e, STENO_EFORMAT, "%s: %s is %g, want %g..%g", it->source, key, it->x, lo, hi);
    *out = it->x;
    return STENO_OK;
}
