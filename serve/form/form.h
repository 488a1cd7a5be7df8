/* steno-serve: the fields of a form or a query, and their values. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_FORM_H
#define STENO_SERVE_FORM_H
#include "api_error.h"

enum { FORM_FIELDS_MAX = 64, FORM_VALUES_MAX = 256, FORM_NAME_MAX = 255, FORM_VALUE_MAX = 16384, FORM_TEXT_MAX = 1 << 20 };

struct form_field { char *name, *value; size_t n; int used; };

struct form {
    struct form_field field[FORM_VALUES_MAX]; /* [n] in the order of arrival; the values of a list are fields of one name */
    int n;
    int n_names;  /* of different names */
    size_t bytes; /* of all names and values */
};

/* Begin with {0}. `n` bytes of value, UTF-8 without NUL; a name that ends in "[]" is the same list as one without. @return API_OK or a
 * code, in *e */
int form_add(struct form *f, const char *name, const char *value, size_t n, struct api_error *e);
void form_free(struct form *f);

/* Values. An absent or empty field leaves *out as it is. @return API_OK, or a code with the field's name and what it accepts in *e. Two
 * values of a scalar are API_duplicate_parameter. Each marks the field as used. */
int form_text(struct form *f, const char *name, const char **out, struct api_error *e);
int form_bool(struct form *f, const char *name, int *out, struct api_error *e);   /* true false 1 0 yes no on off, in any case */
int form_number(struct form *f, const char *name, double lo, double hi, double *out, struct api_error *e);
int form_int(struct form *f, const char *name, int64_t lo, int64_t hi, int64_t *out, struct api_error *e);
int form_word(struct form *f, const char *name, const char *words, int *out, struct api_error *e); /* "a|b|c": the index */
/* Values of a list: `name` or `name[]` repeated, or one JSON list. *out: malloc'd [*n] pointers into the form, for free(); NULL: none */
int form_list(struct form *f, const char *name, const char ***out, int *n, struct api_error *e);
/* `name[key]`, or key of the JSON object in `name`: as text. `*out` stays as it is if there is none. */
int form_member(struct form *f, const char *name, const char *key, const char **out, struct api_error *e);

/* 1: there is a field of the name, or a member of it, with a value that is not empty. Marks nothing as used. */
int form_has(const struct form *f, const char *name);
void form_use(struct form *f, const char *name); /* marks the field, and its members, as used */
/* All fields of the name, and their members, get the other name. */
int form_rename(struct form *f, const char *name, const char *to, struct api_error *e);

/* The word of "a|b|c" that equals `text`. @return its index; -1, with the error of form_word for the field */
int word_index(const char *text, const char *words, const char *field, struct api_error *e);
/* `text` as a number, in the C locale and finite. @return 0 or -1 */
int number_read(const char *text, double *out);

/* Names of fields that nothing has used, separated by ", ", in out[n]. @return their number */
int form_unused(const struct form *f, char *out, size_t n);
#endif
