/* steno: one line per input, whether it went well or not. SPDX-License-Identifier: MIT
 *
 * Every line has every key; what is not known is null. `schema_version` rises when a key changes its meaning or goes away. */
#include "u8.h"
#include "write.h"

enum { SCHEMA_VERSION = 1 };

static void text_or_null(FILE *f, const char *key, const char *value)
{
    fprintf(f, ", \"%s\": ", key);
    if (value) u8_json(f, value);
    else fputs("null", f);
}

void write_jsonl(FILE *f, const struct transcript *t)
{
    const struct write_record *r = t->record;
    fprintf(f, "{\"schema_version\": %d", SCHEMA_VERSION);
    text_or_null(f, "input", r->input);
    text_or_null(f, "sha256", r->sha256);
    text_or_null(f, "model", r->model);
    text_or_null(f, "engine_version", steno_version());
    fputs(", \"options\": ", f);
    if (r->options) r->options(f, r->opts);
    else fputs("null", f);
    fputs(", \"duration\": ", f);
    if (r->error) fputs("null", f);
    else write_json_number(f, (double)t->duration_ms / 1000.0);
    text_or_null(f, "status", r->error ? "error" : "ok");
    text_or_null(f, "error", r->error);
    text_or_null(f, "language", r->error ? NULL : t->language);
    fputs(", \"text\": ", f);
    if (r->error) fputs("null, \"segments\": null, \"flags\": null}\n", f);
    else {
        write_json_stripped(f, t->text);
        fputs(", \"segments\": ", f);
        write_json_segments(f, t);
        write_json_lost(f, t, 1);
        fputs("}\n", f);
    }
}
