/* steno-serve: targets and addresses, as functions over text. SPDX-License-Identifier: MIT */
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

int address_read(struct address *a, const char *text, size_t n)
{
    char host[INET6_ADDRSTRLEN + 1];
    *a = (struct address){ 0 };
    const char *colon = memchr(text, ':', n), *end = n && *text == '[' ? memchr(text, ']', n) : NULL;
    if (end) {
        if (end + 1 != text + n && end[1] != ':') return -1;
        text++;
        n = (size_t)(end - text);
    } else if (colon && memchr(text, '.', n) && !memchr(colon + 1, ':', n - (size_t)(colon + 1 - text))) {
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
        int is_ours = 0;
        for (int i = 0; i < n_trusted && !is_ours; i++) is_ours = range_has(&trusted[i], &a);
        if (!is_ours) return 0;
        end = at > 0 ? at - 1 : 0;
    }
    return found;
}
