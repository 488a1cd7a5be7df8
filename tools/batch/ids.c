/* steno: the ids of a batch, as hashes. SPDX-License-Identifier: MIT
 *
 * Open addressing with linear probing; the hash is uniform. */
#include "batch/ids.h"
#include "digest.h"
#include <stdlib.h>
#include <string.h>

struct id_key id_key_of(const char *id)
{
    struct sha s;
    char hex[SHA_HEX_SZ];
    sha_init(&s, SHA_256);
    sha_push(&s, id, strlen(id));
    sha_hex(hex, &s);
    return (struct id_key){ (uint64_t)s.h[0] << 32 | s.h[1], { s.h[2], s.h[3], s.h[4] } };
}

int id_shard(const struct id_key *k, int n_shards)
{
    return (int)(k->first % (uint64_t)n_shards);
}

static struct id_entry *slot_of(const struct id_set *s, const uint32_t rest[3])
{
    size_t at = (size_t)((uint64_t)rest[0] * s->size >> 32);
    while (s->entry[at].flags && memcmp(s->entry[at].rest, rest, sizeof s->entry->rest) != 0) at = at + 1 == s->size ? 0 : at + 1;
    return &s->entry[at];
}

/* Double the table. @return 0, or -1 if out of memory */
static int grow(struct id_set *s)
{
    struct id_set more = { .size = s->size ? 2 * s->size : 1024, .n = s->n };
    more.entry = calloc(more.size, sizeof *more.entry);
    if (!more.entry) return -1;
    for (size_t i = 0; i < s->size; i++)
        if (s->entry[i].flags) *slot_of(&more, s->entry[i].rest) = s->entry[i];
    free(s->entry);
    *s = more;
    return 0;
}

struct id_entry *id_enter(struct id_set *s, const struct id_key *k)
{
    if (8 * s->n >= 7 * s->size && grow(s)) return NULL;
    struct id_entry *e = slot_of(s, k->rest);
    if (e->flags) return e;
    memcpy(e->rest, k->rest, sizeof e->rest);
    e->flags = ID_ENTERED;
    s->n++;
    return e;
}

struct id_entry *id_find(const struct id_set *s, const struct id_key *k)
{
    struct id_entry *e = s->size ? slot_of(s, k->rest) : NULL;
    return e && e->flags ? e : NULL;
}

void id_set_free(struct id_set *s)
{
    free(s->entry);
    *s = (struct id_set){ 0 };
}
