/* steno-hub: checks names from outside, and builds URLs from them. SPDX-License-Identifier: MIT */
#include "hub_name.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char id_bytes[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

static int ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

const char *hub_id_fault(const char *id)
{
    const char *slash = strchr(id, '/');
    if (!slash || slash == id || !slash[1] || strchr(slash + 1, '/')) return "it is not of the form ORG/NAME";
    if (strlen(id) > HUB_ID_SZ - 2) return "it is longer than 96 characters";
    for (const char *p = id; *p; p++)
        if (*p != '/' && !strchr(id_bytes, *p)) return "it has characters other than letters, digits, \".\", \"_\" and \"-\"";
    if (strstr(id, "--") || strstr(id, "..")) return "it has -- or .. in it";
    if (strchr(".-", id[0]) || strchr(".-", slash[1]) || strchr(".-", slash[-1]) || ends_in(id, ".") || ends_in(id, "-"))
        return "a part of it begins or ends with . or -";
    return ends_in(id, ".git") ? "it ends with .git" : NULL;
}

const char *hub_revision_fault(const char *rev)
{
    if (!rev[0] || strlen(rev) >= HUB_REV_SZ) return "it is empty or too long";
    for (const char *p = rev; *p; p++)
        if (*p != '/' && !strchr(id_bytes, *p)) return "it has characters other than letters, digits, \".\", \"_\", \"-\" and \"/\"";
    return hub_path_fault(rev);
}

const char *hub_path_fault(const char *path)
{
    const size_t n = strlen(path);
    if (!n || n > 4096) return "it is empty or longer than 4096 bytes";
    if (path[0] == '/') return "it is absolute";
    if (isalpha((unsigned char)path[0]) && path[1] == ':') return "it names a drive";
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)path[i] < ' ' || path[i] == 0x7f) return "it has control characters";
        if (path[i] == '\\') return "it has a \\ in it";
    }
    int depth = 0;
    _Static_assert(HUB_MOST_DEPTH == 64, "the reason below names it");
    for (const char *part = path; part; depth++) {
        if (depth > HUB_MOST_DEPTH) return "it lies in more than 64 folders";
        const size_t k = strcspn(part, "/");
        if (!k || k > 255 || (k == 1 && part[0] == '.') || (k == 2 && part[0] == '.' && part[1] == '.'))
            return "a part of it is empty, \".\", \"..\" or too long";
        part = part[k] ? part + k + 1 : NULL;
    }
    return NULL;
}

int hub_is_hex(const char *text, size_t n)
{
    return strlen(text) == n && strspn(text, "0123456789abcdef") == n;
}

int hub_is_commit(const char *rev)
{
    return hub_is_hex(rev, 40);
}

char *hub_escape(const char *text, const char *keep)
{
    static const char digits[] = "0123456789ABCDEF";
    char *out = malloc(3 * strlen(text) + 1), *to = out;
    if (!out) return NULL;
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if ((*p < 0x80 && isalnum(*p)) || strchr("-._~", *p) || strchr(keep, *p)) {
            *to++ = (char)*p;
            continue;
        }
        *to++ = '%';
        *to++ = digits[*p >> 4];
        *to++ = digits[*p & 15];
    }
    *to = '\0';
    return out;
}

int hub_is_https(const char *url)
{
    return strncasecmp(url, "https://", 8) == 0;
}

enum { HOST_MAX = 250, PORT_SZ = 6 /* including the colon */ };

int hub_origin(char out[HUB_ORIGIN_SZ], const char *url)
{
    const int https = hub_is_https(url), n_scheme = https ? 8 : 7;
    if (!https && strncasecmp(url, "http://", 7) != 0) return -1;
    for (const unsigned char *p = (const unsigned char *)url; *p; p++)
        if (*p <= ' ' || *p == 0x7f || *p == '\\') return -1;
    const char *host = url + n_scheme;
    const size_t n = strcspn(host, "/?#");
    char name[HOST_MAX + PORT_SZ + 1];
    if (!n || n >= sizeof name || memchr(host, '@', n)) return -1;
    for (size_t i = 0; i < n; i++) name[i] = (char)tolower((unsigned char)host[i]);
    name[n] = '\0';
    char *bracket = strrchr(name, ']'), *colon = strrchr(bracket ? bracket : name, ':');
    long port = https ? 443 : 80;
    if (colon) {
        if (strspn(colon + 1, "0123456789") != strlen(colon + 1) || strlen(colon + 1) > 5) return -1;
        if (colon[1]) port = strtol(colon + 1, NULL, 10);
        *colon = '\0';
    }
    if (!name[0] || strlen(name) > HOST_MAX || port < 1 || port > 65535) return -1;
    snprintf(out, HUB_ORIGIN_SZ, "%s://%s:%ld", https ? "https" : "http", name, port);
    return 0;
}

int hub_is_loopback(const char *origin)
{
    const char *at = strstr(origin, "://"), *colon = at ? strrchr(at + 3, ':') : NULL;
    char host[HOST_MAX + 1];
    struct in_addr four;
    struct in6_addr six;
    if (!colon || colon - at - 3 > HOST_MAX) return 0;
    snprintf(host, sizeof host, "%.*s", (int)(colon - at - 3), at + 3);
    const size_t n = strlen(host);
    if (n > 2 && host[0] == '[' && host[n - 1] == ']') {
        host[n - 1] = '\0';
        return inet_pton(AF_INET6, host + 1, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
    }
    return strcmp(host, "localhost") == 0 || (inet_pton(AF_INET, host, &four) == 1 && ntohl(four.s_addr) >> 24 == 127);
}
