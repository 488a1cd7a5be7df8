/* steno: JSON in memory, piece by piece, or value by value with its path. SPDX-License-Identifier: MIT */
#include "json_scan.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- pieces ------------------------------------------------------------------------------------------------------------------ */

enum { WANTS_VALUE, WANTS_KEY, WANTS_COMMA, WANTS_FIRST };

void json_scan_begin(struct json_scan *j, char *text)
{
    *j = (struct json_scan){ .p = text };
}

static void skip_space(struct json_scan *j)
{
    j->p += strspn(j->p, " \t\r\n");
}

static int hex4(const char *s, uint32_t *out)
{
    char digits[5] = { 0 };
    if (strspn(s, "0123456789abcdefABCDEF") < 4) return 0;
    memcpy(digits, s, 4);
    *out = (uint32_t)strtoul(digits, NULL, 16);
    return 1;
}

static char *put_utf8(char *to, uint32_t cp)
{
    if (cp < 0x80) *to++ = (char)cp;
    else if (cp < 0x800) *to++ = (char)(0xc0 | cp >> 6);
    else if (cp < 0x10000) *to++ = (char)(0xe0 | cp >> 12);
    else {
        *to++ = (char)(0xf0 | cp >> 18);
        *to++ = (char)(0x80 | (cp >> 12 & 0x3f));
    }
    if (cp >= 0x800) *to++ = (char)(0x80 | (cp >> 6 & 0x3f));
    if (cp >= 0x80) *to++ = (char)(0x80 | (cp & 0x3f));
    return to;
}

/* Decodes \uXXXX at s + 2, or a surrogate pair; an invalid code point becomes U+FFFD. @return the end of it, NULL: malformed */
static char *take_unicode(char **to, char *s)
{
    uint32_t cp, low;
    if (!hex4(s + 2, &cp)) return NULL;
    s += 6;
    if (cp >= 0xd800 && cp < 0xdc00 && s[0] == '\\' && s[1] == 'u' && hex4(s + 2, &low) && low >= 0xdc00 && low < 0xe000) {
        cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
        s += 6;
    }
    if ((cp >= 0xd800 && cp < 0xe000) || !cp) cp = 0xfffd;
    *to = put_utf8(*to, cp);
    return s;
}

/* Decodes the string at p, which begins with a quote, in place. 0: malformed */
static int take_string(struct json_scan *j)
{
    static const char name[] = "\"\\/bfnrt", value[] = "\"\\/\b\f\n\r\t";
    char *s = j->p + 1, *to = s;
    j->s = s;
    while (*s != '"') {
        if ((unsigned char)*s < ' ') return 0; /* a NUL ends the text */
        if (*s != '\\') {
            *to++ = *s++;
            continue;
        }
        const char *known = s[1] ? strchr(name, s[1]) : NULL;
        if (known) {
            *to++ = value[known - name];
            s += 2;
        } else if (s[1] != 'u' || !(s = take_unicode(&to, s))) {
            return 0;
        }
    }
    j->p = s + 1;
    *to = '\0';
    return 1;
}

static void value_ends(struct json_scan *j)
{
    j->expects = j->depth ? WANTS_COMMA : WANTS_VALUE;
}

static enum json_piece open_value(struct json_scan *j)
{
    if (j->depth == JSON_SCAN_DEPTH) return JSON_PIECE_BAD;
    const int is_list = *j->p++ == '[';
    j->is_list[j->depth++] = (char)is_list;
    j->expects = is_list ? WANTS_FIRST : WANTS_KEY;
    return JSON_PIECE_OPEN;
}

static enum json_piece take_value(struct json_scan *j)
{
    static const char *const words[] = { "true", "false", "null", "NaN", "Infinity", "-Infinity" };
    char *end;
    if (*j->p == '{' || *j->p == '[') return open_value(j);
    if (*j->p == '"') {
        if (!take_string(j)) return JSON_PIECE_BAD;
        value_ends(j);
        return JSON_PIECE_TEXT;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strncmp(j->p, words[i], strlen(words[i]))) {
            j->p += strlen(words[i]);
            value_ends(j);
            return JSON_PIECE_OTHER;
        }
    if (!strchr("-0123456789", *j->p) || !*j->p) return JSON_PIECE_BAD;
    j->x = strtod(j->p, &end);
    if (end == j->p) return JSON_PIECE_BAD;
    j->p = end;
    value_ends(j);
    return JSON_PIECE_NUMBER;
}

static enum json_piece close_value(struct json_scan *j)
{
    j->p++;
    j->depth--;
    value_ends(j);
    return JSON_PIECE_CLOSE;
}

static enum json_piece take_key(struct json_scan *j)
{
    if (*j->p != '"' || !take_string(j)) return JSON_PIECE_BAD;
    char *const key = j->s;
    skip_space(j);
    if (*j->p++ != ':') return JSON_PIECE_BAD;
    j->s = key;
    j->expects = WANTS_VALUE;
    return JSON_PIECE_KEY;
}

enum json_piece json_scan_next(struct json_scan *j)
{
    skip_space(j);
    if (!*j->p) return j->depth || j->expects != WANTS_VALUE ? JSON_PIECE_BAD : JSON_PIECE_END;
    const int in_list = j->depth && j->is_list[j->depth - 1], end = in_list ? ']' : '}';
    if (j->expects == WANTS_COMMA) {
        if (*j->p == end) return close_value(j);
        if (*j->p++ != ',') return JSON_PIECE_BAD;
        skip_space(j);
        return in_list ? take_value(j) : take_key(j);
    }
    if (j->expects != WANTS_VALUE && *j->p == end) return close_value(j);
    return j->expects == WANTS_KEY ? take_key(j) : take_value(j);
}

/* ---- values with their paths ------------------------------------------------------------------------------------------------- */

void json_path_begin(struct json_path *j, char *text)
{
    memset(j, 0, sizeof *j);
    json_scan_begin(&j->json, text);
}

static void path_put(struct json_path *j, const char *text)
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

static void path_cut(struct json_path *j, size_t n)
{
    j->n = n;
    j->at[n] = '\0';
}

/* Sets the path of a value: that of its level, followed by [] in a list, or by the last key. */
static void path_stand(struct json_path *j, int depth, const char *key)
{
    path_cut(j, j->level[depth]);
    if (key) {
        if (j->n) path_put(j, ".");
        path_put(j, key);
    } else if (depth && j->json.is_list[depth - 1]) {
        path_put(j, "[]");
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
        path_stand(j, depth, key);
        j->piece = json_scan_next(s);
    } else if (j->piece != JSON_PIECE_CLOSE) {
        path_stand(j, depth, NULL);
    }
    if (j->piece == JSON_PIECE_OPEN) j->level[s->depth] = j->n;
    if (j->piece == JSON_PIECE_CLOSE) path_cut(j, j->level[depth]);
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
