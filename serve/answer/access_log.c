/* steno-serve: a line of the log for each request. SPDX-License-Identifier: MIT */
#include "access_log.h"
#include "answer_tokens.h"
#include "utf8.h"
#include "write.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

static void key(struct sink *f, const char *name)
{
    sink_format(f, ", \"%s\": ", name);
}

/* At most `max` bytes; what is not printable is escaped. */
static void word(struct sink *f, const char *name, const char *value, size_t max)
{
    char text[LOG_WORD_MAX + 1];
    key(f, name);
    if (!value) {
        sink_text(f, "null");
        return;
    }
    utf8_printable(text, max + 1, value);
    utf8_json(f, text);
}

static void whole(struct sink *f, const char *name, int64_t value)
{
    key(f, name);
    if (value < 0) sink_text(f, "null");
    else sink_format(f, "%" PRId64, value);
}

static void seconds(struct sink *f, const char *name, double value)
{
    key(f, name);
    write_json_number(f, value >= 0 ? round(value * 1000) / 1000 : (double)NAN);
}

static void put_time(struct sink *f, int64_t ms)
{
    char text[32];
    const time_t s = (time_t)(ms / 1000);
    struct tm tm;
    if (ms < 0 || !gmtime_r(&s, &tm) || !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm)) sink_text(f, "{\"time\": null");
    else sink_format(f, "{\"time\": \"%s.%03dZ\"", text, (int)(ms % 1000));
}

char *access_line(const struct access_record *r, int log_text, size_t *n)
{
    struct sink_memory m = { 0 };
    struct sink f = sink_to_memory(&m);
    put_time(&f, r->time_ms);
    word(&f, "id", r->id, LOG_WORD_MAX);
    word(&f, "client", r->client, LOG_WORD_MAX);
    word(&f, "method", r->method, LOG_FILE_MAX);
    word(&f, "route", r->route, LOG_FILE_MAX);
    whole(&f, "code", r->code);
    whole(&f, "bytes_in", r->bytes_in);
    whole(&f, "bytes_out", r->bytes_out);
    seconds(&f, "audio", r->audio_s);
    seconds(&f, "queue", r->queue_s);
    seconds(&f, "total", r->total_s);
    seconds(&f, "speed", r->audio_s >= 0 && r->total_s > 0 ? r->audio_s / r->total_s : -1);
    word(&f, "model", r->model, LOG_WORD_MAX);
    word(&f, "language", r->language, LOG_FILE_MAX);
    word(&f, "reason", r->reason, LOG_FILE_MAX);
    word(&f, "file", r->file, LOG_FILE_MAX);
    if (log_text && r->text) {
        key(&f, "text");
        utf8_json(&f, r->text);
    }
    sink_char(&f, '}');
    return body_taken(&f, &m, n);
}
