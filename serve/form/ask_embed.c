/* steno-serve: bodies of /v1/embeddings as parameters of steno_embed. SPDX-License-Identifier: MIT */
#include "ask_embed.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int read_texts(struct ask_embed *a, struct api_error *e)
{
    static const char name[] = "input";
    const json_t *input = ask_json_get(a->root, name);
    const size_t n = json_is_array(input) ? json_array_size(input) : 1;
    if (!input) return api_fail(e, API_missing_required_parameter, name, "input is missing: send a text or a list of texts");
    if (!n) return api_fail(e, API_invalid_value, name, "input has no texts");
    if (n > EMBED_TEXTS_MAX) return api_fail(e, API_invalid_value, name, "input: %zu texts are more than %d", n, EMBED_TEXTS_MAX);
    a->texts = calloc(n, sizeof *a->texts);
    if (!a->texts) return api_fail(e, API_internal_error, name, "out of memory for the texts");
    a->n_texts = (int)n;
    for (size_t i = 0; i < n; i++) {
        const json_t *text = json_is_array(input) ? json_array_get(input, i) : input;
        if (json_is_integer(text) || json_is_array(text))
            return api_fail(e, API_invalid_value, name, "input has token ids; this server reads texts only");
        a->texts[i] = json_string_value(text);
        if (!a->texts[i]) return api_fail(e, API_invalid_value, name, "input is neither a text nor a list of texts");
        if (!*a->texts[i]) return api_fail(e, API_invalid_value, name, "input: text %zu is empty", i + 1);
    }
    return API_OK;
}

int ask_embed_read(struct ask_embed *a, const char *body, size_t n, int is_strict, struct api_error *e)
{
    static const char *const known[] = { "model", "input", "encoding_format", "dimensions", "pooling", "normalize", "truncate", NULL };
    *a = (struct ask_embed){ .model = "" };
    a->root = ask_json_open(body, n, e);
    if (!a->root) return (int)e->code;
    ask_json_text(a->root, "model", &a->model, e);
    ask_json_word(a->root, "encoding_format", EMBED_ENCODINGS, &a->is_base64, e);
    ask_json_refuse(a->root, "dimensions", (double)NAN, "vectors have the width of the model; leave it out", e);
    if (e->code == API_OK) read_texts(a, e);
    return e->code == API_OK ? ask_json_unknown(a->root, known, a->ignored, is_strict, e) : (int)e->code;
}

int ask_embed_fill(const struct ask_embed *a, steno_embed_params *p, const steno_model *m, struct api_error *e)
{
    steno_error err = { 0 };
    ask_json_word(a->root, "pooling", EMBED_POOLINGS, &p->pooling, e);
    ask_json_flag(a->root, "normalize", &p->normalize, e);
    ask_json_flag(a->root, "truncate", &p->truncate, e);
    if (e->code != API_OK || steno_params_check(m, STENO_CALL_EMBED, p, NULL, &err) == STENO_OK) return (int)e->code;
    return api_fail(e, API_invalid_value, "model", "%s", err.text);
}

void ask_embed_free(struct ask_embed *a)
{
    free(a->texts);
    json_decref(a->root);
    memset(a, 0, sizeof *a);
}
