/* steno-serve: checks of a request's head. SPDX-License-Identifier: MIT
 *
 * Requests that servers and proxies read in different ways are refused before a byte of the body counts (RFC 9112, sections 3, 5, 6). A
 * function of the lines of the head, without a socket. */
#ifndef STENO_SERVE_HTTP_GATE_H
#define STENO_SERVE_HTTP_GATE_H
#include <stddef.h>

enum { GATE_TARGET_MAX = 16 << 10, GATE_HEAD_MAX = 24 << 10, GATE_FIELDS_MAX = 256 }; /* bytes; number of fields */

struct gate {
    const char *why;  /* of a refusal; NULL: none so far */
    int status;       /* of it: 400, 414 or 431 */
    int n_fields;
    size_t n_bytes;   /* of the target and the fields */
    int n_hosts, n_lengths, n_encodings, n_keys, n_codings;
    long long length; /* -1: none */
};

void gate_begin(struct gate *g, const char *target, const char *version);
void gate_field(struct gate *g, const char *name, size_t n_name, const char *value, size_t n_value);
const char *gate_end(struct gate *g, const char *version); /* @return NULL, or the reason of a refusal; the connection closes */
#endif
