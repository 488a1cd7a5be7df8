/* steno: stacks, states and steps of a grammar matcher. SPDX-License-Identifier: MIT
 *
 * A step advances the stacks whose top matches a character, and closes the set: a rule on top is replaced by its alternatives, above the
 * position after the rule. Every stack is processed once per step. Parts that may be empty therefore terminate. The cost of an ambiguous
 * text is the number of positions, not the number of parses. Between the bytes of a character the set stays the same, except for stacks
 * that no completion of the character matches. */
#include "search/grammar_match.h"

#include <stdlib.h>
#include <string.h>

static const char no_memory[] = "out of memory for the states of a grammar";
static const char too_many[] = "the grammar can be read in too many ways at once: it reached more states than are kept";
static const char too_long[] = "the grammar can be read in too many ways at once: following them took too long";

static int32_t give_up(struct matcher *m, const char *why)
{
    m->why = why;
    m->no_memory = why == no_memory;
    return MATCH_NOMEM;
}

/* ---- look-up ----------------------------------------------------------------------------------------------------------------- */

static uint32_t mix(uint32_t h, uint32_t x)
{
    h = (h ^ x) * 0x9e3779b1u;
    h = (h ^ h >> 15) * 0x85ebca77u;
    return h ^ h >> 13;
}

/* Make room for one more entry. Parallel arrays grow by the same steps: 64, then doubled. @return 0: out of memory */
static int lookup_reserve(struct lookup *l)
{
    if (l->n < l->cap) return 1;
    const uint32_t cap = l->cap ? 2 * l->cap : 64;
    uint32_t *hash = realloc(l->hash, cap * sizeof *hash);
    if (hash) l->hash = hash;
    uint32_t *slot = hash ? calloc(2 * (size_t)cap, sizeof *slot) : NULL;
    if (!slot) return 0;
    free(l->slot);
    l->slot = slot;
    l->cap = cap;
    l->mask = 2 * cap - 1;
    for (uint32_t k = 0; k < l->n; k++) {
        uint32_t i = l->hash[k];
        while (slot[i & l->mask]) i++;
        slot[i & l->mask] = k + 1;
    }
    return 1;
}

static void lookup_add(struct lookup *l, uint32_t hash)
{
    uint32_t i = hash;
    while (l->slot[i & l->mask]) i++;
    l->hash[l->n++] = hash;
    l->slot[i & l->mask] = l->n;
}

/* Remove the newest entries. In reverse order, each finds its slot as it was filled: the last of its chain. */
static void lookup_cut(struct lookup *l, uint32_t n)
{
    while (l->n > n) {
        uint32_t i = l->hash[l->n - 1];
        while (l->slot[i & l->mask] != l->n) i++;
        l->slot[i & l->mask] = 0;
        l->n--;
    }
}

/* ---- stacks ------------------------------------------------------------------------------------------------------------------ */

static int reserve_stack(struct matcher *m)
{
    if (m->stacks.n < m->stacks.cap) return 1;
    if (m->stacks.n >= STACKS_MAX) return give_up(m, too_many), 0;
    const size_t cap = m->stacks.cap ? 2 * (size_t)m->stacks.cap : 64;
    struct stack *stack = realloc(m->stack, cap * sizeof *stack);
    if (stack) m->stack = stack;
    uint32_t *todo = stack ? realloc(m->todo, cap * sizeof *todo) : NULL;
    if (todo) m->todo = todo;
    uint32_t *now = todo ? realloc(m->now, cap * sizeof *now) : NULL;
    if (now) m->now = now;
    if (!now || !lookup_reserve(&m->stacks)) return give_up(m, no_memory), 0;
    return 1;
}

/* The stack with `place` above `below`, or, if an alternative ends there, `below` itself. MATCH_NOMEM */
static int32_t put_stack(struct matcher *m, uint32_t place, uint32_t below)
{
    if (m->symbol[place].kind == SYMBOL_END) return (int32_t)below;
    const uint32_t hash = mix(mix(0, place), below);
    const struct lookup *l = &m->stacks;
    for (uint32_t i = hash; l->slot[i & l->mask]; i++, m->work++) {
        const uint32_t k = l->slot[i & l->mask] - 1;
        if (m->stack[k].place == place && m->stack[k].below == below && k) return (int32_t)k;
    }
    if (!reserve_stack(m)) return MATCH_NOMEM;
    m->stack[l->n] = (struct stack){ place, below, 0 };
    lookup_add(&m->stacks, hash);
    return (int32_t)l->n - 1;
}

/* Schedule stack k for this step, unless it was already scheduled. */
static int meet(struct matcher *m, int32_t k)
{
    if (k < 0) return 0;
    struct stack *s = &m->stack[k];
    if (s->seen != m->step) m->todo[m->n_todo++] = (uint32_t)k;
    s->seen = m->step;
    return 1;
}

/* Replace the rule on top of stack k by its alternatives. */
static int enter_rule(struct matcher *m, uint32_t k)
{
    const struct stack s = m->stack[k];
    const int32_t below = put_stack(m, s.place + 1, s.below);
    if (below < 0) return 0;
    for (uint32_t a = m->rule[m->symbol[s.place].arg].first; a != NONE; a = m->alt[a].next)
        if (!meet(m, put_stack(m, m->alt[a].place, (uint32_t)below))) return 0;
    return 1;
}

/* Close the scheduled stacks, which gives the stacks of the next state. */
static int close_stacks(struct matcher *m)
{
    while (m->n_todo) {
        const uint32_t k = m->todo[--m->n_todo];
        m->work += WORK_STACK;
        if (m->work > WORK_MAX) return give_up(m, too_long), 0;
        if (k && m->symbol[m->stack[k].place].kind == SYMBOL_RULE) {
            if (!enter_rule(m, k)) return 0;
        } else {
            m->now[m->n_now++] = k;
        }
    }
    return 1;
}

static void begin_step(struct matcher *m)
{
    m->n_todo = m->n_now = 0;
    if (++m->step) return;
    for (uint32_t k = 0; k < m->stacks.n; k++) m->stack[k].seen = 0;
    m->step = 1;
}

/* ---- states ------------------------------------------------------------------------------------------------------------------ */

static int by_number(const void *x, const void *y)
{
    const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return (a > b) - (a < b);
}

static void sort_now(struct matcher *m)
{
    for (uint32_t i = 1; i < m->n_now; i++) {
        if (m->now[i - 1] <= m->now[i]) continue;
        qsort(m->now, m->n_now, sizeof *m->now, by_number);
        return;
    }
}

static int reserve_state(struct matcher *m)
{
    if (m->states.n >= STATES_MAX || m->n_now > LISTED_MAX - m->n_listed) return give_up(m, too_many), 0;
    if (m->n_now > m->listed_cap - m->n_listed) {
        size_t cap = m->listed_cap ? 2 * (size_t)m->listed_cap : 256;
        while (cap < m->n_listed + m->n_now) cap *= 2;
        uint32_t *listed = realloc(m->listed, cap * sizeof *listed);
        if (!listed) return give_up(m, no_memory), 0;
        m->listed = listed;
        m->listed_cap = (uint32_t)cap;
    }
    if (m->states.n < m->states.cap) return 1;
    struct state *state = realloc(m->state, (m->states.cap ? 2 * (size_t)m->states.cap : 64) * sizeof *state);
    if (state) m->state = state;
    if (!state || !lookup_reserve(&m->states)) return give_up(m, no_memory), 0;
    return 1;
}

/* The state of the stacks in `now`. */
static int32_t put_state(struct matcher *m, uint32_t bits, uint32_t left)
{
    if (!m->n_now) return MATCH_REJECTED;
    sort_now(m);
    m->work += m->n_now;
    const size_t sz = m->n_now * sizeof *m->now;
    uint32_t hash = mix(bits, left);
    for (uint32_t i = 0; i < m->n_now; i++) hash = mix(hash, m->now[i]);
    const struct lookup *l = &m->states;
    for (uint32_t i = hash; l->slot && l->slot[i & l->mask]; i++) {
        const uint32_t k = l->slot[i & l->mask] - 1;
        const struct state *s = &m->state[k];
        if (l->hash[k] != hash || s->n != m->n_now || s->bits != bits || s->left != left) continue;
        if (!memcmp(m->listed + s->list, m->now, sz)) return (int32_t)k;
    }
    if (!reserve_state(m)) return MATCH_NOMEM;
    memcpy(m->listed + m->n_listed, m->now, sz);
    m->state[l->n] = (struct state){ m->n_listed, m->n_now, bits, left };
    m->n_listed += m->n_now;
    lookup_add(&m->states, hash);
    return (int32_t)l->n - 1;
}

int32_t state_first(struct matcher *m)
{
    if (!reserve_stack(m)) return MATCH_NOMEM;
    m->stack[0] = (struct stack){ 0, 0, 0 }; /* the empty stack; its place is never read */
    lookup_add(&m->stacks, 0);
    begin_step(m);
    for (uint32_t a = m->rule[m->g->start].first; a != NONE; a = m->alt[a].next)
        if (!meet(m, put_stack(m, m->alt[a].place, 0))) return MATCH_NOMEM;
    return close_stacks(m) ? put_state(m, 0, 0) : MATCH_NOMEM;
}

/* ---- steps ------------------------------------------------------------------------------------------------------------------- */

/* Whether the top of stack k matches a character in low..high. */
static int matches(const struct matcher *m, uint32_t k, uint32_t low, uint32_t high)
{
    if (!k) return 0;
    const struct symbol p = m->symbol[m->stack[k].place];
    if (p.kind == SYMBOL_CHAR) return p.arg >= low && p.arg <= high;
    const struct set s = m->set[p.arg];
    uint32_t from = 0, to = s.n; /* ranges before `from` end below low */
    while (from < to) {
        const uint32_t middle = (from + to) / 2;
        if (m->range[s.range + middle].high < low) from = middle + 1;
        else to = middle;
    }
    return from < s.n && m->range[s.range + from].low <= high;
}

/* Inside a character: keep the stacks that a completion matches. */
static int32_t step_inside(struct matcher *m, const struct state *s, uint32_t bits, uint32_t left)
{
    const uint32_t more = (1u << (6 * left)) - 1;
    uint32_t low = bits << (6 * left), high = low | more;
    if (!bits) low = left == 2 ? 0x800 : 0x10000;
    if (high > 0x10ffff) high = 0x10ffff;
    for (uint32_t i = 0; i < s->n; i++) {
        const uint32_t k = m->listed[s->list + i];
        if (matches(m, k, low, high)) m->now[m->n_now++] = k;
    }
    return put_state(m, bits, left);
}

int32_t state_step(struct matcher *m, int32_t state, uint8_t byte)
{
    const struct state s = m->state[state];
    uint32_t bits = s.bits, left = s.left;
    if (!utf8_take(&bits, &left, byte)) return MATCH_REJECTED;
    m->work += s.n;
    if (m->work > WORK_MAX) return give_up(m, too_long);
    begin_step(m);
    if (left) return step_inside(m, &s, bits, left);
    for (uint32_t i = 0; i < s.n; i++) {
        const uint32_t k = m->listed[s.list + i];
        if (matches(m, k, bits, bits) && !meet(m, put_stack(m, m->stack[k].place + 1, m->stack[k].below))) return MATCH_NOMEM;
    }
    return close_stacks(m) ? put_state(m, 0, 0) : MATCH_NOMEM;
}

/* ---- storage ----------------------------------------------------------------------------------------------------------------- */

struct mark matcher_mark(const struct matcher *m)
{
    return (struct mark){ m->stacks.n, m->states.n, m->n_listed };
}

void matcher_rewind(struct matcher *m, struct mark to)
{
    lookup_cut(&m->stacks, to.n_stacks);
    lookup_cut(&m->states, to.n_states);
    m->n_listed = to.n_listed;
}

void match_free(struct matcher *m)
{
    free(m->stacks.slot);
    free(m->stacks.hash);
    free(m->states.slot);
    free(m->states.hash);
    free(m->stack);
    free(m->todo);
    free(m->now);
    free(m->state);
    free(m->listed);
}
