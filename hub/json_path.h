/* steno-hub: JSON, value by value, each with where it stands. SPDX-License-Identifier: MIT
 *
 * "Data.Files[].Path": keys after dots, [] for the members of a list. So whoever reads an answer compares one text. A key that is too
 * long, or too deep, makes a path that ends in "?" and equals none that is asked for. */
#ifndef STENO_HUB_JSON_PATH_H
#define STENO_HUB_JSON_PATH_H
#include "json_scan.h"
#include <stdint.h>

struct json_path {
    struct json_scan json;
    enum json_piece piece; /* of the last call: never KEY; CLOSE stands where the value began */
    char at[160];
    size_t n, level[JSON_SCAN_DEPTH + 1]; /* length of `at`, and what it was where each level began */
};

void json_path_begin(struct json_path *j, char *text); /* which is used up */
/* @return 1, or 0 at the end; piece is BAD then where the text is not well formed */
int json_path_next(struct json_path *j);
int json_path_is(const struct json_path *j, const char *at);
/* A text or, of numbers, a whole number that fits. @return NULL, -1: it is none */
const char *json_path_text(const struct json_path *j, const char *at);
int64_t json_path_whole(const struct json_path *j);
#endif
