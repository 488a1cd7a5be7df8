/* steno: SHA-256 (FIPS 180-4). SPDX-License-Identifier: MIT
 *
 * A line of jsonl names its input by content; nothing secret passes here. */
#ifndef STENO_HUB_SHA256_H
#define STENO_HUB_SHA256_H
#include <stddef.h>
#include <stdint.h>

enum { SHA256_HEX_SZ = 65 };

struct sha256 {
    uint32_t h[8];
    uint64_t n; /* bytes so far */
    unsigned char block[64];
};

void sha256_init(struct sha256 *s);
void sha256_push(struct sha256 *s, const void *data, size_t n);
void sha256_hex(char out[SHA256_HEX_SZ], struct sha256 *s); /* ends the message */

/* Of a regular file, or of standard input ("-") where that is one; its offset stays. `stop` is asked
 * between reads, may be NULL. @return 0, or -1 when it is none, cannot be read, or stop gave up */
int sha256_file(char out[SHA256_HEX_SZ], const char *path, int (*stop)(void *user), void *user);
#endif
