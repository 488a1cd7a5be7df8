/* steno: grammar rules of JSON schemas. SPDX-License-Identifier: MIT */
#include "search/schema_writer.h"
#include <string.h>

int schema_refuse(const struct schema_writer *w, uint32_t at, const char *why)
{
    char path[256];
    json_tree_path(&w->t, at, path, sizeof path);
    return err_set(w->e, STENO_EARG, "json_schema, %s: %s", *path ? path : "the whole", why);
}

/* Write bytes as a literal of the grammar. */
static void put_literal(struct buf *out, const char *s, size_t n)
{
    buf_str(out, "\"");
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\') buf_fmt(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f) buf_fmt(out, "\\x%02X", c);
        else buf_add(out, s + i, 1);
    }
    buf_str(out, "\" ");
}

/* Write a text in JSON spelling as a literal. */
int schema_put_text(struct schema_writer *w, const char *s, size_t n)
{
    struct buf json = { 0 };
    buf_str(&json, "\"");
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\') buf_fmt(&json, "\\%c", c);
        else if (c < 0x20 || c == 0x7f) buf_fmt(&json, "\\u%04x", c);
        else buf_add(&json, s + i, 1);
    }
    buf_str(&json, "\"");
    if (!json.err) put_literal(w->out, json.p, json.len);
    const int rc = json.err ? err_nomem(w->e, n, "a grammar") : STENO_OK;
    buf_free(&json);
    return rc;
}

/* Write a value of the schema as it was written, without blanks between its parts. */
int schema_put_value(struct schema_writer *w, uint32_t at)
{
    const struct json_node *v = schema_node(w, at);
    struct buf json = { 0 };
    int in_text = 0;
    if (v->kind == JSON_TEXT) return schema_put_text(w, v->s, v->len);
    for (uint32_t i = v->from; i < v->to; i++) {
        const char c = w->t.text[i];
        if (c == '\\' && in_text) buf_add(&json, &w->t.text[i++], 1);
        else if (c == '"') in_text = !in_text;
        if (in_text || !strchr(" \t\r\n", w->t.text[i])) buf_add(&json, &w->t.text[i], 1);
    }
    if (!json.err) put_literal(w->out, json.p ? json.p : "", json.len);
    const int rc = json.err ? err_nomem(w->e, v->to - v->from, "a grammar") : STENO_OK;
    buf_free(&json);
    return rc;
}

/* Write the name of a schema's rule; queue the schema if it is not yet written. */
void schema_put_name(struct schema_writer *w, uint32_t at)
{
    if (!w->is_named[at]) {
        w->is_named[at] = 1;
        w->todo[w->n_todo++] = at;
    }
    buf_fmt(w->out, "s%" PRIu32 " ", at);
}
