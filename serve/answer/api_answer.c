/* steno-serve: an error as the answer to a request. SPDX-License-Identifier: MIT */
#include "api_error.h"
#include <string.h>

void api_answer_error(struct exchange *x, const struct api_error *e)
{
    struct api_headers h;
    struct http_answer a = { .status = api_status(e->code), .type = "application/json", .reason = api_code_name(e->code) };
    api_error_headers(&h, e);
    memcpy(a.header, h.header, sizeof a.header);
    a.body = api_error_json(e, &a.n);
    exchange_answer(x, &a);
}
