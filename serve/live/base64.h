/* steno-serve: base64 (RFC 4648, section 4), in pieces of any size. SPDX-License-Identifier: MIT
 *
 * The decoder accepts only what an encoder writes: no spaces, no line ends, padding up to a multiple of four, and no bits after the last
 * byte. A text therefore has one meaning. */
#ifndef STENO_SERVE_BASE64_H
#define STENO_SERVE_BASE64_H
#include <stddef.h>

struct base64 {
    unsigned bits;   /* of the open group */
    int n_bits;
    int n_in_group;  /* its characters, 0 to 3 */
    int n_padding;   /* characters `=` of the last group */
    size_t at;       /* characters so far; of a failure: its place */
    const char *why; /* of a failure; NULL: none */
};

#define BASE64_DECODED_MAX(n) ((n) / 4 * 3 + 3) /* bytes that n more characters can give */
#define BASE64_ENCODED(n) (((n) + 2) / 3 * 4)   /* characters of n bytes */

/* Decodes n more characters into out[BASE64_DECODED_MAX(n)], the number of bytes in *n_out. *d begins as { 0 }. @return 0, or -1: failed */
int base64_add(struct base64 *d, const char *text, size_t n, unsigned char *out, size_t *n_out);
int base64_end(struct base64 *d); /* @return 0, or -1: the text is cut */

/* A whole text. @return 0, or -1 with the reason and the place in *d */
int base64_decode(struct base64 *d, const char *text, size_t n, unsigned char *out, size_t *n_out);

/* Writes BASE64_ENCODED(n) characters and a zero. */
void base64_encode(const void *bytes, size_t n, char *out);
#endif
