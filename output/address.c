/* steno: URLs in names and messages. SPDX-License-Identifier: MIT */
#include "address.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Length of "SCHEME://", or 0. */
static size_t scheme_of(const char *text)
{
    size_t n = 0;
    if (!isalpha((unsigned char)text[0])) return 0;
    while (isalnum((unsigned char)text[n]) || (text[n] && strchr("+.-", text[n]))) n++;
    return strncmp(text + n, "://", 3) == 0 ? n + 3 : 0;
}

int address_is(const char *text)
{
    return scheme_of(text) > 0;
}

/* The first byte after the colon in [host, stop) that cannot be part of a port. NULL: there is a port, or no colon. */
static const char *past_port(const char *host, const char *stop)
{
    const char *bracket = memchr(host, ']', (size_t)(stop - host)), *begin = bracket ? bracket : host;
    const char *colon = memchr(begin, ':', (size_t)(stop - begin));
    for (const char *p = colon ? colon + 1 : stop; p < stop; p++)
        if (!isdigit((unsigned char)*p)) return p;
    return NULL;
}

/* The host that begins at `from`, after a name and a password. Text after a colon that is not a port is a password. It may contain any
 * character up to the last @. Without an @ after it, there is no host. */
static const char *host_of(const char *from, const char *end)
{
    for (;;) {
        const char *stop = from, *host = from;
        while (stop < end && !strchr("/?#", *stop)) stop++;
        for (const char *p = from; p < stop; p++)
            if (*p == '@') host = p + 1;
        const char *odd = past_port(host, stop);
        if (!odd) return host;
        for (from = end; from > odd && from[-1] != '@'; from--) { }
        if (from == odd) return end;
    }
}

struct parts { size_t n_scheme; const char *host, *end; /* [host, end): host and path */ };

static struct parts parts_of(const char *address, const char *end)
{
    struct parts p = { .n_scheme = scheme_of(address) };
    p.host = host_of(address + p.n_scheme, end);
    for (p.end = p.host; p.end < end && *p.end != '?' && *p.end != '#'; p.end++) { }
    return p;
}

void address_shown(char *out, size_t n, const char *address)
{
    const struct parts p = parts_of(address, address + strlen(address));
    snprintf(out, n, "%.*s%.*s", (int)p.n_scheme, address, (int)(p.end - p.host), p.host);
}

/* End of a word in a sentence, without the quotes and punctuation of the sentence after it. */
static char *word_end(char *from)
{
    char *end = from;
    while (*end && !isspace((unsigned char)*end)) end++;
    while (end > from && strchr("'\"`),.;:?!", end[-1])) end--;
    return end;
}

void address_hide(char *text)
{
    for (char *sep = strstr(text, "://"); sep; sep = strstr(sep + 3, "://")) {
        char *begin = sep;
        while (begin > text && (isalnum((unsigned char)begin[-1]) || strchr("+.-", begin[-1]))) begin--;
        while (begin < sep && !isalpha((unsigned char)*begin)) begin++;
        if (begin == sep) continue;
        char *from = sep + 3, *end = word_end(from);
        const struct parts p = parts_of(begin, end);
        const size_t n = (size_t)(p.end - p.host);
        memmove(from, p.host, n);
        memmove(from + n, end, strlen(end) + 1);
    }
}

char *address_path(const char *input)
{
    if (!address_is(input)) return strdup(input);
    const struct parts p = parts_of(input, input + strlen(input));
    const size_t n = (size_t)(p.end - p.host), n_host = n ? strcspn(p.host, "/?#") : 0;
    char *path = malloc(2 * n + 8);
    if (!path) return NULL;
    memcpy(path, p.host, n);
    path[n] = '\0';
    for (char *slash; (slash = strrchr(path, '/')) && (!slash[1] || strcmp(slash, "/.") == 0 || strcmp(slash, "/..") == 0);) *slash = '\0';
    if (strchr(path, '/')) return path;
    size_t at = strlen(path);
    path[at++] = '/';
    for (size_t i = 0; i < n_host && i < n; i++) path[at++] = p.host[i] == '.' ? '-' : p.host[i];
    if (!n_host) path[at++] = '-';
    path[at] = '\0';
    return path;
}
