/* steno: logit rules as data. SPDX-License-Identifier: MIT */
#ifndef STENO_SEARCH_RULES_H
#define STENO_SEARCH_RULES_H
#include "base/arena.h"
#include "plan/run.h"

/* Bit masks over a vocabulary, for the rules of lanes. */
struct rule_masks {
    uint32_t *always, *first; /* [(n_vocab + 31) / 32] */
    int32_t n_vocab;
};

int rule_masks_init(struct rule_masks *m, struct arena *a, int32_t n_vocab); /* 0, or -1: out of memory */
void rule_masks_clear(struct rule_masks *m);
void rule_mask(struct rule_masks *m, int32_t id);       /* at every position; ids outside the vocabulary are ignored */
void rule_bar_first(struct rule_masks *m, int32_t id); /* at the first position */
#endif
