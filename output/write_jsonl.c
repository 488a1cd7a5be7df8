/* steno: one JSON record per line: the job, each input, the totals. SPDX-License-Identifier: MIT
 *
 * `type` is the kind of the record. "job" comes first and has what all inputs share. A "transcript" follows for each input, or for each of
 * its channels, tracks or tasks, and also for a failed input. A job with several inputs ends with a "summary". Every record of a kind has
 * all its keys; null means not known. `schema_version` increases when a key changes its meaning or is removed. */
#include "utf8.h"
#include "write.h"
#include <math.h>

enum { SCHEMA_VERSION = 2 };

static void text_or_null(struct sink *f, const char *key, const char *value)
{
    sink_format(f, ", \"%s\": ", key);
    if (value) utf8_json(f, value);
    else sink_text(f, "null");
}

static void begin(struct sink *f, const char *type)
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
    begin(f, "job");
    text_or_null(f, "model", job->model);
    text_or_null(f, "engine_version", steno_version());
    sink_text(f, ", \"options\": ");
    if (job->options) job->options(f, job->opts);
    else sink_text(f, "null");
    sink_text(f, "}\n");
}

void write_jsonl_sums(struct sink *f, const struct transcript_sums *sums)
{
    begin(f, "summary");
    sink_format(f, ", \"inputs\": %d, \"ok\": %d, \"empty\": %d, \"failed\": %d, \"duration\": ", sums->n_inputs, sums->n_ok,
                sums->n_empty, sums->n_failed);
    write_json_number(f, (double)sums->audio_ms / 1000.0);
    write_spent(f, sums->spent_us, sums->audio_ms);
    sink_text(f, "}\n");
}

void write_jsonl(struct sink *f, const struct transcript *t)
{
    const struct transcript_source *r = t->source;
    begin(f, "transcript");
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
