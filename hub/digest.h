/* steno-hub: hashes that name files. SPDX-License-Identifier: MIT
 *
 * sha256 of large files, git's sha1 of small ones. OpenSSL's body is taken where its library is on the machine, since it uses the
 * processor's instructions: 1,445 MB/s beside 101 of the portable one. */
#ifndef STENO_HUB_DIGEST_H
#define STENO_HUB_DIGEST_H
#include "sha.h"

struct digest {
    int is_sha1;
    void *lib, *context; /* OpenSSL's, NULL: the portable bodies are at work */
    int (*update)(void *context, const void *data, size_t n), (*final)(void *context, unsigned char *out, unsigned *n);
    void (*end)(void *context);
    struct sha sha;
};

/* For a file whose hash has so many digits, 64 or 40; of 40 `size` bytes are to come. */
void digest_begin(struct digest *d, size_t n_digits, int64_t size);
void digest_push(struct digest *d, const void *data, size_t n);
void digest_hex(char out[SHA_HEX_SZ], struct digest *d); /* ends it */
void digest_drop(struct digest *d); /* without a result; one that was ended or is {0} is left alone */

/* For tests: without OpenSSL. */
void digest_begin_portable(struct digest *d, size_t n_digits, int64_t size);
#endif
