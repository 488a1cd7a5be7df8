/* steno-serve: the fields of a JSON body. SPDX-License-Identifier: MIT */
#include "ask_json.h"
#include "form.h"
#include <math.h>
#include <string.h>

const char *ask_json_mistake(const json_error_t *at)
{
    switch (json_error_code(at)) {
    case json_error_duplicate_key: return "has a key twice";
    case json_error_numeric_overflow: return "has a number that is too large";
    case json_error_null_character:
    case json_error_null_byte_in_key: return "has a NUL character (\\u0000)";
    case json_error_out_of_memory: return "does not fit into memory";
    default: return "is not valid JSON";
    }
}

json_t *ask_json_open(const char *body, size_t n, struct api_error *e)
{
    json_error_t at;
    json_t *o = json_loadb(body, n, JSON_REJECT_DUPLICATES, &at);
    if (json_is_object(o)) return o;
    if (o) api_fail(e, API_invalid_json, NULL, "the body is JSON, but not an object");
    else if (json_error_code(&at) == json_error_out_of_memory) api_fail(e, API_internal_error, NULL, "out of memory for the body");
    else api_fail(e, API_invalid_json, NULL, "the body %s: line %d, column %d", ask_json_mistake(&at), at.line, at.column);
    json_decref(o);
    return NULL;
}

json_t *ask_json_get(const json_t *o, const char *name)
{
    json_t *v = json_object_get(o, name);
    return json_is_null(v) ? NULL : v;
}

static int wrong(const char *name, const char *want, struct api_error *e)
{
    return api_fail(e, API_invalid_value, name, "%s is not %s", name, want);
}

int ask_json_text(const json_t *o, const char *name, const char **out, struct api_error *e)
{
    const json_t *v = ask_json_get(o, name);
    if (!v) return API_OK;
    if (!json_is_string(v)) return wrong(name, "a text", e);
    *out = json_string_value(v);
    return API_OK;
}

int ask_json_flag(const json_t *o, const char *name, int *out, struct api_error *e)
{
    const json_t *v = ask_json_get(o, name);
    if (!v) return API_OK;
    if (!json_is_boolean(v)) return wrong(name, "true or false", e);
    *out = json_is_true(v);
    return API_OK;
}

static int out_of_range(const char *name, const char *what, double lo, double hi, struct api_error *e)
{
    if (hi >= 1e15) return api_fail(e, API_invalid_value, name, "%s is not a %s from %.15g on", name, what, lo);
    return api_fail(e, API_invalid_value, name, "%s is not a %s from %.15g to %.15g", name, what, lo, hi);
}

int ask_json_number(const json_t *o, const char *name, double lo, double hi, double *out, struct api_error *e)
{
    const json_t *v = ask_json_get(o, name);
    if (!v) return API_OK;
    const double x = json_number_value(v);
    if (!json_is_number(v) || !(x >= lo && x <= hi)) return out_of_range(name, "number", lo, hi, e);
    *out = x;
    return API_OK;
}

int ask_json_int(const json_t *o, const char *name, int64_t lo, int64_t hi, int64_t *out, struct api_error *e)
{
    const json_t *v = ask_json_get(o, name);
    if (!v) return API_OK;
    const double real = json_real_value(v);
    const int is_whole = json_is_integer(v) || (json_is_real(v) && real == floor(real) && fabs(real) < 9e15);
    const int64_t x = json_is_integer(v) ? json_integer_value(v) : is_whole ? (int64_t)real : 0;
    if (!is_whole || x < lo || x > hi) return out_of_range(name, "whole number", (double)lo, (double)hi, e);
    *out = x;
    return API_OK;
}

int ask_json_word(const json_t *o, const char *name, const char *words, int *out, struct api_error *e)
{
    const char *text = NULL;
    if (ask_json_text(o, name, &text, e) != API_OK || !text) return (int)e->code;
    const int i = word_index(text, words, name, e);
    if (i >= 0) *out = i;
    return (int)e->code;
}

int ask_json_refuse(const json_t *o, const char *name, double harmless, const char *why, struct api_error *e)
{
    const json_t *v = ask_json_get(o, name);
    if (!v || json_is_false(v) || (json_is_string(v) && !json_string_length(v)) || (json_is_array(v) && !json_array_size(v)) ||
        (json_is_object(v) && !json_object_size(v)) || (json_is_number(v) && json_number_value(v) == harmless))
        return API_OK;
    return api_fail(e, API_invalid_value, name, "%s: %s", name, why);
}

void ask_ignore(char ignored[ASK_IGNORED], const char *name)
{
    const size_t at = strlen(ignored), n = strlen(name), comma = at ? 2 : 0;
    if (at + comma + n + 1 > ASK_IGNORED) return;
    memcpy(ignored + at, ", ", comma);
    for (size_t i = 0; i <= n; i++) {
        const unsigned char c = (unsigned char)name[i];
        ignored[at + comma + i] = (char)(i < n && (c < 0x20 || c >= 0x7f) ? '?' : c); /* it goes into a header */
    }
}

int ask_json_unknown(const json_t *o, const char *const *known, char ignored[ASK_IGNORED], int is_strict, struct api_error *e)
{
    const char *key;
    json_t *v;
    void *at;
    json_object_foreach_safe((json_t *)(uintptr_t)o, at, key, v) {
        int i = 0;
        while (known[i] && strcmp(known[i], key) != 0) i++;
        if (known[i] || json_is_null(v)) continue;
        if (is_strict) return api_fail(e, API_unknown_parameter, key, "unknown field: %.100s; leave it out", key);
        ask_ignore(ignored, key);
    }
    return API_OK;
}
