/* steno: parameters of the public calls. SPDX-License-Identifier: MIT
 *
 * Values out of range are refused before work starts.
 *
 * A parameter that has no effect next to the others is refused, too, because its user expects an effect. A row of the rules has the
 * condition for a parameter, and the reason if it does not hold. */
#include "engine/params.h"
#include "base/cpu.h"
#include "engine/task.h"
#include "search/ar.h"
#include "text/language.h"
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages in the caller's names ------------------------------------------------------------------------------------------ */

/* Writes up to n - 1 bytes of the name that the caller's user knows for a field. */
static void name_add(const struct param_check *j, char *to, size_t n, const char *field, int with_value)
{
    const steno_param_names *own = j->names;
    const char *name = own && own->name ? own->name(own->user, field, with_value) : NULL;
    const struct param *r = param_find(j->call, field);
    const int is_number = r && r->kind != STENO_PARAM_TEXT && r->kind != STENO_PARAM_LIST && r->kind != STENO_PARAM_CALL;
    if (name) snprintf(to, n, "%s", name);
    else if (with_value && is_number) snprintf(to, n, "%s is %.10g", field, param_number(r, j->p));
    else snprintf(to, n, "%s", field);
}

int param_refuse(const struct param_check *j, const char *fmt, ...)
{
    char raw[sizeof j->e->text], text[sizeof raw] = "", field[64];
    size_t n = 0;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(raw, sizeof raw, fmt, ap);
    va_end(ap);
    for (const char *p = raw; *p && n + 1 < sizeof text;) {
        const char *end = *p == '{' ? strchr(p, '}') : NULL;
        if (!end || end - p > (ptrdiff_t)sizeof field) {
            text[n++] = *p++;
            text[n] = '\0';
            continue;
        }
        const int with_value = end[-1] == '=';
        snprintf(field, sizeof field, "%.*s", (int)(end - p - 1 - with_value), p + 1);
        name_add(j, text + n, sizeof text - n, field, with_value);
        n += strlen(text + n);
        p = end + 1;
    }
    return err_set(j->e, STENO_EARG, "%s", text);
}

/* ---- which model supports what ----------------------------------------------------------------------------------------------- */

/* A value that the model uses anyway: a program may set it for all models, but a user who types it made a mistake. */
static int is_so_anyway(const struct param_check *j, const struct param *r)
{
    return j->call == STENO_CALL_OPEN && r->at == offsetof(steno_model_params, compute) && param_number(r, j->p) == STENO_COMPUTE_F32;
}

/* A model that is being opened has no vocabulary yet, so nothing is known of its languages. */
static int is_english(const struct param_check *j)
{
    return j->m && j->call != STENO_CALL_OPEN && param_kinds(j->m, j->call) & MODELS_ENGLISH;
}

static int check_served(const struct param_check *j)
{
    int n;
    const struct param *r = param_rows(j->call, &n);
    for (int k = 0; k < 2 * n; k++) { /* first explicit requests: others may follow from them */
        const int i = k % n;
        const int is_asked = k < n ? param_is_explicit(j, r[i].name) : param_asked(j, &r[i]) && !is_so_anyway(j, &r[i]);
        if (is_asked && !param_served(&r[i], j->m, j->call))
            return param_refuse(j, "{%s} %s; this %s%s model does not serve it: leave it out", r[i].name,
                                param_why_not(&r[i], j->m, j->call), j->m ? j->m->family->name : "",
                                is_english(j) ? " (English only)" : "");
    }
    return STENO_OK;
}

/* ---- ranges ------------------------------------------------------------------------------------------------------------------ */

double param_min(const struct param *r, const steno_model *m)
{
    return r->limit == LIMIT_PROBABILITY && m && m->task->serves(m) & MODELS_VAD_THRESHOLDS ? 0 : r->min;
}

double param_max(const struct param *r, const steno_model *m)
{
    const int ar = m && (m->task->serves(m) & MODELS_AR);
    if (ar && r->limit == LIMIT_TEXT_CTX) return m->text_ctx;
    return ar && r->limit == LIMIT_AUDIO_CTX ? m->audio_ctx : r->max;
}

static int check_ids(const struct param_check *j, const char *name, const int32_t *ids, int32_t n)
{
    for (int32_t i = 0; j->m && i < n; i++)
        if (ids[i] < 0 || ids[i] >= j->m->n_vocab)
            return param_refuse(j, "{%s}: id %d at place %d is not in a vocabulary of %d", name, (int)ids[i], (int)i, (int)j->m->n_vocab);
    return STENO_OK;
}

static int check_ladder(const struct param_check *j, const struct param *r, const double *t, int32_t n)
{
    enum { MOST = 32 };
    double before = ((const steno_transcribe_params *)j->p)->temperature;
    if (n > MOST) return param_refuse(j, "n_%s is %d, want at most %d", r->name, (int)n, MOST);
    for (int32_t i = 0; i < n; before = t[i++]) {
        if (!(t[i] >= TEMPERATURE_MIN && t[i] <= 100))
            return param_refuse(j, "{%s}: %g at place %d is not a temperature of %g to 100", r->name, t[i], (int)i, TEMPERATURE_MIN);
        if (!(t[i] > before))
            return param_refuse(j, "{%s}: %g at place %d is not above %g, the temperature before it", r->name, t[i], (int)i, before);
    }
    return STENO_OK;
}

static int check_list(const struct param_check *j, const struct param *r)
{
    int32_t n;
    const void *items;
    memcpy(&n, (const char *)j->p + r->count_at, sizeof n);
    memcpy(&items, (const char *)j->p + r->at, sizeof items);
    if (n < 0) return param_refuse(j, "n_%s is %d, want 0 or more", r->name, (int)n);
    if (n && !items) return param_refuse(j, "%s is NULL but n_%s is %d", r->name, r->name, (int)n);
    if (j->call == STENO_CALL_GENERATE) return STENO_OK; /* texts, which generator.c checks */
    if (r->count_at == offsetof(steno_transcribe_params, n_fallback_temperatures)) return check_ladder(j, r, items, n);
    if (r->count_at != offsetof(steno_transcribe_params, n_clip_timestamps)) return check_ids(j, r->name, items, n);
    const double *t = items;
    for (int32_t i = 0; i < n; i++) {
        if (!(t[i] >= 0 && t[i] <= 1e9)) return param_refuse(j, "{%s}: %g at place %d is not a time in seconds", r->name, t[i], (int)i);
        if (i % 2 && t[i] <= t[i - 1])
            return param_refuse(j, "{%s}: the clip from %g s to %g s has no length", r->name, t[i - 1], t[i]);
    }
    return STENO_OK;
}

static const char *bound_of(const struct param *r)
{
    if (r->limit == LIMIT_TEXT_CTX) return ", the text context of this model";
    return r->limit == LIMIT_AUDIO_CTX ? ", the audio context of this model" : "";
}

static int check_number(const struct param_check *j, const struct param *r)
{
    const double v = param_number(r, j->p), min = param_min(r, j->m), max = param_max(r, j->m);
    if (r->has_none && (v == r->none || (isnan(v) && isnan(r->none)))) return STENO_OK;
    if (v >= min && v <= max) return STENO_OK;
    const char *bound = j->m ? bound_of(r) : "";
    if (!r->has_none) return param_refuse(j, "{%s=}, want %.10g to %.10g%s", r->name, min, max, bound);
    return param_refuse(j, "{%s=}, want %.10g to %.10g%s, or %.10g for none", r->name, min, max, bound, r->none);
}

static int check_temperature(const struct param_check *j, double t)
{
    if (t == 0 || t >= TEMPERATURE_MIN) return STENO_OK;
    return param_refuse(j, "{temperature=}, want %g to 100, or 0 for the most probable text", TEMPERATURE_MIN);
}

/* Refuses values that lie in the range but in a gap of it. */
static int check_gaps(const struct param_check *j)
{
    if (j->call == STENO_CALL_GENERATE) return check_temperature(j, ((const steno_generate_params *)j->p)->temperature);
    if (j->call != STENO_CALL_TRANSCRIBE) return STENO_OK;
    const steno_transcribe_params *p = j->p;
    const double step = p->temperature_increment_on_fallback;
    const int rc = check_temperature(j, p->temperature);
    if (rc) return rc;
    if (step > 0 && step < INCREMENT_MIN)
        return param_refuse(j, "{temperature_increment_on_fallback=}, want %g to 100, or 0 for one attempt", INCREMENT_MIN);
    if (j->m && !j->m->exact && p->verify_margin != VERIFY_MARGIN)
        return param_refuse(j, "{verify_margin} needs a model that was opened with verify");
    const int window_ms = j->m ? (int)model_window_ms(j->m) : 30000;
    if (p->chunk_ms > window_ms) return param_refuse(j, "{chunk_ms=}, and a window of this model is %d ms long", window_ms);
    return STENO_OK;
}

static int check_ranges(const struct param_check *j)
{
    int n, rc = STENO_OK;
    const struct param *r = param_rows(j->call, &n);
    for (int i = 0; i < n && !rc; i++) {
        const enum steno_param_kind kind = r[i].kind;
        if (kind == STENO_PARAM_LIST) rc = check_list(j, &r[i]);
        else if (kind != STENO_PARAM_TEXT && kind != STENO_PARAM_CALL && kind != STENO_PARAM_FLAG) rc = check_number(j, &r[i]);
    }
    return rc ? rc : check_gaps(j);
}

/* ---- conditions -------------------------------------------------------------------------------------------------------------- */

typedef const steno_transcribe_params *params_t;


static int is_given(const char *text)
{
    return text && *text;
}

static int detects_language(params_t p) { return language_is_auto(p->language); }
static int detects_twice(params_t p) { return p->language_detection_segments > 1; }
static int has_ladder(params_t p)
{
    const double step = p->temperature_increment_on_fallback;
    return p->n_fallback_temperatures || (step > 0 && p->temperature + step <= 1 + 1e-6);
}
static int has_increments(params_t p) { return !p->n_fallback_temperatures; }
static int conditions(params_t p) { return p->condition_on_previous_text; }
static int is_hot(params_t p) { return p->temperature > 0 || has_ladder(p); }
static int starts_cold(params_t p) { return !(p->temperature > 0) || p->decoding == STENO_DECODING_GGML; }
static int climbs(params_t p) { return p->temperature < 1; }
static int has_beam(params_t p) { return p->beam_size != 0; }
static int is_reference(params_t p) { return p->decoding == STENO_DECODING_OPENAI; }
static int patience_fits(params_t p)
{
    const double n = nearbyint(p->beam_size * p->patience);
    return !p->beam_size || (n >= 1 && n <= AR_FINISHED);
}
static int has_candidates(params_t p)
{
    return p->best_of > 1 || (p->beam_size && (isnan(p->patience) ? p->beam_size : p->beam_size * p->patience) > 1);
}
static int has_as_many(params_t p)
{
    const int32_t most = p->beam_size > p->best_of ? p->beam_size : p->best_of;
    return p->n_best <= (most > 1 ? most : 1);
}
static int is_judged(params_t p) { return has_ladder(p) || p->guards != STENO_GUARDS_OFF; }
static int logprob_counts(params_t p) { return !isnan(p->no_speech_threshold) || is_judged(p); }
static int has_timestamps(params_t p) { return !p->without_timestamps; }
static int one_prompt(params_t p) { return !p->n_prompt_tokens || !p->initial_prompt; }
static int one_prefix(params_t p) { return !p->n_prefix_tokens || !p->prefix; }
static int has_prompt(params_t p) { return p->initial_prompt || p->n_prompt_tokens; }
static int has_earlier(params_t p) { return p->condition_on_previous_text || p->initial_prompt || p->n_prompt_tokens; }
static int regex_is_text(params_t p) { return is_given(p->suppress_regex); }
static int grammar_is_text(params_t p) { return is_given(p->grammar); }
static int has_grammar(params_t p) { return is_given(p->grammar); }
static int hotwords_are_text(params_t p) { return is_given(p->hotwords); }
static int clips_alone(params_t p) { return !p->n_clip_timestamps || (!p->chunk_ms && !p->offset_ms && !p->duration_ms); }
static int chunks_alone(params_t p) { return (!p->n_clip_timestamps && !p->offset_ms && !p->duration_ms); }
static int clips_apart(params_t p) { return !p->condition_on_previous_text; }
static int chunk_fits(params_t p) { return !p->chunk_ms || !p->audio_ctx || p->chunk_ms <= 20 * p->audio_ctx; }
static int has_words(params_t p) { return p->word_timestamps != 0; }
static int is_greedy(params_t p) { return !p->beam_size && p->temperature == 0; }
static int has_token_times(params_t p) { return p->token_timestamps != 0; }

int param_chunk_size(const char *text, int32_t chunk[3])
{
    int32_t sum = 0;
    for (int i = 0; i < 3; i++) {
        char *end;
        if (!text || *text < '0' || *text > '9') return 0;
        const long n = strtol(text, &end, 10);
        if (n > PARAM_CHUNK_ROWS || *end != (i < 2 ? ',' : '\0')) return 0;
        sum += chunk[i] = (int32_t)n;
        text = end + (i < 2);
    }
    return sum <= PARAM_CHUNK_ROWS && chunk[1] && chunk[0] + chunk[2];
}

static int chunk_is_whole(params_t p)
{
    int32_t chunk[3];
    return param_chunk_size(p->chunk_size, chunk);
}

static int rows_fit(params_t p, int32_t chunks)
{
    int32_t chunk[3];
    return !param_chunk_size(p->chunk_size, chunk) || chunks * chunk[1] <= PARAM_PAST_ROWS;
}
static int encoder_rows_fit(params_t p) { return rows_fit(p, p->encoder_chunk_look_back); }
static int decoder_rows_fit(params_t p) { return rows_fit(p, p->decoder_chunk_look_back); }

/* ---- the rows ---------------------------------------------------------------------------------------------------------------- */

#define IF_EXPLICIT 1
#define TOO_FAR "times the chunk in {chunk_size} is more than 1024 rows: say fewer chunks, or -1 for as much as there is"
#define NO_WORDS "needs {word_timestamps}"
#define NOT_JUDGED "judges attempts: it needs {guards}, or {temperature_increment_on_fallback} with an attempt below 1"

static const struct rule {
    const char *name;
    int (*holds)(params_t p);
    const char *reason;
    int if_explicit; /* 1: applies only if the parameter was explicitly requested: it does no harm while it waits for another one */
} rules[] = {
    { "language_detection_segments", detects_language, "is for an unknown language, and {language} sets it", IF_EXPLICIT },
    { "language_detection_threshold", detects_language, "is for an unknown language, and {language} sets it", IF_EXPLICIT },
    { "language_detection_threshold", detects_twice, "ends a search over several stretches: it needs {language_detection_segments} of 2 "
                                                   "or more", IF_EXPLICIT },
    { "best_of", is_hot, "needs a temperature above 0: at 0 there is one most probable text; set {temperature}, or "
                         "{temperature_increment_on_fallback}", 0 },
    { "beam_size", starts_cold, "needs a temperature of 0 to begin with; above it candidates are drawn: use {best_of}", 0 },
    { "n_best", has_as_many, "is more than a search finds: it needs {beam_size} or {best_of} of as many", 0 },
    { "patience", has_beam, "needs {beam_size}", 0 },
    { "patience", is_reference, "is of beams that are searched; by the rules that {decoding} names they draw", 0 },
    { "patience", patience_fits, "times {beam_size} is not 1 to 256 sequences", 0 },
    { "length_penalty", has_candidates, "ranks candidates: it needs {beam_size} or {best_of} of 2 or more", 0 },
    { "temperature_increment_on_fallback", climbs, "leads to attempts up to temperature 1, and {temperature} begins there or above", 0 },
    { "temperature_increment_on_fallback", has_increments, "and {fallback_temperatures} say the same twice: give one of them", 0 },
    { "prompt_reset_on_temperature", conditions, "forgets earlier text, and without {condition_on_previous_text} there is none", 0 },
    { "prompt_reset_on_temperature", is_hot, "is of sampling: it needs {temperature} above 0, or {temperature_increment_on_fallback}",
      IF_EXPLICIT },
    { "prompt_reset_on_temperature", is_reference, "is of the reference's rules; those that {decoding} names have another one", 0 },
    { "seed", is_hot, "is of sampling: it needs {temperature} above 0, or {temperature_increment_on_fallback}", IF_EXPLICIT },
    { "seed", is_reference, "is of the reference's draws; by the rules that {decoding} names they are always the same", IF_EXPLICIT },
    { "compression_ratio_threshold", is_judged, NOT_JUDGED, 0 },
    { "entropy_threshold", is_judged, NOT_JUDGED, 0 },
    { "logprob_threshold", logprob_counts, NOT_JUDGED ", or {no_speech_threshold}", 0 },
    { "max_initial_timestamp", has_timestamps, "limits a timestamp, and {without_timestamps} leaves none", 0 },
    { "prompt_tokens", one_prompt, "and {initial_prompt} say the same twice: give one of them", 0 },
    { "prefix_tokens", one_prefix, "and {prefix} say the same twice: give one of them", 0 },
    { "carry_initial_prompt", has_prompt, "needs {initial_prompt} or {prompt_tokens}", IF_EXPLICIT },
    { "max_context", has_earlier, "limits earlier text, and without {condition_on_previous_text} or {initial_prompt} there is none", 0 },
    { "suppress_regex", regex_is_text, "is empty: give a pattern, or leave it out", 0 },
    { "grammar", grammar_is_text, "is empty: give at least one rule, or leave it out", 0 },
    { "grammar_rule", has_grammar, "needs {grammar}", 0 },
    { "grammar_penalty", has_grammar, "needs {grammar}", 0 },
    { "hotwords", hotwords_are_text, "is empty: give at least one word, or leave it out", 0 },
    { "hotwords_boost", hotwords_are_text, "needs {hotwords}", IF_EXPLICIT },
    { "clip_timestamps", clips_alone, "and {chunk_ms}, or {offset_ms} with {duration_ms}, exclude each other", 0 },
    { "chunk_ms", chunks_alone, "and {clip_timestamps}, or {offset_ms} with {duration_ms}, exclude each other", 0 },
    { "chunk_ms", clips_apart, "makes clips that know nothing of each other: {condition_on_previous_text} does not go with it", 0 },
    { "independent_clips", clips_apart, "know nothing of each other: {condition_on_previous_text} does not go with it", 0 },
    { "hallucination_silence_threshold", has_words, NO_WORDS, 0 },
    { "prepend_punctuations", has_words, NO_WORDS, 0 },
    { "append_punctuations", has_words, NO_WORDS, 0 },
    { "token_threshold", has_token_times, "needs {token_timestamps}", 0 },
    { "draft_max", is_greedy, "drafts the most probable ids: it needs {temperature} 0 and no {beam_size}", 0 },
    { "chunk_size", chunk_is_whole, "is not BEFORE,CHUNK,AFTER in rows of 60 ms, as 0,10,5: at most 240 of them, a chunk of 1 or more, "
                                    "and 1 or more beside it", 0 },
    { "encoder_chunk_look_back", encoder_rows_fit, TOO_FAR, 0 },
    { "decoder_chunk_look_back", decoder_rows_fit, TOO_FAR, 0 },
};

/* A model without {condition_on_previous_text} has independent windows anyway. */
static int is_apart_anyway(const struct param_check *j, const struct rule *r)
{
    return r->holds == clips_apart && j->m && !(param_find(j->call, "condition_on_previous_text")->models & j->m->task->serves(j->m));
}

/* The parameters; a model without {temperature_increment_on_fallback} has a single temperature, whatever the default is. */
static steno_transcribe_params without_ladder(const struct param_check *j)
{
    steno_transcribe_params p = *(params_t)j->p;
    const struct param *r = param_find(j->call, "temperature_increment_on_fallback");
    if (j->m && !(r->models & j->m->task->serves(j->m))) p.temperature_increment_on_fallback = p.n_fallback_temperatures = 0;
    return p;
}

/* Does a transcription rule apply to this call? */
static int is_about(const struct param_check *j, const struct rule *r)
{
    if (j->call == STENO_CALL_TRANSCRIBE) return 1;
    return r->holds == detects_language || r->holds == detects_twice; /* an alignment always has words */
}

/* Switching a feature off requests nothing. */
static int is_off(const struct param *r, const void *p)
{
    if (r->kind == STENO_PARAM_TEXT || r->kind == STENO_PARAM_LIST || r->kind == STENO_PARAM_CALL) return 0;
    const double v = param_number(r, p);
    if (r->at == offsetof(steno_transcribe_params, temperature_increment_on_fallback) && v == 0) return 1;
    if (r->has_none) return v == r->none || (isnan(v) && isnan(r->none));
    return v == 0 && !(r->value > 0) && r->kind != STENO_PARAM_UINT64;
}

static int check_opening(const struct param_check *j)
{
    const steno_model_params *p = j->p;
    if (p->verify && p->compute == STENO_COMPUTE_F32)
        return param_refuse(j, "{verify} has no effect with {compute} f32: everything is f32 already");
    const int level = p->cpu_level ? cpu_level_from_name(p->cpu_level) : 0;
    if (level < 0) return param_refuse(j, "{cpu_level}: processor level '%.80s' is not known", p->cpu_level);
    if (!cpu_level_usable(level)) return param_refuse(j, "{cpu_level}: this machine cannot run processor level '%s'", p->cpu_level);
    return STENO_OK;
}

static int check_finding(const struct param_check *j)
{
    const steno_vad_params *p = j->p;
    if (p->schedule == STENO_VAD_SCHEDULE_LIVE && p->max_end_silence_ms >= 0)
        return param_refuse(j, "{schedule} sets the silence that ends a span, and so does {max_end_silence_ms}: give one of them");
    if (p->schedule == STENO_VAD_SCHEDULE_LIVE && p->chunk_size_ms > VAD_LIVE_CHUNK_MAX)
        return param_refuse(j, "{chunk_size_ms=}, want at most %d with the live {schedule}", VAD_LIVE_CHUNK_MAX);
    if (p->on_event && !p->streaming) return param_refuse(j, "{on_event} needs {streaming}");
    return STENO_OK;
}

/* Behind a text or a set of characters that begins at s. */
static const char *behind_quoted(const char *s)
{
    const char end = *s == '[' ? ']' : '"';
    for (s++; *s && *s != end; s++) s += *s == '\\' && s[1];
    return s + (*s != 0);
}

static size_t name_length(const char *s)
{
    return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
}

/* Is the name of a rule in a grammar, apart from comments and texts? */
static int grammar_names(const char *s, const char *name)
{
    while (*s) {
        const size_t n = name_length(s);
        if (n && n == strlen(name) && !memcmp(s, name, n)) return 1;
        if (*s == '#') s += strcspn(s, "\n");
        else if (*s == '"' || *s == '[') s = behind_quoted(s);
        else s += n ? n : 1;
    }
    return 0;
}

static int check_generating(const struct param_check *j)
{
    const steno_generate_params *p = j->p;
    static const char *const drawing[] = { "top_k", "top_p", "min_p", "seed" };
    for (size_t i = 0; i < sizeof drawing / sizeof *drawing && !(p->temperature > 0); i++)
        if (param_is_explicit(j, drawing[i]))
            return param_refuse(j, "{%s} is of sampling, and needs {temperature} above 0", drawing[i]);
    if (p->grammar && p->json_schema && !grammar_names(p->grammar, "json-schema"))
        return param_refuse(j, "{grammar} does not use json-schema, the rule of {json_schema}: use it, or give one of them");
    if (p->grammar_rule && !p->grammar) return param_refuse(j, "{grammar_rule} needs {grammar}");
    if (p->grammar && !*p->grammar) return param_refuse(j, "{grammar} is empty: give at least one rule, or leave it out");
    return STENO_OK;
}

static int check_rules(const struct param_check *j)
{
    if (j->call == STENO_CALL_FIND_SPEECH) return check_finding(j);
    if (j->call == STENO_CALL_PUNCTUATE || j->call == STENO_CALL_EMBED) return STENO_OK;
    if (j->call == STENO_CALL_GENERATE) return check_generating(j);
    if (j->call == STENO_CALL_OPEN) return check_opening(j);
    const params_t p = j->p;
    const steno_transcribe_params served = without_ladder(j);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct rule *r = &rules[i];
        const struct param *about = param_find(j->call, r->name);
        if (!is_about(j, r) || r->holds(&served) || is_off(about, p) || is_apart_anyway(j, r)) continue;
        if (r->if_explicit ? !param_is_explicit(j, r->name) : !param_asked(j, about)) continue;
        return param_refuse(j, "{%s} %s", r->name, r->reason);
    }
    if (!chunk_fits(p)) return param_refuse(j, "{chunk_ms=}, but a window is %d ms long ({audio_ctx})", 20 * (int)p->audio_ctx);
    return STENO_OK;
}

/* ---- all checks -------------------------------------------------------------------------------------------------------------- */

int param_check_all(const struct param_check *j)
{
    int rc = check_served(j);
    if (!rc) rc = check_ranges(j);
    return rc ? rc : check_rules(j);
}

int params_check(steno_session *s, enum steno_call call, const void *p)
{
    const struct param_check j = { s->model, call, p, NULL, &s->error };
    return param_check_all(&j);
}
