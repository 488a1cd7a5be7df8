/* steno-serve: schemas of bodies, parameters and answers. SPDX-License-Identifier: MIT */
#include "ask_chat.h"
#include "ask_embed.h"
#include "ask_fields.h"
#include "ask_other.h"
#include "openapi.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A member whose name ends in "!" is required. Types are those of openapi_type. */
struct member { const char *schema, *name, *type, *text; };

/* clang-format off */
static const struct member members[] = {
    { "Error", "error!", "ErrorBody", "" },
    { "ErrorBody", "message!", "string", "what, where, and what to do" }, { "ErrorBody", "type!", "string", "" },
    { "ErrorBody", "param!", "string?", "the field" }, { "ErrorBody", "code!", "string", "" },
    { "Note", "kind!", "string", "" }, { "Note", "text!", "string", "why a result is empty or doubtful" },
    { "Usage", "type!", "duration|tokens", "" }, { "Usage", "seconds", "integer", "of audio, rounded up" },
    { "Usage", "input_tokens", "integer", "" }, { "Usage", "input_token_details", "object", "text_tokens and audio_tokens" },
    { "Usage", "output_tokens", "integer", "" }, { "Usage", "total_tokens", "integer", "" },
    { "Word", "word!", "string", "" }, { "Word", "start!", "number?", "seconds" }, { "Word", "end!", "number?", "seconds" },
    { "Segment", "id!", "integer", "" }, { "Segment", "seek!", "integer", "" }, { "Segment", "start!", "number?", "seconds" },
    { "Segment", "end!", "number?", "seconds" }, { "Segment", "text!", "string", "usually begins with a space" },
    { "Segment", "tokens!", "integer[]", "" }, { "Segment", "temperature!", "number?", "" },
    { "Segment", "avg_logprob!", "number?", "" },
    { "Segment", "compression_ratio!", "number?", "" }, { "Segment", "no_speech_prob!", "number?", "" },
    { "Segment", "flags", "string[]", "doubts about the text" },
    { "Logprob", "token!", "string", "" }, { "Logprob", "logprob!", "number", "" }, { "Logprob", "bytes!", "integer[]", "" },
    { "Language", "code!", "string", "" },
    { "Transcription", "text!", "string", "" }, { "Transcription", "languages", "Language[]", "json" },
    { "Transcription", "logprobs", "Logprob[]", "json, with include[]=logprobs" },
    { "Transcription", "task", ASK_TASKS, "verbose_json" }, { "Transcription", "language", "string?", "verbose_json" },
    { "Transcription", "language_probability", "number", "verbose_json, if it was detected" },
    { "Transcription", "duration", "number", "verbose_json: seconds" },
    { "Transcription", "segments", "Segment[]", "verbose_json; in diarized_json: type, id, start, end, text and speaker" },
    { "Transcription", "words", "Word[]", "verbose_json, with timestamp_granularities[]=word" },
    { "Transcription", "flags", "string[]", "audio that is missing" }, { "Transcription", "notes", "Note[]", "" },
    { "Transcription", "usage!", "Usage", "" },
    { "TranscriptionForm", "file!", "Audio", "any container and codec, by content" },
    { "TranscriptionForm", "model", "string", "name of a model; absent: the first one" },
    { "TranscriptionForm", "language", "string", "code, tag or English name; absent: detect" },
    { "TranscriptionForm", "languages[]", "string[]", "codes; detection chooses one of them" },
    { "TranscriptionForm", "task", ASK_TASKS, "" },
    { "TranscriptionForm", "response_format", ASK_ALL_FORMATS, "" },
    { "TranscriptionForm", "timestamp_granularities[]", "(" ASK_GRANULARITIES ")[]", "with verbose_json" },
    { "TranscriptionForm", "include[]", "(logprobs)[]", "with json" },
    { "TranscriptionForm", "stream", "boolean", "server-sent events while the file is decoded" },
    { "TranscriptionForm", "chunking_strategy", "string", "auto, or an object {type: server_vad, threshold, prefix_padding_ms, "
      "silence_duration_ms}" },
    { "TranscriptionForm", "vad_filter", "boolean", "decode only speech" },
    { "TranscriptionForm", "hotwords", "string", "words that are preferred" },
    { "TranscriptionForm", "keywords[]", "string[]", "the same" },
    { "TranscriptionForm", "fallback_temperatures", "string", "temperatures of later attempts: 0.2, 0.4" },
    { "TranscriptionForm", "clip_timestamps", "string", "seconds: start, end, start, end" },
    { "TranscriptionForm", "max_len", "integer", "characters of a segment" }, { "TranscriptionForm", "split_on_word", "boolean", "" },
    { "TranscriptionForm", "suppress_non_speech", "boolean", "" }, { "TranscriptionForm", "priority", ASK_PRIORITIES, "" },
    { "AsrForm", "audio_file!", "Audio", "" },
    { "AsrQuery", "model", "string", "" }, { "AsrQuery", "task", ASK_TASKS, "" }, { "AsrQuery", "language", "string", "" },
    { "AsrQuery", "initial_prompt", "string", "" },
    { "AsrQuery", "word_timestamps", "boolean", "" }, { "AsrQuery", "vad_filter", "boolean", "" },
    { "AsrQuery", "encode", "boolean", "only true" },
    { "AsrQuery", "output", ASK_OUTPUTS, "" },
    { "DetectedLanguage", "detected_language!", "string", "English name" }, { "DetectedLanguage", "language_code!", "string", "" },
    { "DetectedLanguage", "confidence!", "number?", "" },
    { "Model", "id!", "string", "" }, { "Model", "object!", "model", "" }, { "Model", "created!", "integer", "Unix time" },
    { "Model", "owned_by!", "string", "" }, { "Model", "loaded", "boolean", "" }, { "Model", "tasks", "string[]", "" },
    { "Model", "aliases", "string[]", "" }, { "Model", "family", "string", "these: after it was loaded" },
    { "Model", "weight_type", "string", "" }, { "Model", "parameters", "integer", "" }, { "Model", "multilingual", "boolean", "" },
    { "Model", "language_count", "integer", "" }, { "Model", "languages", "string[]", "codes" },
    { "ModelList", "object!", "list", "" }, { "ModelList", "data!", "Model[]", "" },
    { "Message", "role!", CHAT_ROLES, "" },
    { "Message", "content!", "string?", "in a request also a list of parts of type text; null beside tool_calls" },
    { "Message", "tool_calls", "ToolCall[]", "of the assistant" }, { "Message", "tool_call_id", "string", "of a tool's result" },
    { "ToolCall", "id!", "string", "" }, { "ToolCall", "type!", "function", "" }, { "ToolCall", "function!", "CalledFunction", "" },
    { "CalledFunction", "name!", "string", "" }, { "CalledFunction", "arguments!", "string", "a JSON object" },
    { "Tool", "type!", "function", "" }, { "Tool", "function!", "Function", "" },
    { "Function", "name!", "string", "1 to 64 letters, digits, - and _" }, { "Function", "description", "string", "" },
    { "Function", "parameters", "object", "JSON schema" }, { "Function", "strict", "boolean", "hold calls to their schemas" },
    { "ChatRequest", "messages!", "Message[]", "" }, { "ChatRequest", "model", "string", "" }, { "ChatRequest", "stream", "boolean", "" },
    { "ChatRequest", "stream_options", "object", "include_usage; with stream" },
    { "ChatRequest", "max_tokens", "integer", "" }, { "ChatRequest", "max_completion_tokens", "integer", "the same" },
    { "ChatRequest", "temperature", "number", "0 to 2" }, { "ChatRequest", "top_p", "number", "0 to 1" },
    { "ChatRequest", "top_k", "integer", "" }, { "ChatRequest", "min_p", "number", "0 to 1" },
    { "ChatRequest", "presence_penalty", "number", "-2 to 2" }, { "ChatRequest", "frequency_penalty", "number", "-2 to 2" },
    { "ChatRequest", "repeat_penalty", "number", "" }, { "ChatRequest", "repeat_last_n", "integer", "" },
    { "ChatRequest", "seed", "integer", "of the first choice; the others follow" },
    { "ChatRequest", "n", "integer", "number of choices, 1 to 16" }, { "ChatRequest", "logprobs", "boolean", "of the chosen tokens" },
    { "ChatRequest", "top_logprobs", "integer", "0 to 20; with logprobs" },
    { "ChatRequest", "ignore_eos", "boolean", "" },
    { "ChatRequest", "stop", "string[]", "a text, or a list of them" },
    { "ChatRequest", "response_format", "object", "type text, json_object or json_schema" },
    { "ChatRequest", "json_schema", "object", "instead of response_format" }, { "ChatRequest", "grammar", "string", "GBNF" },
    { "ChatRequest", "tools", "Tool[]", "at most 128" },
    { "ChatRequest", "tool_choice", TOOL_CHOICES, "or an object that names a function or lists allowed_tools" },
    { "ChatRequest", "parallel_tool_calls", "boolean", "false: at most one call" },
    { "ChatRequest", "reasoning_effort", CHAT_EFFORTS, "none: without thinking" },
    { "ChatRequest", "chat_template_kwargs", "object", "enable_thinking" }, { "ChatRequest", "modalities", "(text)[]", "" },
    { "ChatLogprob", "token!", "string", "" }, { "ChatLogprob", "logprob!", "number", "" }, { "ChatLogprob", "bytes!", "integer[]", "" },
    { "ChatLogprob", "top_logprobs!", "ChatTopLogprob[]", "as many as the request asks for, the most probable one first" },
    { "ChatTopLogprob", "token!", "string", "" }, { "ChatTopLogprob", "logprob!", "number", "" },
    { "ChatTopLogprob", "bytes!", "integer[]", "" },
    { "ChatLogprobs", "content!", "ChatLogprob[]", "" }, { "ChatLogprobs", "refusal!", "string?", "always null" },
    { "ChatChoice", "logprobs", "ChatLogprobs", "null without logprobs: true" },
    { "ChatChoice", "index!", "integer", "" }, { "ChatChoice", "message!", "Message", "" },
    { "ChatChoice", "finish_reason!", "stop|length|tool_calls", "" },
    { "ChatUsage", "prompt_tokens!", "integer", "" }, { "ChatUsage", "completion_tokens", "integer", "" },
    { "ChatUsage", "total_tokens!", "integer", "" },
    { "ChatCompletion", "id!", "string", "" }, { "ChatCompletion", "object!", "chat.completion", "" },
    { "ChatCompletion", "created!", "integer", "" }, { "ChatCompletion", "model!", "string", "" },
    { "ChatCompletion", "choices!", "ChatChoice[]", "" }, { "ChatCompletion", "usage!", "ChatUsage", "" },
    { "EmbeddingRequest", "input!", "string[]", "a text, or a list of them" }, { "EmbeddingRequest", "model", "string", "" },
    { "EmbeddingRequest", "encoding_format", EMBED_ENCODINGS, "" }, { "EmbeddingRequest", "pooling", EMBED_POOLINGS, "" },
    { "EmbeddingRequest", "normalize", "boolean", "" }, { "EmbeddingRequest", "truncate", "boolean", "cut texts that are too long" },
    { "Embedding", "object!", "embedding", "" }, { "Embedding", "index!", "integer", "" }, { "Embedding", "embedding!", "number[]", "" },
    { "EmbeddingList", "object!", "list", "" }, { "EmbeddingList", "data!", "Embedding[]", "" },
    { "EmbeddingList", "model!", "string", "" },
    { "EmbeddingList", "usage!", "ChatUsage", "" },
    { "RealtimeQuery", "intent", "transcription", "" }, { "RealtimeQuery", "model", "string", "" },
    { "SecretRequest", "session", "object", "as in session.update" }, { "SecretRequest", "expires_after", "object", "anchor and seconds" },
    { "Secret", "value!", "string", "" }, { "Secret", "expires_at!", "integer", "Unix time" }, { "Secret", "session!", "object", "" },
    { "SessionRequest", "input_audio_format", "pcm16|g711_ulaw|g711_alaw", "" },
    { "SessionRequest", "input_audio_transcription", "object?", "" }, { "SessionRequest", "input_audio_noise_reduction", "object?", "" },
    { "SessionRequest", "turn_detection", "object?", "" }, { "SessionRequest", "include", "string[]", "" },
    { "SessionRequest", "client_secret", "object", "expires_after" },
    { "SessionSecret", "type!", "transcription", "" }, { "SessionSecret", "object!", "realtime.transcription_session", "" },
    { "SessionSecret", "id!", "string", "" }, { "SessionSecret", "include!", "string[]", "" },
    { "SessionSecret", "input_audio_format!", "pcm16|g711_ulaw|g711_alaw", "" },
    { "SessionSecret", "input_audio_transcription!", "object?", "" }, { "SessionSecret", "input_audio_noise_reduction!", "object?", "" },
    { "SessionSecret", "turn_detection!", "object?", "" }, { "SessionSecret", "client_secret!", "object", "value and expires_at" },
    { "ListenQuery", "model", "string", "" }, { "ListenQuery", "language", "string", "" },
    { "ListenQuery", "encoding!", "linear16|linear32|mulaw|alaw", "" }, { "ListenQuery", "sample_rate", "integer", "" },
    { "ListenQuery", "channels", "integer", "" }, { "ListenQuery", "interim_results", "boolean", "" },
    { "ListenQuery", "vad_events", "boolean", "" }, { "ListenQuery", "utterance_end_ms", "integer", "with interim_results" },
    { "ListenQuery", "endpointing", "string", "true, false, or milliseconds" }, { "ListenQuery", "keyterm", "string[]", "" },
    { "ListenQuery", "keywords", "string[]", "the same" },
    { "ListenFileQuery", "model", "string", "" }, { "ListenFileQuery", "language", "string", "multi or absent: detect" },
    { "ListenFileQuery", "detect_language", "boolean", "without language: the answer names it" },
    { "ListenFileQuery", "utterances", "boolean", "split the text at pauses" },
    { "ListenFileQuery", "utt_split", "number", "seconds of such a pause; with utterances" },
    { "ListenFileQuery", "keyterm", "string[]", "" }, { "ListenFileQuery", "keywords", "string[]", "the same" },
    { "ListenWord", "word!", "string", "lower case, without punctuation" }, { "ListenWord", "start!", "number?", "seconds" },
    { "ListenWord", "end!", "number?", "seconds" }, { "ListenWord", "confidence!", "number?", "" },
    { "ListenWord", "punctuated_word!", "string", "" },
    { "ListenAlternative", "transcript!", "string", "" }, { "ListenAlternative", "confidence!", "number?", "" },
    { "ListenAlternative", "words!", "ListenWord[]", "empty if the model has no times of words" },
    { "ListenChannel", "alternatives!", "ListenAlternative[]", "one" },
    { "ListenChannel", "detected_language", "string", "code; with detect_language" },
    { "ListenChannel", "language_confidence", "number?", "the same" },
    { "ListenUtterance", "start!", "number?", "seconds" }, { "ListenUtterance", "end!", "number?", "seconds" },
    { "ListenUtterance", "confidence!", "number?", "" }, { "ListenUtterance", "channel!", "integer", "0" },
    { "ListenUtterance", "transcript!", "string", "" }, { "ListenUtterance", "words!", "ListenWord[]", "" },
    { "ListenUtterance", "id!", "string", "" },
    { "ListenResults", "channels!", "ListenChannel[]", "one, the mix" },
    { "ListenResults", "utterances", "ListenUtterance[]", "with utterances=true" },
    { "ListenMetadata", "request_id!", "string", "" }, { "ListenMetadata", "created!", "string", "UTC" },
    { "ListenMetadata", "duration!", "number", "seconds" }, { "ListenMetadata", "channels!", "integer", "" },
    { "ListenMetadata", "models!", "string[]", "" }, { "ListenMetadata", "model_info!", "object", "name, version and arch, by model" },
    { "ListenMetadata", "transaction_key!", "string", "" }, { "ListenMetadata", "sha256!", "string", "always empty" },
    { "ListenAnswer", "metadata!", "ListenMetadata", "" }, { "ListenAnswer", "results!", "ListenResults", "" },
    { "StreamQuery", "model", "string", "" }, { "StreamQuery", "language", "string", "" }, { "StreamQuery", "prompt", "string", "" },
    { "StreamQuery", "hotwords", "string", "" }, { "StreamQuery", "task", ASK_TASKS, "" }, { "StreamQuery", "rate", "integer", "" },
    { "StreamQuery", "channels", "integer", "" }, { "StreamQuery", "encoding", "s16le|f32le|ulaw|alaw|s32le|u8", "" },
    { "StreamQuery", "vad", "off|on", "" }, { "StreamQuery", "vad_threshold", "number", "0 to 1" },
    { "StreamQuery", "vad_min_silence_ms", "integer", "" }, { "StreamQuery", "step_ms", "integer", "" },
    { "StreamQuery", "max_turn_ms", "integer", "" },
    { "Status", "status!", "ok|loading|draining|spool_full", "" },
    { "Version", "name!", "string", "" }, { "Version", "version!", "string", "" },
};
/* clang-format on */

enum { N_MEMBERS = sizeof members / sizeof *members, NAME_SZ = 64 };

/* ---- types ------------------------------------------------------------------------------------------------------------------- */

static json_t *words_of(const char *words)
{
    json_t *list = json_array();
    while (list && *words) {
        const size_t n = strcspn(words, "|");
        if (json_array_append_new(list, json_stringn(words, n))) json_decref(list), list = NULL;
        words += n + (words[n] == '|');
    }
    return json_pack("{s:s, s:o}", "type", "string", "enum", list);
}

static json_t *plain(const char *type)
{
    static const char *const names[] = { "string", "integer", "number", "boolean", "object" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t n = strlen(names[i]);
        if (!strcmp(type, names[i])) return json_pack("{s:s}", "type", type);
        if (!strncmp(type, names[i], n) && !strcmp(type + n, "?")) return json_pack("{s:[s,s]}", "type", names[i], "null");
    }
    char path[NAME_SZ];
    if (*type < 'A' || *type > 'Z') return words_of(type);
    snprintf(path, sizeof path, "#/components/schemas/%s", type);
    return json_pack("{s:s}", "$ref", path);
}

json_t *openapi_type(const char *type)
{
    char item[NAME_SZ];
    const size_t n = strlen(type);
    if (n < 2 || strcmp(type + n - 2, "[]") != 0) return plain(type);
    const int in_brackets = *type == '(';
    snprintf(item, sizeof item, "%.*s", (int)n - 2 - 2 * in_brackets, type + in_brackets);
    return json_pack("{s:s, s:o}", "type", "array", "items", plain(item));
}

/* ---- members ----------------------------------------------------------------------------------------------------------------- */

/* Without the mark. @return 1: required */
static int name_of(const struct member *m, char name[NAME_SZ])
{
    const size_t n = strlen(m->name);
    const int is_required = m->name[n - 1] == '!';
    snprintf(name, NAME_SZ, "%.*s", (int)(n - (size_t)is_required), m->name);
    return is_required;
}

static json_t *described(const struct member *m)
{
    json_t *o = openapi_type(m->type);
    if (o && m->text[0] && json_object_set_new(o, "description", json_string(m->text))) json_decref(o), o = NULL;
    return o;
}

static int add_member(json_t *all, const struct member *m)
{
    char name[NAME_SZ];
    const int is_required = name_of(m, name);
    json_t *schema = json_object_get(all, m->schema);
    if (!schema) {
        schema = json_pack("{s:s, s:{}, s:[]}", "type", "object", "properties", "required");
        if (json_object_set_new(all, m->schema, schema)) return -1;
    }
    if (json_object_set_new(json_object_get(schema, "properties"), name, described(m))) return -1;
    return is_required ? json_array_append_new(json_object_get(schema, "required"), json_string(name)) : 0;
}

/* A parameter of the library, with its range. */
static json_t *field_type(const struct ask_field *f)
{
    steno_param p;
    const int is_own = f->lo < f->hi;
    if (ask_param(NULL, f->param, &p)) return openapi_type("string");
    if (f->words) return words_of(f->words);
    if (p.kind == STENO_PARAM_FLAG) return openapi_type("boolean");
    if (p.kind == STENO_PARAM_TEXT) return openapi_type("string");
    const char *type = p.kind == STENO_PARAM_NUMBER ? "number" : "integer";
    return json_pack("{s:s, s:f, s:f}", "type", type, "minimum", is_own ? f->lo : p.min, "maximum",
                     is_own && f->hi < p.max ? f->hi : p.max);
}

static int add_fields(json_t *all)
{
    json_t *form = json_object_get(json_object_get(all, "TranscriptionForm"), "properties");
    int bad = !form;
    for (int i = 0; !bad && ask_field_at(i); i++) bad = json_object_set_new(form, ask_field_at(i)->name, field_type(ask_field_at(i)));
    return bad;
}

/* A field under the name that another server's clients use. */
static json_t *other_type(const json_t *form, const struct ask_other *o)
{
    char text[NAME_SZ + 16];
    const json_t *of = o->of ? json_object_get(form, o->of) : NULL;
    json_t *type = of ? json_deep_copy(of) : openapi_type(o->of ? "number" : "boolean");
    snprintf(text, sizeof text, "as %s", o->of);
    if (!type || (o->of && json_object_set_new(type, "description", json_string(text)))) json_decref(type), type = NULL;
    return type;
}

/* The form of /inference has all fields of transcriptions, and whisper.cpp's names. */
static int add_inference(json_t *all)
{
    json_t *schema = json_deep_copy(json_object_get(all, "TranscriptionForm")), *form = json_object_get(schema, "properties");
    struct ask_other o;
    int bad = !form;
    for (int i = 0; !bad && ask_other_at(ASK_INFERENCE, i, &o) == 0; i++) bad = json_object_set_new(form, o.name, other_type(form, &o));
    return json_object_set_new(all, "InferenceForm", schema) || bad;
}

json_t *openapi_schemas(void)
{
    json_t *all = json_pack("{s:{s:s, s:s}}", "Audio", "type", "string", "format", "binary");
    int bad = !all;
    for (int i = 0; i < N_MEMBERS && !bad; i++) bad = add_member(all, &members[i]);
    if (!bad && !add_fields(all) && !add_inference(all)) return all;
    json_decref(all);
    return NULL;
}

json_t *openapi_parameters(const char *schema)
{
    json_t *list = json_array();
    for (int i = 0; i < N_MEMBERS && list; i++) {
        char name[NAME_SZ];
        if (strcmp(members[i].schema, schema) != 0) continue;
        const int is_required = name_of(&members[i], name);
        if (json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:o}", "name", name, "in", "query", "required", is_required, "schema",
                                                  described(&members[i]))))
            json_decref(list), list = NULL;
    }
    return list;
}
