/* steno-serve: checks of a request's head. SPDX-License-Identifier: MIT
 *
 * Requests that servers and proxies read in different ways are refused before a byte of the body counts (RFC 9112, sections 3, 5, 6). A
 * function of the lines of the head, without a socket. */
#ifndef STENO_SERVE_HTTP_GATE_H
#define STENO_SERVE_HTTP_GATE_H
#include <stddef.h>

struct gate {
    const char *why;  /* of a refusal; NULL: none so far */
    int n_hosts, n_lengths, n_encodings;
    long long length; /* -1: none */
};

void gate_begin(struct gate *g, const char *target, const char *version);
void gate_field(struct gate *g, const char *name, size_t n_name, const char *value, size_t n_value);
const char *gate_end(struct gate *g, const char *version); /* @return NULL, or the reason of a refusal (400, and the connection closes) */
#endif
