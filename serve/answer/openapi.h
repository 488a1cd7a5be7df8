/* steno-serve: the description of all routes, OpenAPI 3.1. SPDX-License-Identifier: MIT
 *
 * The document is made from tables. Fields of transcriptions and their ranges are those of ask_fields.h and the library. */
#ifndef STENO_SERVE_OPENAPI_H
#define STENO_SERVE_OPENAPI_H
#include <jansson.h>
#include <stddef.h>

enum openapi_errors { OPENAPI_NO_ERRORS, OPENAPI_SIMPLE, OPENAPI_WORK }; /* what a route can answer besides success */

struct openapi_route {
    const char *path;
    const char *method;  /* "get" or "post" */
    const char *summary;
    const char *body;    /* schema of a JSON body, or "form:SCHEMA"; NULL: none */
    const char *query;   /* schema whose members are the parameters of the query; NULL: none */
    const char *answer;  /* schema of a JSON answer, or a media type; NULL: the protocol is switched (101) */
    enum openapi_errors errors;
    int is_open;         /* 1: without a key */
};

const struct openapi_route *openapi_route_at(int i); /* NULL past the last one */

/* The document, malloc'd, [*n]; NULL: out of memory. `prefix`: before all routes, "" for none */
char *openapi_json(const char *version, const char *prefix, size_t *n);

/* Within openapi*.c: an object, or NULL if memory runs out. */
json_t *openapi_schemas(void);
json_t *openapi_type(const char *type); /* "string", "string?" (or null), "a|b" (words), "Name" (another schema); "[]" behind it: a list */
json_t *openapi_parameters(const char *schema);
#endif
