/* steno: the alphabet of byte-level pairs. SPDX-License-Identifier: MIT
 *
 * GPT-2's vocabulary is written in an alphabet of 256 printable characters, one per byte. */
#ifndef STENO_LOAD_BYTE_ALPHABET_H
#define STENO_LOAD_BYTE_ALPHABET_H
#include <stddef.h>
#include <stdint.h>
#include "base/utf8.h"

/* The byte of a character of the alphabet, -1: not in it. Printable Latin-1 characters are their own bytes; U+0100.. are the others in
 * order. */
static inline int byte_of_letter(uint32_t c)
{
    if ((c >= 0x21 && c <= 0x7e) || (c >= 0xa1 && c <= 0xff && c != 0xad)) return (int)c;
    if (c >= 0x100 && c <= 0x120) return (int)(c - 0x100);
    if (c >= 0x121 && c <= 0x142) return (int)(c - 0x121 + 0x7f);
    return c == 0x143 ? 0xad : -1;
}

/* Decode a string in the alphabet in place. @return the number of bytes; -1: *bad is not in the alphabet, or the string is not UTF-8 */
static inline int64_t bytes_of_letters(char *s, size_t len, uint32_t *bad)
{
    int64_t n = 0;
    for (size_t i = 0, step; i < len; i += step) {
        *bad = 0xfffd;
        step = utf8_next(s + i, len - i, bad);
        const int b = step ? byte_of_letter(*bad) : -1;
        if (b < 0) return -1;
        s[n++] = (char)b;
    }
    return n;
}
#endif
