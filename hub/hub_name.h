/* steno-hub: checks names from outside, and builds URLs from them. SPDX-License-Identifier: MIT
 *
 * A name becomes a folder and a path becomes a file, so anything that could lead out of the cache is refused here. */
#ifndef STENO_HUB_HUB_NAME_H
#define STENO_HUB_HUB_NAME_H
#include <stddef.h>

enum { HUB_ID_SZ = 98, HUB_REV_SZ = 256, HUB_HASH_SZ = 65 };

/* Maximum number of folders above a file in its repository. All programs that read a cache walk through them. */
enum { HUB_MOST_DEPTH = 64 };

/* Why it is not a valid "ORG/NAME", revision, or path inside a repository; NULL if it is valid. */
const char *hub_id_fault(const char *id);
const char *hub_revision_fault(const char *rev);
const char *hub_path_fault(const char *path);

int hub_is_hex(const char *text, size_t n); /* exactly n lower-case hex digits */
int hub_is_commit(const char *rev);         /* 40 hex digits */

/* `text` with all characters except letters, digits, "-._~" and those in `keep` written as %XX. @return malloc'd text, or NULL */
char *hub_escape(const char *text, const char *keep);

/* Scheme, host and port of an http or https URL, "https://host:443". URLs with credentials are refused. @return 0, or -1: not such a URL */
enum { HUB_ORIGIN_SZ = 300 };
int hub_origin(char out[HUB_ORIGIN_SZ], const char *url);
int hub_is_https(const char *url);
int hub_is_loopback(const char *origin); /* "localhost", or an IPv4 or IPv6 address of this machine; no other name */
#endif
