/* steno: SHA-1 and SHA-256 (FIPS 180-4). SPDX-License-Identifier: MIT
 *
 * Used for the hash of an input in jsonl, and for files of the hubs; not for secrets. */
#ifndef STENO_HUB_SHA_H
#define STENO_HUB_SHA_H
#include <stddef.h>
#include <stdint.h>

enum { SHA_HEX_SZ = 65 /* of the longer hash */ };
enum sha_kind { SHA_1, SHA_256 };

struct sha {
    enum sha_kind kind;
    uint32_t h[8]; /* SHA-1: the first five */
    uint64_t n;    /* bytes so far */
    unsigned char block[64];
};

void sha_init(struct sha *s, enum sha_kind kind);
void sha_push(struct sha *s, const void *data, size_t n);
void sha_hex(char out[SHA_HEX_SZ], struct sha *s); /* ends the message */

/* SHA-256 of a regular file, or of standard input ("-") if that is one; its offset stays. `stop` is called between reads, and may be NULL.
 * @return 0, or -1 if it is not a regular file, cannot be read, or stop returned non-zero */
int sha256_file(char out[SHA_HEX_SZ], const char *path, int (*stop)(void *user), void *user);
#endif
