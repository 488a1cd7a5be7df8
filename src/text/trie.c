/* steno: a vocabulary as a tree of bytes. SPDX-License-Identifier: MIT
 *
 * Built level by level. An unfinished node owns a stretch of the list of ids: those whose first bytes lead to it. Ids that end there move
 * to the front, the others are sorted by their next byte, and each byte's stretch becomes a child. Sorting is stable, so equal strings stay
 * in the order of their ids. */
#include "text/trie.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = -1, MAX_NODES = 1 << 30, FEW = 24 };

struct trie_build {
    struct trie *t;
    const struct vocab *v;
    int32_t *ids, *other; /* [n_ids] ids by stretch, and room for sorting */
    uint32_t cap;         /* of t->node */
};

static int key_of(const struct trie_build *b, int32_t id, uint32_t depth)
{
    return b->v->len[id] == depth ? 0 : 1 + b->v->bytes[id][depth];
}

/* Stable sort of ids[n] by their byte at `depth`; those that end there come first. */
static void sort_by_byte(struct trie_build *b, int32_t *ids, uint32_t n, uint32_t depth)
{
    if (n <= FEW) {
        for (uint32_t i = 1; i < n; i++) {
            const int32_t id = ids[i];
            uint32_t k = i;
            for (; k && key_of(b, ids[k - 1], depth) > key_of(b, id, depth); k--) ids[k] = ids[k - 1];
            ids[k] = id;
        }
        return;
    }
    uint32_t at[258] = { 0 };
    for (uint32_t i = 0; i < n; i++) at[1 + key_of(b, ids[i], depth)]++;
    for (int k = 1; k < 258; k++) at[k] += at[k - 1];
    for (uint32_t i = 0; i < n; i++) b->other[at[key_of(b, ids[i], depth)]++] = ids[i];
    memcpy(ids, b->other, n * sizeof *ids);
}

/* Add a node with ids [from, from + n); child and n hold these values until it is finished. */
static int add_node(struct trie_build *b, uint8_t byte, uint32_t from, uint32_t n)
{
    struct trie *t = b->t;
    if (t->n_nodes == b->cap) {
        const uint32_t cap = b->cap ? 2 * b->cap : 1024;
        struct trie_node *node = realloc(t->node, cap * sizeof *node);
        if (!node) return 0;
        t->node = node;
        b->cap = cap;
    }
    t->node[t->n_nodes++] = (struct trie_node){ from, n, NONE, byte };
    return 1;
}

/* Set the id and the children of node k, whose strings share `depth` bytes. @return 0: out of memory */
static int finish_node(struct trie_build *b, uint32_t k, uint32_t depth)
{
    struct trie *t = b->t;
    const uint32_t from = t->node[k].child, n = t->node[k].n, first = t->n_nodes;
    int32_t *ids = b->ids + from;
    sort_by_byte(b, ids, n, depth);
    uint32_t i = 0;
    for (; i < n && b->v->len[ids[i]] == depth; i++) {
        if (i) t->same[ids[i - 1]] = ids[i];
        else t->node[k].id = ids[i];
    }
    while (i < n) {
        const uint32_t begin = i;
        const uint8_t byte = b->v->bytes[ids[begin]][depth];
        while (i < n && b->v->bytes[ids[i]][depth] == byte) i++;
        if (!add_node(b, byte, from + begin, i - begin)) return 0;
    }
    t->node[k].n = t->n_nodes - first;
    t->node[k].child = t->node[k].n ? first : 0;
    return 1;
}

static int build_levels(struct trie_build *b, uint32_t n)
{
    if (!add_node(b, 0, 0, n)) return 0;
    uint32_t k = 0;
    for (uint32_t depth = 0; k < b->t->n_nodes; depth++) {
        b->t->depth = depth;
        for (const uint32_t end = b->t->n_nodes; k < end; k++)
            if (!finish_node(b, k, depth)) return 0;
    }
    return 1;
}

int trie_open(struct trie *t, const struct vocab *v, int32_t n_ids, steno_error *e)
{
    *t = (struct trie){ 0 };
    if (n_ids < 0 || n_ids > v->n) return err_set(e, STENO_EARG, "a tree of %d of %d tokens", (int)n_ids, (int)v->n);
    struct trie_build b = { .t = t, .v = v };
    const size_t sz = ((size_t)n_ids + 1) * sizeof(int32_t);
    uint64_t n_bytes = 0;
    uint32_t n = 0;
    for (int32_t id = 0; id < n_ids; id++) n_bytes += v->len[id];
    if (n_bytes >= MAX_NODES) return err_set(e, STENO_EARG, "a vocabulary of %llu bytes is too large", (unsigned long long)n_bytes);
    t->same = malloc(sz);
    b.ids = malloc(sz);
    b.other = malloc(sz);
    const int got = t->same && b.ids && b.other;
    for (int32_t id = 0; got && id < n_ids; id++) {
        t->same[id] = NONE;
        if (v->len[id]) b.ids[n++] = id;
    }
    const int built = got && build_levels(&b, n);
    free(b.ids);
    free(b.other);
    if (built) return STENO_OK;
    trie_close(t);
    return err_nomem(e, sz, "the vocabulary as a tree");
}

void trie_close(struct trie *t)
{
    free(t->node);
    free(t->same);
    *t = (struct trie){ 0 };
}
