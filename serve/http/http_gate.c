/* steno-serve: checks of a request's head. SPDX-License-Identifier: MIT */
#include "http_gate.h"
#include <string.h>
#include <strings.h>

enum { LENGTH_DIGITS = 18 };

static int is_token(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char c = s[i];
        const int is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_word && (c == '\0' || !strchr("!#$%&'*+-.^_`|~", c))) return 0;
    }
    return n > 0;
}

static int is_plain(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)s[i];
        if ((c < ' ' && c != '\t') || c == 0x7f) return 0;
    }
    return 1;
}

static int is_name(const char *name, size_t n, const char *of)
{
    return n == strlen(of) && strncasecmp(name, of, n) == 0;
}

static const char *target_fault(const char *target)
{
    if (!target || target[0] != '/') return "The request's target does not begin with /: only paths of this server are served.";
    if (target[1] == '/') return "The request's target begins with //: it must be a path.";
    for (const char *s = target; *s; s++) {
        if ((unsigned char)*s <= ' ' || *s == 0x7f) return "The request's target has a space or a control character.";
        if (*s == '#') return "The request's target has a fragment (#).";
        if (s[0] == '%' && s[1] == '0' && s[2] == '0') return "The request's target has a NUL character (%00).";
    }
    return NULL;
}

void gate_begin(struct gate *g, const char *target, const char *version)
{
    *g = (struct gate){ .why = target_fault(target), .status = 400, .length = -1, .n_bytes = target ? strlen(target) : 0 };
    if (g->n_bytes > GATE_TARGET_MAX) {
        g->why = "The request's target has more than 16384 bytes.";
        g->status = 414;
    }
    if (!g->why && (!version || (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0)))
        g->why = "The request's version is not HTTP/1.1 or HTTP/1.0.";
}

static void gate_length(struct gate *g, const char *value, size_t n)
{
    if (g->n_lengths++) {
        g->why = "The request has more than one Content-Length.";
        return;
    }
    g->length = 0;
    for (size_t i = 0; i < n && g->length >= 0; i++)
        g->length = value[i] >= '0' && value[i] <= '9' && n <= LENGTH_DIGITS ? 10 * g->length + (value[i] - '0') : -1;
    if (n == 0 || g->length < 0) g->why = "The request's Content-Length is not a number of at most 18 digits.";
}

void gate_field(struct gate *g, const char *name, size_t n_name, const char *value, size_t n_value)
{
    if (g->why) return;
    g->n_bytes += n_name + n_value + 4; /* a colon, a space, the line end */
    if (g->n_bytes > GATE_HEAD_MAX || ++g->n_fields > GATE_FIELDS_MAX) {
        g->why = "The request's head has more than 24576 bytes or 256 fields.";
        g->status = 431;
    } else if (!is_token(name, n_name)) {
        g->why = "The name of a header field has a character that is not allowed.";
    } else if (!is_plain(value, n_value)) {
        g->why = "The value of a header field has a control character.";
    } else if (is_name(name, n_name, "Host")) {
        if (g->n_hosts++) g->why = "The request has more than one Host.";
    } else if (is_name(name, n_name, "Sec-WebSocket-Key")) {
        if (g->n_keys++) g->why = "The request has more than one Sec-WebSocket-Key.";
    } else if (is_name(name, n_name, "Content-Encoding")) {
        if (g->n_codings++) g->why = "The request has more than one Content-Encoding.";
    } else if (is_name(name, n_name, "Content-Length")) {
        gate_length(g, value, n_value);
    } else if (is_name(name, n_name, "Transfer-Encoding")) {
        if (g->n_encodings++ || !is_name(value, n_value, "chunked")) g->why = "The request's Transfer-Encoding is not chunked, once.";
    }
}

const char *gate_end(struct gate *g, const char *version)
{
    if (g->why) return g->why;
    if (g->n_hosts != 1 && strcmp(version, "HTTP/1.0") != 0) g->why = "The request has no Host.";
    else if (g->n_encodings && g->n_lengths) g->why = "The request has both Content-Length and Transfer-Encoding.";
    else if (g->n_encodings && strcmp(version, "HTTP/1.1") != 0) g->why = "Transfer-Encoding needs HTTP/1.1.";
    return g->why;
}
