/* steno-serve: errors in the shape of OpenAI's API. SPDX-License-Identifier: MIT */
#include "api_error.h"
#include "utf8.h"
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ROW(name, status, type) [API_##name] = { #name, status, #type },
static const struct { const char *name; int status; const char *type; } codes[API_N_CODES] = {
    [API_OK] = { "ok", 200, "" }, API_ERRORS(ROW)
};
#undef ROW

static enum api_code known(enum api_code code)
{
    return (unsigned)code < API_N_CODES ? code : API_internal_error;
}

const char *api_code_name(enum api_code code)
{
    return codes[known(code)].name;
}

int api_status(enum api_code code)
{
    return codes[known(code)].status;
}

const char *api_type(enum api_code code)
{
    return codes[known(code)].type;
}

int api_fail(struct api_error *e, enum api_code code, const char *param, const char *fmt, ...)
{
    char raw[2 * sizeof e->message];
    va_list ap;
    if (e->code != API_OK) return (int)e->code;
    va_start(ap, fmt);
    const int n = vsnprintf(raw, sizeof raw, fmt, ap);
    va_end(ap);
    e->code = known(code);
    utf8_printable(e->param, sizeof e->param, param ? param : "");
    utf8_printable(e->message, sizeof e->message, n < 0 ? api_code_name(code) : raw);
    return (int)e->code;
}

char *api_error_json(const struct api_error *e, size_t *n)
{
    json_t *o = json_pack("{s:{s:s, s:s, s:s?, s:s}}", "error", "message", e->message, "type", api_type(e->code), "param",
                          e->param[0] ? e->param : NULL, "code", api_code_name(e->code));
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
    json_decref(o);
    *n = text ? strlen(text) : 0;
    return text;
}

static void add(struct api_headers *h, const char *name, const char *value)
{
    int at = 0;
    while (h->header[at].name) at++;
    h->header[at] = (struct http_header){ name, value };
}

void api_error_headers(struct api_headers *h, const struct api_error *e)
{
    const int status = api_status(e->code);
    *h = (struct api_headers){ 0 };
    if (status == 429 || status == 503) {
        const int wait = e->retry_after_s < 1 ? 1 : e->retry_after_s > API_RETRY_MAX_S ? API_RETRY_MAX_S : e->retry_after_s;
        snprintf(h->seconds, sizeof h->seconds, "%d", wait);
        snprintf(h->ms, sizeof h->ms, "%d", 1000 * wait);
        add(h, "Retry-After", h->seconds);
        add(h, "retry-after-ms", h->ms);
    }
    if (status == 500 || status == 504) add(h, "x-should-retry", "false");
    if (status == 426) add(h, "Upgrade", "websocket"), add(h, "Sec-WebSocket-Version", "13");
    if (status == 401) add(h, "WWW-Authenticate", "Bearer");
}
