/* steno: base64 (RFC 4648). SPDX-License-Identifier: MIT */
#ifndef STENO_LOAD_BASE64_H
#define STENO_LOAD_BASE64_H
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"

/* Decode n characters with their padding to out, [n / 4 * 3]. @return bytes; -1: not base64 */
int64_t bytes_of_base64(uint8_t *out, const char *s, size_t n);
void base64_put(struct buf *out, const uint8_t *bytes, size_t n); /* appends, with padding */
#endif
