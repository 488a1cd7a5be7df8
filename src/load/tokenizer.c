/* steno: tokenizers of language models, as stored in their files. SPDX-License-Identifier: MIT */
#include "load/tokenizer.h"
#include <stdio.h>
#include <string.h>

/* Open the first existing tokenizer file in the model's folder. @return as model_source_find */
static int find_file(struct file *f, int *is_list, const struct weights *w, struct arena *scrap, steno_error *e)
{
    int rc = model_source_find(&w->source, "tokenizer.json", scrap, f, e);
    *is_list = !rc;
    return rc ? rc : model_source_find(&w->source, "vocab.txt", scrap, f, e);
}

int tokenizer_is_there(const struct weights *w, steno_error *e)
{
    struct arena scrap;
    struct file f;
    int is_list;
    if (meta_find_list(&w->meta, "tokenizer.ggml.tokens")) return 1;
    arena_init(&scrap);
    const int found = find_file(&f, &is_list, w, &scrap, e);
    if (found > 0) file_close(&f);
    arena_free(&scrap);
    return found;
}

/* The chat template in settings; from a list of named templates the one called default, or the only one. */
static const char *template_of(const struct meta *m)
{
    const char *only = NULL;
    int n = 0;
    for (char key[64]; n < TOKENIZER_TEMPLATES; n++) {
        snprintf(key, sizeof key, "chat_template.%d.template", n);
        const char *text = meta_text(m, key, NULL);
        if (!text) break;
        snprintf(key, sizeof key, "chat_template.%d.name", n);
        if (!strcmp(meta_text(m, key, ""), "default")) return text;
        only = text;
    }
    return meta_text(m, "chat_template", n == 1 ? only : n ? "" : NULL); /* several, but no default: an unknown template */
}

/* Read the template from a settings file in the model's folder. */
static int read_settings(struct tokenizer_file *t, struct weights *w, const char *name, steno_error *e)
{
    struct arena scrap;
    struct meta m;
    struct file f;
    arena_init(&scrap);
    meta_init(&m, &scrap);
    int rc = model_source_find(&w->source, name, &scrap, &f, e);
    if (rc > 0) {
        rc = meta_read_json(&m, NULL, &f, e);
        file_close(&f);
        const char *text = rc ? NULL : template_of(&m);
        if (text) t->chat_template = arena_strdup(&w->arena, text, strlen(text));
        if (text && !t->chat_template) rc = err_nomem(e, strlen(text), "a chat template");
    }
    arena_free(&scrap);
    return rc;
}

/* Read the chat template that belongs to a tokenizer.json: a separate file, or a setting. */
static int read_template(struct tokenizer_file *t, struct weights *w, steno_error *e)
{
    static const char *const places[] = { "tokenizer_config.json", "chat_template.json" };
    struct arena scrap;
    struct file f;
    arena_init(&scrap);
    int rc = model_source_find(&w->source, "chat_template.jinja", &scrap, &f, e);
    if (rc > 0) {
        rc = file_text(&f, 1 << 20, &w->arena, &t->chat_template, e);
        file_close(&f);
    }
    arena_free(&scrap);
    for (size_t i = 0; i < sizeof places / sizeof *places && !rc && !t->chat_template; i++) rc = read_settings(t, w, places[i], e);
    return rc;
}

int tokenizer_read(struct tokenizer_file *t, struct weights *w, const struct tokenizer_names *names, steno_error *e)
{
    struct arena scrap;
    struct file f;
    *t = (struct tokenizer_file){ .names = names, .bos = -1, .eos = -1, .eot = -1, .eom = -1 };
    if (meta_find_list(&w->meta, "tokenizer.ggml.tokens")) return tokenizer_read_gguf(t, w, e);
    arena_init(&scrap);
    int is_list, rc = find_file(&f, &is_list, w, &scrap, e);
    if (!rc) rc = err_set(e, STENO_ENOVOCAB, "%s: no tokenizer in it or beside it: want tokenizer.ggml.tokens, a tokenizer.json or BERT's "
                          "vocab.txt", w->name);
    if (rc > 0) {
        rc = is_list ? tokenizer_read_txt(t, &f, w, e) : tokenizer_read_json(t, &f, w, e);
        file_close(&f);
        if (!rc) rc = read_template(t, w, e);
    }
    arena_free(&scrap);
    return rc;
}
