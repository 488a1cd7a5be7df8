/* steno-serve: the handshake of WebSocket (RFC 6455, section 4.2). SPDX-License-Identifier: MIT */
#include "api_error.h"
#include "base64.h"
#include "ws.h"
#include <stdint.h>
#include <string.h>
#include <strings.h>

/* ---- Sec-WebSocket-Accept: base64 of the SHA-1 of the key and a constant ------------------------------------------------------- */

enum { KEY_LENGTH = 24, DIGEST = 20 };
#define WS_CONSTANT "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

static uint32_t turn(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

/* SHA-1 (FIPS 180-4) of one block; names are the standard's. */
static void sha1_step(uint32_t H[5], const unsigned char *block)
{
    static const uint32_t K[4] = { 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6 };
    uint32_t W[80], v[5];
    for (int t = 0; t < 16; t++)
        W[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 | (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (int t = 16; t < 80; t++) W[t] = turn(W[t - 3] ^ W[t - 8] ^ W[t - 14] ^ W[t - 16], 1);
    memcpy(v, H, sizeof v);
    for (int t = 0; t < 80; t++) {
        const uint32_t b = v[1], c = v[2], d = v[3];
        const uint32_t f = t < 20 ? (b & c) | (~b & d) : t >= 40 && t < 60 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
        const uint32_t T = turn(v[0], 5) + f + v[4] + K[t / 20] + W[t];
        memmove(v + 1, v, 4 * sizeof *v);
        v[0] = T;
        v[2] = turn(b, 30);
    }
    for (int i = 0; i < 5; i++) H[i] += v[i];
}

/* Of a text of at most 119 bytes. */
static void sha1_short(unsigned char out[DIGEST], const char *text, size_t n)
{
    uint32_t H[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
    unsigned char block[128] = { 0 };
    const size_t end = n < 56 ? 64 : 128;
    memcpy(block, text, n);
    block[n] = 0x80;
    block[end - 2] = (unsigned char)(n * 8 >> 8);
    block[end - 1] = (unsigned char)(n * 8);
    for (size_t at = 0; at < end; at += 64) sha1_step(H, block + at);
    for (int i = 0; i < DIGEST; i++) out[i] = (unsigned char)(H[i / 4] >> (24 - 8 * (i % 4)));
}

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int ws_accept_value(char out[WS_ACCEPT_SZ], const char *key)
{
    char text[KEY_LENGTH + sizeof WS_CONSTANT];
    unsigned char digest[DIGEST];
    if (strlen(key) != KEY_LENGTH || strspn(key, digits) != KEY_LENGTH - 2 || strcmp(key + KEY_LENGTH - 2, "==") != 0) return -1;
    memcpy(text, key, KEY_LENGTH);
    memcpy(text + KEY_LENGTH, WS_CONSTANT, sizeof WS_CONSTANT);
    sha1_short(digest, text, sizeof text - 1);
    base64_encode(digest, DIGEST, out);
    return 0;
}

/* ---- fields ------------------------------------------------------------------------------------------------------------------- */

const char *ws_protocol_next(const char **list, size_t *n)
{
    const char *p = *list;
    if (!p) return NULL;
    p += strspn(p, ", \t");
    *n = strcspn(p, ",");
    *list = p + *n;
    while (*n && (p[*n - 1] == ' ' || p[*n - 1] == '\t')) --*n;
    return *n ? p : NULL;
}

static int has_entry(const char *list, const char *want)
{
    size_t n;
    for (const char *p; (p = ws_protocol_next(&list, &n));)
        if (n == strlen(want) && strncasecmp(p, want, n) == 0) return 1;
    return 0;
}

int ws_check(int is_get, const char *upgrade, const char *connection, const char *version, const char *key, struct api_error *e)
{
    char accept[WS_ACCEPT_SZ];
    if (!is_get) return api_fail(e, API_method_not_allowed, NULL, "A WebSocket begins with GET.");
    if (!has_entry(upgrade, "websocket") || !has_entry(connection, "upgrade"))
        return api_fail(e, API_upgrade_required, NULL,
                        "This address takes WebSockets only: send the header fields Connection: Upgrade and Upgrade: websocket. "
                        "A proxy in front of the server must pass them on.");
    if (!version || strcmp(version, "13") != 0)
        return api_fail(e, API_upgrade_required, NULL, "Sec-WebSocket-Version must be 13.");
    if (!key || ws_accept_value(accept, key))
        return api_fail(e, API_bad_request, NULL, "Sec-WebSocket-Key must be the base64 form of 16 bytes.");
    return API_OK;
}
