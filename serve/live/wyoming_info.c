/* steno-serve: what the Wyoming server offers. SPDX-License-Identifier: MIT */
#include "wyoming_in.h"

static json_t *languages_of(const struct engine *g)
{
    const char *const *codes = engine_languages(g);
    json_t *list = json_array();
    for (int i = 0; codes && codes[i]; i++) json_array_append_new(list, json_string(codes[i]));
    if (list && json_array_size(list) == 0) /* no list, or not loaded yet: a client offers no model without a language */
        json_array_append_new(list, json_string("en"));
    return list;
}

static json_t *model_of(const struct engine *g, const json_t *by)
{
    return json_pack("{s:s, s:s, s:O, s:b, s:n, s:o}", "name", engine_id(g), "description", engine_id(g), "attribution", by, "installed", 1,
                     "version", "languages", languages_of(g));
}

json_t *wyoming_info(struct wyoming *w)
{
    static const char *const others[] = { "tts", "handle", "intent", "wake", "mic", "snd" };
    json_t *models = json_array(), *by = json_pack("{s:s, s:s}", "name", "steno", "url", "");
    for (int i = 0; engines_at(w->p.engines, i); i++) {
        struct engine *g = engines_at(w->p.engines, i);
        if (engine_calls(g) & ENGINE_TRANSCRIBES || !engine_calls(g)) json_array_append_new(models, model_of(g, by));
    }
    json_t *info = json_pack("{s:[{s:s, s:s, s:o, s:b, s:s, s:o, s:b}]}", "asr", "name", "steno", "description", "Speech recognition",
                             "attribution", by, "installed", 1, "version", w->version, "models", models,
                             "supports_transcript_streaming", 1);
    for (size_t i = 0; info && i < sizeof others / sizeof *others; i++) json_object_set_new(info, others[i], json_array());
    return info;
}
