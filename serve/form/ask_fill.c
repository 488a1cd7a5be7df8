/* steno-serve: fields that need the model, beside the table of ask_fields.h. SPDX-License-Identifier: MIT */
#include "ask_fill.h"
#include "ask_json.h"
#include "sink.h"
#include "utf8.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- task and language --------------------------------------------------------------------------------------------------------- */

/* The languages that the client gave: malloc'd, [*n], 0: none. *name: their field */
static const char **given_languages(struct form *f, const char **name, int *n, struct api_error *e)
{
    const char *text = NULL, **list = NULL;
    *name = "language";
    *n = 0;
    if (form_text(f, "language", &text, e) != API_OK || form_list(f, "languages", &list, n, e) != API_OK) return NULL;
    if (*n) *name = "languages";
    if (*n && text) api_fail(e, API_invalid_value, "languages", "languages: language is given, too; send one of them");
    if (*n || !text) return list;
    list = malloc(sizeof *list);
    if (!list) api_fail(e, API_internal_error, "language", "out of memory for the language");
    else list[(*n)++] = text;
    return list;
}

/* The code of one. *code: NULL for "auto". @return API_OK or a code, in *e */
static int read_language(const char **code, const char *text, const char *name, const steno_model *m, struct api_error *e)
{
    char near[64], shown[48];
    *code = NULL;
    if (strcasecmp(text, "auto") == 0) return API_OK;
    *code = ask_language(m, text, near);
    if (*code) return API_OK;
    utf8_printable(shown, sizeof shown, text);
    if (near[0])
        return api_fail(e, API_invalid_value, name, "%s: \"%s\" is not a language of this model; did you mean %s?", name, shown, near);
    return api_fail(e, API_invalid_value, name, "%s: \"%s\" is not a language of this model; send a code such as en, or none", name, shown);
}

/* Several codes for the library: detection among them. */
static int join_languages(struct ask *a, const char **list, int n, const steno_model *m, struct api_error *e)
{
    static const char name[] = "languages";
    size_t at = 0;
    if (!ask_served(m, "language_per_segment"))
        return api_fail(e, API_invalid_value, name, "%s: this model does not choose among several languages; send one, or none", name);
    for (int i = 0; i < n; i++) {
        const char *code;
        if (read_language(&code, list[i], name, m, e) != API_OK) return (int)e->code;
        if (!code) return api_fail(e, API_invalid_value, name, "%s: \"auto\" is not a language; leave it out", name);
        if (at + strlen(code) + 2 > sizeof a->languages)
            return api_fail(e, API_invalid_value, name, "%s: %d values are more than this model has languages", name, n);
        at += (size_t)sprintf(a->languages + at, "%s%s", at ? "," : "", code);
    }
    return API_OK;
}

static int fill_language(struct ask *a, struct form *f, steno_transcribe_params *p, const steno_model *m, struct api_error *e)
{
    const char *name;
    int n;
    const char **list = given_languages(f, &name, &n, e);
    if (n && e->code == API_OK) {
        if (!ask_served(m, "language")) ask_unserved(m, "language", name, e);
        else if (n > 1 && join_languages(a, list, n, m, e) == API_OK) p->language = a->languages;
        else if (n == 1) read_language(&p->language, list[0], name, m, e);
    }
    free(list);
    if (e->code != API_OK) return (int)e->code;
    if (p->language && !strchr(p->language, ',') && strcasecmp(p->language, "auto") != 0)
        snprintf(a->language, sizeof a->language, "%s", p->language);
    return API_OK;
}

/* Ends a run before its first window: the language is known then. */
static int no_window(void *user, int64_t at_ms)
{
    (void)user, (void)at_ms;
    return 0;
}

int ask_fill_task(struct ask *a, struct form *f, steno_transcribe_params *p, const steno_model *m, struct api_error *e)
{
    const int is_multilingual = ask_served(m, "task");
    if (a->detects && !is_multilingual)
        return api_fail(e, API_invalid_value, "model", "model: this model does not detect languages; use a multilingual one");
    if (a->task == STENO_TRANSLATE && !is_multilingual)
        return api_fail(e, API_invalid_value, "model", "model: this model does not translate; use a multilingual one");
    p->task = a->task;
    if (!a->detects) return fill_language(a, f, p, m, e);
    const char *language = "auto"; /* whisper.cpp's clients send it together with detect_language */
    if (form_text(f, "language", &language, e) != API_OK) return (int)e->code;
    if (strcasecmp(language, "auto") != 0)
        return api_fail(e, API_invalid_value, "language", "language: it is detected; leave it out");
    p->language = NULL;
    p->on_window = no_window;
    return API_OK;
}

/* ---- words --------------------------------------------------------------------------------------------------------------------- */

enum { KEYWORDS_MAX = 100, KEYWORD_BYTES = 100 };

/* Words between commas and line ends, one a line. */
static void add_words(struct sink *s, const char *text, size_t *n_words)
{
    while (*text) {
        const size_t n = strcspn(text, ",\r\n");
        char word[FORM_VALUE_MAX + 1];
        size_t k;
        memcpy(word, text, n);
        word[n] = '\0';
        const char *inner = utf8_strip(word, &k);
        if (k && (*n_words)++) sink_char(s, '\n');
        sink_bytes(s, inner, k);
        text += n + (text[n] != '\0');
    }
}

static int add_keywords(struct sink *s, struct form *f, size_t *n_words, struct api_error *e)
{
    const char **list;
    int n;
    if (form_list(f, "keywords", &list, &n, e) != API_OK) return (int)e->code;
    if (n > KEYWORDS_MAX) api_fail(e, API_invalid_value, "keywords", "keywords: %d are more than %d", n, KEYWORDS_MAX);
    for (int i = 0; i < n && e->code == API_OK; i++) {
        if (strlen(list[i]) > KEYWORD_BYTES)
            api_fail(e, API_invalid_value, "keywords", "keywords: number %d has more than %d bytes", i + 1, KEYWORD_BYTES);
        else add_words(s, list[i], n_words);
    }
    free(list);
    return (int)e->code;
}

static int fill_hotwords(struct ask *a, struct form *f, steno_transcribe_params *p, const steno_model *m, struct api_error *e)
{
    const char *text = "", *name = form_has(f, "hotwords") ? "hotwords" : "keywords";
    struct sink_memory memory = { 0 };
    struct sink s = sink_to_memory(&memory);
    size_t n_words = 0;
    if (!form_has(f, name)) return API_OK;
    if (!ask_served(m, "hotwords")) return ask_unserved(m, "hotwords", name, e);
    if (form_text(f, "hotwords", &text, e) == API_OK) {
        add_words(&s, text, &n_words);
        add_keywords(&s, f, &n_words, e);
    }
    if (e->code == API_OK && s.failed) api_fail(e, API_internal_error, name, "out of memory for the field %s", name);
    if (e->code == API_OK && !n_words) api_fail(e, API_invalid_value, name, "%s has no words", name);
    if (e->code != API_OK) free(memory.p);
    else p->hotwords = a->hotwords = memory.p;
    return (int)e->code;
}

/* Segments of at most a number of characters need times of words or tokens. */
static int fill_length(struct form *f, struct job *job, const steno_model *m, int is_aligned, struct api_error *e)
{
    int64_t max_len = job->max_len;
    const int is_given = form_has(f, "max_len");
    form_int(f, "max_len", 0, 1000000, &max_len, e);
    form_bool(f, "split_on_word", &job->by_words, e);
    if (e->code == API_OK && form_has(f, "split_on_word") && job->by_words && !max_len)
        api_fail(e, API_invalid_value, "split_on_word", "split_on_word needs max_len");
    if (e->code != API_OK || !is_given) return (int)e->code;
    job->max_len = (int32_t)max_len;
    if (!max_len) return API_OK;
    if (ask_served(m, "token_timestamps")) job->params.token_timestamps = 1;
    else if (is_aligned || ask_served(m, "word_timestamps")) job->params.word_timestamps = 1;
    else return ask_unserved(m, "word_timestamps", "max_len", e);
    return API_OK;
}

static int fill_suppressed(struct ask *a, struct form *f, steno_transcribe_params *p, const steno_model *m, struct api_error *e)
{
    static const char name[] = "suppress_non_speech";
    int on = 1;
    if (!form_has(f, name)) return API_OK;
    if (!ask_served(m, "suppress_tokens")) return ask_unserved(m, "suppress_tokens", name, e);
    if (form_bool(f, name, &on, e) != API_OK) return (int)e->code;
    /* An empty list would allow special tokens. The start token is never chosen anyway */
    if (on) snprintf(a->suppress, sizeof a->suppress, "-1");
    else snprintf(a->suppress, sizeof a->suppress, "%d", (int)steno_token_id(m, STENO_TOKEN_START));
    p->suppress_tokens = a->suppress;
    return API_OK;
}

int ask_fill_words(struct ask *a, struct form *f, struct job *job, const steno_model *m, struct api_error *e)
{
    if (a->granularities & ASK_WORDS) {
        if (!ask_aligns(a, job) && !ask_served(m, "word_timestamps"))
            return ask_unserved(m, "word_timestamps", "timestamp_granularities", e);
        job->params.word_timestamps = 1;
    }
    if (fill_length(f, job, m, ask_aligns(a, job), e) != API_OK || fill_hotwords(a, f, &job->params, m, e) != API_OK) return (int)e->code;
    return fill_suppressed(a, f, &job->params, m, e);
}

int ask_aligns(const struct ask *a, const struct job *job) { return job->aligner && a->task == STENO_TRANSCRIBE; }

void ask_settle_aligner(const struct ask *a, struct job *job)
{
    if (ask_aligns(a, job) && job->params.word_timestamps) job->params.word_timestamps = 0;
    else job->aligner = NULL;
}

/* ---- lists of numbers ---------------------------------------------------------------------------------------------------------------- */

/* Numbers between commas. @return their number, -1: not a list of them */
static int read_numbers(double *to, int room, const char *text)
{
    int n = 0;
    for (;; text++) {
        char one[32];
        text += strspn(text, " ");
        const size_t k = strcspn(text, ",");
        if (k >= sizeof one || n == room) return -1;
        memcpy(one, text, k);
        one[k] = '\0';
        if (number_read(one, &to[n++])) return -1;
        text += k;
        if (!*text) return n;
    }
}

/* A field that is a list of numbers: what[]. *to receives them, malloc'd, or NULL. @return their number; 0 also after an error */
static int fill_numbers(double **to, struct form *f, const char *name, const char *what, const steno_model *m, struct api_error *e)
{
    enum { ROOM = FORM_VALUE_MAX };
    const char **list;
    int n, total = 0;
    if (form_list(f, name, &list, &n, e) != API_OK || !n) return 0;
    if (!ask_served(m, name)) ask_unserved(m, name, name, e);
    else if (!(*to = malloc(ROOM * sizeof **to))) api_fail(e, API_internal_error, name, "out of memory for the field %s", name);
    for (int i = 0; i < n && e->code == API_OK; i++) {
        const int k = read_numbers(*to + total, ROOM - total, list[i]);
        if (k < 0) api_fail(e, API_invalid_value, name, "%s is not a list of %s", name, what);
        total += k;
    }
    free(list);
    return e->code == API_OK ? total : 0;
}

int ask_fill_lists(struct ask *a, struct form *f, steno_transcribe_params *p, const steno_model *m, struct api_error *e)
{
    const int n_clips = fill_numbers(&a->clips, f, "clip_timestamps", "seconds: start, end, start, end, ...", m, e);
    if (a->clips) p->clip_timestamps = a->clips, p->n_clip_timestamps = n_clips;
    if (e->code != API_OK) return (int)e->code;
    const int n_steps = fill_numbers(&a->ladder, f, "fallback_temperatures", "temperatures: 0.2, 0.4, ...", m, e);
    if (a->ladder) p->fallback_temperatures = a->ladder, p->n_fallback_temperatures = n_steps;
    return (int)e->code;
}

/* ---- temperatures and widths --------------------------------------------------------------------------------------------------- */

/* Does an attempt sample? As the library decides for a ladder of temperatures. */
static int draws(const steno_transcribe_params *p)
{
    const double step = p->temperature_increment_on_fallback;
    return p->temperature > 0 || p->n_fallback_temperatures || (step > 0 && p->temperature + step <= 1 + 1e-6);
}

static int starts_cold(const steno_transcribe_params *p)
{
    return !(p->temperature > 0) || p->decoding == STENO_DECODING_GGML;
}

void ask_settle(const struct form *f, steno_transcribe_params *p, const steno_transcribe_params *before, const steno_model *m)
{
    steno_param step;
    if (!ask_served(m, "temperature")) return;
    const int is_only = form_has(f, "temperature") && p->temperature > 0;
    if (!form_has(f, "fallback_temperatures") && (is_only || form_has(f, "temperature_increment_on_fallback")))
        p->n_fallback_temperatures = 0;
    /* A temperature above 0 is the only one. From 1 on there is no ladder, and then the library refuses a step that is not its default */
    if (is_only && !form_has(f, "temperature_increment_on_fallback") && !p->n_fallback_temperatures &&
        ask_param(m, "temperature_increment_on_fallback", &step) == 0)
        p->temperature_increment_on_fallback = p->temperature < 1 ? 0 : step.value;
    if (!form_has(f, "beam_size")) {
        if (!starts_cold(p)) p->beam_size = 0;
        else if (!starts_cold(before)) p->beam_size = before->best_of;
    }
    if (!form_has(f, "best_of")) {
        if (!draws(p)) p->best_of = 0;
        else if (!draws(before)) p->best_of = before->beam_size;
    }
    if (!p->beam_size && !form_has(f, "patience")) p->patience = (double)NAN;
}

/* ---- voice activity ------------------------------------------------------------------------------------------------------------ */

static int is_silero(const struct job *job)
{
    steno_model_info info = { .size = sizeof info };
    if (!job->params.vad_model) return !job->speech.pad_ms && !job->speech.min_speech_ms; /* they are the detector's own */
    return steno_model_info_get(job->params.vad_model, &info) == STENO_OK && strncmp(info.family, "silero", 6) == 0;
}

/* Parameters of chunking_strategy. FSMN-VAD compares speech with silence: the difference of two probabilities whose sum is 1. */
static int fill_vad_params(const struct ask *a, struct job *job, struct api_error *e)
{
    static const char padding[] = "chunking_strategy[prefix_padding_ms]";
    steno_vad_params *p = &job->speech.params;
    const int silero = is_silero(job);
    if (a->vad_threshold >= 0) p->threshold = silero ? a->vad_threshold : 2 * a->vad_threshold - 1;
    if (a->vad_silence_ms >= 0) p->max_end_silence_ms = (int64_t)a->vad_silence_ms;
    if (a->vad_padding_ms < 0) return API_OK;
    if (silero) p->speech_pad_ms = (int64_t)a->vad_padding_ms;
    else if (!job->params.vad_model) job->speech.pad_ms = (int64_t)a->vad_padding_ms;
    else return api_fail(e, API_invalid_value, padding, "%s: spans of FSMN-VAD have margins already; leave it out", padding);
    return API_OK;
}

/* A model that finds speech while it transcribes has the detector as a parameter. */
static int fill_vad_within(struct ask *a, struct job *job, struct api_error *e)
{
    steno_transcribe_params *p = &job->params;
    if (a->use_vad > 0 && !p->vad_model) {
        p->vad_model = a->vad;
        p->vad = &job->speech.params;
    }
    if (a->use_vad < 0) p->vad_model = NULL;
    a->use_vad = 0;
    if (!p->vad_model) {
        p->vad = NULL;
        return API_OK;
    }
    if (p->vad) job->speech.params = *p->vad;
    else steno_vad_params_init(&job->speech.params);
    p->vad = &job->speech.params;
    return fill_vad_params(a, job, e);
}

/* Speech becomes independent clips; without it, the audio is one text. */
static void switch_clips(const struct ask *a, const struct form *f, struct job *job)
{
    steno_transcribe_params *p = &job->params;
    const int is_on = a->use_vad && !job->speech.join;
    if (a->use_vad != a->vad_default && !form_has(f, "condition_on_previous_text")) p->condition_on_previous_text = !a->use_vad;
    p->independent_clips = is_on && !p->condition_on_previous_text;
    if (!is_on) return;
    if (form_has(f, "offset_ms")) job->speech.begin_ms = p->offset_ms;
    if (form_has(f, "duration_ms")) job->speech.duration_ms = p->duration_ms;
    p->offset_ms = p->duration_ms = 0;
}

int ask_fill_vad(struct ask *a, struct form *f, struct job *job, const steno_model *m, struct api_error *e)
{
    const int is_within = ask_served(m, "vad_model"), is_given = is_within && job->params.vad_model;
    const int is_there = is_given || (job->speech.params.size && (!is_within || a->vad));
    if (a->use_vad > 0 && !is_there && a->is_auto) {
        a->use_vad = 0;
        ask_ignore(a->ignored, "chunking_strategy");
    }
    if (a->use_vad > 0 && !is_there) {
        const char *name = form_has(f, "vad_filter") ? "vad_filter" : "chunking_strategy";
        return api_fail(e, API_invalid_value, name, "%s: this server has no model of voice activity detection; leave it out", name);
    }
    const int is_default = is_within ? is_given : is_there && a->vad_default;
    const int is_used = a->use_vad ? a->use_vad > 0 : is_default;
    if (is_used && a->clips)
        return api_fail(e, API_invalid_value, "clip_timestamps",
                        "clip_timestamps and voice activity detection exclude each other; send vad_filter=false");
    if (!is_there) {
        a->use_vad = 0;
        return API_OK;
    }
    if (is_within) return fill_vad_within(a, job, e);
    a->use_vad = is_used;
    if (ask_served(m, "independent_clips")) switch_clips(a, f, job);
    return is_used ? fill_vad_params(a, job, e) : API_OK;
}
