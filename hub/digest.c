/* steno-hub: hashes that name files. SPDX-License-Identifier: MIT */
#include "digest.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* ---- SHA-1 (FIPS 180-4). Names are the standard's. ---------------------------------------------------------------------------- */

static uint32_t rotl(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

static void sha1_block(uint32_t h[5], const unsigned char *p)
{
    uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (int t = 0; t < 16; t++, p += 4) w[t] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    for (int t = 16; t < 80; t++) w[t] = rotl(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    for (int t = 0; t < 80; t++) {
        static const uint32_t K[4] = { 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6 };
        const uint32_t f = t < 20 ? (b & c) ^ (~b & d) : t >= 40 && t < 60 ? (b & c) ^ (b & d) ^ (c & d) : b ^ c ^ d;
        const uint32_t T = rotl(a, 5) + f + e + K[t / 20] + w[t];
        e = d;
        d = c;
        c = rotl(b, 30);
        b = a;
        a = T;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e;
}

static void sha1_init(struct sha1 *s)
{
    static const uint32_t first[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
    memcpy(s->h, first, sizeof first);
    s->n = 0;
}

static void sha1_push(struct sha1 *s, const void *data, size_t n)
{
    const unsigned char *p = data;
    while (n > 0) {
        const size_t at = s->n % sizeof s->block, room = sizeof s->block - at, k = n < room ? n : room;
        memcpy(s->block + at, p, k);
        s->n += k;
        p += k;
        n -= k;
        if (k == room) sha1_block(s->h, s->block);
    }
}

static void sha1_hex(char out[SHA256_HEX_SZ], struct sha1 *s)
{
    const uint64_t bits = s->n * 8;
    unsigned char length[8];
    sha1_push(s, "\x80", 1);
    while (s->n % sizeof s->block != 56) sha1_push(s, "", 1);
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)(bits >> (56 - 8 * i));
    sha1_push(s, length, sizeof length);
    for (int i = 0; i < 5; i++) snprintf(out + 8 * i, 9, "%08x", (unsigned)s->h[i]);
}

/* ---- OpenSSL's, by its stable names -------------------------------------------------------------------------------------------- */

/* The library stays open: it does not like to go. Where anything is missing, the portable bodies serve. */
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
    sha256_init(&d->sha256);
    sha1_init(&d->sha1);
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
    else if (d->is_sha1) sha1_push(&d->sha1, data, n);
    else sha256_push(&d->sha256, data, n);
}

void digest_hex(char out[SHA256_HEX_SZ], struct digest *d)
{
    unsigned char bytes[64];
    unsigned n = 0;
    if (!d->context) {
        if (d->is_sha1) sha1_hex(out, &d->sha1);
        else sha256_hex(out, &d->sha256);
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
