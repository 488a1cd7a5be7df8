/* steno-serve: the files of the web page. SPDX-License-Identifier: MIT */
#include "api.h"
#include "page.h"

const struct http_handler *page_begin(struct serve *s, struct exchange *x, const struct page_file *f, void **request)
{
    struct api_error e = { 0 };
    struct http_answer a = { 0 };
    if (!page_answer(f, exchange_header(x, "If-None-Match"), &a)) return call_answer(s, x, ROUTE_PAGE, &a, request);
    api_fail(&e, API_internal_error, NULL, "out of memory for the page");
    return call_fail(s, x, ROUTE_PAGE, &e, request);
}
