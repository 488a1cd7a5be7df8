/* steno: JSON as a tree. SPDX-License-Identifier: MIT
 *
 * For short texts that are read in another order than they are written. Nodes are in one array, in the order of the text: the contents of a
 * node follow it directly. */
#ifndef STENO_LOAD_JSON_TREE_H
#define STENO_LOAD_JSON_TREE_H
#include "load/json_reader.h"

enum { JSON_NONE = 0 }; /* no node: node 0 is the whole text, which has no parent */

struct json_node {
    enum json_event kind;  /* OBJECT, ARRAY, TEXT, INT, NUM, BOOL or NULL */
    uint32_t parent, next; /* node that contains it; the next node in that parent, JSON_NONE: none */
    uint32_t child, n;     /* the first node inside; number of nodes directly inside */
    const char *key;       /* in an object, else NULL */
    const char *s;         /* TEXT */
    size_t len;
    int64_t i;         /* INT, BOOL */
    double x;          /* INT, NUM */
    uint32_t from, to; /* byte range in the text, as it was written */
};

struct json_tree {
    struct json_node *node; /* from the caller's arena */
    uint32_t n;
    const char *text; /* as it was written */
};

/* name: for messages. A duplicate key in an object is refused. STENO_EFORMAT, STENO_ENOMEM */
int json_tree_read(struct json_tree *t, const char *name, const char *text, size_t n, struct arena *a, steno_error *e);
uint32_t json_tree_find(const struct json_tree *t, uint32_t object, const char *key); /* JSON_NONE: no such key */
/* The path to a node as a JSON pointer (RFC 6901), cut to fit. */
void json_tree_path(const struct json_tree *t, uint32_t node, char *out, size_t n);
/* The node that a pointer leads to, 0 for the empty pointer. @return -1: no such node */
int64_t json_tree_follow(const struct json_tree *t, const char *pointer);
#endif
