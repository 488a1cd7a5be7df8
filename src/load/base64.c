/* steno: base64 (RFC 4648). SPDX-License-Identifier: MIT */
#include "load/base64.h"

static int digit(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

int64_t bytes_of_base64(uint8_t *out, const char *s, size_t n)
{
    int64_t len = 0;
    if (n % 4) return -1;
    const size_t pad = n && s[n - 1] == '=' ? (s[n - 2] == '=' ? 2 : 1) : 0;
    uint32_t bits = 0;
    for (size_t i = 0; i < n; i++) {
        const int d = i < n - pad ? digit(s[i]) : 0;
        if (d < 0) return -1;
        bits = bits << 6 | (uint32_t)d;
        if (i % 4 != 3) continue;
        for (int k = 2; k >= 0; k--) out[len++] = (uint8_t)(bits >> 8 * k);
        bits = 0;
    }
    for (size_t i = 0; i < pad; i++)
        if (out[--len]) return -1; /* bits that do not form a byte */
    return len;
}

void base64_put(struct buf *out, const uint8_t *bytes, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        const size_t left = n - i;
        const uint32_t bits = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) | (left > 2 ? bytes[i + 2] : 0u);
        char four[4] = "====";
        for (size_t k = 0; k < 4 && k <= left; k++) four[k] = digits[bits >> (18 - 6 * k) & 63];
        buf_add(out, four, sizeof four);
    }
}
