/* steno: JSON schemas as grammars. SPDX-License-Identifier: MIT
 *
 * A schema describes permitted JSON. It is converted to rules (grammar.h), so that text constrained by the grammar matches the schema.
 * Supported, for drafts up to 2020-12: type (also several), enum, const, properties, required, additionalProperties, items, prefixItems,
 * minItems, maxItems, minProperties and maxProperties (of objects without properties), minLength, maxLength, format (date, time, date-time,
 * uuid), minimum, maximum, exclusiveMinimum, exclusiveMaximum (of integers), anyOf, oneOf, allOf of one, $ref within the text, which may be
 * recursive. Properties have the order of the schema; if it names any, no others are allowed. Unsupported restrictions are refused. Titles,
 * descriptions, defaults and similar keys are ignored. */
#ifndef STENO_SEARCH_JSON_SCHEMA_H
#define STENO_SEARCH_JSON_SCHEMA_H
#include "base/buf.h"

/* Append rules to gbnf, beginning with the one of this name. STENO_EFORMAT: not JSON; STENO_EARG: the schema is wrong or not supported,
 * with the place; STENO_ENOMEM */
int json_schema_grammar(struct buf *gbnf, const char *rule, const char *schema, size_t n, steno_error *e);

/* After the fault rc of these rules: if *e names one that never ends, name the schema of that rule instead, by its place. @return rc, or
 * STENO_ENOMEM */
int json_schema_blame(const char *schema, size_t n, int rc, steno_error *e);
#endif
