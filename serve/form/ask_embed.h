/* steno-serve: bodies of /v1/embeddings as parameters of steno_embed. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_ASK_EMBED_H
#define STENO_SERVE_ASK_EMBED_H
#include "ask_json.h"

#define EMBED_ENCODINGS "float|base64"
#define EMBED_POOLINGS "model|mean|cls|last"
enum { EMBED_TEXTS_MAX = 2048 };

struct ask_embed {
    const char *model;      /* "": the default */
    const char **texts;     /* [n_texts] in root */
    int n_texts;
    int is_base64;          /* encoding_format */
    char ignored[ASK_IGNORED];
    json_t *root;
};

/* Reads what needs no model. @return API_OK or a code, in *e. Call ask_embed_free in both cases */
int ask_embed_read(struct ask_embed *a, const char *body, size_t n, int is_strict, struct api_error *e);
/* Changes the parameters, which hold the defaults. @return API_OK or a code, in *e */
int ask_embed_fill(const struct ask_embed *a, steno_embed_params *p, const steno_model *m, struct api_error *e);
void ask_embed_free(struct ask_embed *a);
#endif
