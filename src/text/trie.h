/* steno: a vocabulary as a tree of bytes. SPDX-License-Identifier: MIT
 *
 * Searches over all tokens (grammars, hot words) walk this tree instead of the tokens, so common beginnings are processed once. */
#ifndef STENO_TEXT_TRIE_H
#define STENO_TEXT_TRIE_H
#include "text/vocab.h"

struct trie_node {
    uint32_t child; /* index of the first child, 0: none; children are adjacent, in ascending order of their bytes */
    uint32_t n;     /* children */
    int32_t id;     /* the lowest id that ends here, -1: none */
    uint8_t byte;   /* the byte that leads here */
};

struct trie {
    struct trie_node *node; /* [n_nodes] node 0 is the root */
    uint32_t n_nodes;
    uint32_t depth; /* bytes of the longest token */
    int32_t *same;  /* [n_ids] the next higher id with the same bytes, -1: none */
};

/* Insert the ids [0, n_ids) of v, except empty ones. The caller frees the memory with trie_close. STENO_EARG: v has fewer ids, or more
 * bytes than a tree can have nodes; STENO_ENOMEM. After an error t is empty. */
int trie_open(struct trie *t, const struct vocab *v, int32_t n_ids, steno_error *e);
void trie_close(struct trie *t);
#endif
