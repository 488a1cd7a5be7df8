/* steno: JSON schemas as grammars. SPDX-License-Identifier: MIT
 *
 * A schema says what JSON may be; here it becomes rules (grammar.h) for text of that kind, so that whoever writes by them writes nothing
 * else. Served are, of the drafts up to 2020-12: type (also several), enum, const, properties, required, additionalProperties, items,
 * prefixItems, minItems, maxItems, minProperties and maxProperties (of objects without properties), minLength, maxLength, format (date,
 * time, date-time, uuid), minimum, maximum, exclusiveMinimum, exclusiveMaximum (of integers), anyOf, oneOf, allOf of one, $ref within the
 * text, which may lead to itself. Properties come in the order of the schema, and no others where it names any. What says something
 * that is not served is refused; titles, descriptions, defaults and the like say nothing. */
#ifndef STENO_SEARCH_JSON_SCHEMA_H
#define STENO_SEARCH_JSON_SCHEMA_H
#include "base/buf.h"

/* Rules, of which "root" is the first, appended to gbnf. STENO_EFORMAT: it is no JSON; STENO_EARG: what is wrong with the schema, or not
 * served, and where; STENO_ENOMEM */
int json_schema_grammar(struct buf *gbnf, const char *schema, size_t n, steno_error *e);
#endif
