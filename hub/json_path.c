/* steno-hub: JSON, value by value, each with its path. SPDX-License-Identifier: MIT */
#include "json_path.h"
#include <stdio.h>
#include <string.h>

void json_path_begin(struct json_path *j, char *text)
{
    memset(j, 0, sizeof *j);
    json_scan_begin(&j->json, text);
}

static void put(struct json_path *j, const char *text)
{
    const size_t n = strlen(text), room = sizeof j->at - 2 - j->n;
    if (n <= room && !(j->n && j->at[j->n - 1] == '?')) {
        memcpy(j->at + j->n, text, n + 1);
        j->n += n;
    } else if (!j->n || j->at[j->n - 1] != '?') {
        j->at[j->n++] = '?';
        j->at[j->n] = '\0';
    }
}

static void cut(struct json_path *j, size_t n)
{
    j->n = n;
    j->at[n] = '\0';
}

/* Sets the path of a value: that of its level, followed by [] in a list, or by the last key. */
static void stand(struct json_path *j, int depth, const char *key)
{
    cut(j, j->level[depth]);
    if (key) {
        if (j->n) put(j, ".");
        put(j, key);
    } else if (depth && j->json.is_list[depth - 1]) {
        put(j, "[]");
    }
}

int json_path_next(struct json_path *j)
{
    struct json_scan *s = &j->json;
    const int depth = s->depth;
    const char *key = NULL;
    j->piece = json_scan_next(s);
    if (j->piece == JSON_PIECE_KEY) {
        key = s->s;
        stand(j, depth, key);
        j->piece = json_scan_next(s);
    } else if (j->piece != JSON_PIECE_CLOSE) {
        stand(j, depth, NULL);
    }
    if (j->piece == JSON_PIECE_OPEN) j->level[s->depth] = j->n;
    if (j->piece == JSON_PIECE_CLOSE) cut(j, j->level[depth]);
    return j->piece != JSON_PIECE_END && j->piece != JSON_PIECE_BAD;
}

int json_path_is(const struct json_path *j, const char *at)
{
    return strcmp(j->at, at) == 0;
}

const char *json_path_text(const struct json_path *j, const char *at)
{
    return j->piece == JSON_PIECE_TEXT && json_path_is(j, at) ? j->json.s : NULL;
}

int64_t json_path_whole(const struct json_path *j)
{
    const double x = j->json.x;
    return j->piece == JSON_PIECE_NUMBER && x >= 0 && x <= 9007199254740992.0 && x == (double)(int64_t)x ? (int64_t)x : -1;
}
