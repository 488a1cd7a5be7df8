/* steno: from nested settings to a flat table. SPDX-License-Identifier: MIT */
#include "load/flat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"

void flat_begin(struct flat *f, struct meta *m, const char *prefix, const char *name)
{
    *f = (struct flat){ .m = m, .name = name, .line = 1 };
    if (prefix) f->key_len = (uint32_t)snprintf(f->key, sizeof f->key, "%.60s", prefix);
}

void flat_end(struct flat *f)
{
    buf_free(&f->values);
    free(f->seen);
    f->seen = NULL;
}

static struct flat_level *top(struct flat *f)
{
    return f->depth ? &f->level[f->depth - 1] : NULL;
}

int flat_wants_key(const struct flat *f)
{
    return f->depth && f->level[f->depth - 1].want_key;
}

/* Replace the last part of the key, that of the innermost level. */
static int key_part(struct flat *f, const char *s, size_t n, steno_error *e)
{
    const size_t base = top(f)->key_len, dot = base > 0;
    if (n > META_KEY_MAX - dot || base + dot > META_KEY_MAX - n)
        return err_set(e, STENO_EFORMAT, "%s: line %u: key '%.*s%s%.40s…' has %zu bytes, want at most %d", f->name, (unsigned)f->line,
                       (int)base, f->key, dot ? "." : "", s, base + dot + n, META_KEY_MAX);
    if (dot) f->key[base] = '.';
    memcpy(f->key + base + dot, s, n);
    f->key_len = (uint32_t)(base + dot + n);
    f->key[f->key_len] = 0;
    return STENO_OK;
}

static int seen_grow(struct flat *f, steno_error *e)
{
    if (2 * f->n_seen < f->seen_cap) return STENO_OK;
    const uint32_t cap = f->seen_cap ? 2 * f->seen_cap : 256;
    uint64_t *seen = calloc(cap, sizeof *seen);
    if (!seen) return err_nomem(e, cap * sizeof *seen, "the keys of a configuration");
    for (uint32_t i = 0; i < f->seen_cap; i++) {
        if (!f->seen[i]) continue;
        uint32_t at = (uint32_t)f->seen[i] & (cap - 1);
        while (seen[at]) at = (at + 1) & (cap - 1);
        seen[at] = f->seen[i];
    }
    free(f->seen);
    f->seen = seen;
    f->seen_cap = cap;
    return STENO_OK;
}

/* Check that the key is new. A 64-bit hash represents it: a file with a deliberate collision is refused. */
static int check_once(struct flat *f, steno_error *e)
{
    const uint64_t h = hash_bytes_64(f->key, f->key_len) | 1; /* 0 marks a free entry */
    const int rc = seen_grow(f, e);
    if (rc) return rc;
    uint32_t at = (uint32_t)h & (f->seen_cap - 1);
    for (; f->seen[at]; at = (at + 1) & (f->seen_cap - 1))
        if (f->seen[at] == h)
            return err_set(e, STENO_EFORMAT, "%s: line %u: key '%s' is written twice", f->name, (unsigned)f->line, f->key);
    f->seen[at] = h;
    f->n_seen++;
    return STENO_OK;
}

/* ---- long lists ---- */

/* Convert a list of whole numbers to one of other numbers. */
static void widen_values(struct flat *f)
{
    for (uint64_t i = 0; i < f->n_values; i++) {
        int64_t whole;
        char *at = f->values.p + i * sizeof whole;
        memcpy(&whole, at, sizeof whole);
        const double x = (double)whole;
        memcpy(at, &x, sizeof x);
    }
    f->list_type = META_LIST_F64;
}

static void list_add(struct flat *f, const struct meta_entry *v)
{
    const enum meta_list_type type = v->kind == META_TEXT ? META_LIST_TEXT : v->kind == META_NUM ? META_LIST_F64 : META_LIST_I64;
    if (!f->n_values) f->list_type = type;
    if (v->kind == META_NULL || v->kind == META_BOOL || (type == META_LIST_TEXT) != (f->list_type == META_LIST_TEXT)) {
        f->is_long_list = 0;
        return;
    }
    if (type == META_LIST_F64 && f->list_type == META_LIST_I64) widen_values(f);
    if (type == META_LIST_TEXT) {
        const uint64_t n = strlen(v->text);
        buf_add(&f->values, &n, sizeof n);
        buf_add(&f->values, v->text, (size_t)n);
    } else if (f->list_type == META_LIST_F64) {
        const double x = type == META_LIST_I64 ? (double)v->i : v->x;
        buf_add(&f->values, &x, sizeof x);
    } else {
        buf_add(&f->values, &v->i, sizeof v->i);
    }
    f->n_values++;
}

/* The innermost list is too long for settings: its entries become the first values of a long list. */
static void list_begin(struct flat *f)
{
    const struct flat_level *l = top(f);
    buf_clear(&f->values);
    f->n_values = 0;
    f->is_long_list = l->is_list && f->m->n - l->mark == FLAT_LONG;
    for (uint32_t i = l->mark; i < f->m->n && f->is_long_list; i++) {
        const struct meta_entry *member = &f->m->entry[i];
        if (strchr(member->key + l->key_len + 1, '.')) f->is_long_list = 0; /* a member of an inner list or map */
        else list_add(f, member);
    }
}

static int list_end(struct flat *f, steno_error *e)
{
    if (f->values.err) return err_nomem(e, f->values.len, "a long list of settings");
    char *copy = arena_alloc(f->m->arena, f->values.len);
    if (!copy) return err_nomem(e, f->values.len, "a long list of settings");
    memcpy(copy, f->values.p, f->values.len);
    struct meta_list l = { .key = f->key, .type = f->list_type, .n = f->n_values, .size = f->values.len };
    file_from_memory(&l.file, f->name, copy, f->values.len);
    return meta_add_list(f->m, &l, e);
}

/* Count another member of the innermost level. */
static int count_member(struct flat *f, steno_error *e)
{
    struct flat_level *l = top(f);
    if (++l->count > FLAT_LONG && f->depth > 1 && !f->hidden) {
        list_begin(f);
        f->m->n = l->mark;
        f->hidden = f->depth;
    }
    if (f->hidden) return STENO_OK;
    if (l->is_list) {
        char index[16];
        const int n = snprintf(index, sizeof index, "%u", (unsigned)(l->count - 1));
        const int rc = key_part(f, index, (size_t)n, e);
        if (rc) return rc;
    }
    if (++f->n_added > META_ENTRIES_MAX)
        return err_set(e, STENO_EFORMAT, "%s: line %u: more than %d settings", f->name, (unsigned)f->line, META_ENTRIES_MAX);
    return check_once(f, e);
}

int flat_key(struct flat *f, const char *s, size_t n, steno_error *e)
{
    top(f)->want_key = 0;
    int rc = f->hidden ? STENO_OK : key_part(f, s, n, e);
    return rc ? rc : count_member(f, e);
}

/* Before a value. A map has counted its key; a list counts the value here. */
static int begin_value(struct flat *f, steno_error *e)
{
    struct flat_level *l = top(f);
    if (!l) return STENO_OK;
    l->want_key = !l->is_list;
    return l->is_list ? count_member(f, e) : STENO_OK;
}

int flat_open(struct flat *f, int is_list, steno_error *e)
{
    const int rc = begin_value(f, e);
    if (rc) return rc;
    if (f->hidden == f->depth) f->is_long_list = 0; /* it contains more than values */
    if (f->depth == META_DEPTH_MAX)
        return err_set(e, STENO_EFORMAT, "%s: line %u: settings are nested more than %d deep", f->name, (unsigned)f->line, META_DEPTH_MAX);
    f->level[f->depth++] = (struct flat_level){ .mark = f->m->n, .key_len = f->key_len, .is_list = is_list != 0, .want_key = !is_list };
    return STENO_OK;
}

int flat_close(struct flat *f, steno_error *e)
{
    if (!f->depth) return STENO_OK;
    const int ends_long = f->hidden == f->depth && f->is_long_list;
    if (f->hidden == f->depth) f->hidden = 0;
    f->key_len = top(f)->key_len;
    f->key[f->key_len] = 0;
    f->depth--;
    return ends_long ? list_end(f, e) : STENO_OK;
}

int flat_value(struct flat *f, struct meta_entry v, steno_error *e)
{
    const int rc = begin_value(f, e);
    if (!rc && f->hidden == f->depth && f->is_long_list) list_add(f, &v);
    if (rc || f->hidden) return rc;
    v.key = f->key;
    v.source = f->name;
    return meta_add(f->m, &v, e);
}
