/* steno: punctuation, and its options. SPDX-License-Identifier: MIT */
#include "options/punctuation_opts.h"
#include "models/default_model.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int no_room(void)
{
    message("out of memory while looking for a punctuation model");
    return EXIT_MEMORY;
}

/* The model is a path or a name in the caches. Without either, search a companion model if the recogniser's text has no punctuation.
 * @return malloc'd path, or NULL */
static char *find(const struct punctuation_opts *o, const struct engine *e, enum punctuation_find may, int *no_memory)
{
    steno_model_info i = { .size = sizeof i };
    struct stat st;
    if (!o->model) {
        const int has_none = steno_model_info_get(e->model, &i) == STENO_OK && i.bare_text && i.bare_text <= (int32_t)may;
        return has_none ? default_model_find(&default_model_punctuation, e->path, no_memory) : NULL;
    }
    if (stat(o->model, &st) == 0) return strdup(o->model);
    char *path = default_model_named(&default_model_punctuation, o->model, no_memory);
    return path || *no_memory ? path : strdup(o->model); /* opening it reports that it is missing */
}

int punctuation_engine(struct engine_opts *to, const struct engine_opts *o, const char *jieba_dict, char **found)
{
    int no_memory = 0;
    *found = jieba_dict ? NULL : jieba_find(&no_memory);
    if (no_memory) return no_room();
    *to = *o;
    to->jieba_dict = jieba_dict ? jieba_dict : *found;
    return EXIT_OK;
}

int punctuation_check(const steno_model *m, const char *path, const char *jieba_dict, int quiet)
{
    steno_model_info i = { .size = sizeof i };
    steno_model_info_get(m, &i);
    if (jieba_dict && !i.jieba)
        return message_usage("--jieba-dict: %s does not split Chinese into words (it has no jieba_usr_dict)", path);
    if (!quiet && i.jieba == 2)
        message("note: %s splits Chinese into words with jieba's dictionary, which is not installed: marks can differ from FunASR's; "
                "--jieba-dict FILE names it (dict.txt of the Python package jieba)", path);
    return EXIT_OK;
}

static int open_at(struct punctuation *k, const struct punctuation_opts *o, const char *path, const struct engine *e,
                   const struct engine_opts *eo)
{
    steno_error err = { 0 };
    const int code = engine_beside(&k->model, path, "a file of the punctuation model", e, eo);
    if (code != EXIT_OK) return code;
    const int rc = steno_session_open(&k->session, k->model, e->team, NULL, &err);
    if (rc != STENO_OK) return message_model_error(NULL, rc, err.text);
    if (steno_punctuate(k->session, "", NULL) == STENO_OK) return punctuation_check(k->model, path, o->jieba_dict, eo->quiet);
    return message_usage("--punctuation: %s: %s; it takes a model such as FunASR's ct-punc", path, steno_last_error(k->session));
}

/* If a model that was found automatically cannot be used, the text is written without it. */
static int open_found(struct punctuation *k, const struct punctuation_opts *o, const char *path, const struct engine *e,
                      const struct engine_opts *eo)
{
    const int code = open_at(k, o, path, e, eo);
    if (code == EXIT_OK || code == EXIT_MEMORY) {
        if (code == EXIT_OK && !eo->quiet) message("punctuation: %s (found; --no-punctuation leaves the text as it is)", path);
        return code;
    }
    punctuation_close(k);
    message("note: the text is left without punctuation");
    return EXIT_OK;
}

int punctuation_open(struct punctuation *k, const struct punctuation_opts *o, const struct engine *e, const struct engine_opts *eo,
                     enum punctuation_find may)
{
    int no_memory = 0;
    memset(k, 0, sizeof *k);
    if (o->none && o->jieba_dict) return message_usage("--jieba-dict and --no-punctuation exclude each other");
    if (o->none) return EXIT_OK;
    char *path = find(o, e, may, &no_memory);
    if (!path && (no_memory || o->model)) return no_room();
    if (!path && o->jieba_dict) return message_usage("--jieba-dict needs a punctuation model: --punctuation names one");
    if (!path) return EXIT_OK;
    struct engine_opts own;
    char *dict;
    int code = punctuation_engine(&own, eo, o->jieba_dict, &dict);
    if (code == EXIT_OK) code = o->model ? open_at(k, o, path, e, &own) : open_found(k, o, path, e, &own);
    free(dict);
    free(path);
    if (code != EXIT_OK) punctuation_close(k);
    return code;
}

void punctuation_close(struct punctuation *k)
{
    steno_session_close(k->session);
    steno_model_close(k->model);
    memset(k, 0, sizeof *k);
}
