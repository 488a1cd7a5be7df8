/* steno: JSON, piece by piece, in memory. SPDX-License-Identifier: MIT
 *
 * For files that are read back. Strings are decoded where they lie, so the text is used up. Nothing is built, and depth is bounded. */
#ifndef STENO_HUB_JSON_SCAN_H
#define STENO_HUB_JSON_SCAN_H
#include <stddef.h>

enum { JSON_SCAN_DEPTH = 32 };
enum json_piece { JSON_PIECE_BAD, JSON_PIECE_END, JSON_PIECE_OPEN, JSON_PIECE_CLOSE, JSON_PIECE_KEY, JSON_PIECE_TEXT, JSON_PIECE_NUMBER,
                  JSON_PIECE_OTHER };

struct json_scan {
    char *p;                 /* what is left, up to a NUL */
    int depth;
    char is_list[JSON_SCAN_DEPTH]; /* of what is open */
    int wants;               /* 0: a value, 1: a key or the end of an object, 2: a comma or the end, 3: a value or the end of a list */
    char *s;                 /* of a key or a text, ended by a NUL */
    double x;                /* of a number */
};

void json_scan_begin(struct json_scan *j, char *text);
/* Values of the outermost level follow each other with white space between them alone, as lines of JSON do. */
enum json_piece json_scan_next(struct json_scan *j);
#endif
