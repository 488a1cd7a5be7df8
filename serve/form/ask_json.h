/* steno-serve: the fields of a JSON body. SPDX-License-Identifier: MIT
 *
 * A field that is absent or null leaves its value as it is. Each reader returns API_OK, or a code with the field's name in *e. Except
 * for ask_json_mistake, only ask*.c use these functions. */
#ifndef STENO_SERVE_ASK_JSON_H
#define STENO_SERVE_ASK_JSON_H
#include "api_error.h"
#include <jansson.h>

enum { ASK_IGNORED = 512 };

/* The object that the body is, for json_decref. @return NULL, with a code in *e */
json_t *ask_json_open(const char *body, size_t n, struct api_error *e);

const char *ask_json_mistake(const json_error_t *at); /* what a text that is not read has, to follow "the body" */

json_t *ask_json_get(const json_t *o, const char *name); /* NULL: absent or null */
int ask_json_text(const json_t *o, const char *name, const char **out, struct api_error *e);
int ask_json_flag(const json_t *o, const char *name, int *out, struct api_error *e);
int ask_json_number(const json_t *o, const char *name, double lo, double hi, double *out, struct api_error *e);
int ask_json_int(const json_t *o, const char *name, int64_t lo, int64_t hi, int64_t *out, struct api_error *e);
int ask_json_word(const json_t *o, const char *name, const char *words, int *out, struct api_error *e); /* "a|b|c": the index */

/* A field whose effect this server does not have: only null, false, an empty text, list or object, and `harmless` are allowed. */
int ask_json_refuse(const json_t *o, const char *name, double harmless, const char *why, struct api_error *e);

void ask_ignore(char ignored[ASK_IGNORED], const char *name); /* adds a name to the list, if it fits */
/* Adds the fields that are not in known[], which ends with NULL. is_strict: they are an error. */
int ask_json_unknown(const json_t *o, const char *const *known, char ignored[ASK_IGNORED], int is_strict, struct api_error *e);
#endif
