/* steno: JSON, piece by piece, in memory. SPDX-License-Identifier: MIT
 *
 * Strings are decoded in place, so the text is overwritten. No tree is built, and the depth is limited. */
#ifndef STENO_HUB_JSON_SCAN_H
#define STENO_HUB_JSON_SCAN_H
#include <stddef.h>

enum { JSON_SCAN_DEPTH = 32 };
enum json_piece { JSON_PIECE_BAD, JSON_PIECE_END, JSON_PIECE_OPEN, JSON_PIECE_CLOSE, JSON_PIECE_KEY, JSON_PIECE_TEXT, JSON_PIECE_NUMBER,
                  JSON_PIECE_OTHER };

struct json_scan {
    char *p;                 /* the rest, up to a NUL */
    int depth;
    char is_list[JSON_SCAN_DEPTH]; /* of the open levels */
    int wants;               /* 0: a value, 1: a key or the end of an object, 2: a comma or the end, 3: a value or the end of a list */
    char *s;                 /* of a key or a text, with a NUL */
    double x;                /* of a number */
};

void json_scan_begin(struct json_scan *j, char *text);
/* Values of the outermost level are separated by white space only, as in JSON lines. */
enum json_piece json_scan_next(struct json_scan *j);
#endif
