/* steno-hub: relevant header fields of a response. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_HTTP_FIELDS_H
#define STENO_HUB_HTTP_FIELDS_H
#include <stddef.h>
#include <stdint.h>

struct http_fields { /* long texts are truncated; absent fields are "" or -1 */
    int64_t length;               /* Content-Length */
    int64_t range_begin, range_total; /* Content-Range: bytes BEGIN-END/TOTAL, bytes * /TOTAL */
    int64_t linked_size;          /* X-Linked-Size */
    double retry_s;               /* Retry-After in seconds from now, or the time in RateLimit */
    char retry[64], date[64];     /* Retry-After and Date, unparsed */
    int is_encoded;               /* Content-Encoding other than identity */
    char etag[128], linked_etag[128]; /* without W/ and quotes */
    char commit[65];              /* X-Repo-Commit */
    char fault[64], reason[256];  /* X-Error-Code, X-Error-Message */
    char next[2048];              /* Link: <...>; rel="next" */
    char type[128];               /* Content-Type */
};

void http_fields_begin(struct http_fields *f);
/* Parses one line with or without its end; a status line resets all fields. */
void http_fields_push(struct http_fields *f, const char *line, size_t n);
#endif
