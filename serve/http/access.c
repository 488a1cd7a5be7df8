/* steno-serve: who may send requests. SPDX-License-Identifier: MIT */
#include "access.h"
#include "http_text.h"
#include "ws.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* Padded with zeros, so that a comparison reads the same bytes of every key. */
struct access_key { unsigned char bytes[ACCESS_KEY_MAX]; size_t n; };

struct access {
    char *key_file;
    pthread_mutex_t lock;    /* of the keys */
    struct access_key *key;  /* [n_keys] */
    int n_keys;
    int checks_host;
    const char *const *origins, *const *hosts; /* the caller's */
    int n_origins, n_hosts;
};

/* ---- keys --------------------------------------------------------------------------------------------------------------------- */

static void keys_free(struct access_key *key, int n)
{
    if (key) explicit_bzero(key, (size_t)n * sizeof *key);
    free(key);
}

/* A line without its end. Messages have its number, never its text. @return STENO_OK or an error */
static int key_read(struct access_key *key, int *n_keys, const char *line, size_t n, const char *where, int number, steno_error *e)
{
    while (n && (line[n - 1] == ' ' || line[n - 1] == '\t' || line[n - 1] == '\r')) n--;
    while (n && (*line == ' ' || *line == '\t')) line++, n--;
    if (n == 0 || *line == '#') return STENO_OK;
    if (n > ACCESS_KEY_MAX) return http_fail(e, STENO_EARG, "%s:%d: a key has at most %d bytes", where, number, ACCESS_KEY_MAX);
    if (*n_keys == ACCESS_KEYS_MAX) return http_fail(e, STENO_EARG, "%s:%d: more than %d keys", where, number, ACCESS_KEYS_MAX);
    for (size_t i = 0; i < n; i++) {
        if (line[i] <= ' ' || line[i] > '~')
            return http_fail(e, STENO_EARG, "%s:%d: a key has printable ASCII characters only, without spaces", where, number);
    }
    struct access_key *k = &key[(*n_keys)++];
    *k = (struct access_key){ .n = n };
    memcpy(k->bytes, line, n);
    return STENO_OK;
}

/* Bits that let other users read or change the keys. The group of a file of root was chosen by root: systemd passes credentials with mode
 * 0440, and Kubernetes passes secrets so. */
static mode_t mode_excess(const struct stat *st)
{
    return st->st_mode & (st->st_uid == 0 ? 037 : 077);
}

static int file_open(const char *path, FILE **f, steno_error *e)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st)) {
        const int error = errno;
        if (fd >= 0) close(fd);
        return http_fail(e, STENO_EARG, "%s cannot be read: %s", path, strerror(error));
    }
    int rc = STENO_OK;
    if (!S_ISREG(st.st_mode)) rc = http_fail(e, STENO_EARG, "%s is not a file", path);
    else if (mode_excess(&st))
        rc = http_fail(e, STENO_EARG, "%s has mode %03o, so other users can read the keys: chmod 600 %s", path,
                       (unsigned)st.st_mode & 0777, path);
    else if (!(*f = fdopen(fd, "r"))) rc = http_fail(e, STENO_ENOMEM, "out of memory");
    if (rc != STENO_OK) close(fd);
    return rc;
}

static int keys_read(struct access_key **out, int *n_keys, const char *path, steno_error *e)
{
    FILE *f = NULL;
    char *line = NULL;
    size_t size = 0;
    ssize_t n;
    *n_keys = 0;
    *out = NULL;
    int rc = file_open(path, &f, e);
    if (rc != STENO_OK) return rc;
    struct access_key *key = calloc(ACCESS_KEYS_MAX, sizeof *key);
    if (!key) rc = http_fail(e, STENO_ENOMEM, "out of memory");
    for (int number = 1; rc == STENO_OK && (n = getline(&line, &size, f)) > 0; number++) {
        if (line[n - 1] == '\n') n--;
        rc = key_read(key, n_keys, line, (size_t)n, path, number, e);
    }
    if (rc == STENO_OK && ferror(f)) rc = http_fail(e, STENO_EIO, "%s cannot be read: %s", path, strerror(errno));
    if (rc == STENO_OK && *n_keys == 0) rc = http_fail(e, STENO_EARG, "%s has no key: write one a line", path);
    if (line) explicit_bzero(line, size);
    free(line);
    fclose(f);
    if (rc == STENO_OK) *out = key;
    else keys_free(key, ACCESS_KEYS_MAX);
    return rc;
}

int access_reload(struct access *a, steno_error *e)
{
    struct access_key *key = NULL;
    int n = 0;
    if (!a->key_file) return STENO_OK;
    const int rc = keys_read(&key, &n, a->key_file, e);
    if (rc != STENO_OK) return rc;
    pthread_mutex_lock(&a->lock);
    struct access_key *former = a->key;
    a->key = key;
    a->n_keys = n;
    pthread_mutex_unlock(&a->lock);
    keys_free(former, former ? ACCESS_KEYS_MAX : 0);
    return rc;
}

int access_key_is_valid(struct access *a, const char *key, size_t n)
{
    struct access_key given = { .n = n };
    int is_valid = 0;
    memcpy(given.bytes, key, n < ACCESS_KEY_MAX ? n : ACCESS_KEY_MAX);
    pthread_mutex_lock(&a->lock);
    for (int i = 0; i < a->n_keys; i++) {
        size_t differs = a->key[i].n ^ given.n;
        for (int k = 0; k < ACCESS_KEY_MAX; k++) differs |= (size_t)(a->key[i].bytes[k] ^ given.bytes[k]);
        is_valid |= differs == 0;
    }
    pthread_mutex_unlock(&a->lock);
    explicit_bzero(&given, sizeof given);
    return is_valid;
}

/* ---- where clients write a key ------------------------------------------------------------------------------------------------ */

/* "Bearer KEY" or "Token KEY". @return the key, or NULL */
static const char *credentials(const char *value)
{
    static const char *const schemes[] = { "Bearer", "Token" };
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        const size_t n = strlen(schemes[i]);
        if (strncasecmp(value, schemes[i], n) == 0 && value[n] == ' ') return value + n + strspn(value + n, " ");
    }
    return NULL;
}

/* Browsers cannot set header fields of a WebSocket: its subprotocols hold the key ("openai-insecure-api-key.KEY", or "token" and KEY). */
static int protocols_check(struct access *a, const char *list, int *n_offered)
{
    static const char prefix[] = "openai-insecure-api-key.";
    const size_t k = sizeof prefix - 1;
    int is_valid = 0, is_key = 0;
    size_t n;
    for (const char *one; (one = ws_protocol_next(&list, &n)) != NULL;) {
        const int has_prefix = n > k && strncmp(one, prefix, k) == 0;
        if (has_prefix || is_key) {
            is_valid |= access_key_is_valid(a, one + (has_prefix ? k : 0), n - (has_prefix ? k : 0));
            ++*n_offered;
        }
        is_key = (n == 5 && strncasecmp(one, "token", n) == 0) || (n == 6 && strncasecmp(one, "bearer", n) == 0);
    }
    return is_valid;
}

static int keys_check(struct access *a, const struct exchange *x, struct api_error *e)
{
    const char *authorization = exchange_header(x, "Authorization"), *key = exchange_header(x, "X-API-Key");
    const char *protocols = exchange_header(x, "Upgrade") ? exchange_header(x, "Sec-WebSocket-Protocol") : NULL;
    const char *of = authorization ? credentials(authorization) : NULL;
    int is_valid = 0, n_offered = (of && *of) + (key && *key);
    if (of) is_valid |= access_key_is_valid(a, of, strlen(of));
    if (key) is_valid |= access_key_is_valid(a, key, strlen(key));
    if (protocols) is_valid |= protocols_check(a, protocols, &n_offered);
    if (is_valid) return API_OK;
    return n_offered ? api_fail(e, API_invalid_api_key, NULL, "The API key is not valid on this server.")
                     : api_fail(e, API_invalid_api_key, NULL, "The request has no API key: send it as \"Authorization: Bearer KEY\".");
}

/* ---- browsers ----------------------------------------------------------------------------------------------------------------- */

static int in_list(const char *text, const char *const *list, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(list[i], text) == 0 || strcmp(list[i], "*") == 0) return 1;
    return 0;
}

static int host_check(const struct access *a, const struct exchange *x, struct api_error *e)
{
    const char *text = exchange_header(x, "Host");
    struct host h;
    if (!a->checks_host || strcmp(exchange_client(x), "unix") == 0) return API_OK;
    if (text && host_read(&h, text) == 0) {
        if (host_is_loopback(&h)) return API_OK;
        for (int i = 0; i < a->n_hosts; i++)
            if (strcasecmp(a->hosts[i], h.name) == 0 || strcasecmp(a->hosts[i], text) == 0) return API_OK;
    }
    return api_fail(e, API_host_not_allowed, NULL, "The request's Host is \"%.100s\", but this server has no keys, so it answers for "
                                                   "localhost only. Allow that name, or give the server keys.", text ? text : "");
}

static int origin_check(const struct access *a, const struct exchange *x, int needs_list, struct api_error *e)
{
    const char *origin = exchange_header(x, "Origin"), *text = exchange_header(x, "Host");
    struct host of, own;
    if (origin && in_list(origin, a->origins, a->n_origins)) return API_OK;
    if (!needs_list && !origin) return API_OK;
    if (origin && text && origin_read(&of, origin) == 0 && host_read(&own, text) == 0 && origin_is_own(&of, &own)) return API_OK;
    return api_fail(e, API_origin_not_allowed, NULL, "Pages of \"%.100s\" may not send requests to this server: its list of origins (CORS) "
                                                     "does not have it.", origin ? origin : "");
}

int access_check(struct access *a, const struct exchange *x, int is_open, struct api_error *e)
{
    if (is_open) return API_OK;
    int rc = host_check(a, x, e);
    if (rc == API_OK) rc = origin_check(a, x, 0, e);
    return rc == API_OK && a->key_file ? keys_check(a, x, e) : rc;
}

int access_preflight(struct access *a, const struct exchange *x, struct http_answer *out, struct api_error *e)
{
    int rc = host_check(a, x, e);
    if (rc == API_OK) rc = origin_check(a, x, 1, e);
    if (rc != API_OK) return rc;
    static const char fields[] = "Authorization, Content-Type, X-API-Key, X-Request-Id";
    *out = (struct http_answer){ .status = 204 };
    out->header[0] = (struct http_header){ "Access-Control-Allow-Methods", "GET, POST, OPTIONS" };
    out->header[1] = (struct http_header){ "Access-Control-Allow-Headers", fields };
    out->header[2] = (struct http_header){ "Access-Control-Max-Age", "600" };
    return API_OK;
}

/* ---- opening ------------------------------------------------------------------------------------------------------------------ */

static int origins_check(const struct access_params *p, steno_error *e)
{
    struct host h;
    for (int i = 0; i < p->n_origins; i++) {
        const char *o = p->origins[i];
        if (strcmp(o, "*") == 0 && p->key_file)
            return http_fail(e, STENO_EARG, "the origin * is not for a server with keys: list origins");
        const char *colon = strstr(o, "://");
        const int is_other = colon && colon > o && colon[3] && !strpbrk(colon + 3, "/?# "); /* an extension of a browser */
        if (strcmp(o, "*") != 0 && origin_read(&h, o) && (!is_other || strncmp(o, "http", 4) == 0))
            return http_fail(e, STENO_EARG, "the origin \"%s\" is not of the form https://HOST or https://HOST:PORT, without a path", o);
    }
    return STENO_OK;
}

int access_is_local(const char *address)
{
    struct host own = { 0 };
    char host[300];
    if (!address) return 1;
    snprintf(host, sizeof host, strchr(address, ':') && *address != '[' ? "[%s]" : "%s", address);
    return host_read(&own, host) == 0 && host_is_loopback(&own);
}

int access_open(struct access **out, const struct access_params *p, steno_error *e)
{
    *out = NULL;
    const int is_local = access_is_local(p->host);
    if (p->key_file && p->no_auth) return http_fail(e, STENO_EARG, "a file of keys and a server without them exclude each other");
    if (!is_local && !p->key_file && !p->no_auth)
        return http_fail(e, STENO_EARG, "other machines reach %s: it needs keys (--api-key-file), or none (--no-auth)",
                         p->host);
    int rc = origins_check(p, e);
    struct access *a = rc == STENO_OK ? calloc(1, sizeof *a) : NULL;
    if (rc != STENO_OK) return rc;
    if (!a) return http_fail(e, STENO_ENOMEM, "out of memory");
    pthread_mutex_init(&a->lock, NULL);
    a->checks_host = p->host && !p->key_file && (is_local || p->n_hosts);
    a->key_file = p->key_file ? strdup(p->key_file) : NULL;
    a->origins = p->origins;
    a->n_origins = p->n_origins;
    a->hosts = p->hosts;
    a->n_hosts = p->n_hosts;
    if (p->key_file && !a->key_file) rc = http_fail(e, STENO_ENOMEM, "out of memory");
    if (rc == STENO_OK) rc = access_reload(a, e);
    if (rc == STENO_OK) *out = a;
    else access_close(a);
    return rc;
}

void access_close(struct access *a)
{
    if (!a) return;
    keys_free(a->key, a->key ? ACCESS_KEYS_MAX : 0);
    free(a->key_file);
    pthread_mutex_destroy(&a->lock);
    free(a);
}
