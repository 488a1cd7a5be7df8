/* steno: JSON: the reference's object, the OpenAI API's object, and records line by line. SPDX-License-Identifier: MIT
 *
 * json is the reference's object on one line, without a final newline. verbose_json is the API's (response_format=verbose_json). jsonl has
 * one record per line: the job, each input, the totals. The list of segments is the same in all, and the last two allow no NaN. */
#include "sink.h"
#include "utf8.h"
#include "write.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- json -------------------------------------------------------------------------------------------------------------------- */

void write_json_number(struct sink *f, double value)
{
    char num[NUM_SZ];
    sink_text(f, num_repr(num, value)); /* null for NAN and infinity */
}

void write_json_stripped(struct sink *f, const char *text)
{
    size_t n;
    const char *s = utf8_strip(text, &n);
    utf8_json_part(f, s, n);
}

static void member(struct sink *f, const char *key, double value)
{
    sink_format(f, ", \"%s\": ", key);
    write_json_number(f, value);
}

/* The reference lists words only if they were requested. Segments that it emptied always have an empty list. */
static void write_words(struct sink *f, const struct transcript *t, int seg)
{
    const steno_segment *s = &t->segs[seg];
    if (!t->word_times && (s->n_tokens || s->text[0])) return;
    sink_text(f, ", \"words\": [");
    for (int32_t k = 0; t->word_times && k < s->n_words; k++) {
        const steno_word *w = &t->words[t->first_word[seg] + k];
        sink_text(f, k ? ", {\"word\": " : "{\"word\": ");
        utf8_json(f, w->text);
        member(f, "start", w->start);
        member(f, "end", w->end);
        member(f, "probability", w->probability);
        sink_char(f, '}');
    }
    sink_char(f, ']');
}

/* In the order of the list of tokens. */
static void write_token_times(struct sink *f, const struct transcript *t, int seg)
{
    sink_text(f, ", \"token_times\": [");
    for (int32_t k = 0; t->tokens && k < t->segs[seg].n_tokens; k++) {
        const steno_token *tok = &t->tokens[t->first_token[seg] + k];
        sink_text(f, k ? ", [" : "[");
        write_json_number(f, tok->t0_ms < 0 ? NAN : (double)tok->t0_ms / 1000);
        sink_text(f, ", ");
        write_json_number(f, tok->t1_ms < 0 ? NAN : (double)tok->t1_ms / 1000);
        sink_char(f, ']');
    }
    sink_char(f, ']');
}

static void write_token_logprobs(struct sink *f, const struct transcript *t, int seg)
{
    sink_text(f, ", \"token_logprobs\": [");
    for (int32_t k = 0; t->tokens && k < t->segs[seg].n_tokens; k++) {
        if (k) sink_text(f, ", ");
        write_json_number(f, round(1e6 * (double)t->tokens[t->first_token[seg] + k].logprob) / 1e6);
    }
    sink_char(f, ']');
}

static void write_words_of(struct sink *f, uint32_t bits, const char *const *words, size_t n, int always)
{
    const char *sep = "";
    bits &= (1u << n) - 1;
    if (!bits && !always) return;
    sink_text(f, ", \"flags\": [");
    for (size_t i = 0; i < n; i++) {
        if (!(bits >> i & 1)) continue;
        sink_format(f, "%s\"%s\"", sep, words[i]);
        sep = ", ";
    }
    sink_char(f, ']');
}

static void write_flags(struct sink *f, uint32_t bits)
{
    /* in the order of the bits of steno_flag */
    static const char *const flags[] = { "repetition", "no_speech", "low_confidence", "retried" };
    write_words_of(f, bits, flags, sizeof flags / sizeof *flags, 0);
}

static void write_hypothesis(struct sink *f, const struct transcript *t, const steno_hypothesis *h)
{
    sink_text(f, "{\"text\": ");
    utf8_json(f, h->text);
    member(f, "avg_logprob", h->avg_logprob);
    member(f, "score", h->score);
    sink_text(f, ", \"tokens\": [");
    for (int i = 0; i < h->n_tokens; i++) sink_format(f, "%s%d", i ? ", " : "", h->tokens[i]);
    sink_char(f, ']');
    if (t->token_logprobs) sink_text(f, ", \"token_logprobs\": [");
    for (int i = 0; t->token_logprobs && i < h->n_tokens; i++) {
        if (i) sink_text(f, ", ");
        write_json_number(f, round(1e6 * (double)h->logprobs[i]) / 1e6);
    }
    sink_text(f, t->token_logprobs ? "]}" : "}");
}

/* Writes the n best texts of each window, best first. */
void write_json_hypotheses(struct sink *f, const struct transcript *t)
{
    if (!t->n_hypotheses) return;
    sink_text(f, ", \"n_best\": [");
    for (int i = 0; i < t->n_hypotheses; i++) {
        const steno_hypothesis *h = &t->hypotheses[i];
        if (!h->place) {
            sink_text(f, i ? "]}, {\"start\": " : "{\"start\": ");
            write_json_number(f, (double)h->at_ms / 1000);
            sink_text(f, ", \"hypotheses\": [");
        }
        if (h->place) sink_text(f, ", ");
        write_hypothesis(f, t, h);
    }
    sink_text(f, "]}]");
}

void write_json_left_out(struct sink *f, const struct transcript *t)
{
    if (!t->n_left_out) return;
    sink_text(f, ", \"left_out\": [");
    for (int i = 0; i < t->n_left_out; i++) {
        const steno_left_out *l = &t->left_out[i];
        sink_text(f, i ? ", {\"start\": " : "{\"start\": ");
        write_json_number(f, (double)l->t0_ms / 1000);
        member(f, "end", (double)l->t1_ms / 1000);
        sink_text(f, ", \"text\": ");
        utf8_json(f, l->text);
        member(f, "avg_logprob", l->avg_logprob);
        member(f, "no_speech_prob", l->no_speech_prob);
        write_flags(f, l->flags);
        sink_char(f, '}');
    }
    sink_char(f, ']');
}

void write_json_language_prob(struct sink *f, const struct transcript *t)
{
    if (t->language_prob > 0) member(f, "language_probability", t->language_prob);
}

void write_json_post(struct sink *f, const struct transcript *t)
{
    if (!t->post) return;
    sink_text(f, ", \"post\": ");
    utf8_json(f, t->post);
}

void write_json_lost(struct sink *f, const struct transcript *t, int always)
{
    static const char *const lost[] = { "truncated", "damaged" };
    write_words_of(f, t->lost, lost, sizeof lost / sizeof *lost, always);
}

/* Writes keys that the reference does not have, and only if they have a value. */
static void write_findings(struct sink *f, const steno_segment *s, const int32_t *speaker)
{
    write_flags(f, s->flags);
    if (s->language) {
        sink_text(f, ", \"language\": ");
        utf8_json(f, s->language);
    }
    if (s->emotion) {
        sink_text(f, ", \"emotion\": ");
        utf8_json(f, s->emotion);
    }
    if (s->event) {
        sink_text(f, ", \"events\": [");
        utf8_json(f, s->event);
        sink_char(f, ']');
    }
    if (s->itn) sink_format(f, ", \"itn\": %s", strcmp(s->itn, "withitn") == 0 ? "true" : "false");
    if (s->word_source && s->n_words && strcmp(s->word_source, "dtw") != 0) sink_format(f, ", \"source\": \"%s\"", s->word_source);
    if (speaker && *speaker >= 0) sink_format(f, ", \"speaker\": %" PRId32, *speaker);
    if (s->speaker_turn) sink_text(f, ", \"speaker_turn\": true");
}

static void write_segment(struct sink *f, const struct transcript *t, int seg)
{
    const steno_segment *s = &t->segs[seg];
    double start, end;
    write_seconds(s, t->first_timestamp, &start, &end);
    sink_format(f, "{\"id\": %d, \"seek\": %" PRId64, s->id, s->seek_frames);
    member(f, "start", s->t0_ms < 0 ? NAN : start);
    member(f, "end", s->t1_ms < 0 ? NAN : end);
    sink_text(f, ", \"text\": ");
    utf8_json(f, s->text);
    sink_text(f, ", \"tokens\": [");
    for (int i = 0; i < s->n_tokens; i++) sink_format(f, "%s%d", i ? ", " : "", s->tokens[i]);
    sink_char(f, ']');
    member(f, "temperature", s->temperature);
    member(f, "avg_logprob", s->avg_logprob);
    member(f, "compression_ratio", s->compression_ratio);
    member(f, "no_speech_prob", s->no_speech_prob);
    write_words(f, t, seg);
    if (t->token_times) write_token_times(f, t, seg);
    if (t->token_logprobs) write_token_logprobs(f, t, seg);
    write_findings(f, s, write_speaker_of(t, seg));
    sink_char(f, '}');
}

void write_json_segments(struct sink *f, const struct transcript *t)
{
    sink_char(f, '[');
    for (int i = 0; i < t->n; i++) {
        if (i) sink_text(f, ", ");
        write_segment(f, t, i);
    }
    sink_char(f, ']');
}

/* For a text with punctuation. */
static void write_sentences(struct sink *f, const struct transcript *t)
{
    sink_text(f, ", \"sentences\": [");
    for (int i = 0; i < t->n_sentences; i++) {
        const steno_sentence *s = &t->sentences[i];
        sink_format(f, "%s{\"start\": ", i ? ", " : "");
        write_json_number(f, s->t0_ms < 0 ? NAN : (double)s->t0_ms / 1000);
        member(f, "end", s->t1_ms < 0 ? NAN : (double)s->t1_ms / 1000);
        sink_text(f, ", \"text\": ");
        write_json_stripped(f, s->text);
        sink_text(f, ", \"word_times\": [");
        for (int32_t k = 0; k < s->n_words; k++) {
            sink_text(f, k ? ", [" : "[");
            write_json_number(f, s->times_ms[2 * k] < 0 ? NAN : (double)s->times_ms[2 * k] / 1000);
            sink_text(f, ", ");
            write_json_number(f, s->times_ms[2 * k + 1] < 0 ? NAN : (double)s->times_ms[2 * k + 1] / 1000);
            sink_char(f, ']');
        }
        sink_text(f, "]}");
    }
    sink_char(f, ']');
}

/* The members that both objects end with. */
static void put_end(struct sink *f, const struct transcript *t)
{
    write_json_hypotheses(f, t);
    write_json_left_out(f, t);
    write_json_post(f, t);
    write_json_lost(f, t, 0);
    write_json_notes(f, t->notes, 0);
}

void write_json(struct sink *f, const struct transcript *t)
{
    sink_text(f, "{\"text\": ");
    utf8_json(f, t->text);
    sink_text(f, ", \"segments\": ");
    write_json_segments(f, t);
    if (t->n_sentences) write_sentences(f, t);
    sink_text(f, ", \"language\": ");
    utf8_json(f, t->language);
    write_json_language_prob(f, t);
    put_end(f, t);
    sink_char(f, '}');
}

/* ---- verbose_json ------------------------------------------------------------------------------------------------------------ */

/* The language is its full name. As in the API, the text and the words in the list have no surrounding white space. */

static void write_api_words(struct sink *f, const struct transcript *t)
{
    const char *sep = "";
    sink_text(f, ", \"words\": [");
    for (int i = 0; i < t->n && t->words; i++) {
        for (int32_t k = 0; k < t->segs[i].n_words; k++) {
            const steno_word *w = &t->words[t->first_word[i] + k];
            sink_format(f, "%s{\"word\": ", sep);
            write_json_stripped(f, w->text);
            sink_text(f, ", \"start\": ");
            write_json_number(f, w->start);
            sink_text(f, ", \"end\": ");
            write_json_number(f, w->end);
            sink_char(f, '}');
            sep = ", ";
        }
    }
    sink_char(f, ']');
}

void write_json_api(struct sink *f, const struct transcript *t, unsigned lists)
{
    sink_format(f, "\"task\": \"%s\", \"language\": ", t->task == STENO_TRANSLATE ? "translate" : "transcribe");
    const char *name = steno_language_name(t->language);
    utf8_json(f, name ? name : t->language);
    write_json_language_prob(f, t);
    sink_text(f, ", \"duration\": ");
    write_json_number(f, (double)t->duration_ms / 1000.0);
    sink_text(f, ", \"text\": ");
    write_json_stripped(f, t->text);
    if (lists & WRITE_API_SEGMENTS) {
        sink_text(f, ", \"segments\": ");
        write_json_segments(f, t);
    }
    if (lists & WRITE_API_WORDS) write_api_words(f, t);
    put_end(f, t);
}

void write_verbose_json(struct sink *f, const struct transcript *t)
{
    sink_char(f, '{');
    write_json_api(f, t, t->word_times ? WRITE_API_SEGMENTS | WRITE_API_WORDS : WRITE_API_SEGMENTS);
    sink_char(f, '}');
}

/* ---- jsonl ------------------------------------------------------------------------------------------------------------------- */

/* `type` is the kind of the record. "job" comes first and has what all inputs share. A "transcript" follows for each input, or for each of
 * its channels, tracks or tasks, and also for a failed input. A job with several inputs ends with a "summary". Every record of a kind has
 * all its keys; null means not known. `schema_version` increases when a key changes its meaning or is removed. */

enum { SCHEMA_VERSION = 2 };

static void text_or_null(struct sink *f, const char *key, const char *value)
{
    sink_format(f, ", \"%s\": ", key);
    if (value) utf8_json(f, value);
    else sink_text(f, "null");
}

static void begin_record(struct sink *f, const char *type)
{
    sink_format(f, "{\"type\": \"%s\", \"schema_version\": %d", type, SCHEMA_VERSION);
}

/* Writes the seconds spent, and the seconds of audio per second; audio_ms -1: not known. */
static void write_spent(struct sink *f, int64_t spent_us, int64_t audio_ms)
{
    const int is_known = spent_us != WRITE_TIME_UNKNOWN;
    sink_text(f, ", \"seconds\": ");
    write_json_number(f, is_known ? round((double)spent_us / 1e3) / 1e3 : NAN);
    sink_text(f, ", \"speed\": ");
    write_json_number(f, is_known && spent_us && audio_ms >= 0 ? round((double)audio_ms * 1e5 / (double)spent_us) / 100 : NAN);
}

void write_jsonl_job(struct sink *f, const struct transcript_source *job)
{
    begin_record(f, "job");
    if (job->more) job->more(f, job->user);
    text_or_null(f, "model", job->model);
    text_or_null(f, "engine_version", steno_version());
    sink_text(f, ", \"options\": ");
    if (job->options) job->options(f, job->opts);
    else sink_text(f, "null");
    sink_text(f, "}\n");
}

void write_jsonl_sums(struct sink *f, const struct transcript_sums *sums)
{
    begin_record(f, "summary");
    sink_format(f, ", \"inputs\": %d, \"ok\": %d, \"empty\": %d, \"failed\": %d, \"duration\": ", sums->n_inputs, sums->n_ok,
                sums->n_empty, sums->n_failed);
    write_json_number(f, (double)sums->audio_ms / 1000.0);
    write_spent(f, sums->spent_us, sums->audio_ms);
    sink_text(f, "}\n");
}

void write_jsonl(struct sink *f, const struct transcript *t)
{
    const struct transcript_source *r = t->source;
    begin_record(f, "transcript");
    if (r->more) r->more(f, r->user);
    text_or_null(f, "input", r->input);
    text_or_null(f, "sha256", r->sha256);
    text_or_null(f, "model", r->model);
    text_or_null(f, "engine_version", steno_version());
    sink_text(f, ", \"duration\": ");
    if (r->error) sink_text(f, "null");
    else write_json_number(f, (double)t->duration_ms / 1000.0);
    write_spent(f, r->spent_us, r->error ? -1 : t->duration_ms);
    text_or_null(f, "status", r->error ? "error" : "ok");
    text_or_null(f, "error", r->error);
    text_or_null(f, "language", r->error ? NULL : t->language);
    sink_text(f, ", \"language_probability\": ");
    write_json_number(f, !r->error && t->language_prob > 0 ? t->language_prob : NAN);
    sink_text(f, ", \"text\": ");
    if (r->error) sink_text(f, "null, \"segments\": null, \"notes\": null, \"flags\": null}\n");
    else {
        write_json_stripped(f, t->text);
        sink_text(f, ", \"segments\": ");
        write_json_segments(f, t);
        write_json_hypotheses(f, t);
        write_json_left_out(f, t);
        write_json_post(f, t);
        write_json_notes(f, t->notes, 1);
        write_json_lost(f, t, 1);
        sink_text(f, "}\n");
    }
}
