/* steno-serve: the fields of a form or a query, and their values. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_FORM_H
#define STENO_SERVE_FORM_H
#include "api_error.h"

enum { FORM_FIELDS_MAX = 64, FORM_VALUE_MAX = 16384, FORM_TEXT_MAX = 1 << 20 };

struct form_field { char *name, *value; size_t n; int used; };

struct form {
    struct form_field field[FORM_FIELDS_MAX]; /* [n] in the order of arrival */
    int n;
    size_t bytes; /* of all values */
};

/* `n` bytes of value; a name that ends in "[]" is the same list as one without. @return API_OK or a code, in *e */
int form_add(struct form *f, const char *name, const char *value, size_t n, struct api_error *e);
void form_free(struct form *f);

/* Values. An absent or empty field leaves *out as it is. @return API_OK, or a code with the field's name and what it accepts in *e. Two
 * values of a scalar are API_duplicate_parameter. Each marks the field as used. */
int form_text(struct form *f, const char *name, const char **out, struct api_error *e);
int form_bool(struct form *f, const char *name, int *out, struct api_error *e);   /* true false 1 0 yes no on off, in any case */
int form_number(struct form *f, const char *name, double lo, double hi, double *out, struct api_error *e);
int form_int(struct form *f, const char *name, int64_t lo, int64_t hi, int64_t *out, struct api_error *e);
int form_word(struct form *f, const char *name, const char *words, int *out, struct api_error *e); /* "a|b|c": the index */
/* Values of a list: `name` or `name[]` repeated, or one JSON list. *out: malloc'd [*n] pointers into the form; free it with free() */
int form_list(struct form *f, const char *name, const char ***out, int *n, struct api_error *e);
/* `name[key]`, or key of the JSON object in `name`: as text. */
int form_member(struct form *f, const char *name, const char *key, const char **out, struct api_error *e);

/* Names of fields that nothing has used, separated by ", ", in out[n]. @return their number */
int form_unused(const struct form *f, char *out, size_t n);
#endif
