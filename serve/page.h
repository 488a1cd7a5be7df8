/* steno-serve: the web page. SPDX-License-Identifier: MIT
 *
 * The files of serve/page, compiled in: no path of a request reaches the file system. Their URLs are relative, so they work below a
 * prefix. The page itself is at the path that ends with a slash: "/" after the prefix. */
#ifndef STENO_SERVE_PAGE_H
#define STENO_SERVE_PAGE_H
#include "http.h"

struct page_file {
    const char *path; /* begins with / */
    const char *type; /* Content-Type */
    const unsigned char *bytes;
    size_t n;
    const char *etag; /* quoted hash of the bytes */
};

extern const struct page_file page_files[]; /* ends with an empty row; made by the build */

/* Scripts, styles and connections come from the server only. The page plays recordings from memory (blob:). */
#define PAGE_CSP \
    "default-src 'self'; media-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/* @param path  decoded, after the prefix. @return NULL: there is no such file */
const struct page_file *page_find(const char *path);

/* The whole answer to GET or HEAD: 200, or 304 if the header If-None-Match has the file's etag.
 * @param if_none_match  may be NULL. @return 0, or -1: out of memory */
int page_answer(const struct page_file *f, const char *if_none_match, struct http_answer *a);
#endif
