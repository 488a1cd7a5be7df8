/* steno-hub: requests. SPDX-License-Identifier: MIT
 *
 * One request at a time, over connections that are kept. Redirects are followed here, not by the library: https never leads to http, and
 * the token goes to the endpoint's own scheme, host and port alone. Addresses that a redirect leads to may be signed, so none of them is
 * ever printed or kept. */
#ifndef STENO_HUB_HTTP_H
#define STENO_HUB_HTTP_H
#include "http_fields.h"
#include "hub_error.h"
#include <stddef.h>

struct http;

struct http_settings {
    const char *endpoint; /* whose origin may see the token; NULL: nobody */
    const char *token;    /* NULL: none */
    const char *cookie;   /* sent with the token, NULL: none */
    const char *agent;    /* "steno/1.0" */
    const char *proof;    /* file of certificates, NULL: the system's */
    int answer_s, stall_s; /* how long an answer may take to begin, and a body to go on */
    int tries;            /* after the first one */
    int64_t most;         /* of a body in memory */
    int (*stop)(void *user); /* asked often; not 0: give up */
    void (*waiting)(void *user, double seconds, const char *why); /* before another try; NULL: nobody wants to know */
    void *user;
};

/* Version of the library that requests are made with, or why there is none. @return HUB_OK or HUB_ENET, with *e */
int http_library(char *version, size_t n, struct hub_error *e);

/* Of `s` everything is copied but its texts, which stay the caller's. */
int http_open(struct http **out, const struct http_settings *s, struct hub_error *e);
void http_close(struct http *h);
const struct http_settings *http_settings_of(const struct http *h);

struct http_answer {
    int code;        /* 0: there was none */
    int again;       /* another try may help */
    struct http_fields fields;
};

struct http_request {
    const char *url, *what; /* what it is called in messages */
    const char *accept;     /* NULL: anything */
    int64_t from;           /* > 0: from this byte on */
    int head;               /* no body is wanted */
    int first;              /* of a body only the first byte, for servers that refuse what `head` asks */
    int stay;               /* a redirect to another origin is the answer */
    /* A body with a code of 200 to 299: first begin, then bytes. Not 0: enough, with the reason kept by the caller. */
    int (*begin)(void *user, const struct http_answer *a);
    int (*bytes)(void *user, const void *data, size_t n);
    void *user;
};

/* One try. @return HUB_OK when there was an answer of whatever code, and all of its body where one was wanted; HUB_ESTOPPED also when
 * begin or bytes had enough. a->fields are those of where the last redirect leads. */
int http_try(struct http *h, const struct http_request *r, struct http_answer *a, struct hub_error *e);

/* Wait before try number `n` (from 1), as the answer asks for or else 1, 2, 4, 8, 8, ... seconds. `why`: not of *e.
 * @return HUB_OK; HUB_ENET: it asks for more than five minutes; HUB_ESTOPPED */
int http_wait(struct http *h, int n, const struct http_answer *a, const char *why, struct hub_error *e);

/* What an answer whose code is not 2xx means. */
int http_refused(const struct http *h, const struct http_request *r, const struct http_answer *a, struct hub_error *e);

/* The header fields of an address, with all tries, by HEAD or, where a server refuses that, by the first byte. Those of the origin itself
 * count: where it redirects to another one a->code is the redirect's. `a` is valid after a failure, too; its code is 0 then where there was
 * no answer. */
int http_meta(struct http *h, const char *url, const char *what, struct http_answer *a, struct hub_error *e);

/* A text, with all tries. *text is malloc'd and ends in a NUL. */
int http_text(struct http *h, const char *url, const char *what, char **text, struct http_fields *fields, struct hub_error *e);
#endif
