/* steno-serve: bodies about models and the server itself. SPDX-License-Identifier: MIT */
#include "api_models.h"
#include "utf8.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Takes o, which may be NULL. */
static char *dumped(json_t *o, size_t *n)
{
    char *text = o ? json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
    json_decref(o);
    *n = text ? strlen(text) : 0;
    return text;
}

/* Names of operators and files may be any bytes; invalid UTF-8 gives "?". */
static json_t *text_of(const char *text)
{
    return json_string(utf8_invalid_at(text) < 0 ? text : "?");
}

static int append(json_t *list, const char *text)
{
    return json_array_append_new(list, text_of(text));
}

static json_t *tasks(const struct model_card *c)
{
    json_t *list = json_array();
    const int translates = c->info && c->info->is_multilingual && !strcmp(c->info->family, "whisper");
    int bad = !list;
    if (!bad && c->calls & ENGINE_TRANSCRIBES) bad |= append(list, "transcribe");
    if (!bad && c->calls & ENGINE_TRANSCRIBES && translates) bad |= append(list, "translate");
    if (!bad && c->calls & ENGINE_GENERATES) bad |= append(list, "chat");
    if (!bad && c->calls & ENGINE_EMBEDS) bad |= append(list, "embed");
    if (!bad) return list;
    json_decref(list);
    return NULL;
}

static json_t *list_of(const char *const *text)
{
    json_t *list = json_array();
    for (int i = 0; list && text && text[i]; i++)
        if (append(list, text[i])) json_decref(list), list = NULL;
    return list;
}

static json_t *object(const struct model_card *c)
{
    json_t *o = json_pack("{s:o, s:s, s:I, s:s, s:b, s:o, s:o}", "id", text_of(c->id), "object", "model", "created", (json_int_t)c->created,
                          "owned_by", "steno", "loaded", c->is_loaded, "tasks", tasks(c), "aliases", list_of(c->aliases));
    if (!o || !c->info) return o;
    json_t *more = json_pack("{s:o, s:o, s:I, s:b, s:i, s:o}", "family", text_of(c->info->family), "weight_type",
                             text_of(c->info->weight_type), "parameters", (json_int_t)c->info->parameters, "multilingual",
                             c->info->is_multilingual, "language_count", c->info->n_languages, "languages", list_of(c->languages));
    if (!more || json_object_update(o, more)) json_decref(o), o = NULL;
    json_decref(more);
    return o;
}

char *model_json(const struct model_card *c, size_t *n)
{
    return dumped(object(c), n);
}

char *models_json(const struct model_card *c, int n_cards, size_t *n)
{
    json_t *list = json_array();
    for (int i = 0; list && i < n_cards; i++)
        if (json_array_append_new(list, object(&c[i]))) json_decref(list), list = NULL;
    return dumped(list ? json_pack("{s:s, s:o}", "object", "list", "data", list) : NULL, n);
}

/* ---- of a server ------------------------------------------------------------------------------------------------------------- */

static void read_card(struct model_card *c, steno_model_info *info, const struct engine *g, const struct serve_params *p)
{
    info->size = sizeof *info;
    *c = (struct model_card){ .id = engine_id(g), .created = engine_created(g), .is_loaded = engine_is_loaded(g),
                              .calls = engine_calls(g), .languages = engine_languages(g) };
    if (!engine_info(g, info)) c->info = info;
    for (int i = 0; i < p->n_models; i++)
        if (!strcmp(p->models[i].id, c->id)) c->aliases = p->models[i].aliases;
}

char *api_model(const struct serve_params *p, const struct engine *g, size_t *n)
{
    struct model_card c;
    steno_model_info info;
    read_card(&c, &info, g, p);
    return model_json(&c, n);
}

char *api_models(struct engines *es, const struct serve_params *p, size_t *n)
{
    int n_cards = 0;
    while (engines_at(es, n_cards)) n_cards++;
    struct model_card *c = calloc((size_t)n_cards + 1, sizeof *c);
    steno_model_info *info = calloc((size_t)n_cards + 1, sizeof *info);
    char *text = NULL;
    *n = 0;
    for (int i = 0; i < n_cards && c && info; i++) read_card(&c[i], &info[i], engines_at(es, i), p);
    if (c && info) text = models_json(c, n_cards, n);
    free(c);
    free(info);
    return text;
}

/* ---- the server -------------------------------------------------------------------------------------------------------------- */

char *version_json(const char *version, size_t *n)
{
    return dumped(json_pack("{s:s, s:s}", "name", "steno", "version", version), n);
}

char *live_json(size_t *n)
{
    return dumped(json_pack("{s:s}", "status", "ok"), n);
}

char *ready_json(enum readiness r, size_t *n)
{
    static const char *const names[] = { [IS_READY] = "ok", [IS_LOADING] = "loading", [IS_DRAINING] = "draining",
                                         [HAS_FULL_SPOOL] = "spool_full" };
    return dumped(json_pack("{s:s}", "status", names[r]), n);
}
