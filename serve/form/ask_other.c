/* steno-serve: fields of other servers' routes as fields of this one's. SPDX-License-Identifier: MIT */
#include "ask_other.h"
#include <stdlib.h>
#include <string.h>

enum how {
    RENAMED,
    ADDS,          /* if true: the field `to` with a value */
    WIDTH,         /* renamed; -1 is greedy search */
    WITH_VAD,      /* renamed; only with `vad` */
    REFUSED,       /* if true */
    REFUSED_FALSE, /* if false */
    DETECTS,       /* if true: only the language is wanted */
    WORDS,         /* word times, which json lists */
    OUTPUT         /* a format by its other name */
};

struct row { const char *from, *to; enum how how; const char *value; };

#define NO_SPEAKERS "this server cannot recognise speakers; leave it out"

/* clang-format off */
static const struct row inference[] = { /* whisper.cpp, examples/server */
    { "vad", "vad_filter", RENAMED, NULL },
    { "vad_threshold", "chunking_strategy[threshold]", WITH_VAD, NULL },
    { "vad_min_silence_duration_ms", "chunking_strategy[silence_duration_ms]", WITH_VAD, NULL },
    { "vad_speech_pad_ms", "chunking_strategy[prefix_padding_ms]", WITH_VAD, NULL },
    { "temperature_inc", "temperature_increment_on_fallback", RENAMED, NULL },
    { "offset_t", "offset_ms", RENAMED, NULL },
    { "duration", "duration_ms", RENAMED, NULL },
    { "word_thold", "token_threshold", RENAMED, NULL },
    { "entropy_thold", "entropy_threshold", RENAMED, NULL },
    { "logprob_thold", "logprob_threshold", RENAMED, NULL },
    { "no_speech_thold", "no_speech_threshold", RENAMED, NULL },
    { "no_timestamps", "without_timestamps", RENAMED, NULL },
    { "suppress_nst", "suppress_non_speech", RENAMED, NULL },
    { "beam_size", "beam_size", WIDTH, NULL },
    { "translate", "task", ADDS, "translate" },
    { "detect_language", "language", DETECTS, NULL },
    { "diarize", "diarize", REFUSED, NO_SPEAKERS },
    { 0 },
};

static const struct row asr[] = { /* whisper-asr-webservice */
    { "initial_prompt", "prompt", RENAMED, NULL },
    { "output", "response_format", OUTPUT, NULL },
    { "word_timestamps", "word_timestamps", WORDS, NULL },
    { "encode", "encode", REFUSED_FALSE, "send a sound file; raw samples are not read" },
    { "diarize", "diarize", REFUSED, NO_SPEAKERS },
    { 0 },
};

static const struct row detect_language[] = {
    { "encode", "encode", REFUSED_FALSE, "send a sound file; raw samples are not read" },
    { 0 },
};

static const struct row listen[] = { /* Deepgram */
    { "keyterm", "hotwords", RENAMED, NULL },
    { 0 },
};

static const struct row openai[] = { { 0 } };
/* clang-format on */

static const struct { const struct row *rows; const char *file; } routes[ASK_N_ROUTES] = {
    [ASK_OPENAI] = { openai, "file" },
    [ASK_INFERENCE] = { inference, "file" },
    [ASK_ASR] = { asr, "audio_file" },
    [ASK_DETECT_LANGUAGE] = { detect_language, "audio_file" },
    [ASK_LISTEN] = { listen, NULL },
};

const char *ask_file_field(enum ask_route route)
{
    return routes[route].file;
}

int ask_other_at(enum ask_route route, int i, struct ask_other *out)
{
    for (const struct row *r = routes[route].rows; r->from; r++) {
        if (r->how == REFUSED || strcmp(r->from, r->to) == 0 || i-- > 0) continue;
        *out = (struct ask_other){ r->from, r->how == RENAMED || r->how == WITH_VAD ? r->to : NULL };
        return 0;
    }
    return -1;
}

static int add(struct form *f, const char *name, const char *value, struct api_error *e)
{
    return form_add(f, name, value, strlen(value), e);
}

/* txt, vtt, srt, tsv or json. */
static int output(struct form *f, const char *name, struct api_error *e)
{
    static const char *const formats[] = { "text", "vtt", "srt", "tsv", "verbose_json" };
    int i = 0;
    if (form_word(f, name, ASK_OUTPUTS, &i, e) != API_OK) return (int)e->code;
    return add(f, "response_format", formats[i], e);
}

/* The field `word_timestamps` stays, and a list of words shows them. */
static int words(struct form *f, const char *name, struct api_error *e)
{
    const char *format = "txt";
    int on = 0;
    if (form_bool(f, name, &on, e) != API_OK || form_text(f, "output", &format, e) != API_OK) return (int)e->code;
    if (!on || strcmp(format, "json") != 0) return API_OK;
    return add(f, "timestamp_granularities", "segment", e) == API_OK ? add(f, "timestamp_granularities", "word", e) : (int)e->code;
}

static int rename_width(struct form *f, const struct row *r, struct api_error *e)
{
    for (int i = 0; i < f->n; i++)
        if (strcmp(f->field[i].name, r->from) == 0 && strcmp(f->field[i].value, "-1") == 0) memcpy(f->field[i].value, "0", 2);
    return form_rename(f, r->from, r->to, e);
}

static int read_flag(struct ask *a, struct form *f, const struct row *r, struct api_error *e)
{
    int on = r->how == REFUSED_FALSE;
    if (form_bool(f, r->from, &on, e) != API_OK) return (int)e->code;
    if (r->how == ADDS && on) return add(f, r->to, r->value, e);
    if ((r->how == REFUSED && on) || (r->how == REFUSED_FALSE && !on))
        return api_fail(e, API_invalid_value, r->from, "%s: %s", r->from, r->value);
    if (r->how == DETECTS) a->detects = on;
    return API_OK;
}

static int read_row(struct ask *a, struct form *f, const struct row *r, struct api_error *e)
{
    int vad = 0;
    switch (r->how) {
    case RENAMED: return form_rename(f, r->from, r->to, e);
    case WIDTH: return rename_width(f, r, e);
    case OUTPUT: return output(f, r->from, e);
    case WORDS: return words(f, r->from, e);
    case WITH_VAD:
        if (form_bool(f, "vad_filter", &vad, e) == API_OK && !vad)
            return api_fail(e, API_invalid_value, r->from, "%s needs vad=true", r->from);
        return e->code == API_OK ? form_rename(f, r->from, r->to, e) : (int)e->code;
    default: return read_flag(a, f, r, e);
    }
}

/* Gives an error about a field of this server the name that the route's clients use. */
static void error_as(int route, struct api_error *e)
{
    if (e->code == API_OK || !e->param[0]) return;
    for (const struct row *r = routes[route].rows; r->from; r++) {
        if (strcmp(e->param, r->to) != 0 || strcmp(r->from, r->to) == 0 || r->how == DETECTS) continue;
        char rest[sizeof e->message];
        const size_t n = strlen(r->to);
        const int begins = strncmp(e->message, r->to, n) == 0;
        strcpy(rest, e->message + (begins ? n : 0));
        snprintf(e->message, sizeof e->message, "%s%s%.440s", r->from, begins ? "" : ": ", rest);
        snprintf(e->param, sizeof e->param, "%s", r->from);
        return;
    }
}

int ask_read_as(struct ask *a, struct form *f, enum ask_route route, int task, int is_strict, struct api_error *e)
{
    struct ask first = { .detects = route == ASK_DETECT_LANGUAGE };
    if (routes[route].file) form_use(f, routes[route].file);
    if (route == ASK_ASR && !form_has(f, "output")) add(f, "response_format", "text", e); /* its default */
    for (const struct row *r = routes[route].rows; r->from && e->code == API_OK; r++)
        if (form_has(f, r->from)) read_row(&first, f, r, e);
    if (e->code == API_OK) ask_read(a, f, task, is_strict, e);
    else *a = first;
    a->detects = first.detects;
    a->route = (int)route;
    a->error_as = error_as;
    error_as((int)route, e);
    return (int)e->code;
}
