/* steno: logit rules as data. SPDX-License-Identifier: MIT */
#include "search/rules.h"
#include <string.h>

static size_t words(int32_t n_vocab)
{
    return ((size_t)n_vocab + 31) / 32;
}

int rule_masks_init(struct rule_masks *m, struct arena *a, int32_t n_vocab)
{
    m->n_vocab = n_vocab;
    m->always = arena_array(a, words(n_vocab), sizeof *m->always);
    m->first = arena_array(a, words(n_vocab), sizeof *m->first);
    return m->always && m->first ? 0 : -1;
}

void rule_masks_clear(struct rule_masks *m)
{
    memset(m->always, 0, words(m->n_vocab) * sizeof *m->always);
    memset(m->first, 0, words(m->n_vocab) * sizeof *m->first);
}

void rule_bar_first(struct rule_masks *m, int32_t id)
{
    if (id >= 0 && id < m->n_vocab) m->first[id >> 5] |= 1u << (id & 31);
}

void rule_mask(struct rule_masks *m, int32_t id)
{
    if (id >= 0 && id < m->n_vocab) m->always[id >> 5] |= 1u << (id & 31);
    rule_bar_first(m, id);
}
