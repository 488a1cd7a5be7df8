/* steno: JSON as a tree. SPDX-License-Identifier: MIT */
#include "load/json_tree.h"
#include <stdio.h>
#include <string.h>

enum { KEY_MOST = 256 };

/* A node for each opening and each value: a text of n bytes has at most n nodes. */
static uint32_t count_most(const char *text, size_t n)
{
    uint32_t most = 1;
    for (size_t i = 0; i < n; i++) most += text[i] == ',' || text[i] == '[' || text[i] == '{';
    return most;
}

static int has_key(const struct json_tree *t, uint32_t object, uint32_t last, const char *key)
{
    for (uint32_t i = t->node[object].child; i && i < last; i = t->node[i].next)
        if (!strcmp(t->node[i].key, key)) return 1;
    return 0;
}

/* Append a node. */
static void add(struct json_tree *t, struct json_reader *j, uint32_t in, uint32_t last[JSON_DEPTH + 1], int depth, enum json_event kind,
                const char *key)
{
    const uint32_t at = t->n++;
    struct json_node *v = &t->node[at];
    *v = (struct json_node){ .kind = kind, .parent = in, .key = key, .i = j->i, .x = j->x, .from = (uint32_t)j->start,
                             .to = (uint32_t)j->at };
    if (kind == JSON_TEXT) v->s = j->s, v->len = j->len;
    if (at) {
        if (last[depth]) t->node[last[depth]].next = at;
        else t->node[in].child = at;
        last[depth] = at;
        t->node[in].n++;
    }
}

static int read_nodes(struct json_tree *t, struct json_reader *j, uint32_t most, steno_error *e)
{
    uint32_t in = 0, last[JSON_DEPTH + 2] = { 0 };
    int depth = 0;
    const char *key = NULL;
    for (;;) {
        const enum json_event kind = json_next(j);
        if (kind == JSON_FAILED) return json_fail(j, e, "it is no JSON");
        if (kind == JSON_EOF) return STENO_OK;
        if (kind == JSON_KEY) {
            key = j->s;
            if (has_key(t, in, t->n, key)) return json_fail(j, e, "\"%.80s\" comes twice", key);
            continue;
        }
        if (kind == JSON_CLOSE) {
            t->node[in].to = (uint32_t)j->at;
            in = t->node[in].parent;
            depth--;
            continue;
        }
        if (t->n == most) return json_fail(j, e, "it has more values than commas and brackets");
        add(t, j, in, last, depth, kind, key);
        key = NULL;
        if (kind != JSON_OBJECT && kind != JSON_ARRAY) continue;
        in = t->n - 1;
        last[++depth] = 0;
    }
}

int json_tree_read(struct json_tree *t, const char *name, const char *text, size_t n, struct arena *a, steno_error *e)
{
    struct file f;
    struct json_reader j;
    file_from_memory(&f, name, text, n);
    *t = (struct json_tree){ .text = text };
    if (n > UINT32_MAX / 2) return err_set(e, STENO_EFORMAT, "%s: it is longer than a gigabyte", name);
    int rc = json_open(&j, &f, 0, n, a, e);
    if (rc) return rc;
    const uint32_t most = count_most(text, n) + 1;
    t->node = arena_array(a, most, sizeof *t->node);
    if (!t->node) return err_nomem(e, most * sizeof *t->node, "a JSON text");
    return read_nodes(t, &j, most, e);
}

uint32_t json_tree_find(const struct json_tree *t, uint32_t object, const char *key)
{
    if (t->node[object].kind != JSON_OBJECT) return JSON_NONE;
    for (uint32_t i = t->node[object].child; i; i = t->node[i].next)
        if (!strcmp(t->node[i].key, key)) return i;
    return JSON_NONE;
}

static uint32_t place_of(const struct json_tree *t, uint32_t node)
{
    uint32_t k = 0;
    for (uint32_t i = t->node[t->node[node].parent].child; i && i != node; i = t->node[i].next) k++;
    return k;
}

void json_tree_path(const struct json_tree *t, uint32_t node, char *out, size_t n)
{
    uint32_t way[JSON_DEPTH + 1];
    int depth = 0;
    size_t at = 0;
    for (; node && depth <= JSON_DEPTH; node = t->node[node].parent) way[depth++] = node;
    if (n) *out = '\0';
    while (depth-- && at < n) {
        const char *key = t->node[way[depth]].key;
        const int put = key ? snprintf(out + at, n - at, "/%.60s", key) : snprintf(out + at, n - at, "/%u", place_of(t, way[depth]));
        at += put > 0 ? (size_t)put : 0;
    }
}

int64_t json_tree_follow(const struct json_tree *t, const char *p)
{
    uint32_t node = 0;
    while (*p == '/') {
        char key[KEY_MOST];
        size_t n = 0;
        for (p++; *p && *p != '/'; p++) {
            if (n + 1 == sizeof key) return -1;
            const int is_escape = *p == '~' && (p[1] == '0' || p[1] == '1');
            key[n++] = !is_escape ? *p : *++p == '0' ? '~'
                                                     : '/';
        }
        key[n] = '\0';
        uint32_t next = json_tree_find(t, node, key);
        if (t->node[node].kind == JSON_ARRAY && n && strspn(key, "0123456789") == n && n < 9) {
            unsigned k = 0;
            sscanf(key, "%u", &k);
            for (next = t->node[node].child; next && k--;) next = t->node[next].next;
        }
        if (!next) return -1;
        node = next;
    }
    return *p ? -1 : (int64_t)node;
}
