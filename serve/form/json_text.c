/* steno-serve: JSON values as Python's json.dumps spells them. SPDX-License-Identifier: MIT */
#include "json_text.h"
#include <stdint.h>
#include <string.h>

static void put_text(struct sink *f, const char *s, size_t n)
{
    static const char names[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs: the character, and the letter of its escape */
    sink_char(f, '"');
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)s[i];
        const char *at = names;
        while (*at && (unsigned char)*at != c) at += 2;
        if (*at) sink_format(f, "\\%c", at[1]);
        else if (c < 0x20) sink_format(f, "\\u%04x", c);
        else sink_char(f, c);
    }
    sink_char(f, '"');
}

static void put_object(struct sink *f, const json_t *v)
{
    const char *key, *between = "";
    json_t *it;
    sink_char(f, '{');
    json_object_foreach((json_t *)(uintptr_t)v, key, it) {
        sink_text(f, between);
        put_text(f, key, strlen(key));
        sink_text(f, ": ");
        put_json_text(f, it);
        between = ", ";
    }
    sink_char(f, '}');
}

static void put_array(struct sink *f, const json_t *v)
{
    size_t i;
    json_t *it;
    sink_char(f, '[');
    json_array_foreach(v, i, it) {
        if (i) sink_text(f, ", ");
        put_json_text(f, it);
    }
    sink_char(f, ']');
}

/* The reader of bodies limits the depth. */
void put_json_text(struct sink *f, const json_t *v)
{
    char number[NUM_SZ];
    switch (json_typeof(v)) {
    case JSON_OBJECT: put_object(f, v); return;
    case JSON_ARRAY: put_array(f, v); return;
    case JSON_STRING: put_text(f, json_string_value(v), json_string_length(v)); return;
    case JSON_INTEGER: sink_format(f, "%" JSON_INTEGER_FORMAT, json_integer_value(v)); return;
    case JSON_REAL: sink_text(f, num_repr(number, json_real_value(v))); return;
    case JSON_TRUE: sink_text(f, "true"); return;
    case JSON_FALSE: sink_text(f, "false"); return;
    default: sink_text(f, "null");
    }
}
