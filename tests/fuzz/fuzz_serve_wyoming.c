/* steno: fuzzing of Wyoming's events. SPDX-License-Identifier: MIT
 *
 * The input is what a client sends. In pieces of any size it gives the same events. */
#include "wyoming_codec.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct events { size_t n, bytes; };

static int on_event(void *user, const struct wyoming_event *e)
{
    struct events *ev = user;
    struct wyoming_format f;
    size_t k;
    if (!e->type || !json_is_object(e->data) || e->n_payload > WYOMING_PAYLOAD_MAX) abort();
    if (!wyoming_format_read(&f, e->data) && (f.rate < 1000 || f.width > 4 || f.channels > 8)) abort();
    char *text = wyoming_event_text(e->type, json_incref((json_t *)e->data), &k);
    if (!text || strlen(text) != k) abort();
    free(text);
    ev->n++;
    ev->bytes += e->n_payload + strlen(e->type);
    return strcmp(e->type, "stop") == 0;
}

static struct events read_all(const uint8_t *data, size_t n, size_t piece)
{
    struct events ev = { 0 };
    struct wyoming_reader *r = wyoming_reader_open(on_event, &ev);
    int rc = 0;
    if (!r) abort();
    for (size_t at = 0; at < n && rc == 0; at += piece)
        rc = wyoming_reader_add(r, (const char *)data + at, n - at < piece ? n - at : piece);
    if (wyoming_reader_why(r) && rc == 0) abort();
    wyoming_reader_close(r);
    return ev;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const struct events a = read_all(data, n, n ? n : 1), b = read_all(data, n, 1), c = read_all(data, n, 7);
    if (a.n != b.n || a.bytes != b.bytes || a.n != c.n || a.bytes != c.bytes) abort();
    return 0;
}
