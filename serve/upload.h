/* steno-serve: an upload that arrives: the fields of a form, and its file in the spool; or the file alone. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_UPLOAD_H
#define STENO_SERVE_UPLOAD_H
#include "form.h"
#include "multipart.h"
#include "spool.h"

struct upload {
    const char *file_field;   /* name of the file's part; NULL: the body is the file */
    struct spool *spool;
    int64_t max_bytes;        /* of the file */
    struct form form;
    struct spool_file *file;  /* NULL: none has arrived */
    char file_name[MULTIPART_NAME_SZ];
    struct api_error error;
    /* private */
    struct multipart *multipart;
    char name[MULTIPART_NAME_SZ]; /* of the current part */
    char *value;                  /* [n_value] of the current field */
    size_t n_value;
    int64_t n_bytes;              /* of the body so far: text outside of all parts counts, too */
    int is_file;                  /* the current part is the file */
};

/* The head has arrived. @return API_OK, or a code in u->error: the answer can be given at once */
int upload_begin(struct upload *u, const struct exchange *x);
int upload_add(struct upload *u, const char *bytes, size_t n); /* @return as upload_begin */
int upload_end(struct upload *u);                              /* @return as upload_begin; also without a file */
void upload_free(struct upload *u);
#endif
