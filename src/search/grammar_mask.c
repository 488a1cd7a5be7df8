/* steno: the ids that a grammar allows next. SPDX-License-Identifier: MIT
 *
 * The vocabulary is walked as a tree with a state at every node, and a subtree is skipped when its first byte is rejected. A small table
 * caches steps, because most nodes of a walk have one of a few states. States inside of tokens are dropped after the walk, so a matcher
 * keeps only states that were requested. */
#include "search/grammar_match.h"

#include <stdlib.h>
#include <string.h>

enum { FREE = INT32_MIN, NO_KEY = 0xff };

/* ---- masks ------------------------------------------------------------------------------------------------------------------- */

static int32_t step_once(struct matcher *m, int32_t state, uint8_t byte)
{
    const uint32_t key = (uint32_t)state << 8 | byte;
    struct edge *edge = &m->edge[key * 0x9e3779b1u >> (32 - EDGE_BITS)];
    if (edge->key == key) return edge->next;
    const int32_t next = state_step(m, state, byte);
    if (next != MATCH_NOMEM) *edge = (struct edge){ key, next };
    return next;
}

static void allow(const struct matcher *m, uint32_t *bits, int32_t id)
{
    for (; id >= 0; id = m->trie.same[id]) bits[id / 32] |= 1u << id % 32;
}

/* Set the bits of all ids that the state allows; last: only those that end a sentence. @return 0, or MATCH_NOMEM */
static int walk(struct matcher *m, uint32_t *bits, int32_t state, int last)
{
    const struct trie_node *node = m->trie.node;
    uint32_t depth = 0;
    m->frame[0] = (struct frame){ node[0].child, node[0].child + node[0].n, state };
    if (node[0].n && node[node[0].child].byte == 0) m->frame[0].node++; /* ids that begin with byte 00 are never allowed */
    for (;;) {
        struct frame *f = &m->frame[depth];
        if (f->node == f->end) {
            if (!depth--) return 0;
            continue;
        }
        const struct trie_node *t = &node[f->node++];
        const int32_t next = step_once(m, f->state, t->byte);
        if (next == MATCH_NOMEM) return MATCH_NOMEM;
        if (next < 0) continue;
        if (!last || matcher_complete(m, next)) allow(m, bits, t->id);
        if (t->n) m->frame[++depth] = (struct frame){ t->child, t->child + t->n, next };
    }
}

/* The mask of the state, or else the least recently used mask. */
static struct mask *find_mask(struct matcher *m, int32_t state, uint32_t last)
{
    struct mask *oldest = &m->mask[0];
    m->clock++;
    for (struct mask *k = m->mask; k < m->mask + MASKS; k++) {
        if (k->state == state && k->last == last) return k;
        if (m->clock - k->used > m->clock - oldest->used) oldest = k;
    }
    return oldest;
}

static int fill_mask(struct matcher *m, struct mask *mask, int32_t state, uint32_t last)
{
    const size_t sz = ((size_t)m->n_text + 31) / 32 * sizeof *mask->bits;
    if (!mask->bits) mask->bits = malloc(sz ? sz : 1);
    if (!mask->bits) {
        m->why = "out of memory for the ids that a grammar allows";
        return 0;
    }
    memset(mask->bits, 0, sz);
    mask->state = FREE;
    if (state >= 0) {
        const struct mark mark = matcher_mark(m);
        m->work = 0;
        memset(m->edge, NO_KEY, sizeof *m->edge << EDGE_BITS);
        const int rc = walk(m, mask->bits, state, last != 0);
        matcher_rewind(m, mark);
        if (rc) return 0;
    }
    mask->state = state;
    mask->last = last;
    return 1;
}

static int is_state(const struct matcher *m, int32_t state)
{
    return state >= 0 && (uint32_t)state < m->states.n;
}

static const uint32_t *mask_of(struct matcher *m, int32_t state, uint32_t last)
{
    if (state == MATCH_NOMEM) return NULL;
    if (!is_state(m, state)) state = MATCH_REJECTED;
    struct mask *mask = find_mask(m, state, last);
    if ((mask->state != state || mask->last != last) && !fill_mask(m, mask, state, last)) return NULL;
    mask->used = m->clock;
    return mask->bits;
}

const uint32_t *matcher_mask(struct matcher *m, int32_t state)
{
    return mask_of(m, state, 0);
}

const uint32_t *matcher_mask_last(struct matcher *m, int32_t state)
{
    return mask_of(m, state, 1);
}

/* ---- states ------------------------------------------------------------------------------------------------------------------ */

int32_t matcher_start(const struct matcher *m)
{
    (void)m;
    return 0;
}

int32_t matcher_next(struct matcher *m, int32_t state, int32_t id)
{
    if (state < 0) return state;
    if (!is_state(m, state) || id < 0 || id >= m->n_text || !m->v->len[id] || !m->v->bytes[id][0]) return MATCH_REJECTED;
    const struct mark mark = matcher_mark(m);
    m->work = 0;
    for (uint32_t i = 0; i < m->v->len[id] && state >= 0; i++) state = state_step(m, state, m->v->bytes[id][i]);
    if (state < 0) matcher_rewind(m, mark);
    return state;
}

int matcher_complete(struct matcher *m, int32_t state)
{
    if (!is_state(m, state)) return 0;
    const struct state *s = &m->state[state];
    return !s->left && m->listed[s->list] == 0; /* lists are ascending, and stack 0 is the empty one */
}

int matcher_between(const struct matcher *m, int32_t state)
{
    return is_state(m, state) && !m->state[state].left;
}

const char *matcher_why(const struct matcher *m)
{
    return m->why;
}

/* ---- opening ----------------------------------------------------------------------------------------------------------------- */

static void forget_masks(struct matcher *m)
{
    for (int i = 0; i < MASKS; i++)
        if (m->mask[i].state != 0) m->mask[i].state = FREE;
}

void matcher_reset(struct matcher *m)
{
    matcher_rewind(m, m->begin);
    forget_masks(m);
}

static int prepare(struct matcher *m, steno_error *e)
{
    const int rc = trie_open(&m->trie, m->v, m->n_text, e);
    if (rc) return rc;
    const size_t edges = sizeof *m->edge << EDGE_BITS, frames = ((size_t)m->trie.depth + 1) * sizeof *m->frame;
    m->edge = malloc(edges);
    m->frame = malloc(frames);
    if (!m->edge || !m->frame) return err_nomem(e, edges + frames, "a grammar's matcher");
    const int32_t first = state_first(m);
    if (first < 0) return err_set(e, m->no_memory ? STENO_ENOMEM : STENO_EARG, "%s", m->why);
    m->begin = matcher_mark(m);
    return STENO_OK;
}

int matcher_open(struct matcher **out, const struct grammar *g, const struct vocab *v, int32_t n_text, int32_t eot, steno_error *e)
{
    *out = NULL;
    if (n_text < 0 || n_text > v->n || (eot >= 0 && eot < n_text))
        return err_set(e, STENO_EARG, "%d ids of text, ended by id %d, in a vocabulary of %d", (int)n_text, (int)eot, (int)v->n);
    struct matcher *m = calloc(1, sizeof *m);
    if (!m) return err_nomem(e, sizeof *m, "a grammar's matcher");
    m->g = g;
    m->symbol = grammar_symbols(g), m->alt = grammar_alts(g), m->rule = grammar_rules(g);
    m->set = (const struct set *)(const void *)g->sets.p, m->range = (const struct range *)(const void *)g->ranges.p;
    m->v = v;
    m->n_text = n_text;
    m->why = "";
    for (int i = 0; i < MASKS; i++) m->mask[i].state = FREE;
    const int rc = prepare(m, e);
    if (rc) {
        matcher_close(m);
        return rc;
    }
    *out = m;
    return STENO_OK;
}

void matcher_close(struct matcher *m)
{
    if (!m) return;
    for (int i = 0; i < MASKS; i++) free(m->mask[i].bits);
    trie_close(&m->trie);
    match_free(m);
    free(m->edge);
    free(m->frame);
    free(m);
}
