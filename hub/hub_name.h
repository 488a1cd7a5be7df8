/* steno-hub: names that come from outside, and addresses made of them. SPDX-License-Identifier: MIT
 *
 * A name becomes a folder and a path becomes a file, so nothing that could lead out of the cache passes here. */
#ifndef STENO_HUB_HUB_NAME_H
#define STENO_HUB_HUB_NAME_H
#include <stddef.h>

enum { HUB_ID_SZ = 98, HUB_REV_SZ = 256, HUB_HASH_SZ = 65 };

/* A file lies in at most this number of folders of its repository: what is fetched is seen by all who look into a cache. */
enum { HUB_MOST_DEPTH = 64 };

/* Why it is no "ORG/NAME", no revision, or no path inside a repository; NULL: it is one. */
const char *hub_id_fault(const char *id);
const char *hub_revision_fault(const char *rev);
const char *hub_path_fault(const char *path);

int hub_is_hex(const char *text, size_t n); /* n digits, in lower case, and no more */
int hub_is_commit(const char *rev);         /* 40 of them */

/* `text` with all but letters, digits, "-._~" and what stands in `keep` written as %XX. @return malloc'd text, or NULL */
char *hub_escape(const char *text, const char *keep);

/* Scheme, host and port of an http or https address, "https://host:443"; credentials in it are refused. @return 0, or -1: it is none */
enum { HUB_ORIGIN_SZ = 300 };
int hub_origin(char out[HUB_ORIGIN_SZ], const char *url);
int hub_is_https(const char *url);
int hub_is_loopback(const char *origin); /* "localhost", or a number of IPv4 or IPv6 that is of this machine; no other name */
#endif
