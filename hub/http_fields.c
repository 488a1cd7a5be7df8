/* steno-hub: relevant header fields of a response. SPDX-License-Identifier: MIT */
#include "http.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

void http_fields_begin(struct http_fields *f)
{
    memset(f, 0, sizeof *f);
    f->length = f->range_begin = f->range_total = f->linked_size = -1;
    f->retry_s = -1;
}

/* Parses a number of at most 18 digits and nothing else; otherwise -1. */
static int64_t whole(const char *s, size_t n)
{
    int64_t v = 0;
    if (!n || n > 18) return -1;
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9') return -1;
        v = 10 * v + (s[i] - '0');
    }
    return v;
}

static int64_t whole_text(const char *s)
{
    return whole(s, strlen(s));
}

static void copy(char *to, size_t size, const char *text)
{
    const size_t n = strlen(text) < size ? strlen(text) : size - 1;
    memcpy(to, text, n);
    to[n] = '\0';
}

static void copy_tag(char *to, size_t size, const char *text)
{
    if (strncmp(text, "W/", 2) == 0) text += 2;
    if (*text == '"') text++;
    copy(to, size, text);
    to[strcspn(to, "\"")] = '\0';
}

/* Parses "Sun, 06 Nov 1994 08:49:37 GMT" to seconds; -1: not a date. */
static double date_of(const char *s)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct tm t = { 0 };
    char month[4], zone[4];
    if (sscanf(s, "%*3[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d %3s", &t.tm_mday, month, &t.tm_year, &t.tm_hour, &t.tm_min, &t.tm_sec,
               zone) != 7) return -1;
    const char *at = strlen(month) == 3 ? strstr(months, month) : NULL;
    if (!at || (at - months) % 3 || strcmp(zone, "GMT") != 0 || t.tm_year < 1970) return -1;
    t.tm_mon = (int)(at - months) / 3;
    t.tm_year -= 1900;
    return (double)timegm(&t);
}

/* Seconds, or a date of the server's clock. Anything else is ignored. */
static void take_retry(struct http_fields *f)
{
    const size_t n = strspn(f->retry, "0123456789");
    if (n && !f->retry[n]) {
        f->retry_s = n > 18 ? 1e18 : (double)whole(f->retry, n);
        return;
    }
    const double then = date_of(f->retry), now = date_of(f->date);
    if (then < 0) return;
    f->retry_s = then - (now >= 0 ? now : (double)time(NULL));
    if (f->retry_s < 0) f->retry_s = 0;
}

/* "bytes 5-9/10", "bytes 5-9/" and a star, "bytes " with a star and "/10". A field with any error is ignored. */
static void take_range(struct http_fields *f, const char *s)
{
    if (strncasecmp(s, "bytes", 5) != 0 || (s[5] != ' ' && s[5] != '=')) return;
    s += 6;
    s += strspn(s, " ");
    const char *slash = strchr(s, '/');
    if (!slash) return;
    const int64_t total = strcmp(slash + 1, "*") == 0 ? -1 : whole_text(slash + 1);
    if (total < 0 && strcmp(slash + 1, "*") != 0) return;
    if (s[0] == '*' && slash == s + 1) { /* replaces an earlier field */
        f->range_begin = -1;
        f->range_total = total;
        return;
    }
    const char *dash = memchr(s, '-', (size_t)(slash - s));
    const int64_t begin = dash ? whole(s, (size_t)(dash - s)) : -1, end = dash ? whole(dash + 1, (size_t)(slash - dash - 1)) : -1;
    if (begin < 0 || end < begin || (total >= 0 && end >= total)) return;
    f->range_begin = begin;
    f->range_total = total;
}

/* <https://...>; rel="next", <...>; rel="last" */
static void take_link(struct http_fields *f, const char *s)
{
    while ((s = strchr(s, '<'))) {
        const char *end = strchr(++s, '>');
        if (!end) return;
        const char *stop = strchr(end, '<'), *rel = strstr(end, "rel=");
        if (rel && (!stop || rel < stop) && (strncmp(rel + 4, "\"next\"", 6) == 0 || strncmp(rel + 4, "next", 4) == 0)) {
            const size_t n = (size_t)(end - s);
            if (n >= sizeof f->next) return;
            memcpy(f->next, s, n);
            f->next[n] = '\0';
            return;
        }
        s = end;
    }
}

/* "resolvers";r=0;t=55: no requests are left for 55 seconds */
static void take_limit(struct http_fields *f, const char *s)
{
    const char *r = strstr(s, "r="), *t = strstr(s, "t=");
    if (!r || !t || r[2] != '0' || (r[3] >= '0' && r[3] <= '9') || f->retry_s >= 0) return;
    const int64_t wait = whole(t + 2, strspn(t + 2, "0123456789"));
    if (wait >= 0) f->retry_s = (double)wait + 1;
}

static void take_field(struct http_fields *f, const char *name, const char *value)
{
#define IS(text) (strcasecmp(name, text) == 0)
    if (IS("content-length")) f->length = whole_text(value);
    else if (IS("content-range")) take_range(f, value);
    else if (IS("content-encoding")) f->is_encoded = value[0] && strcasecmp(value, "identity") != 0;
    else if (IS("content-type")) copy(f->type, sizeof f->type, value);
    else if (IS("etag")) copy_tag(f->etag, sizeof f->etag, value);
    else if (IS("x-linked-etag")) copy_tag(f->linked_etag, sizeof f->linked_etag, value);
    else if (IS("x-linked-size")) f->linked_size = whole_text(value);
    else if (IS("x-repo-commit")) copy(f->commit, sizeof f->commit, value);
    else if (IS("x-error-code")) copy(f->fault, sizeof f->fault, value);
    else if (IS("x-error-message")) copy(f->reason, sizeof f->reason, value);
    else if (IS("link") && !f->next[0]) take_link(f, value);
    else if (IS("ratelimit")) take_limit(f, value);
    else if (IS("date")) copy(f->date, sizeof f->date, value), take_retry(f);
    else if (IS("retry-after")) copy(f->retry, sizeof f->retry, value), take_retry(f);
#undef IS
}

void http_fields_push(struct http_fields *f, const char *line, size_t n)
{
    char text[4096];
    while (n && (line[n - 1] == '\r' || line[n - 1] == '\n' || line[n - 1] == ' ' || line[n - 1] == '\t')) n--;
    if (n >= 5 && strncasecmp(line, "HTTP/", 5) == 0) http_fields_begin(f);
    if (n >= sizeof text || memchr(line, '\0', n)) return;
    memcpy(text, line, n);
    text[n] = '\0';
    char *colon = strchr(text, ':');
    if (!colon) return;
    *colon = '\0';
    char *value = colon + 1 + strspn(colon + 1, " \t");
    take_field(f, text, value);
}
