/* steno-serve: parameters of Deepgram's API. SPDX-License-Identifier: MIT */
#include "listen.h"
#include "form.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* What happens with a parameter. A request whose result would lack what it asks for is refused; wishes about the form of the text, which
 * models have of their own, and notes for the hosted service are ignored. */
enum rule { IGNORED, OFF, REFUSED, FLAG, NUMBER, SECONDS, TEXT, ENCODING, ENDPOINTING, KEYTERM, ONE };
enum kind { ANY, LIVE, FILES }; /* of requests that have the parameter */

static const struct row { const char *name; enum rule rule; size_t at; double lo, hi; enum kind kind; } rows[] = {
#define AT(field) offsetof(struct listen_config, field)
    { "model", TEXT, AT(model), 0, 0, ANY }, { "language", TEXT, AT(language), 0, 0, ANY },
    { "encoding", ENCODING, 0, 0, 0, LIVE }, { "sample_rate", NUMBER, AT(rate), 8000, 192000, LIVE },
    { "channels", NUMBER, AT(channels), 1, 8, LIVE }, { "interim_results", FLAG, AT(interim), 0, 0, LIVE },
    { "vad_events", FLAG, AT(vad_events), 0, 0, LIVE }, { "endpointing", ENDPOINTING, 0, 0, 0, LIVE },
    { "utterance_end_ms", NUMBER, AT(utterance_end_ms), 1000, 5000, LIVE },
    { "utterances", FLAG, AT(utterances), 0, 0, FILES }, { "utt_split", SECONDS, AT(utt_split_s), 0, 60, FILES },
    { "detect_language", FLAG, AT(detects_language), 0, 0, FILES },
    { "keyterm", KEYTERM, 0, 0, 0, ANY }, { "keywords", KEYTERM, 0, 0, 0, ANY }, { "alternatives", ONE, 0, 0, 0, ANY },
#undef AT
    { "punctuate", IGNORED, 0, 0, 0, ANY }, { "smart_format", IGNORED, 0, 0, 0, ANY }, { "numerals", IGNORED, 0, 0, 0, ANY },
    { "filler_words", IGNORED, 0, 0, 0, ANY }, { "no_delay", IGNORED, 0, 0, 0, ANY }, { "profanity_filter", IGNORED, 0, 0, 0, ANY },
    { "mip_opt_out", IGNORED, 0, 0, 0, ANY }, { "tag", IGNORED, 0, 0, 0, ANY }, { "extra", IGNORED, 0, 0, 0, ANY },
    { "version", IGNORED, 0, 0, 0, ANY }, { "tier", IGNORED, 0, 0, 0, ANY }, { "diarize_version", IGNORED, 0, 0, 0, ANY },
    { "language_hint", IGNORED, 0, 0, 0, ANY }, { "diarize", OFF, 0, 0, 0, ANY }, { "multichannel", OFF, 0, 0, 0, ANY },
    { "dictation", OFF, 0, 0, 0, ANY }, { "measurements", OFF, 0, 0, 0, ANY }, { "detect_entities", OFF, 0, 0, 0, ANY },
    { "callback", REFUSED, 0, 0, 0, ANY }, { "callback_method", REFUSED, 0, 0, 0, ANY }, { "redact", OFF, 0, 0, 0, ANY },
    { "replace", REFUSED, 0, 0, 0, ANY }, { "search", REFUSED, 0, 0, 0, ANY }, { "diarize_model", REFUSED, 0, 0, 0, ANY },
    { "paragraphs", OFF, 0, 0, 0, ANY }, { "summarize", OFF, 0, 0, 0, ANY }, { "sentiment", OFF, 0, 0, 0, ANY },
    { "topics", OFF, 0, 0, 0, ANY }, { "intents", OFF, 0, 0, 0, ANY }, { "custom_topic", REFUSED, 0, 0, 0, ANY },
    { "custom_topic_mode", REFUSED, 0, 0, 0, ANY }, { "custom_intent", REFUSED, 0, 0, 0, ANY },
    { "custom_intent_mode", REFUSED, 0, 0, 0, ANY },
};

static int flag_read(const char *value, int *on)
{
    static const char *const yes[] = { "true", "1", "yes", "on" }, *const no[] = { "false", "0", "no", "off" };
    for (int i = 0; i < 4; i++) {
        if (strcasecmp(value, yes[i]) == 0) return *on = 1, 0;
        if (strcasecmp(value, no[i]) == 0) return *on = 0, 0;
    }
    return -1;
}

static int whole_read(const char *value, double lo, double hi, int *out)
{
    char *end;
    const double x = strtod(value, &end);
    if (!*value || *end || !(x >= lo && x <= hi) || x != (double)(int)x) return -1;
    *out = (int)x;
    return 0;
}

static int seconds_read(const char *value, double most, double *out)
{
    double x;
    if (number_read(value, &x) || !(x > 0 && x <= most)) return -1;
    *out = x;
    return 0;
}

static int encoding_read(struct listen_config *c, const char *value, struct api_error *e)
{
    static const struct { const char *name; enum audio_encoding is; } known[] = {
        { "linear16", AUDIO_S16LE }, { "linear32", AUDIO_F32LE }, { "mulaw", AUDIO_ULAW }, { "alaw", AUDIO_ALAW },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcasecmp(value, known[i].name) != 0) continue;
        c->encoding = known[i].is;
        c->has_encoding = 1;
        return API_OK;
    }
    return api_fail(e, API_invalid_value, "encoding", "encoding must be linear16, linear32, mulaw or alaw, not '%.40s'.", value);
}

/* "false": a pause ends no result as speech_final. Otherwise milliseconds of silence. */
static int endpointing_read(struct listen_config *c, const char *value, struct api_error *e)
{
    int on = 1, ms = 0;
    if (whole_read(value, 0, 60000, &ms) == 0 && ms != 1) c->silence_ms = ms < LISTEN_SILENCE_MIN_MS ? LISTEN_SILENCE_MIN_MS : ms;
    else if (flag_read(value, &on)) {
        return api_fail(e, API_invalid_value, "endpointing", "endpointing must be true, false, or milliseconds up to 60000, not '%.40s'.",
                        value);
    }
    c->endpointing = on && strcmp(value, "0") != 0;
    return API_OK;
}

/* Terms become hot words; "word:2" has a weight, which is left out. */
static int keyterm_add(struct listen_config *c, const char *value, struct api_error *e)
{
    const char *colon = strrchr(value, ':');
    const size_t weight = colon && colon[1] && strspn(colon + 1, "-.0123456789") == strlen(colon + 1) ? strlen(colon) : 0;
    const size_t n = strlen(value) - weight, at = strlen(c->hotwords);
    if (at + n + 2 > sizeof c->hotwords)
        return api_fail(e, API_invalid_value, "keyterm", "All key terms together may have at most %zu bytes.", sizeof c->hotwords - 1);
    snprintf(c->hotwords + at, sizeof c->hotwords - at, "%s%.*s", at ? " " : "", (int)n, value);
    return API_OK;
}

static int value_read(struct listen_config *c, size_t i, const char *value, struct api_error *e)
{
    const char *name = rows[i].name;
    const enum kind kind = c->is_file ? FILES : LIVE;
    if (rows[i].kind != ANY && rows[i].kind != kind)
        return api_fail(e, API_invalid_value, name, "%s is for %s: leave it out.", name, c->is_file ? "live audio" : "files");
    char *field = (char *)c + rows[i].at;
    int on = 0, number;
    switch (rows[i].rule) {
    case IGNORED: return API_OK;
    case ENCODING: return encoding_read(c, value, e);
    case ENDPOINTING: return endpointing_read(c, value, e);
    case KEYTERM: return keyterm_add(c, value, e);
    case OFF:
        if (flag_read(value, &on) == 0 && !on) return API_OK;
        break;
    case ONE:
        if (whole_read(value, 1, 1, &number) == 0) return API_OK;
        break;
    case REFUSED: break;
    case FLAG:
        if (flag_read(value, (int *)(void *)field) == 0) return API_OK;
        return api_fail(e, API_invalid_value, name, "%s must be true or false, not '%.40s'.", name, value);
    case NUMBER:
        if (whole_read(value, rows[i].lo, rows[i].hi, (int *)(void *)field) == 0) return API_OK;
        return api_fail(e, API_invalid_value, name, "%s must be a whole number from %.0f to %.0f, not '%.40s'.", name, rows[i].lo,
                        rows[i].hi, value);
    case SECONDS:
        if (seconds_read(value, rows[i].hi, (double *)(void *)field) == 0) return API_OK;
        return api_fail(e, API_invalid_value, name, "%s must be seconds, up to %.0f, not '%.40s'.", name, rows[i].hi, value);
    case TEXT:
        if (strlen(value) < LISTEN_TEXT_SZ) return snprintf(field, LISTEN_TEXT_SZ, "%s", value), API_OK;
        return api_fail(e, API_invalid_value, name, "%s is longer than %d bytes.", name, LISTEN_TEXT_SZ - 1);
    }
    return api_fail(e, API_invalid_value, name, "This server does not support %s=%.40s: leave it out.", name, value);
}

void listen_config_init(struct listen_config *c, int is_file)
{
    *c = (struct listen_config){ .is_file = is_file, .utt_split_s = (double)NAN, .channels = 1, .endpointing = 1, .silence_ms = -1 };
}

int listen_query(struct listen_config *c, const char *name, const char *value, int is_strict, struct api_error *e)
{
    if (!*value) return API_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(name, rows[i].name) == 0) return value_read(c, i, value, e);
    return is_strict ? api_fail(e, API_unknown_parameter, name, "There is no parameter '%.60s'.", name) : API_OK;
}

static int file_check(struct listen_config *c, struct api_error *e)
{
    const double usual_s = 0.8;
    if (!isnan(c->utt_split_s) && !c->utterances)
        return api_fail(e, API_invalid_value, "utt_split", "utt_split needs utterances=true.");
    if (c->detects_language && *c->language)
        return api_fail(e, API_invalid_value, "detect_language", "detect_language and language exclude each other.");
    if (isnan(c->utt_split_s)) c->utt_split_s = usual_s;
    return API_OK;
}

static int live_check(struct listen_config *c, struct api_error *e)
{
    if (!c->has_encoding)
        return api_fail(e, API_missing_required_parameter, "encoding",
                        "encoding is missing: live audio must be raw samples, linear16, linear32, mulaw or alaw, with a sample_rate.");
    if (!c->rate && (c->encoding == AUDIO_ULAW || c->encoding == AUDIO_ALAW)) c->rate = 8000;
    if (!c->rate) return api_fail(e, API_missing_required_parameter, "sample_rate", "sample_rate is missing: encoding needs it.");
    if (c->utterance_end_ms && !c->interim)
        return api_fail(e, API_invalid_value, "utterance_end_ms", "utterance_end_ms needs interim_results=true.");
    return API_OK;
}

int listen_config_check(struct listen_config *c, struct api_error *e)
{
    const int code = c->is_file ? file_check(c, e) : live_check(c, e);
    if (strcmp(c->language, "multi") == 0) c->language[0] = '\0';
    return code;
}

int listen_model_is_hosted(const char *name)
{
    static const char *const hosted[] = { "nova", "enhanced", "base", "whisper", "general", "phonecall", "meeting" };
    for (size_t i = 0; i < sizeof hosted / sizeof *hosted; i++) {
        const size_t n = strlen(hosted[i]);
        if (strncasecmp(name, hosted[i], n) == 0 && (name[n] == '\0' || name[n] == '-' || name[n] == ':')) return 1;
    }
    return 0;
}

const char *listen_model(struct engines *es, const struct listen_config *c)
{
    return !engines_find(es, c->model) && listen_model_is_hosted(c->model) ? "" : c->model;
}

void listen_time(char out[LISTEN_TIME_SZ])
{
    const time_t now = time(NULL);
    struct tm utc;
    strftime(out, LISTEN_TIME_SZ, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
}
