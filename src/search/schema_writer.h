/* steno: rules of JSON schemas, written. SPDX-License-Identifier: MIT
 *
 * Each schema in the text that is reached becomes a rule of its own, named by its node, so that what leads to it is a name; those that are
 * still to be written wait in a list. */
#ifndef STENO_SEARCH_SCHEMA_WRITER_H
#define STENO_SEARCH_SCHEMA_WRITER_H
#include <inttypes.h>
#include "base/buf.h"
#include "load/json_tree.h"

struct schema_writer {
    struct json_tree t;
    struct buf *out;
    uint32_t *todo, n_todo; /* schemas that have a name, in the order they are written; [t.n] */
    uint8_t *is_named;      /* [t.n] */
    steno_error *e;
};

static inline const struct json_node *schema_node(const struct schema_writer *w, uint32_t i) { return &w->t.node[i]; }
static inline uint32_t schema_find(const struct schema_writer *w, uint32_t at, const char *key) { return json_tree_find(&w->t, at, key); }

int schema_refuse(const struct schema_writer *w, uint32_t at, const char *why); /* STENO_EARG, with the place */
int schema_put_text(struct schema_writer *w, const char *s, size_t n);          /* as JSON has it, a literal of the grammar */
int schema_put_value(struct schema_writer *w, uint32_t at);                     /* as it was written, without blanks between its parts */
void schema_put_name(struct schema_writer *w, uint32_t at);                     /* of a schema's rule, which is written sooner or later */

/* What a schema of a type says of it; said: where the type stands. */
int schema_put_type(struct schema_writer *w, uint32_t at, uint32_t said, const char *type);
#endif
