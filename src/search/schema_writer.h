/* steno: grammar rules of JSON schemas. SPDX-License-Identifier: MIT
 *
 * Each reachable schema in the text becomes a rule, named by its node, so that references are names. Schemas that are not yet written wait
 * in a list. */
#ifndef STENO_SEARCH_SCHEMA_WRITER_H
#define STENO_SEARCH_SCHEMA_WRITER_H
#include <inttypes.h>
#include "base/buf.h"
#include "load/json.h"

struct schema_writer {
    struct json_tree t;
    struct buf *out;
    uint32_t *todo, n_todo; /* [t.n] named schemas, in the order of writing */
    uint8_t *is_named;      /* [t.n] */
    steno_error *e;
};

static inline const struct json_node *schema_node(const struct schema_writer *w, uint32_t i) { return &w->t.node[i]; }
static inline uint32_t schema_find(const struct schema_writer *w, uint32_t at, const char *key) { return json_tree_find(&w->t, at, key); }

int schema_refuse(const struct schema_writer *w, uint32_t at, const char *why); /* STENO_EARG, with the place */
int schema_put_value(struct schema_writer *w, uint32_t at);                     /* as written, without blanks between its parts */
/* name of a schema's rule; queues the schema if it is not yet written */
void schema_put_name(struct schema_writer *w, uint32_t at);

/* Write the restrictions that a schema has for a type; type_at: the node of the type. */
int schema_put_type(struct schema_writer *w, uint32_t at, uint32_t type_at, const char *type);
#endif
