/* steno-hub: hashes of files. SPDX-License-Identifier: MIT
 *
 * sha256 for large files, git's sha1 for small ones. OpenSSL's library is used if it is installed, because it uses the processor's
 * instructions: 1,445 MB/s versus 101 MB/s of the portable code. */
#ifndef STENO_HUB_DIGEST_H
#define STENO_HUB_DIGEST_H
#include "sha.h"

struct digest {
    int is_sha1;
    void *lib, *context; /* of OpenSSL; NULL: portable code */
    int (*update)(void *context, const void *data, size_t n), (*final)(void *context, unsigned char *out, unsigned *n);
    void (*end)(void *context);
    struct sha sha;
};

/* Begins a hash of n_digits, 64 or 40. A hash of 40 digits needs `size`, the number of bytes to come. */
void digest_begin(struct digest *d, size_t n_digits, int64_t size);
void digest_push(struct digest *d, const void *data, size_t n);
void digest_hex(char out[SHA_HEX_SZ], struct digest *d); /* ends it */
void digest_drop(struct digest *d); /* ends it without a result; does nothing if it was ended or is {0} */

/* For tests: without OpenSSL. */
void digest_begin_portable(struct digest *d, size_t n_digits, int64_t size);
#endif
