/* steno-serve: what a client asked for: fields that need no model, and the order of the others. SPDX-License-Identifier: MIT */
#include "ask.h"
#include "ask_fill.h"
#include <stdlib.h>
#include <string.h>

/* Fields that are read elsewhere: by the caller, or with the model. */
static const char *const known[] = { "file", "model", "language", "languages", "hotwords", "keywords", "clip_timestamps",
                                     "fallback_temperatures", "max_len", "split_on_word", "suppress_non_speech" };

static int read_format(struct ask *a, struct form *f, struct api_error *e)
{
    int format = ASK_JSON;
    form_word(f, "response_format", ASK_ALL_FORMATS, &format, e);
    form_bool(f, "stream", &a->stream, e);
    a->format = (enum ask_format)format;
    if (e->code == API_OK && a->stream && (format == ASK_SRT || format == ASK_VTT || format == ASK_TSV))
        api_fail(e, API_invalid_value, "stream", "stream: srt, vtt and tsv are not streamed; use json, text or verbose_json");
    return (int)e->code;
}

/* The words of a list as bits, in the order of `words`. */
static unsigned read_bits(struct form *f, const char *name, const char *words, struct api_error *e)
{
    const char **list;
    unsigned bits = 0;
    int n;
    if (form_list(f, name, &list, &n, e) != API_OK) return 0;
    for (int i = 0; i < n && e->code == API_OK; i++) {
        const int k = word_index(list[i], words, name, e);
        if (k >= 0) bits |= 1u << k;
    }
    free(list);
    return bits;
}

static int read_lists(struct ask *a, struct form *f, struct api_error *e)
{
    a->granularities = read_bits(f, "timestamp_granularities", ASK_GRANULARITIES, e);
    a->logprobs = read_bits(f, "include", "logprobs", e) != 0;
    if (a->granularities & ASK_WORDS && a->format != ASK_VERBOSE_JSON)
        api_fail(e, API_invalid_value, "timestamp_granularities", "timestamp_granularities: word needs response_format verbose_json");
    if (!a->granularities) a->granularities = ASK_SEGMENTS;
    if (a->logprobs && a->format != ASK_JSON)
        api_fail(e, API_invalid_value, "include", "include: logprobs needs response_format json");
    return (int)e->code;
}

/* "auto", or an object in one of two forms. */
static int read_chunking(struct ask *a, struct form *f, struct api_error *e)
{
    static const char name[] = "chunking_strategy";
    const char *text = NULL, *type = NULL;
    int filter = -1;
    a->vad_threshold = a->vad_padding_ms = a->vad_silence_ms = -1;
    form_bool(f, "vad_filter", &filter, e);
    if (e->code != API_OK || form_member(f, name, "type", &type, e) != API_OK || form_text(f, name, &text, e) != API_OK)
        return (int)e->code;
    form_number(f, "chunking_strategy[threshold]", 0, 1, &a->vad_threshold, e);
    form_number(f, "chunking_strategy[prefix_padding_ms]", 0, 1e6, &a->vad_padding_ms, e);
    form_number(f, "chunking_strategy[silence_duration_ms]", 0, 1e9, &a->vad_silence_ms, e);
    if (type) word_index(type, "server_vad", "chunking_strategy[type]", e);
    const int is_word = text && text[strspn(text, " \t\r\n")] != '{';
    if (is_word) word_index(text, "auto", name, e);
    a->is_auto = is_word && filter < 0;
    const int is_given = form_has(f, name);
    if (is_given && filter == 0)
        api_fail(e, API_invalid_value, "vad_filter", "vad_filter is false, and chunking_strategy needs voice activity detection");
    a->use_vad = is_given || filter > 0 ? 1 : filter == 0 ? -1 : 0;
    return (int)e->code;
}

static int read_task(struct ask *a, struct form *f, int task, struct api_error *e)
{
    static const int tasks[] = { STENO_TRANSCRIBE, STENO_TRANSLATE };
    int word = task == STENO_TRANSLATE, priority = 1;
    const int of_route = word;
    form_word(f, "task", ASK_TASKS, &word, e);
    form_word(f, "priority", ASK_PRIORITIES, &priority, e);
    if (of_route && !word) api_fail(e, API_invalid_value, "task", "task: this route translates; use the route of transcriptions");
    a->task = tasks[word];
    a->priority = priority - 1;
    return (int)e->code;
}

static int check_speakers(const struct form *f, struct api_error *e)
{
    static const char *const names[] = { "known_speaker_names", "known_speaker_references" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (form_has(f, names[i]))
            return api_fail(e, API_invalid_value, names[i], "%s: this server cannot recognise speakers; leave it out", names[i]);
    return API_OK;
}

static int check_unknown(struct ask *a, struct form *f, int is_strict, struct api_error *e)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) form_use(f, known[i]);
    for (int i = 0; ask_field_at(i); i++) form_use(f, ask_field_at(i)->name);
    const int n = form_unused(f, a->ignored, sizeof a->ignored);
    for (char *p = a->ignored; *p; p++)
        if ((unsigned char)*p >= 0x7f) *p = '?'; /* it goes into a header */
    if (!is_strict || !n) return API_OK;
    char first[64] = "";
    memcpy(first, a->ignored, strcspn(a->ignored, ",") < sizeof first ? strcspn(a->ignored, ",") : sizeof first - 1);
    return api_fail(e, API_unknown_parameter, first, "unknown fields: %s; leave them out", a->ignored);
}

int ask_read(struct ask *a, struct form *f, int task, int is_strict, struct api_error *e)
{
    memset(a, 0, sizeof *a);
    read_format(a, f, e);
    if (e->code == API_OK) read_lists(a, f, e);
    if (e->code == API_OK) read_chunking(a, f, e);
    if (e->code == API_OK) read_task(a, f, task, e);
    if (e->code == API_OK) check_speakers(f, e);
    if (e->code == API_OK) check_unknown(a, f, is_strict, e);
    return (int)e->code;
}

static int fill(struct ask *a, struct form *f, struct job *job, const steno_model *m, struct api_error *e)
{
    const steno_transcribe_params before = job->params;
    if (a->format == ASK_DIARIZED_JSON && !job->diarize)
        return api_fail(e, API_invalid_value, "response_format",
                        "response_format: diarized_json needs a server that finds speakers; use verbose_json");
    if (ask_fill_task(a, f, &job->params, m, e) == API_OK && ask_fields_fill(&job->params, f, m, ask_aligns(a, job), e) == API_OK &&
        ask_fill_words(a, f, job, m, e) == API_OK && ask_fill_lists(a, f, &job->params, m, e) == API_OK) {
        ask_settle(f, &job->params, &before, m);
        ask_fill_vad(a, f, job, m, e);
    }
    ask_settle_aligner(a, job);
    return e->code == API_OK ? ask_fields_check(&job->params, f, m, job->aligner != NULL, e) : (int)e->code;
}

int ask_fill(struct ask *a, struct form *f, struct job *job, const steno_model *m, struct api_error *e)
{
    fill(a, f, job, m, e);
    if (a->error_as) a->error_as(a->route, e);
    return (int)e->code;
}

void ask_free(struct ask *a)
{
    free(a->hotwords);
    free(a->clips);
    free(a->ladder);
    a->hotwords = NULL;
    a->clips = a->ladder = NULL;
}
