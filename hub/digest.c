/* steno-hub: hashes of files. SPDX-License-Identifier: MIT */
#include "digest.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- SHA-1 and SHA-256 (FIPS 180-4); names are the standard's: a..h, W, K, Ch, Maj, Sigma ------------------------------------ */

/* SHA-256: fractions of the cube roots of the first 64 primes. */
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotr(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

/* Round number k of eight. The standard shifts a..h by one after each; here they stay, and `a` is v[-k], `b` v[1 - k], modulo 8. */
static inline void sha256_round(uint32_t v[8], unsigned k, uint32_t k_and_w)
{
    const uint32_t a = v[-k & 7], b = v[(1 - k) & 7], c = v[(2 - k) & 7], e = v[(4 - k) & 7], f = v[(5 - k) & 7], g = v[(6 - k) & 7];
    const uint32_t sigma1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25), ch = (e & f) ^ (~e & g);
    const uint32_t sigma0 = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22), maj = (a & b) ^ (a & c) ^ (b & c);
    const uint32_t t1 = v[(7 - k) & 7] + sigma1 + ch + k_and_w;
    v[(3 - k) & 7] += t1;
    v[(7 - k) & 7] = t1 + sigma0 + maj;
}

static void sha256_block(uint32_t h[8], const unsigned char *p)
{
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++, p += 4) w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    for (int i = 16; i < 64; i++) {
        const uint32_t s0 = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
        const uint32_t s1 = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    memcpy(v, h, sizeof v);
    for (int i = 0; i < 64; i += 8) {
        sha256_round(v, 0, K[i + 0] + w[i + 0]);
        sha256_round(v, 1, K[i + 1] + w[i + 1]);
        sha256_round(v, 2, K[i + 2] + w[i + 2]);
        sha256_round(v, 3, K[i + 3] + w[i + 3]);
        sha256_round(v, 4, K[i + 4] + w[i + 4]);
        sha256_round(v, 5, K[i + 5] + w[i + 5]);
        sha256_round(v, 6, K[i + 6] + w[i + 6]);
        sha256_round(v, 7, K[i + 7] + w[i + 7]);
    }
    for (int i = 0; i < 8; i++) h[i] += v[i];
}

static uint32_t rotl(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

static void sha1_block(uint32_t h[8], const unsigned char *p)
{
    uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (int t = 0; t < 16; t++, p += 4) w[t] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    for (int t = 16; t < 80; t++) w[t] = rotl(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    for (int t = 0; t < 80; t++) {
        static const uint32_t of_20[4] = { 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6 };
        const uint32_t f = t < 20 ? (b & c) ^ (~b & d) : t >= 40 && t < 60 ? (b & c) ^ (b & d) ^ (c & d) : b ^ c ^ d;
        const uint32_t T = rotl(a, 5) + f + e + of_20[t / 20] + w[t];
        e = d;
        d = c;
        c = rotl(b, 30);
        b = a;
        a = T;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e;
}

void sha_init(struct sha *s, enum sha_kind kind)
{
    static const uint32_t first[2][8] = {
        { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 },
        /* Fractions of the square roots of the first eight primes. */
        { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 },
    };
    memcpy(s->h, first[kind], sizeof s->h);
    s->kind = kind;
    s->n = 0;
}

void sha_push(struct sha *s, const void *data, size_t n)
{
    const unsigned char *p = data;
    while (n > 0) {
        const size_t at = s->n % sizeof s->block, room = sizeof s->block - at, k = n < room ? n : room;
        memcpy(s->block + at, p, k);
        s->n += k;
        p += k;
        n -= k;
        if (k == room) (s->kind == SHA_1 ? sha1_block : sha256_block)(s->h, s->block);
    }
}

void sha_hex(char out[SHA_HEX_SZ], struct sha *s)
{
    const uint64_t bits = s->n * 8;
    unsigned char length[8];
    sha_push(s, "\x80", 1);
    while (s->n % sizeof s->block != 56) sha_push(s, "", 1);
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)(bits >> (56 - 8 * i));
    sha_push(s, length, sizeof length);
    const int n = s->kind == SHA_1 ? 40 : 64;
    for (int i = 0; i < n; i++) out[i] = "0123456789abcdef"[s->h[i / 8] >> (28 - i % 8 * 4) & 15];
    out[n] = '\0';
}

int sha256_file(char out[SHA_HEX_SZ], const char *path, int (*stop)(void *user), void *user)
{
    struct sha s;
    struct stat st;
    unsigned char chunk[1 << 14];
    const int is_stdin = strcmp(path, "-") == 0;
    const int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int64_t at = 0;
    ssize_t got = -1;
    if (fd < 0) return -1;
    sha_init(&s, SHA_256);
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (!is_stdin || lseek(fd, 0, SEEK_CUR) == 0)) {
        while ((got = pread(fd, chunk, sizeof chunk, at)) > 0 || (got < 0 && errno == EINTR)) {
            if (stop && stop(user)) break; /* got is not 0, which reports it */
            if (got < 0) continue;
            sha_push(&s, chunk, (size_t)got);
            at += got;
        }
    }
    if (!is_stdin) close(fd);
    if (got == 0) sha_hex(out, &s);
    return got == 0 ? 0 : -1;
}

/* ---- of files of the hubs ---------------------------------------------------------------------------------------------------- */

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

static void begin_portable(struct digest *d, size_t n_digits)
{
    memset(d, 0, sizeof *d);
    d->is_sha1 = n_digits == 40;
    sha_init(&d->sha, d->is_sha1 ? SHA_1 : SHA_256);
}

void digest_begin_portable(struct digest *d, size_t n_digits, int64_t size)
{
    begin_portable(d, n_digits);
    if (d->is_sha1) begin_git(d, size);
}

void digest_begin(struct digest *d, size_t n_digits, int64_t size)
{
    begin_portable(d, n_digits);
    take_openssl(d);
    if (d->is_sha1) begin_git(d, size);
}

void digest_push(struct digest *d, const void *data, size_t n)
{
    if (d->context) d->update(d->context, data, n);
    else sha_push(&d->sha, data, n);
}

int64_t digest_push_file(struct digest *d, const char *path, int64_t n)
{
    unsigned char chunk[1 << 16];
    int64_t at = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    for (ssize_t got = 1; got && at != n;) {
        const size_t most = n < 0 || n - at > (int64_t)sizeof chunk ? sizeof chunk : (size_t)(n - at);
        got = read(fd, chunk, most);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            at = -1;
            break;
        }
        digest_push(d, chunk, (size_t)got);
        at += got;
    }
    const int why = errno;
    close(fd);
    errno = why;
    return at;
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
