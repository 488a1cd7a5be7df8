/* steno-hub: hashes of files. SPDX-License-Identifier: MIT
 *
 * SHA-256 for large files of the hubs and for the hash of an input in jsonl, git's SHA-1 for small files; not for secrets. For files of the
 * hubs, OpenSSL's library is used if it is installed, because it uses the processor's instructions: 1,738 MB/s versus 322 MB/s of the
 * portable code. */
#ifndef STENO_HUB_DIGEST_H
#define STENO_HUB_DIGEST_H
#include <stddef.h>
#include <stdint.h>

/* ---- SHA-1 and SHA-256 (FIPS 180-4); names are the standard's: a..h, W, K, Ch, Maj, Sigma ------------------------------------ */

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

/* ---- of files of the hubs ---------------------------------------------------------------------------------------------------- */

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
/* Push the first n bytes of a file, or all if n is negative. @return their number, or -1 with errno set */
int64_t digest_push_file(struct digest *d, const char *path, int64_t n);
void digest_hex(char out[SHA_HEX_SZ], struct digest *d); /* ends it */
void digest_drop(struct digest *d); /* ends it without a result; does nothing if it was ended or is {0} */

/* For tests: without OpenSSL. */
void digest_begin_portable(struct digest *d, size_t n_digits, int64_t size);
#endif
