/* steno-serve: targets, addresses and hosts, as functions over text. SPDX-License-Identifier: MIT */
#include "http_text.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- targets ------------------------------------------------------------------------------------------------------------------ */

static int digit_of(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t percent_decode(char *s, int plus)
{
    char *out = s;
    for (const char *in = s; *in; in++) {
        const int hi = in[0] == '%' ? digit_of(in[1]) : -1, lo = hi >= 0 ? digit_of(in[2]) : -1;
        if (lo >= 0 && (hi | lo)) { /* not %00 */
            *out++ = (char)(16 * hi + lo);
            in += 2;
        } else {
            *out++ = plus && *in == '+' ? ' ' : *in;
        }
    }
    *out = '\0';
    return (size_t)(out - s);
}

int query_each(const char *query, void (*each)(void *user, const char *name, const char *value), void *user)
{
    char *text = query ? strdup(query) : NULL, *rest = text, *item;
    if (query && !text) return -1;
    while (rest && (item = strsep(&rest, "&"))) {
        char *value = strchr(item, '=');
        static char empty[] = "";
        if (value) *value++ = '\0';
        else value = empty;
        percent_decode(item, 1);
        percent_decode(value, 1);
        if (*item) each(user, item, value);
    }
    free(text);
    return 0;
}

/* ---- addresses ---------------------------------------------------------------------------------------------------------------- */

static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

static int is_v4(const struct address *a)
{
    return memcmp(a->b, mapped, sizeof mapped) == 0;
}

static void set_v4(struct address *a, const void *four)
{
    memcpy(a->b, mapped, sizeof mapped);
    memcpy(a->b + sizeof mapped, four, 4);
}

void address_of(struct address *a, const struct sockaddr *sa)
{
    *a = (struct address){ 0 };
    if (sa->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, sa, sizeof in);
        set_v4(a, &in.sin_addr);
    } else if (sa->sa_family == AF_INET6) {
        struct sockaddr_in6 in;
        memcpy(&in, sa, sizeof in);
        memcpy(a->b, &in.sin6_addr, 16);
    } else {
        a->is_unix = 1;
    }
}

/* ":" and digits, which are not looked at further: [n] bytes, or nothing */
static int is_port(const char *s, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (s[i] < '0' || s[i] > '9') return 0;
    return n == 0 || (*s == ':' && n > 1 && n <= 6);
}

int address_read(struct address *a, const char *text, size_t n)
{
    char host[INET6_ADDRSTRLEN + 1];
    *a = (struct address){ 0 };
    const char *colon = memchr(text, ':', n), *end = n && *text == '[' ? memchr(text, ']', n) : NULL;
    if (end) {
        if (!is_port(end + 1, (size_t)(text + n - end - 1))) return -1;
        text++;
        n = (size_t)(end - text);
    } else if (colon && memchr(text, '.', n) && !memchr(colon + 1, ':', n - (size_t)(colon + 1 - text))) {
        if (!is_port(colon, (size_t)(text + n - colon))) return -1;
        n = (size_t)(colon - text); /* IPv4 with a port */
    }
    if (n == 0 || n >= sizeof host || memchr(text, '\0', n)) return -1;
    memcpy(host, text, n);
    host[n] = '\0';
    uint8_t four[4];
    if (!end && inet_pton(AF_INET, host, four) == 1) set_v4(a, four);
    else if (inet_pton(AF_INET6, host, a->b) != 1) return -1;
    return 0;
}

void address_write(char out[ADDRESS_TEXT], const struct address *a)
{
    snprintf(out, ADDRESS_TEXT, "unix");
    if (!a->is_unix) inet_ntop(is_v4(a) ? AF_INET : AF_INET6, is_v4(a) ? a->b + sizeof mapped : a->b, out, ADDRESS_TEXT);
}

int address_equal(const struct address *a, const struct address *b)
{
    return a->is_unix == b->is_unix && is_v4(a) == is_v4(b) && memcmp(a->b, b->b, is_v4(a) ? 16 : 8) == 0;
}

int address_is_loopback(const struct address *a)
{
    static const uint8_t one[16] = { [15] = 1 };
    return !a->is_unix && (is_v4(a) ? a->b[12] == 127 : memcmp(a->b, one, 16) == 0);
}

int range_read(struct range *r, const char *text)
{
    const char *slash = strchr(text, '/');
    *r = (struct range){ .n_bits = 128 };
    if (address_read(&r->base, text, slash ? (size_t)(slash - text) : strlen(text)) || strchr(text, ']')) return -1;
    if (!slash) return 0;
    const int most = is_v4(&r->base) && !strchr(text, ':') ? 32 : 128;
    if (slash[1] == '\0' || strlen(slash + 1) > 3 || strspn(slash + 1, "0123456789") != strlen(slash + 1)) return -1;
    const int n = atoi(slash + 1);
    r->n_bits = most == 32 ? 96 + n : n;
    return n > most ? -1 : 0;
}

int range_has(const struct range *r, const struct address *a)
{
    if (a->is_unix || r->base.is_unix) return 0;
    const int whole = r->n_bits / 8, rest = r->n_bits % 8;
    if (memcmp(r->base.b, a->b, (size_t)whole) != 0) return 0;
    return rest == 0 || ((r->base.b[whole] ^ a->b[whole]) >> (8 - rest)) == 0;
}

int ranges_have(const struct range *r, int n, const struct address *a)
{
    for (int i = 0; i < n; i++)
        if (range_has(&r[i], a)) return 1;
    return 0;
}

int forwarded_client(struct address *out, const char *value, const struct range *trusted, int n_trusted)
{
    int found = -1;
    for (size_t end = strlen(value); end > 0;) {
        size_t at = end;
        while (at > 0 && value[at - 1] != ',') at--;
        size_t first = at, last = end;
        while (first < last && (value[first] == ' ' || value[first] == '\t')) first++;
        while (last > first && (value[last - 1] == ' ' || value[last - 1] == '\t')) last--;
        struct address a;
        if (address_read(&a, value + first, last - first)) return found; /* what stands before it was not written by a proxy of ours */
        *out = a;
        found = 0;
        if (!ranges_have(trusted, n_trusted, &a)) return 0;
        end = at > 0 ? at - 1 : 0;
    }
    return found;
}

/* ---- hosts and origins -------------------------------------------------------------------------------------------------------- */

/* ":PORT" or nothing. @return 0 or -1 */
static int port_read(int *port, const char *s)
{
    *port = 0;
    if (!*s) return 0;
    if (*s++ != ':' || !*s || strlen(s) > 5 || strspn(s, "0123456789") != strlen(s)) return -1;
    *port = atoi(s);
    return *port < 1 || *port > 65535 ? -1 : 0;
}

int host_read(struct host *h, const char *text)
{
    static const char chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    *h = (struct host){ 0 };
    size_t n = strspn(text, chars);
    const char *name = text, *rest = text + n;
    if (*text == '[') {
        const char *end = strchr(text, ']');
        if (!end) return -1;
        name = text + 1;
        n = (size_t)(end - name);
        rest = end + 1;
    }
    if (n == 0 || n >= sizeof h->name || port_read(&h->port, rest)) return -1;
    memcpy(h->name, name, n);
    for (char *c = h->name; *c; c++)
        if (*c >= 'A' && *c <= 'Z') *c = (char)(*c | 0x20);
    struct in6_addr v6;
    return *text != '[' || inet_pton(AF_INET6, h->name, &v6) == 1 ? 0 : -1;
}

int host_is_loopback(const struct host *h)
{
    struct address a;
    return strcmp(h->name, "localhost") == 0 || (address_read(&a, h->name, strlen(h->name)) == 0 && address_is_loopback(&a));
}

int origin_read(struct host *h, const char *text)
{
    static const struct { const char *scheme; int port; } schemes[] = { { "http://", 80 }, { "https://", 443 } };
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        const size_t n = strlen(schemes[i].scheme);
        if (strncmp(text, schemes[i].scheme, n) != 0) continue;
        if (host_read(h, text + n)) return -1;
        h->usual_port = schemes[i].port;
        return 0;
    }
    return -1;
}

int origin_is_own(const struct host *origin, const struct host *own)
{
    const int port = origin->port ? origin->port : origin->usual_port;
    return strcmp(origin->name, own->name) == 0 && port == (own->port ? own->port : origin->usual_port);
}
