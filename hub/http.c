/* steno-hub: one HTTP request with libcurl. SPDX-License-Identifier: MIT
 *
 * Linking libcurl would add 8 ms to every start of the program, so it is loaded. Its headers provide the types. */
#include "http.h"
#include "hub_error.h"
#include "hub_name.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double hub_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- libcurl, loaded when it is needed --------------------------------------------------------------------------------------- */

#if STENO_HUB_CURL
#define CURL_DISABLE_DEPRECATION /* the installed library may be older than the headers */
#include <curl/curl.h>
#undef curl_easy_setopt /* the type checks of its macros work only for calls by name */
#undef curl_easy_getinfo

#define CURL_CALLS(X) \
    X(curl_global_init) X(curl_easy_init) X(curl_easy_setopt) X(curl_easy_perform) X(curl_easy_getinfo) X(curl_easy_cleanup) \
    X(curl_easy_strerror) X(curl_slist_append) X(curl_slist_free_all) X(curl_version_info)

struct curl {
    void *lib;
#define CURL_FIELD(f) __typeof__(f) *f;
    CURL_CALLS(CURL_FIELD)
#undef CURL_FIELD
};

/* Any TLS variant of the library works. It stays open until the program ends, because the libraries below it do not unload cleanly. */
static int curl_load(struct curl *c, struct hub_error *e)
{
    static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4", "libcurl-nss.so.4" };
    const char *missing = NULL;
    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < sizeof names / sizeof *names && !c->lib; i++) c->lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!c->lib) {
        return hub_fail(e, HUB_ENET,
                        "libcurl is not installed, and downloads need it: install it (Debian, Ubuntu: libcurl4; Fedora: libcurl), or "
                        "download the files by other means");
    }
    void *p;
#define CURL_BIND(f) \
    p = dlsym(c->lib, #f); \
    if (!p) missing = #f; \
    memcpy(&c->f, &p, sizeof p);
    CURL_CALLS(CURL_BIND)
#undef CURL_BIND
    if (missing) return hub_fail(e, HUB_ENET, "the installed libcurl lacks %s: install 7.64 or newer", missing);
    if (c->curl_global_init(CURL_GLOBAL_DEFAULT)) return hub_fail(e, HUB_ENET, "libcurl cannot be initialised");
    return HUB_OK;
}

/* ---- one request ------------------------------------------------------------------------------------------------------------- */

enum { MOST_REDIRECTS = 20, CHUNK = 1 << 16 };
enum { MOST_HEADER = 1 << 18, MOST_PAGE = 1 << 18 }; /* maximum bytes of all header fields, and of the body of an error response */

struct http {
    struct http_settings s;
    struct curl curl;
    CURL *easy;
    char origin[HUB_ORIGIN_SZ]; /* of the endpoint */
    char reason[CURL_ERROR_SIZE]; /* libcurl's text for the last failed exchange; "": none */
};

/* A request in progress. */
struct exchange {
    struct http *h;
    const struct http_request *r;
    struct http_answer *a;
    int begun, enough, stopped;
    int endless;           /* the header fields exceed the limit */
    int dropped;           /* the body of an error response was long or slow, and is ignored */
    size_t n_header, n_page;
    double started_s, begun_s;
};

int http_library(char *version, size_t n, struct hub_error *e)
{
    struct curl c;
    const int rc = curl_load(&c, e);
    if (rc == HUB_OK) snprintf(version, n, "%s", c.curl_version_info(CURLVERSION_NOW)->version);
    return rc;
}

const struct http_settings *http_settings_of(const struct http *h)
{
    return &h->s;
}

static size_t on_header(char *line, size_t size, size_t n, void *user)
{
    struct exchange *x = user;
    x->n_header += size * n;
    if (x->n_header > MOST_HEADER) {
        x->endless = 1;
        return 0;
    }
    http_fields_push(&x->a->fields, line, size * n);
    return size * n;
}

static int exchange_begin(struct exchange *x)
{
    long code = 0;
    if (x->begun) return 0;
    x->begun = 1;
    x->begun_s = hub_now_s();
    x->h->curl.curl_easy_getinfo(x->h->easy, CURLINFO_RESPONSE_CODE, &code);
    x->a->code = (int)code;
    if (code >= 200 && code < 300 && x->r->begin && x->r->begin(x->r->user, x->a)) x->enough = 1;
    return x->enough;
}

static size_t on_bytes(char *data, size_t size, size_t n, void *user)
{
    struct exchange *x = user;
    if (exchange_begin(x)) return 0;
    if (x->a->code < 200 || x->a->code > 299 || !x->r->bytes) {
        x->n_page += size * n;
        x->dropped = x->n_page > MOST_PAGE;
        return x->dropped ? 0 : size * n;
    }
    if (x->r->bytes(x->r->user, data, size * n)) x->enough = 1;
    return x->enough ? 0 : size * n;
}

static int on_progress(void *user, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up_now)
{
    struct exchange *x = user;
    const struct http_settings *s = &x->h->s;
    const double now_s = hub_now_s();
    (void)total, (void)now, (void)up_total, (void)up_now;
    x->stopped = s->stop && s->stop(s->user);
    if (!x->begun && now_s - x->started_s > s->answer_s + 2.0 * s->stall_s) x->endless = 1;
    if (x->begun && (x->a->code < 200 || x->a->code > 299) && now_s - x->begun_s > s->answer_s) x->dropped = 1;
    return x->stopped || x->endless || x->dropped;
}

#define SET(option, value) rc = rc ? rc : h->curl.curl_easy_setopt(h->easy, option, value)

/* Sets options that all requests share. They are set once, because after a failed exchange the library refuses some of them
 * (CURLOPT_BUFFERSIZE). */
static CURLcode set_always(struct http *h)
{
    CURLcode rc = CURLE_OK;
    SET(CURLOPT_ERRORBUFFER, h->reason);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    SET(CURLOPT_CONNECTTIMEOUT, (long)h->s.answer_s);
    SET(CURLOPT_LOW_SPEED_LIMIT, 1L);
    SET(CURLOPT_LOW_SPEED_TIME, (long)h->s.stall_s);
    SET(CURLOPT_BUFFERSIZE, (long)CHUNK);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_WRITEFUNCTION, on_bytes);
    SET(CURLOPT_NOPROGRESS, 0L);
    SET(CURLOPT_XFERINFOFUNCTION, on_progress);
    SET(CURLOPT_USERAGENT, h->s.agent);
    SET(CURLOPT_RESUME_FROM_LARGE, (curl_off_t)0);
    SET(CURLOPT_RANGE, (char *)NULL);
    if (h->s.proof) SET(CURLOPT_CAINFO, h->s.proof);
    return rc;
}

/* Sets options of one request. The token is sent only if the origin is the endpoint's. */
static CURLcode set_up(struct http *h, struct exchange *x, const char *url, struct curl_slist *fields)
{
    CURLcode rc = CURLE_OK;
    char origin[HUB_ORIGIN_SZ];
    h->reason[0] = 0;
    SET(CURLOPT_URL, url);
    SET(CURLOPT_HEADERDATA, x);
    SET(CURLOPT_WRITEDATA, x);
    SET(CURLOPT_XFERINFODATA, x);
    SET(CURLOPT_HTTPHEADER, fields);
    SET(CURLOPT_HTTPGET, 1L);
    SET(CURLOPT_NOBODY, (long)x->r->head);
    SET(CURLOPT_PROXY, hub_origin(origin, url) == 0 && hub_is_loopback(origin) ? "" : (char *)NULL); /* a proxy would see the token */
    return rc;
}

int http_open(struct http **out, const struct http_settings *s, struct hub_error *e)
{
    struct http *h = *out = calloc(1, sizeof *h);
    if (!h) return hub_no_memory(e, "a connection");
    h->s = *s;
    int rc = s->endpoint && hub_origin(h->origin, s->endpoint)
        ? hub_fail(e, HUB_EARG, "the hub's address \"%s\" is not of the form https://HOST", s->endpoint) : HUB_OK;
    if (rc == HUB_OK) rc = curl_load(&h->curl, e);
    if (rc == HUB_OK && !(h->easy = h->curl.curl_easy_init())) rc = hub_no_memory(e, "a connection");
    const CURLcode set = rc == HUB_OK ? set_always(h) : CURLE_OK;
    if (set == CURLE_OUT_OF_MEMORY) rc = hub_no_memory(e, "a connection");
    else if (set) rc = hub_fail(e, HUB_ENET, "libcurl cannot be set up: %s", h->curl.curl_easy_strerror(set));
    if (rc == HUB_OK) return HUB_OK;
    http_close(h);
    *out = NULL;
    return rc;
}

void http_close(struct http *h)
{
    if (h && h->easy) h->curl.curl_easy_cleanup(h->easy);
    free(h);
}

static int add_field(struct http *h, struct curl_slist **list, char *line)
{
    struct curl_slist *longer = line ? h->curl.curl_slist_append(*list, line) : NULL;
    free(line);
    if (longer) *list = longer;
    return longer ? 0 : -1;
}

static struct curl_slist *fields_of(struct http *h, const struct http_request *r, const char *url, int *bad)
{
    struct curl_slist *list = NULL;
    char origin[HUB_ORIGIN_SZ];
    const int own = h->origin[0] && hub_origin(origin, url) == 0 && strcmp(origin, h->origin) == 0;
    *bad = add_field(h, &list, hub_format("Accept-Encoding: identity"));
    if (r->accept) *bad |= add_field(h, &list, hub_format("Accept: %s", r->accept));
    if (r->first) *bad |= add_field(h, &list, hub_format("Range: bytes=0-0"));
    if (r->from > 0) *bad |= add_field(h, &list, hub_format("Range: bytes=%lld-", (long long)r->from));
    if (own && h->s.token) *bad |= add_field(h, &list, hub_format("Authorization: Bearer %s", h->s.token));
    if (own && h->s.token && h->s.cookie) *bad |= add_field(h, &list, hub_format("Cookie: %s=%s", h->s.cookie, h->s.token));
    return list;
}

/* Converts libcurl's error to a status. A reset, a stall or a cut connection may succeed at another try. */
static int judge_exchange(struct exchange *x, CURLcode rc, struct hub_error *e)
{
    struct http *h = x->h;
    const char *what = x->r->what, *why = *h->reason ? h->reason : h->curl.curl_easy_strerror(rc);
    if (x->stopped || x->enough) return hub_fail(e, HUB_ESTOPPED, "%s: ended before the download was complete", what);
    if (rc == CURLE_OUT_OF_MEMORY) return hub_no_memory(e, what);
    if (x->endless) return hub_fail(e, HUB_ENET, "%s: the header fields of the answer do not end", what);
    const int lasting = rc == CURLE_UNSUPPORTED_PROTOCOL || rc == CURLE_URL_MALFORMAT || rc == CURLE_PEER_FAILED_VERIFICATION ||
                        rc == CURLE_SSL_CACERT_BADFILE;
    x->a->again = !lasting;
    if (rc == CURLE_PEER_FAILED_VERIFICATION)
        return hub_fail(e, HUB_ENET, "%s: the certificate of the server is not trusted (%s); SSL_CERT_FILE names other ones", what, why);
    if (rc == CURLE_OPERATION_TIMEDOUT)
        return hub_fail(e, HUB_ENET, "%s: no data came for %d s", what, x->begun ? h->s.stall_s : h->s.answer_s);
    return hub_fail(e, HUB_ENET, "%s: %s", what, why);
}

/* One request to one URL. */
static int exchange(struct exchange *x, const char *url, char **next, struct hub_error *e)
{
    struct http *h = x->h;
    int bad = 0;
    long code = 0;
    char *to = NULL;
    struct curl_slist *fields = fields_of(h, x->r, url, &bad);
    http_fields_begin(&x->a->fields);
    x->a->code = 0;
    x->begun = x->endless = x->dropped = 0;
    x->n_header = x->n_page = 0;
    x->started_s = hub_now_s();
    CURLcode rc = bad ? CURLE_OUT_OF_MEMORY : set_up(h, x, url, fields);
    if (rc == CURLE_OK) rc = h->curl.curl_easy_perform(h->easy);
    h->curl.curl_easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &code);
    x->a->code = (int)code;
    if (x->dropped && !x->stopped) rc = CURLE_OK;
    if (rc == CURLE_OK && !x->begun && exchange_begin(x)) rc = CURLE_WRITE_ERROR;
    if (rc == CURLE_OK && code >= 300 && code < 400 && code != 304) h->curl.curl_easy_getinfo(h->easy, CURLINFO_REDIRECT_URL, &to);
    *next = to ? strdup(to) : NULL;
    h->curl.curl_easy_setopt(h->easy, CURLOPT_HTTPHEADER, (struct curl_slist *)NULL);
    h->curl.curl_slist_free_all(fields);
    if (to && !*next) return hub_no_memory(e, "an address");
    return rc == CURLE_OK ? HUB_OK : judge_exchange(x, rc, e);
}

static int leaves(const char *origin, const char *url)
{
    char other[HUB_ORIGIN_SZ];
    return hub_origin(other, url) || strcmp(origin, other) != 0;
}

int http_try(struct http *h, const struct http_request *r, struct http_answer *a, struct hub_error *e)
{
    struct exchange x = { .h = h, .r = r, .a = a };
    char *url = strdup(r->url), *next = NULL, origin[HUB_ORIGIN_SZ];
    int rc = url ? HUB_OK : hub_no_memory(e, "an address");
    memset(a, 0, sizeof *a);
    for (int hops = 0; rc == HUB_OK; hops++) {
        if (hub_origin(origin, url)) {
            rc = hub_fail(e, HUB_ENET, "%s: %s is not an http or https "
                                       "address", r->what, hops ? "the target of a redirect" : "its address");
            break;
        }
        if (hops > MOST_REDIRECTS) {
            rc = hub_fail(e, HUB_ENET, "%s: redirected more than %d times", r->what, MOST_REDIRECTS);
            break;
        }
        rc = exchange(&x, url, &next, e);
        if (rc != HUB_OK || !next || (r->stay && leaves(origin, next))) break;
        if (hub_is_https(url) && !hub_is_https(next)) {
            rc = hub_fail(e, HUB_ENET, "%s: redirected from https to an address without encryption, which is not followed", r->what);
            break;
        }
        free(url);
        url = next;
        next = NULL;
    }
    free(url);
    free(next);
    if (rc == HUB_OK) a->again = a->code == 408 || a->code == 429 || (a->code >= 500 && a->code != 501);
    return rc;
}
#else
struct http { struct http_settings s; };

int http_library(char *version, size_t n, struct hub_error *e)
{
    (void)version, (void)n;
    return hub_fail(e, HUB_ENET, "this program was built without the hub (STENO_HUB=OFF), so nothing is fetched");
}

int http_open(struct http **out, const struct http_settings *s, struct hub_error *e)
{
    (void)s;
    *out = NULL;
    return hub_fail(e, HUB_ENET, "this program was built without the hub (STENO_HUB=OFF), so nothing is fetched");
}

void http_close(struct http *h)
{
    free(h);
}

const struct http_settings *http_settings_of(const struct http *h)
{
    return &h->s;
}

int http_try(struct http *h, const struct http_request *r, struct http_answer *a, struct hub_error *e)
{
    (void)h, (void)a;
    return hub_fail(e, HUB_ENET, "%s: this program was built without the hub (STENO_HUB=OFF)", r->what);
}
#endif
