/* steno: audio of an input that is decoded once. SPDX-License-Identifier: MIT
 *
 * Several readers read an input: voice activity detection, the first pass of a model, its windows. The first reading decodes and appends
 * the samples to a store, a temporary file of the caller. Later readings read the store, which never waits for a decoder. Samples of
 * media are multiples of 1/32768, so 16 bits hold them exactly. */
#ifndef STENO_JOB_DECODED_H
#define STENO_JOB_DECODED_H
#include <stddef.h>
#include <stdint.h>
#include <steno/steno.h>

/* The store. Several inputs, or channels of one, may share it. */
struct decoded_store {
    int (*write)(void *user, const void *bytes, size_t n); /* appends. @return 0, or a status below 0 */
    int (*read)(void *user, void *bytes, size_t n, int64_t at); /* all n bytes. @return 0, or a status below 0 */
    void *user;
    int64_t n;         /* bytes in it */
    int64_t max;       /* maximum number of samples of an audio; longer ones fail */
};

struct decoded {
    struct decoded_store *store; /* NULL: not in use */
    steno_source from;   /* the decoder, which has given `n` samples */
    int64_t first;       /* bytes in the store before it */
    int64_t n, at;       /* samples in the store; next sample that is read */
    int is_whole;        /* the end was reached */
    int status;          /* of the failure of the store, or DECODED_TOO_LONG; 0: none */
};

enum { DECODED_TOO_LONG = -101 };

/* `from` must be at its beginning and stays in use. */
void decoded_begin(struct decoded *d, struct decoded_store *store, const steno_source *from);
steno_source decoded_source(struct decoded *d);
const char *decoded_reason(const struct decoded *d); /* of a failure */
int decoded_fail(struct decoded *d, int status); /* keeps the first failure. @return the value of a failing read */
#endif
