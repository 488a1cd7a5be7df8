/* steno: fuzzing of hosts and origins. SPDX-License-Identifier: MIT
 *
 * The first line is a Host, the second one an Origin. What is read has one spelling, and what is local has nothing behind it. */
#include "http_text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_host(const struct host *h, const char *text)
{
    char again[300];
    struct host b;
    if (!h->name[0] || h->port < 0 || h->port > 65535 || strpbrk(h->name, "/@?#%, ") || strlen(h->name) > strlen(text)) abort();
    const int n = snprintf(again, sizeof again, strchr(h->name, ':') ? "[%s]" : "%s", h->name);
    if (h->port) snprintf(again + n, sizeof again - (size_t)n, ":%d", h->port);
    if (host_read(&b, again) || strcmp(b.name, h->name) != 0 || b.port != h->port) abort();
    if (host_is_loopback(h) && strcmp(h->name, "localhost") != 0 && strncmp(h->name, "127.", 4) != 0 && !strchr(h->name, ':')) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *text = malloc(n + 1), *rest = text;
    if (!text) return 0;
    memcpy(text, data, n);
    text[n] = '\0';
    const char *first = strsep(&rest, "\n"), *second = rest ? rest : "";
    struct host own, origin;
    const int has_host = host_read(&own, first) == 0, has_origin = origin_read(&origin, second) == 0;
    if (has_host) check_host(&own, first);
    if (has_origin) check_host(&origin, second);
    if (has_host && has_origin && origin_is_own(&origin, &own) && strcmp(origin.name, own.name) != 0) abort();
    free(text);
    return 0;
}
