/* steno-serve: fields that are parameters of the library, as a table. SPDX-License-Identifier: MIT
 *
 * Ranges and defaults are those of the library's own table (steno_param_get). Only ask*.c and openapi_schemas.c use these functions. */
#ifndef STENO_SERVE_ASK_FIELDS_H
#define STENO_SERVE_ASK_FIELDS_H
#include "ask.h"

struct ask_field {
    const char *name;  /* of the field */
    const char *param; /* of the library's parameter */
    const char *words; /* values of a choice, in the library's order; NULL: no choice */
    double lo, hi;     /* range through HTTP; both 0: the library's */
};

const struct ask_field *ask_field_at(int i); /* NULL past the last one */

/* The library's description of a parameter. @return 0 or -1: there is none */
int ask_param(const steno_model *m, const char *param, steno_param *out);
int ask_served(const steno_model *m, const char *param);

/* Sets the parameters whose fields are in the form. has_aligner: word times need no model that serves them. @return API_OK or a code, in
 * *e */
int ask_fields_fill(steno_transcribe_params *p, struct form *f, const steno_model *m, int has_aligner, struct api_error *e);
/* The library's check of all parameters together, with the names of fields. has_aligner: as above. @return API_OK or a code, in *e */
int ask_fields_check(const steno_transcribe_params *p, const struct form *f, const steno_model *m, int has_aligner, struct api_error *e);
/* A field that the model does not have. @return the code */
int ask_unserved(const steno_model *m, const char *param, const char *name, struct api_error *e);
#endif
