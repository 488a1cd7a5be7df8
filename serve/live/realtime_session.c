/* steno-serve: the session object of realtime transcription. SPDX-License-Identifier: MIT */
#include "realtime_session.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keys and values of a client may be cut within a character: its other bytes become '?'. */
static void ascii_only(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || (unsigned char)*text > '~') *text = '?';
}

int realtime_fail(struct realtime_error *e, const char *code, const char *param, const char *fmt, ...)
{
    va_list ap;
    if (e->code) return -1;
    e->code = code;
    snprintf(e->param, sizeof e->param, "%s", param ? param : "");
    va_start(ap, fmt);
    vsnprintf(e->message, sizeof e->message, fmt, ap);
    va_end(ap);
    ascii_only(e->param);
    ascii_only(e->message);
    return -1;
}

static int no_memory(struct realtime_error *e) { return realtime_fail(e, "server_error", NULL, "The server is out of memory."); }

/* ---- the keys ---------------------------------------------------------------------------------------------------------------- */

enum kind { WORD, TEXT, LANGUAGE, NUMBER, INT, BOOL, RATE, LANGUAGES, KEYWORDS };

struct field {
    const char *key;
    enum kind kind;
    double lo, hi;      /* of a number; of a text: most bytes in hi */
    const char *words;  /* "a|b|c" */
    unsigned variants;  /* bit i: the key belongs to variant i of its group; 0: to all */
};

struct variant { const char *type, *defaults; };

/* A part of audio.input, in one of several variants that its key `type` names. */
struct group {
    const char *key, *flat;
    int can_be_null;
    struct variant variant[4];
    struct field field[10];
};

static const struct group groups[] = {
    { "format", "input_audio_format", 0,
      { { "audio/pcm", "{\"type\":\"audio/pcm\",\"rate\":24000}" }, { "audio/pcmu", "{\"type\":\"audio/pcmu\"}" },
        { "audio/pcma", "{\"type\":\"audio/pcma\"}" } },
      { { "rate", RATE, 8000, 48000, NULL, 0 } } },
    { "transcription", "input_audio_transcription", 0, { { "", "{\"model\":\"\",\"language\":null,\"prompt\":\"\"}" } },
      { { "model", TEXT, 0, 255, NULL, 0 }, { "language", LANGUAGE, 0, 35, NULL, 0 },
        { "languages", LANGUAGES, 0, REALTIME_LANGUAGES, NULL, 0 },
        { "prompt", TEXT, 0, REALTIME_PROMPT_MAX, NULL, 0 }, { "keywords", KEYWORDS, 0, REALTIME_KEYWORDS_MAX, NULL, 0 },
        { "delay", WORD, 0, 0, "minimal|low|medium|high|xhigh", 0 } } },
    { "noise_reduction", "input_audio_noise_reduction", 1,
      { { "near_field", "{\"type\":\"near_field\"}" }, { "far_field", "{\"type\":\"far_field\"}" } },
      { { "strength", NUMBER, 0, 1, NULL, 0 } } },
    { "turn_detection", "turn_detection", 1,
      { { "server_vad", "{\"type\":\"server_vad\",\"threshold\":0.5,\"prefix_padding_ms\":300,\"silence_duration_ms\":500}" },
        { "semantic_vad", "{\"type\":\"semantic_vad\",\"eagerness\":\"auto\"}" } },
      { { "threshold", NUMBER, 0, 1, NULL, 1 }, { "prefix_padding_ms", INT, 0, 5000, NULL, 1 },
        { "silence_duration_ms", INT, 0, 10000, NULL, 1 }, { "idle_timeout_ms", INT, 0, 3600000, NULL, 1 },
        { "eagerness", WORD, 0, 0, "low|medium|high|auto", 2 }, { "create_response", BOOL, 0, 0, NULL, 0 },
        { "interrupt_response", BOOL, 0, 0, NULL, 0 } } },
};
enum { N_GROUPS = sizeof groups / sizeof groups[0], N_VARIANTS = 4, N_FIELDS = 10 };
enum { FORMAT, TRANSCRIPTION, NOISE_REDUCTION, TURN_DETECTION };

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static int variant_find(const struct group *g, const char *type)
{
    for (int i = 0; i < N_VARIANTS && g->variant[i].type; i++)
        if (!strcmp(g->variant[i].type, type)) return i;
    return -1;
}

static const struct field *field_find(const struct group *g, const char *key)
{
    for (int i = 0; i < N_FIELDS && g->field[i].key; i++)
        if (!strcmp(g->field[i].key, key)) return &g->field[i];
    return NULL;
}

/* "a, b or c" of "a|b|c" */
static const char *words_list(const char *words, char out[200])
{
    size_t n = 0;
    for (; *words && n < 190; words++) {
        const char *sep = *words != '|' ? NULL : strchr(words + 1, '|') ? ", " : " or ";
        if (!sep) {
            out[n++] = *words;
            continue;
        }
        memcpy(out + n, sep, strlen(sep));
        n += strlen(sep);
    }
    out[n] = '\0';
    return out;
}

static int is_word(const char *words, const char *text)
{
    const size_t n = strlen(text);
    for (const char *w = words; n; w++) {
        if (!strncmp(w, text, n) && (w[n] == '|' || !w[n])) return 1;
        w = strchr(w, '|');
        if (!w) break;
    }
    return 0;
}

/* ---- values ------------------------------------------------------------------------------------------------------------------ */

/* A letter, then letters, digits, '-' and '_': "en", "en-US", "zh_CN", "German". */
static int is_language(const char *text)
{
    for (const char *p = text; *p; p++) {
        const int is_letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');
        if (!is_letter && (p == text || !strchr("0123456789-_", *p))) return 0;
    }
    return 1;
}

static int text_check(const struct field *f, const json_t *v, const char *path, struct realtime_error *e)
{
    char list[200];
    const char *text = json_string_value(v);
    if (!text) return realtime_fail(e, "invalid_value", path, "'%s' must be a string.", path);
    if (f->kind == WORD)
        return is_word(f->words, text) ? 0 : realtime_fail(e, "invalid_value", path, "'%s' must be %s.", path, words_list(f->words, list));
    if (json_string_length(v) > (size_t)f->hi)
        return realtime_fail(e, "invalid_value", path, "'%s' has %zu bytes: at most %d are allowed.", path, json_string_length(v),
                             (int)f->hi);
    if (f->kind == LANGUAGE && !is_language(text))
        return realtime_fail(e, "invalid_value", path, "'%s' must be the code of a language, such as 'en'.", path);
    return 0;
}

static int number_check(const struct field *f, const json_t *v, const char *path, struct realtime_error *e)
{
    const double x = json_number_value(v);
    if (f->kind == NUMBER ? !json_is_number(v) : !json_is_integer(v) && !(json_is_real(v) && x == floor(x)))
        return realtime_fail(e, "invalid_value", path, "'%s' must be %s.", path, f->kind == NUMBER ? "a number" : "an integer");
    if (!(x >= f->lo && x <= f->hi))
        return realtime_fail(e, "invalid_value", path, "'%s' is %g: it must be from %g to %g.", path, x, f->lo, f->hi);
    if (f->kind == RATE && x != 8000 && x != 16000 && x != 24000 && x != 48000)
        return realtime_fail(e, "invalid_value", path, "'%s' is %g: it must be 8000, 16000, 24000 or 48000.", path, x);
    return 0;
}

static int list_check(const struct field *f, const json_t *v, const char *path, struct realtime_error *e)
{
    const struct field item = { .kind = f->kind == LANGUAGES ? LANGUAGE : TEXT, .hi = f->kind == LANGUAGES ? 35 : REALTIME_KEYWORD_MAX };
    size_t i;
    json_t *one;
    char place[96];
    if (!json_is_array(v)) return realtime_fail(e, "invalid_value", path, "'%s' must be a list of strings.", path);
    if (json_array_size(v) > (size_t)f->hi)
        return realtime_fail(e, "invalid_value", path, "'%s' has %zu values: at most %d are allowed.", path, json_array_size(v),
                             (int)f->hi);
    json_array_foreach(v, i, one) {
        snprintf(place, sizeof place, "%.70s[%zu]", path, i);
        if (text_check(&item, one, place, e)) return -1;
        const char *text = json_string_value(one);
        if (!*text || strpbrk(text, "\r\n"))
            return realtime_fail(e, "invalid_value", place, "'%s' must be one line that is not empty.", place);
    }
    return 0;
}

static int value_check(const struct field *f, const json_t *v, const char *path, struct realtime_error *e)
{
    switch (f->kind) {
    case WORD: case TEXT: case LANGUAGE: return text_check(f, v, path, e);
    case NUMBER: case INT: case RATE: return number_check(f, v, path, e);
    case BOOL: return json_is_boolean(v) ? 0 : realtime_fail(e, "invalid_value", path, "'%s' must be true or false.", path);
    case LANGUAGES: case KEYWORDS: return list_check(f, v, path, e);
    }
    return 0;
}

/* ---- groups ------------------------------------------------------------------------------------------------------------------ */

/* New reference; NULL: out of memory. */
static json_t *defaults_of(const struct realtime_session *s, const struct group *g, int variant)
{
    json_t *v = json_loads(g->variant[variant].defaults, 0, NULL);
    if (v && g == &groups[TRANSCRIPTION] && json_object_set_new(v, "model", json_string(s->model))) {
        json_decref(v);
        return NULL;
    }
    return v;
}

static int begins_with(const char *text, const char *with) { return !strncmp(text, with, strlen(with)); }

/* OpenAI's models whose clients end the turns. */
static int ends_turns(const char *model) { return begins_with(model, "gpt-realtime-whisper") || begins_with(model, "gpt-live-transcribe"); }

/* What a new session has. */
static json_t *begin_of(const struct realtime_session *s, const json_t *input, int i)
{
    const char *model = text_of(json_object_get(input, "transcription"), "model");
    if (i == NOISE_REDUCTION || (i == TURN_DETECTION && ends_turns(model))) return json_null();
    return defaults_of(s, &groups[i], 0);
}

static int field_merge(const struct realtime_session *s, const struct group *g, int variant, json_t *to, const char *key, json_t *v,
                       const char *path, struct realtime_error *e)
{
    char place[96];
    snprintf(place, sizeof place, "%.60s.%.32s", path, key);
    const struct field *f = field_find(g, key);
    if (!f) return realtime_fail(e, "unknown_parameter", place, "The session has no '%s'.", place);
    if (json_is_null(v)) {
        json_t *def = defaults_of(s, g, variant), *old = json_object_get(def, key);
        const int rc = !def ? -1 : old ? json_object_set(to, key, old) : (json_object_del(to, key), 0);
        json_decref(def);
        return rc ? no_memory(e) : 0;
    }
    if (f->variants && !(f->variants >> variant & 1))
        return realtime_fail(e, "invalid_value", place, "'%s' does not belong to type '%s'.", place, g->variant[variant].type);
    if (value_check(f, v, place, e)) return -1;
    if (f->kind == RATE && variant) { /* G.711 */
        const double rate = json_number_value(v);
        return rate == 8000 ? 0 : realtime_fail(e, "invalid_value", place, "'%s' is %g: G.711 has 8000.", place, rate);
    }
    if (f->kind == INT || f->kind == RATE) /* 500.0 is 500 */
        return json_object_set_new(to, key, json_integer((json_int_t)json_number_value(v))) ? no_memory(e) : 0;
    json_t *copy = json_deep_copy(v);
    return json_object_set_new(to, key, copy) ? no_memory(e) : 0;
}

/* The variant that the patch selects. @return -1 with *e */
static int variant_choose(const struct group *g, const json_t *now, const json_t *patch, const char *path, struct realtime_error *e)
{
    char words[200] = "", list[200], place[96];
    const json_t *type = json_object_get(patch, "type");
    if (!g->variant[0].type[0]) return 0;
    if (!type || json_is_null(type)) {
        const int i = variant_find(g, text_of(now, "type"));
        return i < 0 ? 0 : i;
    }
    const int i = json_is_string(type) ? variant_find(g, json_string_value(type)) : -1;
    if (i >= 0) return i;
    for (int k = 0; k < N_VARIANTS && g->variant[k].type; k++) {
        if (k) strcat(words, "|");
        strcat(words, g->variant[k].type);
    }
    snprintf(place, sizeof place, "%.80s.type", path);
    return realtime_fail(e, "invalid_value", place, "'%s' must be %s.", place, words_list(words, list));
}

/* Merges the value into its group of `input`. */
static int group_merge(const struct realtime_session *s, json_t *input, const struct group *g, json_t *patch, const char *path,
                       struct realtime_error *e)
{
    const json_t *now = json_object_get(input, g->key);
    const char *key;
    json_t *v, *to;
    if (json_is_null(patch)) {
        to = g->can_be_null ? json_null() : defaults_of(s, g, 0);
        return json_object_set_new(input, g->key, to) ? no_memory(e) : 0;
    }
    if (!json_is_object(patch)) return realtime_fail(e, "invalid_value", path, "'%s' must be an object or null.", path);
    const int variant = variant_choose(g, now, patch, path, e);
    if (variant < 0) return -1;
    const int is_kept = json_is_object(now) && (!g->variant[0].type[0] || variant_find(g, text_of(now, "type")) == variant);
    to = is_kept ? json_deep_copy(now) : defaults_of(s, g, variant);
    if (!to) return no_memory(e);
    json_object_foreach(patch, key, v) {
        if (!strcmp(key, "type") && g->variant[0].type[0]) continue;
        if (field_merge(s, g, variant, to, key, v, path, e)) {
            json_decref(to);
            return -1;
        }
    }
    return json_object_set_new(input, g->key, to) ? no_memory(e) : 0;
}

/* The beta names formats by a word. */
static int format_merge(const struct realtime_session *s, json_t *input, json_t *patch, const char *path, struct realtime_error *e)
{
    if (!json_is_string(patch)) return group_merge(s, input, &groups[FORMAT], patch, path, e);
    const char *type = realtime_format_type(json_string_value(patch));
    if (!type) return realtime_fail(e, "invalid_value", path, "'%s' must be pcm16, g711_ulaw or g711_alaw.", path);
    json_t *v = json_pack("{s:s}", "type", type);
    const int rc = v ? group_merge(s, input, &groups[FORMAT], v, path, e) : no_memory(e);
    json_decref(v);
    return rc;
}

static int audio_input_merge(const struct realtime_session *s, json_t *input, json_t *patch, struct realtime_error *e)
{
    static const char under[] = "session.audio.input";
    const char *key;
    json_t *v;
    char path[96];
    if (json_is_null(patch)) {
        for (int i = 0; i < N_GROUPS; i++)
            if (json_object_set_new(input, groups[i].key, begin_of(s, input, i))) return no_memory(e);
        return 0;
    }
    if (!json_is_object(patch)) return realtime_fail(e, "invalid_value", under, "'%s' must be an object or null.", under);
    json_object_foreach(patch, key, v) {
        int i = 0;
        snprintf(path, sizeof path, "%s.%.60s", under, key);
        while (i < N_GROUPS && strcmp(groups[i].key, key)) i++;
        if (i == N_GROUPS) return realtime_fail(e, "unknown_parameter", path, "The session has no '%s'.", path);
        if (i == FORMAT ? format_merge(s, input, v, path, e) : group_merge(s, input, &groups[i], v, path, e)) return -1;
    }
    return 0;
}

static int audio_merge(const struct realtime_session *s, json_t *input, json_t *patch, struct realtime_error *e)
{
    const char *key;
    json_t *v;
    if (json_is_null(patch)) return audio_input_merge(s, input, patch, e);
    if (!json_is_object(patch)) return realtime_fail(e, "invalid_value", "session.audio", "'session.audio' must be an object or null.");
    json_object_foreach(patch, key, v) {
        char path[96];
        snprintf(path, sizeof path, "session.audio.%.60s", key);
        if (strcmp(key, "input") != 0)
            return realtime_fail(e, "unknown_parameter", path, "A transcription session has no '%s'.", path);
        if (audio_input_merge(s, input, v, e)) return -1;
    }
    return 0;
}

/* ---- the session ------------------------------------------------------------------------------------------------------------- */

static int include_merge(json_t **include, json_t *patch, struct realtime_error *e)
{
    static const char path[] = "session.include";
    size_t i;
    json_t *one;
    if (!json_is_null(patch) && !json_is_array(patch))
        return realtime_fail(e, "invalid_value", path, "'%s' must be a list of strings or null.", path);
    json_array_foreach(patch, i, one) {
        if (!realtime_include_bit(json_string_value(one)))
            return realtime_fail(e, "invalid_value", path,
                                 "'%s' may have item.input_audio_transcription.logprobs, steno.partial and steno.words.", path);
    }
    json_t *copy = json_deep_copy(patch);
    if (!copy) return no_memory(e);
    json_decref(*include);
    *include = copy;
    return 0;
}

static int type_check(const json_t *v, struct realtime_error *e)
{
    const char *type = json_string_value(v);
    if (json_is_null(v) || (type && !strcmp(type, "transcription"))) return 0;
    e->ends = type && !strcmp(type, "realtime");
    return realtime_fail(e, "invalid_value", "session.type",
                         "'session.type' must be 'transcription': this server transcribes and does not reply.");
}

static int key_merge(const struct realtime_session *s, json_t *input, json_t **include, const char *key, json_t *v,
                     struct realtime_error *e)
{
    static const char *const ignored[] = { "id", "object", "expires_at", "client_secret" }; /* of a session that a client sends back */
    char path[96];
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        if (!strcmp(key, ignored[i])) return 0;
    if (!strcmp(key, "type")) return type_check(v, e);
    if (!strcmp(key, "include")) return include_merge(include, v, e);
    if (!strcmp(key, "audio")) return audio_merge(s, input, v, e);
    json_t *transcription = json_object_get(input, "transcription");
    if (!strcmp(key, "model")) return field_merge(s, &groups[TRANSCRIPTION], 0, transcription, key, v, "session", e);
    snprintf(path, sizeof path, "session.%.60s", key);
    for (int i = 0; i < N_GROUPS; i++) {
        if (strcmp(key, groups[i].flat) != 0) continue;
        return i == FORMAT ? format_merge(s, input, v, path, e) : group_merge(s, input, &groups[i], v, path, e);
    }
    return realtime_fail(e, "unknown_parameter", path, "A transcription session has no '%s'.", path);
}

/* Keywords as lines, malloc'd. @return 0 with *out NULL if there are none; -1: out of memory */
static int hotwords_make(const json_t *input, char **out)
{
    const json_t *list = json_object_get(json_object_get(input, "transcription"), "keywords");
    size_t i, n = 0, at = 0;
    json_t *one;
    *out = NULL;
    json_array_foreach(list, i, one) n += json_string_length(one) + 1;
    if (!n) return 0;
    char *text = malloc(n);
    if (!text) return -1;
    json_array_foreach(list, i, one) {
        memcpy(text + at, json_string_value(one), json_string_length(one));
        at += json_string_length(one);
        text[at++] = '\n';
    }
    text[n - 1] = '\0';
    *out = text;
    return 0;
}

static void languages_join(struct realtime_session *s)
{
    const json_t *list = json_object_get(json_object_get(s->input, "transcription"), "languages");
    size_t i, at = 0;
    json_t *one;
    s->languages[0] = '\0';
    if (json_array_size(list) < 2) return;
    json_array_foreach(list, i, one) {
        at += (size_t)snprintf(s->languages + at, sizeof s->languages - at, "%s%s", i ? "," : "", json_string_value(one));
    }
}

static int sets_turns(const json_t *patch)
{
    return json_object_get(patch, "turn_detection") ||
           json_object_get(json_object_get(json_object_get(patch, "audio"), "input"), "turn_detection");
}

int realtime_session_update(struct realtime_session *s, const json_t *patch, struct realtime_error *e)
{
    const char *key;
    json_t *v;
    char *hotwords = NULL;
    int rc = 0;
    if (!json_is_object(patch)) return realtime_fail(e, "invalid_value", "session", "'session' must be an object.");
    json_t *input = json_deep_copy(s->input), *include = json_deep_copy(s->include);
    if (!input || !include) rc = no_memory(e);
    json_object_foreach((json_t *)patch, key, v) {
        if (rc) break;
        rc = key_merge(s, input, &include, key, v, e);
    }
    const int has_turns = s->has_turns || sets_turns(patch);
    if (!rc && !has_turns && json_object_set_new(input, "turn_detection", begin_of(s, input, TURN_DETECTION))) rc = no_memory(e);
    if (!rc && hotwords_make(input, &hotwords)) rc = no_memory(e);
    if (rc) {
        json_decref(input);
        json_decref(include);
        return -1;
    }
    realtime_session_free(s);
    s->input = input;
    s->include = include;
    s->hotwords = hotwords;
    s->has_turns = has_turns;
    languages_join(s);
    return 0;
}

int realtime_session_no_turns(struct realtime_session *s)
{
    return json_object_set_new(s->input, "turn_detection", json_null());
}

int realtime_session_init(struct realtime_session *s, const char *model)
{
    *s = (struct realtime_session){ .input = json_object(), .include = json_null() };
    snprintf(s->model, sizeof s->model, "%s", model);
    for (int i = 0; i < N_GROUPS && s->input; i++) {
        if (!json_object_set_new(s->input, groups[i].key, begin_of(s, s->input, i))) continue;
        realtime_session_free(s);
    }
    return s->input ? 0 : -1;
}

int realtime_session_copy(struct realtime_session *to, const struct realtime_session *from)
{
    *to = *from;
    to->input = json_deep_copy(from->input);
    to->include = json_deep_copy(from->include);
    to->hotwords = NULL;
    if (to->input && to->include && !hotwords_make(to->input, &to->hotwords)) return 0;
    realtime_session_free(to);
    return -1;
}

void realtime_session_free(struct realtime_session *s)
{
    json_decref(s->input);
    json_decref(s->include);
    free(s->hotwords);
    s->input = s->include = NULL;
    s->hotwords = NULL;
}
