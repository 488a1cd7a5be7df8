/* steno: JSON in memory, piece by piece, or value by value with its path. SPDX-License-Identifier: MIT
 *
 * Strings are decoded in place, so the text is overwritten. No tree is built, and the depth is limited.
 *
 * A path is "Data.Files[].Path": keys after dots, [] for the members of a list. So a reader of a response compares one text. A key that is
 * too long, or too deep, gives a path that ends in "?" and matches nothing. */
#ifndef STENO_HUB_JSON_SCAN_H
#define STENO_HUB_JSON_SCAN_H
#include <stddef.h>
#include <stdint.h>

/* ---- pieces ------------------------------------------------------------------------------------------------------------------ */

enum { JSON_SCAN_DEPTH = 32 };
enum json_piece { JSON_PIECE_BAD, JSON_PIECE_END, JSON_PIECE_OPEN, JSON_PIECE_CLOSE, JSON_PIECE_KEY, JSON_PIECE_TEXT, JSON_PIECE_NUMBER,
                  JSON_PIECE_OTHER };

struct json_scan {
    char *p;                 /* the rest, up to a NUL */
    int depth;
    char is_list[JSON_SCAN_DEPTH]; /* of the open levels */
    int expects;             /* 0: a value, 1: a key or the end of an object, 2: a comma or the end, 3: a value or the end of a list */
    char *s;                 /* of a key or a text, with a NUL */
    double x;                /* of a number */
};

void json_scan_begin(struct json_scan *j, char *text);
/* Values of the outermost level are separated by white space only, as in JSON lines. */
enum json_piece json_scan_next(struct json_scan *j);

/* ---- values with their paths ------------------------------------------------------------------------------------------------- */

struct json_path {
    struct json_scan json;
    enum json_piece piece; /* of the last call: never KEY; CLOSE has the path of the value it closes */
    char at[160];
    size_t n, level[JSON_SCAN_DEPTH + 1]; /* length of `at`, and its length at the start of each level */
};

void json_path_begin(struct json_path *j, char *text); /* overwrites the text */
/* @return 1, or 0 at the end; then piece is BAD if the text is malformed */
int json_path_next(struct json_path *j);
int json_path_is(const struct json_path *j, const char *at);
/* A text, or the value of an integer that fits. @return NULL or -1 if it has another type */
const char *json_path_text(const struct json_path *j, const char *at);
int64_t json_path_whole(const struct json_path *j);
#endif
