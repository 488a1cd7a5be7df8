/* steno-hub: hashes of files. SPDX-License-Identifier: MIT */
#include "digest.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* ---- OpenSSL, by its stable names ---------------------------------------------------------------------------------------------- */

/* The library stays open, because it does not unload cleanly. If anything is missing, the portable code is used. */
static void take_openssl(struct digest *d)
{
    static const char *const names[] = { "libcrypto.so.3", "libcrypto.so.1.1" };
    void *(*context_new)(void) = NULL;
    const void *(*kind)(void) = NULL;
    int (*init)(void *context, const void *kind, void *engine) = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !d->lib; i++) d->lib = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
    if (!d->lib) return;
    void *p;
#define BIND(f, name) p = dlsym(d->lib, name), memcpy(&(f), &p, sizeof p)
    BIND(context_new, "EVP_MD_CTX_new");
    BIND(kind, d->is_sha1 ? "EVP_sha1" : "EVP_sha256");
    BIND(init, "EVP_DigestInit_ex");
    BIND(d->update, "EVP_DigestUpdate");
    BIND(d->final, "EVP_DigestFinal_ex");
    BIND(d->end, "EVP_MD_CTX_free");
#undef BIND
    if (!context_new || !kind || !init || !d->update || !d->final || !d->end) return;
    d->context = context_new();
    if (d->context && init(d->context, kind(), NULL) == 1) return;
    if (d->context) d->end(d->context);
    d->context = NULL;
}

/* Git's name of a file is the hash of this line, a NUL and the content. */
static void begin_git(struct digest *d, int64_t size)
{
    char head[40];
    const int n = snprintf(head, sizeof head, "blob %lld", (long long)size);
    digest_push(d, head, (size_t)n + 1);
}

static void begin(struct digest *d, size_t n_digits)
{
    memset(d, 0, sizeof *d);
    d->is_sha1 = n_digits == 40;
    sha_init(&d->sha, d->is_sha1 ? SHA_1 : SHA_256);
}

void digest_begin_portable(struct digest *d, size_t n_digits, int64_t size)
{
    begin(d, n_digits);
    if (d->is_sha1) begin_git(d, size);
}

void digest_begin(struct digest *d, size_t n_digits, int64_t size)
{
    begin(d, n_digits);
    take_openssl(d);
    if (d->is_sha1) begin_git(d, size);
}

void digest_push(struct digest *d, const void *data, size_t n)
{
    if (d->context) d->update(d->context, data, n);
    else sha_push(&d->sha, data, n);
}

void digest_hex(char out[SHA_HEX_SZ], struct digest *d)
{
    unsigned char bytes[64];
    unsigned n = 0;
    if (!d->context) {
        sha_hex(out, &d->sha);
        return;
    }
    out[0] = '\0';
    if (d->final(d->context, bytes, &n) == 1 && n <= 32)
        for (unsigned i = 0; i < n; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    digest_drop(d);
}

void digest_drop(struct digest *d)
{
    if (d->context) d->end(d->context);
    d->context = NULL;
}
