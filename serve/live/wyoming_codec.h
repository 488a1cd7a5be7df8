/* steno-serve: events of the Wyoming protocol as bytes. SPDX-License-Identifier: MIT
 *
 * An event is one line of JSON, {"type", "data"?, "data_length"?, "payload_length"?}, then data_length bytes of JSON that are merged over
 * `data`, then the payload. Memory grows with what arrives, not with the announced lengths. */
#ifndef STENO_SERVE_WYOMING_CODEC_H
#define STENO_SERVE_WYOMING_CODEC_H
#include <jansson.h>
#include <stddef.h>

enum { WYOMING_LINE_MAX = 1 << 16, WYOMING_DATA_MAX = 1 << 20, WYOMING_PAYLOAD_MAX = 1 << 20 };

struct wyoming_event {
    const char *type;
    const char *version; /* of the client's package; NULL: not given */
    const json_t *data; /* an object */
    const char *payload; /* [n_payload] */
    size_t n_payload;
};

struct wyoming_reader;

/* event: valid during the call; it returns non-zero to stop. @return NULL: out of memory */
struct wyoming_reader *wyoming_reader_open(int (*event)(void *user, const struct wyoming_event *e), void *user);
int wyoming_reader_add(struct wyoming_reader *r, const char *bytes, size_t n); /* @return 0, or -1: failed, or stopped */
const char *wyoming_reader_why(const struct wyoming_reader *r); /* reason of a failure; NULL: none */
void wyoming_reader_close(struct wyoming_reader *r); /* NULL is allowed */

/* An event without a payload, malloc'd [*n]; takes over `data`, which may be NULL. @return NULL: out of memory */
char *wyoming_event_text(const char *type, json_t *data, size_t *n);

/* The format of audio-start and audio-chunk. @return NULL, or what is wrong */
struct wyoming_format { int rate, width, channels; };
const char *wyoming_format_read(struct wyoming_format *f, const json_t *data);

/* The head of a WAV file with n bytes of such samples. */
enum { WYOMING_WAV_HEAD = 44 };
void wyoming_wav_head(unsigned char head[WYOMING_WAV_HEAD], const struct wyoming_format *f, size_t n);
#endif
