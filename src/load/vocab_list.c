/* steno: a vocabulary under construction. SPDX-License-Identifier: MIT */
#include "load/vocab_list.h"

#include <inttypes.h>
#include <string.h>

struct item { uint32_t id, n; size_t at; float score; enum vocab_type type; };

static const struct item *items(const struct vocab_list *l, uint32_t *n)
{
    *n = (uint32_t)(l->items.len / sizeof(struct item));
    return (const struct item *)(const void *)l->items.p;
}

void vocab_list_free(struct vocab_list *l)
{
    buf_free(&l->bytes);
    buf_free(&l->items);
}

int vocab_list_add(struct vocab_list *l, int64_t id, const void *s, size_t n, steno_error *e)
{
    if (id < 0 || id >= VOCAB_IDS)
        return err_set(e, STENO_EFORMAT, "%s: id %" PRId64 " of a vocabulary, want 0..%d", l->name, id, VOCAB_IDS - 1);
    if (n > VOCAB_STRING)
        return err_set(e, STENO_EFORMAT, "%s: the string of id %" PRId64 " has %zu bytes, want at most %d", l->name, id, n, VOCAB_STRING);
    if (l->items.len / sizeof(struct item) >= VOCAB_IDS)
        return err_set(e, STENO_EFORMAT, "%s: more than %d strings in a vocabulary", l->name, VOCAB_IDS);
    buf_add(&l->items, &(struct item) { .id = (uint32_t)id, .n = (uint32_t)n, .at = l->bytes.len }, sizeof(struct item));
    buf_add(&l->bytes, s, n);
    return l->items.err || l->bytes.err ? err_nomem(e, l->bytes.len, "a vocabulary") : STENO_OK;
}

void vocab_list_mark(struct vocab_list *l, float score, enum vocab_type type)
{
    if (l->items.err || l->items.len < sizeof(struct item)) return;
    struct item *last = (struct item *)(void *)(l->items.p + l->items.len) - 1;
    last->score = score;
    last->type = type;
}

int vocab_list_fill(struct vocab_list *l, const struct vocab_list *extra, steno_error *e)
{
    uint32_t n, n_extra, top = 0;
    const struct item *it = items(l, &n), *more = items(extra, &n_extra);
    if (!n_extra) return STENO_OK;
    struct arena scrap;
    arena_init(&scrap);
    uint8_t *there = arena_alloc(&scrap, VOCAB_IDS);
    int rc = there ? STENO_OK : err_nomem(e, VOCAB_IDS, "a vocabulary");
    for (uint32_t i = 0; i < n && !rc; i++) {
        there[it[i].id] = 1;
        if (it[i].id > top) top = it[i].id;
    }
    for (uint32_t i = 0; i < n_extra && !rc; i++) {
        if (more[i].id >= top || there[more[i].id]) continue;
        there[more[i].id] = 1;
        rc = vocab_list_add(l, more[i].id, extra->bytes.p + more[i].at, more[i].n, e);
        vocab_list_mark(l, more[i].score, more[i].type);
    }
    arena_free(&scrap);
    return rc;
}

int vocab_list_override(struct vocab_list *l, const struct vocab_list *extra, steno_error *e)
{
    uint32_t n, n_extra;
    const struct item *it = items(l, &n), *more = items(extra, &n_extra);
    struct arena scrap;
    arena_init(&scrap);
    uint32_t *place = arena_array(&scrap, VOCAB_IDS, sizeof *place); /* index + 1 of the item of an id */
    int rc = place ? STENO_OK : err_nomem(e, VOCAB_IDS * sizeof *place, "a vocabulary");
    for (uint32_t i = 0; i < n && !rc; i++) place[it[i].id] = i + 1;
    for (uint32_t i = 0; i < n_extra && !rc; i++) {
        const uint32_t at = place[more[i].id];
        rc = vocab_list_add(l, more[i].id, extra->bytes.p + more[i].at, more[i].n, e);
        vocab_list_mark(l, more[i].score, more[i].type);
        if (rc || !at) continue;
        struct item *all = (struct item *)(void *)l->items.p, *last = (struct item *)(void *)(l->items.p + l->items.len) - 1;
        all[at - 1] = *last;
        l->items.len -= sizeof *last;
    }
    arena_free(&scrap);
    return rc;
}

/* Without gaps, ids are a permutation of 0..n-1. A table that is full then has neither gaps nor duplicates. */
static int by_id(struct vocab_entry *v, const struct vocab_list *l, const uint8_t *bytes, steno_error *e)
{
    uint32_t n, past = 0;
    const struct item *it = items(l, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (it[i].id >= n) {
            past = it[i].id;
            continue;
        }
        struct vocab_entry *to = &v[it[i].id];
        if (to->s)
            return err_set(e, STENO_EFORMAT, "%s: id %" PRIu32 " is given twice, to '%.*s' and to '%.*s'", l->name, it[i].id, (int)to->n,
                           (const char *)to->s, (int)it[i].n, (const char *)bytes + it[i].at);
        *to = (struct vocab_entry){ bytes + it[i].at, it[i].n, it[i].score, it[i].type };
    }
    for (uint32_t i = 0; i < n; i++)
        if (!v[i].s)
            return err_set(e, STENO_EFORMAT, "%s: no string has the id %" PRIu32 ", but one has %" PRIu32, l->name, i, past);
    return STENO_OK;
}

int vocab_list_done(const struct vocab_list *l, struct weights *w, steno_error *e)
{
    uint32_t n;
    items(l, &n);
    if (!n) return err_set(e, STENO_EFORMAT, "%s: a vocabulary without strings", l->name);
    struct vocab_entry *v = arena_array(&w->arena, n, sizeof *v);
    uint8_t *bytes = arena_alloc(&w->arena, l->bytes.len + 1);
    if (!v || !bytes) return err_nomem(e, l->bytes.len + n * sizeof *v, "the vocabulary");
    if (l->bytes.len) memcpy(bytes, l->bytes.p, l->bytes.len);
    const int rc = by_id(v, l, bytes, e);
    if (rc) return rc;
    w->vocab = v;
    w->n_vocab_entries = n;
    return STENO_OK;
}

struct taking { struct vocab_list list; steno_error *e; };

static int take_text(void *user, uint64_t i, const char *s, size_t n)
{
    struct taking *t = user;
    return vocab_list_add(&t->list, (int64_t)i, s, n, t->e);
}

int vocab_take_list(struct weights *w, const struct meta_list *from, steno_error *e)
{
    struct taking t = { .list = { .name = w->name }, .e = e };
    int rc = meta_list_texts(from, VOCAB_STRING, take_text, &t, e);
    if (!rc) rc = vocab_list_done(&t.list, w, e);
    vocab_list_free(&t.list);
    return rc;
}
