/* steno-serve: base64. SPDX-License-Identifier: MIT */
#include "base64.h"
#include <stdint.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* @return 0 to 63, or -1 */
static int value_of(unsigned char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static int fail(struct base64 *d, const char *why)
{
    d->why = why;
    return -1;
}

static const char *why_not(unsigned char c)
{
    if (c == '-' || c == '_') return "'-' and '_' belong to base64url: write '+' and '/'";
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') return "spaces and line ends are not allowed";
    return "the character is not one of base64";
}

static int padding_add(struct base64 *d)
{
    if (d->n_in_group < 2) return fail(d, "padding where a group of four characters has fewer than two");
    if (d->bits) return fail(d, "there are bits after the last byte");
    d->n_padding++;
    d->n_in_group = (d->n_in_group + 1) % 4;
    return 0;
}

int base64_add(struct base64 *d, const char *text, size_t n, unsigned char *out, size_t *n_out)
{
    *n_out = 0;
    if (d->why) return -1;
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)text[i];
        const int value = value_of(c), is_over = d->n_padding && !d->n_in_group;
        if (is_over || (d->n_padding && value >= 0)) return fail(d, "there are characters after the padding");
        if (c == '=') {
            if (padding_add(d)) return -1;
            d->at++;
            continue;
        }
        if (value < 0) return fail(d, why_not(c));
        d->bits = d->bits << 6 | (unsigned)value;
        d->n_bits += 6;
        if (d->n_bits >= 8) {
            d->n_bits -= 8;
            out[(*n_out)++] = (unsigned char)(d->bits >> d->n_bits);
            d->bits &= (1u << d->n_bits) - 1;
        }
        d->n_in_group = (d->n_in_group + 1) % 4;
        d->at++;
    }
    return 0;
}

int base64_end(struct base64 *d)
{
    if (!d->why && d->n_in_group) return fail(d, "the text ends within a group of four characters");
    return d->why ? -1 : 0;
}

int base64_decode(struct base64 *d, const char *text, size_t n, unsigned char *out, size_t *n_out)
{
    *d = (struct base64){ 0 };
    return base64_add(d, text, n, out, n_out) || base64_end(d) ? -1 : 0;
}

void base64_encode(const void *bytes, size_t n, char *out)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < n; i += 3) {
        const size_t left = n - i;
        const uint32_t bits = (uint32_t)b[i] << 16 | (left > 1 ? (uint32_t)b[i + 1] << 8 : 0) | (left > 2 ? b[i + 2] : 0u);
        *out++ = alphabet[bits >> 18 & 63];
        *out++ = alphabet[bits >> 12 & 63];
        *out++ = left > 1 ? alphabet[bits >> 6 & 63] : '=';
        *out++ = left > 2 ? alphabet[bits & 63] : '=';
    }
    *out = '\0';
}
