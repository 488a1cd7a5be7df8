/* steno-serve: events of the Wyoming protocol as bytes. SPDX-License-Identifier: MIT */
#include "wyoming_codec.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum part { PART_LINE, PART_DATA, PART_PAYLOAD };

struct wyoming_reader {
    int (*event)(void *user, const struct wyoming_event *e);
    void *user;
    enum part part;
    char *bytes; /* [n] of the current part */
    size_t n, cap;
    size_t n_data, n_payload; /* announced */
    json_t *head, *data;
    int has_failed;
    const char *why;
};

struct wyoming_reader *wyoming_reader_open(int (*event)(void *user, const struct wyoming_event *e), void *user)
{
    struct wyoming_reader *r = calloc(1, sizeof *r);
    if (r) r->event = event, r->user = user;
    return r;
}

void wyoming_reader_close(struct wyoming_reader *r)
{
    if (!r) return;
    json_decref(r->head);
    json_decref(r->data);
    free(r->bytes);
    free(r);
}

const char *wyoming_reader_why(const struct wyoming_reader *r)
{
    return r->why;
}

static int reader_fail(struct wyoming_reader *r, const char *why)
{
    r->has_failed = 1;
    r->why = why;
    return -1;
}

static int keep(struct wyoming_reader *r, const char *bytes, size_t n)
{
    if (r->n + n > r->cap) {
        const size_t cap = r->n + n > 2 * r->cap ? r->n + n + 256 : 2 * r->cap;
        char *more = realloc(r->bytes, cap);
        if (!more) return reader_fail(r, "the server has no memory for the event");
        r->bytes = more;
        r->cap = cap;
    }
    if (n) memcpy(r->bytes + r->n, bytes, n);
    r->n += n;
    return 0;
}

/* ---- parts -------------------------------------------------------------------------------------------------------------------- */

/* An announced length. @return 0 or -1 */
static int length_read(size_t *n, const json_t *head, const char *name, size_t max)
{
    const json_t *v = json_object_get(head, name);
    *n = 0;
    if (!v || json_is_null(v)) return 0;
    if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > (json_int_t)max) return -1;
    *n = (size_t)json_integer_value(v);
    return 0;
}

static int event_end(struct wyoming_reader *r)
{
    const struct wyoming_event e = { json_string_value(json_object_get(r->head, "type")),
                                     json_string_value(json_object_get(r->head, "version")), r->data, r->bytes,
                                     r->part == PART_PAYLOAD ? r->n : 0 };
    const int stops = r->event(r->user, &e);
    json_decref(r->head);
    json_decref(r->data);
    r->head = r->data = NULL;
    r->part = PART_LINE;
    r->n = 0;
    if (stops) r->has_failed = 1;
    return stops ? -1 : 0;
}

static int data_end(struct wyoming_reader *r)
{
    json_t *more = json_loadb(r->bytes, r->n, JSON_REJECT_DUPLICATES, NULL);
    const int rc = json_is_object(more) ? json_object_update(r->data, more) : -1;
    json_decref(more);
    r->n = 0;
    return rc ? reader_fail(r, "the data of an event are not a JSON object") : 0;
}

static int line_end(struct wyoming_reader *r)
{
    r->head = json_loadb(r->bytes, r->n, JSON_REJECT_DUPLICATES, NULL);
    r->n = 0;
    if (!json_is_object(r->head)) return reader_fail(r, "an event must begin with one line that is a JSON object");
    if (!json_is_string(json_object_get(r->head, "type"))) return reader_fail(r, "an event has no type");
    if (length_read(&r->n_data, r->head, "data_length", WYOMING_DATA_MAX))
        return reader_fail(r, "data_length must be an integer from 0 to 1048576");
    if (length_read(&r->n_payload, r->head, "payload_length", WYOMING_PAYLOAD_MAX))
        return reader_fail(r, "payload_length must be an integer from 0 to 1048576");
    json_t *data = json_object_get(r->head, "data");
    if (data && !json_is_null(data) && !json_is_object(data)) return reader_fail(r, "the data of an event are not a JSON object");
    r->data = json_is_object(data) ? json_incref(data) : json_object();
    return r->data ? 0 : reader_fail(r, "the server has no memory for the event");
}

/* Goes on to the next part that has bytes, or ends the event. */
static int part_next(struct wyoming_reader *r)
{
    if (r->part == PART_LINE) {
        r->part = PART_DATA;
        if (r->n_data) return 0;
    }
    if (r->part == PART_DATA) {
        r->part = PART_PAYLOAD;
        if (r->n_payload) return 0;
    }
    return event_end(r);
}

/* Adds bytes of a part with a known length. @return bytes used */
static size_t part_add(struct wyoming_reader *r, const char *bytes, size_t n)
{
    const size_t want = (r->part == PART_DATA ? r->n_data : r->n_payload) - r->n, k = n < want ? n : want;
    if (keep(r, bytes, k) || k < want) return k;
    if (r->part == PART_DATA && data_end(r)) return k;
    part_next(r);
    return k;
}

static size_t line_add(struct wyoming_reader *r, const char *bytes, size_t n)
{
    const char *end = memchr(bytes, '\n', n);
    const size_t k = end ? (size_t)(end - bytes) : n;
    if (r->n + k > WYOMING_LINE_MAX) {
        reader_fail(r, "the line of an event is longer than 65536 bytes");
        return k;
    }
    if (keep(r, bytes, k) || !end) return k;
    const int is_empty = r->n == 0 || (r->n == 1 && r->bytes[0] == '\r');
    if (is_empty) r->n = 0;
    else if (line_end(r) == 0) part_next(r);
    return k + 1;
}

int wyoming_reader_add(struct wyoming_reader *r, const char *bytes, size_t n)
{
    for (size_t at = 0; at < n && !r->has_failed;)
        at += r->part == PART_LINE ? line_add(r, bytes + at, n - at) : part_add(r, bytes + at, n - at);
    return r->has_failed ? -1 : 0;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------------ */

char *wyoming_event_text(const char *type, json_t *data, size_t *n)
{
    char *body = data ? json_dumps(data, JSON_COMPACT) : NULL;
    const size_t n_body = body ? strlen(body) : 0;
    json_t *head = json_pack("{s:s, s:s}", "type", type, "version", "1.0.0");
    if (head && body) json_object_set_new(head, "data_length", json_integer((json_int_t)n_body));
    char *line = head && (!data || body) ? json_dumps(head, JSON_COMPACT) : NULL;
    const size_t n_line = line ? strlen(line) : 0;
    char *text = line ? malloc(n_line + 1 + n_body + 1) : NULL;
    if (text) {
        memcpy(text, line, n_line);
        text[n_line] = '\n';
        if (n_body) memcpy(text + n_line + 1, body, n_body);
        text[n_line + 1 + n_body] = '\0';
    }
    *n = text ? n_line + 1 + n_body : 0;
    json_decref(head);
    json_decref(data);
    free(line);
    free(body);
    return text;
}

/* ---- audio -------------------------------------------------------------------------------------------------------------------- */

static int int_of(const json_t *data, const char *name)
{
    const json_t *v = json_object_get(data, name);
    const json_int_t n = json_is_integer(v) ? json_integer_value(v) : 0;
    return n > 0 && n < 1000000 ? (int)n : 0;
}

const char *wyoming_format_read(struct wyoming_format *f, const json_t *data)
{
    *f = (struct wyoming_format){ int_of(data, "rate"), int_of(data, "width"), int_of(data, "channels") };
    if (f->rate < 1000 || f->rate > 384000) return "the rate of the audio must be an integer from 1000 to 384000";
    if (f->width != 1 && f->width != 2 && f->width != 4) return "the width of the audio must be 1, 2 or 4 bytes a sample";
    if (f->channels < 1 || f->channels > 8) return "the number of channels must be an integer from 1 to 8";
    return NULL;
}

static void put(unsigned char *to, uint32_t value, int n)
{
    for (int i = 0; i < n; i++) to[i] = (unsigned char)(value >> (8 * i));
}

void wyoming_wav_head(unsigned char head[WYOMING_WAV_HEAD], const struct wyoming_format *f, size_t n)
{
    const uint32_t bytes = n > UINT32_MAX - 36 ? UINT32_MAX - 36 : (uint32_t)n, frame = (uint32_t)(f->width * f->channels);
    memcpy(head, "RIFF....WAVEfmt ....................data", 40);
    put(head + 4, bytes + 36, 4);
    put(head + 16, 16, 4);
    put(head + 20, 1, 2);
    put(head + 22, (uint32_t)f->channels, 2);
    put(head + 24, (uint32_t)f->rate, 4);
    put(head + 28, (uint32_t)f->rate * frame, 4);
    put(head + 32, frame, 2);
    put(head + 34, (uint32_t)(8 * f->width), 2);
    put(head + 40, bytes, 4);
}
