/* steno-serve: files of the web page as answers. SPDX-License-Identifier: MIT */
#include "page.h"
#include <stdlib.h>
#include <string.h>

const struct page_file *page_find(const char *path)
{
    if (!strcmp(path, "/")) path = "/index.html";
    for (const struct page_file *f = page_files; f->path; f++) {
        if (!strcmp(f->path, path)) return f;
    }
    return NULL;
}

/* A list of etags, each quoted and perhaps weak, or * (RFC 9110, 13.1.2). An etag here has neither commas nor quotes inside. */
static int has_etag(const char *list, const char *etag)
{
    const size_t n = strlen(etag);
    for (const char *p = list; *p; p += strcspn(p, ",")) {
        p += strspn(p, ", \t");
        if (!strncmp(p, "W/", 2)) p += 2;
        const char *q = !strncmp(p, etag, n) ? p + n : *p == '*' ? p + 1 : NULL;
        if (!q) continue;
        q += strspn(q, " \t");
        if (!*q || *q == ',') return 1;
    }
    return 0;
}

int page_answer(const struct page_file *f, const char *if_none_match, struct http_answer *a)
{
    *a = (struct http_answer){ .status = 200, .type = f->type, .header = {
        { "ETag", f->etag }, { "Cache-Control", "no-cache" }, { "Content-Security-Policy", PAGE_CSP },
        { "Referrer-Policy", "no-referrer" }, { "Permissions-Policy", "microphone=(self), camera=(), geolocation=()" },
        { "Cross-Origin-Opener-Policy", "same-origin" }, { "Cross-Origin-Resource-Policy", "same-origin" } } };
    if (if_none_match && has_etag(if_none_match, f->etag)) {
        a->status = 304;
        a->type = NULL;
        return 0;
    }
    a->body = malloc(f->n);
    if (!a->body) return -1;
    memcpy(a->body, f->bytes, f->n);
    a->n = f->n;
    return 0;
}
