/* steno: one line per input, whether it went well or not. SPDX-License-Identifier: MIT
 *
 * Every line has every key; what is not known is null. `schema_version` rises when a key changes its meaning or goes away. */
#include "utf8.h"
#include "write.h"
#include <math.h>

enum { SCHEMA_VERSION = 1 };

static void text_or_null(struct sink *f, const char *key, const char *value)
{
    sink_format(f, ", \"%s\": ", key);
    if (value) utf8_json(f, value);
    else sink_text(f, "null");
}

/* Seconds, and how many of the audio in one of them. */
static void write_spent(struct sink *f, const struct transcript *t)
{
    const struct transcript_source *r = t->source;
    const int is_known = r->spent_us != WRITE_TIME_UNKNOWN;
    sink_text(f, ", \"seconds\": ");
    write_json_number(f, is_known ? round((double)r->spent_us / 1e3) / 1e3 : NAN);
    sink_text(f, ", \"speed\": ");
    write_json_number(f, is_known && r->spent_us && !r->error ? round((double)t->duration_ms * 1e5 / (double)r->spent_us) / 100 : NAN);
}

void write_jsonl(struct sink *f, const struct transcript *t)
{
    const struct transcript_source *r = t->source;
    sink_format(f, "{\"schema_version\": %d", SCHEMA_VERSION);
    text_or_null(f, "input", r->input);
    text_or_null(f, "sha256", r->sha256);
    text_or_null(f, "model", r->model);
    text_or_null(f, "engine_version", steno_version());
    sink_text(f, ", \"options\": ");
    if (r->options) r->options(f, r->opts);
    else sink_text(f, "null");
    sink_text(f, ", \"duration\": ");
    if (r->error) sink_text(f, "null");
    else write_json_number(f, (double)t->duration_ms / 1000.0);
    write_spent(f, t);
    text_or_null(f, "status", r->error ? "error" : "ok");
    text_or_null(f, "error", r->error);
    text_or_null(f, "language", r->error ? NULL : t->language);
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
