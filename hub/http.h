/* steno-hub: HTTP requests. SPDX-License-Identifier: MIT
 *
 * One request at a time, over persistent connections. Redirects are followed here, not by the library: https never redirects to http, and
 * the token is sent only to the endpoint's own scheme, host and port. A redirect may lead to a signed URL, so these URLs are never printed
 * or stored.
 *
 * http_fields.c parses header fields, http.c makes one request, http_body.c retries and keeps bodies. An http or https URL is fetched into
 * an unnamed file, so that it can be read repeatedly and at any position. A failed connection is resumed if the server confirms that the
 * content is the same. */
#ifndef STENO_HUB_HTTP_H
#define STENO_HUB_HTTP_H
#include "hub_error.h"
#include <stddef.h>
#include <stdint.h>

/* ---- relevant header fields of a response ------------------------------------------------------------------------------------ */

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

/* ---- requests ---------------------------------------------------------------------------------------------------------------- */

double hub_now_s(void); /* seconds since an arbitrary moment */

struct http;

struct http_settings {
    const char *endpoint; /* only its origin receives the token; NULL: no origin does */
    const char *token;    /* may be NULL */
    const char *cookie;   /* sent with the token; may be NULL */
    const char *agent;    /* "steno/1.0" */
    const char *proof;    /* file of certificates; NULL: the system's */
    int answer_s, stall_s; /* maximum time until a response begins, and between parts of a body */
    int tries;            /* after the first one */
    int64_t most;         /* maximum size of a body in memory */
    int (*stop)(void *user); /* called often; non-zero cancels */
    void (*waiting)(void *user, double seconds, const char *why); /* called before another try; may be NULL */
    void *user;
};

/* Version of the HTTP library, or why there is none. @return HUB_OK or HUB_ENET, with *e */
int http_library(char *version, size_t n, struct hub_error *e);

/* Copies `s`, except its texts, which must stay valid. */
int http_open(struct http **out, const struct http_settings *s, struct hub_error *e);
void http_close(struct http *h);
const struct http_settings *http_settings_of(const struct http *h);

struct http_answer {
    int code;        /* 0: no response */
    int again;       /* another try may succeed */
    struct http_fields fields;
};

struct http_request {
    const char *url, *what; /* its name in messages */
    const char *accept;     /* NULL: anything */
    int64_t from;           /* > 0: first byte of the requested range */
    int head;               /* HEAD request, without a body */
    int first;              /* GET of the first byte only, for servers that refuse HEAD */
    int stay;               /* a redirect to another origin is the final response */
    /* A body with a code of 200 to 299: begin is called first, then bytes. A non-zero return ends the transfer; the caller keeps the
     * reason. */
    int (*begin)(void *user, const struct http_answer *a);
    int (*bytes)(void *user, const void *data, size_t n);
    void *user;
};

/* Makes one try. @return HUB_OK if there was a response with any code, and its complete body if requested; HUB_ESTOPPED also if begin or
 * bytes ended it. a->fields are those of the last redirect's target. */
int http_try(struct http *h, const struct http_request *r, struct http_answer *a, struct hub_error *e);

/* Waits before try number `n` (from 1): as long as the response requests, or else 1, 2, 4, 8, 8, ... seconds. `why` must not point into *e.
 * @return HUB_OK; HUB_ENET: more than five minutes were requested; HUB_ESTOPPED */
int http_wait(struct http *h, int n, const struct http_answer *a, const char *why, struct hub_error *e);

/* Error for a response whose code is not 2xx. */
int http_refused(const struct http *h, const struct http_request *r, const struct http_answer *a, struct hub_error *e);

/* Reads the header fields of a URL, with retries. It uses HEAD, or a request for the first byte if the server refuses HEAD. Only the origin
 * itself counts: if it redirects to another origin, a->code is that of the redirect. `a` is valid after a failure, too; its code is then 0
 * if there was no response. */
int http_meta(struct http *h, const char *url, const char *what, struct http_answer *a, struct hub_error *e);

/* Reads a text, with retries. *text is malloc'd and ends with a NUL. */
int http_text(struct http *h, const char *url, const char *what, char **text, struct http_fields *fields, struct hub_error *e);

/* ---- a URL as a temporary file ----------------------------------------------------------------------------------------------- */

int url_is(const char *name); /* begins with http:// or https:// */

struct url_wish {
    const char *what;    /* the URL in messages, without possible secrets */
    const char *folder;  /* for the file; NULL: /tmp */
    int64_t most;        /* maximum bytes */
    struct http_settings http;
    void (*progress)(void *user, const char *what, int64_t n, int64_t total); /* total -1: not known; may be NULL */
    void *user;
};

/* @return a descriptor at the beginning of the file, or -1 */
int url_file(const char *url, const struct url_wish *w, struct hub_error *e);
#endif
