/* steno-hub: JSON, value by value, each with its path. SPDX-License-Identifier: MIT
 *
 * "Data.Files[].Path": keys after dots, [] for the members of a list. So a reader of a response compares one text. A key that is too long,
 * or too deep, gives a path that ends in "?" and matches nothing. */
#ifndef STENO_HUB_JSON_PATH_H
#define STENO_HUB_JSON_PATH_H
#include "json_scan.h"
#include <stdint.h>

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
