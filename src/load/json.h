/* steno: JSON. SPDX-License-Identifier: MIT */
#ifndef STENO_LOAD_JSON_H
#define STENO_LOAD_JSON_H
#include "base/arena.h"
#include "base/file.h"

/* ---- the bounded reader ----------------------------------------------------------------------------------------------------------- */

/* One event per call and no tree: a file costs only its own size. Strings are decoded in place, since no escape is shorter than its
 * character, and nesting is a word of bits. RFC 8259 to the letter; U+0000 is refused, so that every string ends in a NUL. The common
 * libraries lose characters when memory runs out, and build a tree of many times the size. */

enum json_event {
    JSON_FAILED, JSON_EOF, JSON_OBJECT, JSON_ARRAY, JSON_CLOSE, /* CLOSE: of the innermost object or array */
    JSON_KEY, JSON_TEXT, JSON_INT, JSON_NUM, JSON_BOOL, JSON_NULL
};

enum { JSON_DEPTH = 64 };

struct json_reader {
    const char *name;     /* of the file */
    char *text;           /* [n + 1], from the arena; overwritten during reading */
    size_t n, at;
    uint64_t base;        /* offset of text in the file */
    uint32_t line;
    int depth, want;
    uint64_t is_object;   /* bit d: level d is an object */
    const char *why;      /* NULL, or the error in the text; sticky */

    size_t start;         /* of the last event, for messages */
    char *s;              /* KEY, TEXT: well-formed UTF-8 with a NUL at its end; stays valid */
    size_t len;
    int64_t i;            /* INT, BOOL */
    double x;             /* NUM, INT; a whole number beyond 64 bits is NUM */
};

/* Read n bytes of the file at off. */
int json_open(struct json_reader *j, const struct file *f, uint64_t off, uint64_t n, struct arena *a, steno_error *e);
enum json_event json_next(struct json_reader *j);
/* Skip to the end of the value whose first event was `kind`. */
void json_skip(struct json_reader *j, enum json_event kind);
/* STENO_EFORMAT with file, line and byte: the error in the text if there is one, otherwise this message. */
int json_fail(const struct json_reader *j, steno_error *e, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* ---- a tree ----------------------------------------------------------------------------------------------------------------------- */

/* For short texts that are read in another order than they are written. Nodes are in one array, in the order of the text: the contents
 * of a node follow it directly. */

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
