/* steno-serve: the effective realtime session, for the server and for its client. SPDX-License-Identifier: MIT */
#include "realtime_session.h"
#include <string.h>

static const struct { const char *type, *flat; enum realtime_format format; int rate; } formats[] = {
    { "audio/pcm", "pcm16", REALTIME_PCM, 24000 }, { "audio/pcmu", "g711_ulaw", REALTIME_ULAW, 8000 },
    { "audio/pcma", "g711_alaw", REALTIME_ALAW, 8000 },
};
enum { N_FORMATS = sizeof formats / sizeof formats[0] };

static const struct { const char *word; int ms; } delays[] = {
    { "minimal", 500 }, { "low", 700 }, { "medium", 1000 }, { "high", 2000 }, { "xhigh", 4000 },
};

static const struct { const char *word; int silence_ms; } eagerness[] = {
    { "high", 500 }, { "auto", 800 }, { "medium", 800 }, { "low", 1500 },
};

static const struct { const char *word; unsigned bit; } included[] = {
    { "steno.partial", REALTIME_PARTIAL }, { "steno.words", REALTIME_WORDS },
    { "item.input_audio_transcription.logprobs", REALTIME_LOGPROBS },
};
enum { N_INCLUDED = sizeof included / sizeof included[0] };

static int is_text(const json_t *object, const char *key, const char *text)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value && !strcmp(value, text);
}

static const char *text_or_null(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value && *value ? value : NULL;
}

static int format_of(const json_t *input)
{
    const json_t *f = json_object_get(input, "format");
    for (int i = 0; i < N_FORMATS; i++)
        if (is_text(f, "type", formats[i].type)) return i;
    return 0;
}

const char *realtime_format_type(const char *flat)
{
    for (int i = 0; i < N_FORMATS; i++)
        if (!strcmp(formats[i].flat, flat)) return formats[i].type;
    return NULL;
}

unsigned realtime_include_bit(const char *word)
{
    for (int i = 0; word && i < N_INCLUDED; i++)
        if (!strcmp(included[i].word, word)) return included[i].bit;
    return 0;
}

static void turns_config(const json_t *turns, struct realtime_config *c)
{
    c->uses_vad = json_is_object(turns);
    c->threshold = c->padding_ms = c->silence_ms = -1;
    if (is_text(turns, "type", "semantic_vad")) {
        for (size_t i = 0; i < sizeof eagerness / sizeof eagerness[0]; i++)
            if (is_text(turns, "eagerness", eagerness[i].word)) c->silence_ms = eagerness[i].silence_ms;
        return;
    }
    if (!c->uses_vad) return;
    c->threshold = json_number_value(json_object_get(turns, "threshold"));
    c->padding_ms = (int)json_integer_value(json_object_get(turns, "prefix_padding_ms"));
    c->silence_ms = (int)json_integer_value(json_object_get(turns, "silence_duration_ms"));
}

void realtime_session_config(const struct realtime_session *s, struct realtime_config *c)
{
    const int format = format_of(s->input);
    const json_t *rate = json_object_get(json_object_get(s->input, "format"), "rate"), *t = json_object_get(s->input, "transcription");
    const json_t *languages = json_object_get(t, "languages");
    size_t i;
    json_t *one;
    *c = (struct realtime_config){ .format = formats[format].format, .hotwords = s->hotwords };
    c->rate = rate && !format ? (int)json_integer_value(rate) : formats[format].rate;
    c->model = json_string_value(json_object_get(t, "model"));
    c->language = text_or_null(t, "language");
    if (!c->language && s->languages[0]) c->language = s->languages;
    if (!c->language && json_array_size(languages) == 1) c->language = json_string_value(json_array_get(languages, 0));
    if (c->language && !strcmp(c->language, "auto")) c->language = NULL;
    c->prompt = text_or_null(t, "prompt");
    for (i = 0; i < sizeof delays / sizeof delays[0]; i++)
        if (is_text(t, "delay", delays[i].word)) c->step_ms = delays[i].ms;
    turns_config(json_object_get(s->input, "turn_detection"), c);
    json_array_foreach(s->include, i, one) {
        c->include |= realtime_include_bit(json_string_value(one));
    }
}

static int set_copy(json_t *to, const char *key, const json_t *v) { return json_object_set_new(to, key, json_deep_copy(v)); }

static int flat_set(const struct realtime_session *s, json_t *out)
{
    int rc = json_object_set_new(out, "input_audio_format", json_string(formats[format_of(s->input)].flat));
    if (!rc) rc = set_copy(out, "input_audio_transcription", json_object_get(s->input, "transcription"));
    if (!rc) rc = set_copy(out, "input_audio_noise_reduction", json_object_get(s->input, "noise_reduction"));
    if (!rc) rc = set_copy(out, "turn_detection", json_object_get(s->input, "turn_detection"));
    return rc;
}

json_t *realtime_session_json(const struct realtime_session *s, int is_flat, const char *id, int64_t expires_at)
{
    json_t *out = json_object();
    if (!out) return NULL;
    int rc = json_object_set_new(out, "type", json_string("transcription"));
    if (!rc) rc = json_object_set_new(out, "object", json_string("realtime.transcription_session"));
    if (!rc && id) rc = json_object_set_new(out, "id", json_string(id));
    if (!rc && expires_at) rc = json_object_set_new(out, "expires_at", json_integer(expires_at));
    if (!rc) rc = set_copy(out, "include", s->include);
    if (!rc && is_flat) rc = flat_set(s, out);
    if (!rc && !is_flat) {
        json_t *input = json_deep_copy(s->input);
        rc = json_object_set_new(out, "audio", json_pack("{s:o}", "input", input));
    }
    if (!rc) return out;
    json_decref(out);
    return NULL;
}
