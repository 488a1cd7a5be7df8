/* steno: fuzzing of base64. SPDX-License-Identifier: MIT
 *
 * The first byte is the length of the pieces. A text that is accepted is the one that the encoder writes, and pieces give what the whole
 * gives. The bytes themselves are encoded and decoded, too. */
#include "base64.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void round_trip(const uint8_t *bytes, size_t n)
{
    char *text = malloc(BASE64_ENCODED(n) + 1);
    unsigned char *out = malloc(BASE64_DECODED_MAX(BASE64_ENCODED(n)));
    struct base64 d;
    size_t got;
    if (!text || !out) abort();
    base64_encode(bytes, n, text);
    if (base64_decode(&d, text, strlen(text), out, &got) || got != n || (n && memcmp(out, bytes, n))) abort();
    free(text);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (!n) return 0;
    const size_t len = data[0] ? data[0] : 1;
    const char *text = (const char *)++data;
    round_trip(data, --n);
    unsigned char *whole = malloc(BASE64_DECODED_MAX(n)), *parts = malloc(BASE64_DECODED_MAX(n) + 3);
    char *again = malloc(BASE64_ENCODED(BASE64_DECODED_MAX(n)) + 1);
    struct base64 d, p = { 0 };
    size_t n_whole, n_parts = 0, got;
    if (!whole || !parts || !again) abort();
    const int rc = base64_decode(&d, text, n, whole, &n_whole);
    int rc_parts = 0;
    for (size_t at = 0; at < n && !rc_parts; at += len) {
        unsigned char piece[BASE64_DECODED_MAX(255)];
        rc_parts = base64_add(&p, text + at, n - at < len ? n - at : len, piece, &got);
        memcpy(parts + n_parts, piece, got);
        n_parts += got;
    }
    if (!rc_parts) rc_parts = base64_end(&p);
    if (rc != rc_parts || n_whole != n_parts || d.at != p.at || memcmp(whole, parts, n_parts)) abort();
    if (!rc) {
        base64_encode(whole, n_whole, again);
        if (strlen(again) != n || memcmp(again, text, n)) abort();
    } else if (!d.why) abort();
    free(whole);
    free(parts);
    free(again);
    return 0;
}
