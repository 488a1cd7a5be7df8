/* steno-serve: fields that are parameters of the library, as a table. SPDX-License-Identifier: MIT */
#include "ask_fields.h"
#include <math.h>
#include <string.h>
#include <strings.h>

enum { WIDTH_MAX = 8 }; /* beams and samples through HTTP */

/* clang-format off */
static const struct ask_field fields[] = {
    { .name = "prompt", .param = "initial_prompt" },
    { .name = "temperature", .param = "temperature", .hi = 1 },
    { .name = "temperature_increment_on_fallback", .param = "temperature_increment_on_fallback", .hi = 1 },
    { .name = "beam_size", .param = "beam_size", .hi = WIDTH_MAX },
    { .name = "best_of", .param = "best_of", .hi = WIDTH_MAX },
    { .name = "patience", .param = "patience" },
    { .name = "length_penalty", .param = "length_penalty" },
    { .name = "seed", .param = "seed" },
    { .name = "without_timestamps", .param = "without_timestamps" },
    { .name = "condition_on_previous_text", .param = "condition_on_previous_text" },
    { .name = "carry_initial_prompt", .param = "carry_initial_prompt" },
    { .name = "prefix", .param = "prefix" },
    { .name = "hotwords_boost", .param = "hotwords_boost" },
    { .name = "repetition_penalty", .param = "repetition_penalty" },
    { .name = "no_repeat_ngram_size", .param = "no_repeat_ngram_size" },
    { .name = "prompt_reset_on_temperature", .param = "prompt_reset_on_temperature" },
    { .name = "offset_ms", .param = "offset_ms" },
    { .name = "duration_ms", .param = "duration_ms" },
    { .name = "no_speech_threshold", .param = "no_speech_threshold" },
    { .name = "logprob_threshold", .param = "logprob_threshold" },
    { .name = "compression_ratio_threshold", .param = "compression_ratio_threshold" },
    { .name = "entropy_threshold", .param = "entropy_threshold" },
    { .name = "hallucination_silence_threshold", .param = "hallucination_silence_threshold" },
    { .name = "max_initial_timestamp", .param = "max_initial_timestamp" },
    { .name = "max_context", .param = "max_context" },
    { .name = "audio_ctx", .param = "audio_ctx" },
    { .name = "token_threshold", .param = "token_threshold" },
    { .name = "suppress_blank", .param = "suppress_blank" },
    { .name = "tinydiarize", .param = "tinydiarize" },
    { .name = "language_per_segment", .param = "language_per_segment" },
    { .name = "word_timestamps", .param = "word_timestamps" },
    { .name = "guards", .param = "guards", .words = "off|flag|retry" },
    { .name = "itn", .param = "itn" },
};

/* Fields that ask.c reads itself, by the library's parameter. */
static const struct { const char *param, *name; } other_names[] = {
    { "language", "language" }, { "task", "task" }, { "hotwords", "hotwords" }, { "clip_timestamps", "clip_timestamps" },
    { "fallback_temperatures", "fallback_temperatures" }, { "token_timestamps", "max_len" }, { "suppress_tokens", "suppress_non_speech" },
    { "independent_clips", "chunking_strategy" },
};
/* clang-format on */

enum { N_FIELDS = sizeof fields / sizeof *fields };

const struct ask_field *ask_field_at(int i)
{
    return i >= 0 && i < N_FIELDS ? &fields[i] : NULL;
}

/* ---- the library's table ------------------------------------------------------------------------------------------------------- */

int ask_param(const steno_model *m, const char *param, steno_param *out)
{
    for (int i = 0;; i++) {
        *out = (steno_param){ .size = sizeof *out };
        if (steno_param_get(m, STENO_CALL_TRANSCRIBE, i, out) != STENO_OK) return -1;
        if (strcmp(out->name, param) == 0) return 0;
    }
}

int ask_served(const steno_model *m, const char *param) { return steno_serves(m, STENO_CALL_TRANSCRIBE, param); }

int ask_unserved(const steno_model *m, const char *param, const char *name, struct api_error *e)
{
    steno_param p;
    steno_model_info info = { .size = sizeof info };
    const char *why = ask_param(m, param, &p) == 0 ? p.reason : "is not known";
    steno_model_info_get(m, &info);
    return api_fail(e, API_invalid_value, name, "%s %s; this %s model does not serve it: leave it out", name, why, info.family);
}

/* ---- values -------------------------------------------------------------------------------------------------------------------- */

static int read_number(char *at, struct form *f, const struct ask_field *r, const steno_param *p, double lo, double hi,
                       struct api_error *e)
{
    double x;
    const char *text = NULL;
    if (form_text(f, r->name, &text, e) != API_OK) return (int)e->code;
    if (p->has_none && text && strcasecmp(text, "none") == 0) x = p->none;
    else if (p->has_none && text && number_read(text, &x) == 0 && x == p->none) x = p->none;
    else if (form_number(f, r->name, lo, hi, &x, e) != API_OK) return (int)e->code;
    memcpy(at, &x, sizeof x);
    return API_OK;
}

static int read_whole(char *at, struct form *f, const struct ask_field *r, const steno_param *p, double lo, double hi,
                      struct api_error *e)
{
    int64_t x;
    const int64_t least = lo <= -9e18 ? INT64_MIN : (int64_t)lo, most = hi >= 9e18 ? INT64_MAX : (int64_t)hi;
    if (form_int(f, r->name, least, most, &x, e) != API_OK) return (int)e->code;
    const int32_t narrow = (int32_t)x;
    if (p->kind == STENO_PARAM_INT32) memcpy(at, &narrow, sizeof narrow);
    else memcpy(at, &x, sizeof x); /* 64 bits, with a sign or not */
    return API_OK;
}

static int read_value(char *at, struct form *f, const struct ask_field *r, const steno_param *p, struct api_error *e)
{
    const int own = r->lo < r->hi;
    const double lo = own ? r->lo : p->min, hi = own && r->hi < p->max ? r->hi : p->max;
    int x = 0;
    int32_t narrow;
    switch (p->kind) {
    case STENO_PARAM_TEXT: return form_text(f, r->name, (const char **)(void *)at, e);
    case STENO_PARAM_NUMBER: return read_number(at, f, r, p, lo, hi, e);
    case STENO_PARAM_FLAG: form_bool(f, r->name, &x, e); break;
    case STENO_PARAM_CHOICE: form_word(f, r->name, r->words, &x, e); break;
    default: return read_whole(at, f, r, p, lo, hi, e);
    }
    narrow = x;
    if (e->code == API_OK) memcpy(at, &narrow, sizeof narrow);
    return (int)e->code;
}

int ask_fields_fill(steno_transcribe_params *p, struct form *f, const steno_model *m, int has_aligner, struct api_error *e)
{
    for (int i = 0; i < N_FIELDS && e->code == API_OK; i++) {
        const struct ask_field *r = &fields[i];
        steno_param is;
        if (!form_has(f, r->name)) continue;
        const int is_found = has_aligner && strcmp(r->param, "word_timestamps") == 0;
        if (!is_found && !ask_served(m, r->param)) return ask_unserved(m, r->param, r->name, e);
        if (ask_param(m, r->param, &is) == 0) read_value((char *)p + is.offset, f, r, &is, e);
    }
    return (int)e->code;
}

/* ---- all of them together ------------------------------------------------------------------------------------------------------ */

struct names {
    const struct form *form;
    int has_aligner;
    const char *first; /* name of the first field in the reason */
    char text[2][80];  /* of the last two names, because the library may still use one */
    int turn;
};

/* The name that the client knows, NULL: none. */
static const char *name_of(const char *param)
{
    for (int i = 0; i < N_FIELDS; i++)
        if (strcmp(fields[i].param, param) == 0) return fields[i].name;
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (strcmp(other_names[i].param, param) == 0) return other_names[i].name;
    return NULL;
}

static const char *name(void *user, const char *param, int with_value)
{
    struct names *n = user;
    const int by_list = strcmp(param, "word_timestamps") == 0 && !form_has(n->form, param);
    const char *found = by_list ? "timestamp_granularities" : name_of(param);
    if (!n->first) n->first = found ? found : "";
    (void)with_value;
    if (!found) return NULL;
    char *out = n->text[n->turn ^= 1];
    snprintf(out, sizeof n->text[0], "%s%s", found, with_value ? " is out of range" : "");
    return by_list ? "timestamp_granularities[]=word" : out;
}

static int asked(void *user, const char *param)
{
    const struct names *n = user;
    if (n->has_aligner && strcmp(param, "word_timestamps") == 0) return 0;
    for (int i = 0; i < N_FIELDS; i++)
        if (strcmp(fields[i].param, param) == 0) return form_has(n->form, fields[i].name);
    return 0; /* ask.c sets others where the model has them */
}

int ask_fields_check(const steno_transcribe_params *p, const struct form *f, const steno_model *m, int has_aligner, struct api_error *e)
{
    struct names n = { .form = f, .has_aligner = has_aligner };
    const steno_param_names names = { .size = sizeof names, .user = &n, .name = name, .asked = asked };
    steno_error err = { 0 };
    if (steno_params_check(m, STENO_CALL_TRANSCRIBE, p, &names, &err) == STENO_OK) return API_OK;
    return api_fail(e, API_invalid_value, n.first, "%s", err.text);
}
