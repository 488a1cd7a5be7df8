/* steno-serve: who may send requests. SPDX-License-Identifier: MIT
 *
 * Keys of a file; browsers, which send requests of any page that is open: their Origin must be this server's own or a listed one. Without
 * keys on a loopback address also Host must be a loopback address, because a page's name can be made to resolve to it. */
#ifndef STENO_SERVE_ACCESS_H
#define STENO_SERVE_ACCESS_H
#include "api_error.h"

struct access;

enum { ACCESS_KEY_MAX = 256, ACCESS_KEYS_MAX = 1024 };

struct access_params {
    const char *key_file;  /* one key a line, `#` begins a comment; no other user may read it. NULL: no keys */
    int no_auth;           /* 1: an address that others reach is allowed without keys */
    const char *host;      /* the server's; NULL: not by TCP */
    /* lists stay until access_close */
    const char *const *origins; int n_origins; /* origins that browsers may call from; "*": all, without keys only */
    const char *const *hosts; int n_hosts;     /* more names in Host */
};

/* @return STENO_OK; STENO_EARG (no keys on an address that others reach, bad origin or key, no such file, its mode), STENO_EIO,
 * STENO_ENOMEM; with the reason in *e */
int access_open(struct access **out, const struct access_params *p, steno_error *e);
int access_reload(struct access *a, steno_error *e); /* reads the keys again. If that fails, the former ones stay */
void access_close(struct access *a);
int access_is_local(const char *host); /* 1: only this machine reaches the address; NULL: not by TCP */

/* is_open: a route that needs neither key nor origin. @return API_OK; API_origin_not_allowed, API_host_not_allowed, API_invalid_api_key, in
 * *e. Any thread */
int access_check(struct access *a, const struct exchange *x, int is_open, struct api_error *e);

/* The answer to OPTIONS: 204 with what a listed origin may send. @return API_OK or API_origin_not_allowed, in *e */
int access_preflight(struct access *a, const struct exchange *x, struct http_answer *out, struct api_error *e);

/* Compares with all keys, in a time that does not depend on them. @return 1 or 0 */
int access_key_is_valid(struct access *a, const char *key, size_t n);
#endif
