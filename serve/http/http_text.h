/* steno-serve: targets, addresses and hosts, as functions over text. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_HTTP_TEXT_H
#define STENO_SERVE_HTTP_TEXT_H
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Decodes %XX once, in place; plus: 1 decodes + to a space. A % that is not followed by two hexadecimal digits stays. @return the length */
size_t percent_decode(char *s, int plus);

/* Calls `each` with the decoded name and value of each "name=value" of a query. Names that are empty are left out. @return 0, or -1: out
 * of memory */
int query_each(const char *query, void (*each)(void *user, const char *name, const char *value), void *user);

/* An IP address; IPv4 is written as ::ffff:a.b.c.d. A Unix socket has no address. */
enum { ADDRESS_TEXT = 64 };
struct address {
    int is_unix;
    uint8_t b[16];
};
struct range { struct address base; int n_bits; };

void address_of(struct address *a, const struct sockaddr *sa);
int address_read(struct address *a, const char *text, size_t n); /* 1.2.3.4, 1.2.3.4:80, ::1, [::1], [::1]:80. @return 0 or -1 */
void address_write(char out[ADDRESS_TEXT], const struct address *a); /* "unix" for a Unix socket */
int address_equal(const struct address *a, const struct address *b); /* of IPv6 the first 64 bits count: a client has all of them */
int address_is_loopback(const struct address *a);
int range_read(struct range *r, const char *text); /* an address, or ADDRESS/BITS. @return 0 or -1 */
int range_has(const struct range *r, const struct address *a);
int ranges_have(const struct range *r, int n, const struct address *a); /* one of them has it */

/* The client of X-Forwarded-For: its last address that is not that of a trusted proxy. @return 0, or -1: there is none */
int forwarded_client(struct address *out, const char *value, const struct range *trusted, int n_trusted);

/* HOST or HOST:PORT of a Host field, or of an origin. */
struct host {
    char name[256]; /* in lower case; of IPv6 without brackets */
    int port;       /* 0: not given */
    int usual_port; /* of the origin's scheme */
};

int host_read(struct host *h, const char *text);   /* @return 0, or -1: it is neither a name nor an address */
int host_is_loopback(const struct host *h);        /* localhost, 127.0.0.0/8 or ::1: names that resolve to them are not */
int origin_read(struct host *h, const char *text); /* http://HOST[:PORT] or https://HOST[:PORT]. @return 0 or -1 */
int origin_is_own(const struct host *origin, const struct host *own); /* the page came from the server of this Host */
#endif
