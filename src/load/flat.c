/* steno: from nested settings to a flat table. SPDX-License-Identifier: MIT */
#include "load/flat.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>
#include "base/hash.h"
#include "load/decimal.h"
#include "load/json.h"

void flat_begin(struct flat *f, struct meta *m, const char *prefix, const char *name)
{
    *f = (struct flat){ .m = m, .name = name, .line = 1 };
    if (prefix) f->key_len = (uint32_t)snprintf(f->key, sizeof f->key, "%.60s", prefix);
}

void flat_end(struct flat *f)
{
    buf_free(&f->values);
    free(f->seen);
    f->seen = NULL;
}

static struct flat_level *top(struct flat *f)
{
    return f->depth ? &f->level[f->depth - 1] : NULL;
}

int flat_expects_key(const struct flat *f)
{
    return f->depth && f->level[f->depth - 1].want_key;
}

/* Replace the last part of the key, that of the innermost level. */
static int key_part(struct flat *f, const char *s, size_t n, steno_error *e)
{
    const size_t base = top(f)->key_len, dot = base > 0;
    if (n > META_KEY_MAX - dot || base + dot > META_KEY_MAX - n)
        return err_set(e, STENO_EFORMAT, "%s: line %u: key '%.*s%s%.40s…' has %zu bytes, want at most %d", f->name, (unsigned)f->line,
                       (int)base, f->key, dot ? "." : "", s, base + dot + n, META_KEY_MAX);
    if (dot) f->key[base] = '.';
    memcpy(f->key + base + dot, s, n);
    f->key_len = (uint32_t)(base + dot + n);
    f->key[f->key_len] = 0;
    return STENO_OK;
}

static int seen_grow(struct flat *f, steno_error *e)
{
    if (2 * f->n_seen < f->seen_cap) return STENO_OK;
    const uint32_t cap = f->seen_cap ? 2 * f->seen_cap : 256;
    uint64_t *seen = calloc(cap, sizeof *seen);
    if (!seen) return err_nomem(e, cap * sizeof *seen, "the keys of a configuration");
    for (uint32_t i = 0; i < f->seen_cap; i++) {
        if (!f->seen[i]) continue;
        uint32_t at = (uint32_t)f->seen[i] & (cap - 1);
        while (seen[at]) at = (at + 1) & (cap - 1);
        seen[at] = f->seen[i];
    }
    free(f->seen);
    f->seen = seen;
    f->seen_cap = cap;
    return STENO_OK;
}

/* Check that the key is new. A 64-bit hash represents it: a file with a deliberate collision is refused. */
static int check_once(struct flat *f, steno_error *e)
{
    const uint64_t h = hash_bytes_64(f->key, f->key_len) | 1; /* 0 marks a free entry */
    const int rc = seen_grow(f, e);
    if (rc) return rc;
    uint32_t at = (uint32_t)h & (f->seen_cap - 1);
    for (; f->seen[at]; at = (at + 1) & (f->seen_cap - 1))
        if (f->seen[at] == h)
            return err_set(e, STENO_EFORMAT, "%s: line %u: key '%s' is written twice", f->name, (unsigned)f->line, f->key);
    f->seen[at] = h;
    f->n_seen++;
    return STENO_OK;
}

/* ---- long lists ---- */

/* Convert a list of whole numbers to one of other numbers. */
static void widen_values(struct flat *f)
{
    for (uint64_t i = 0; i < f->n_values; i++) {
        int64_t whole;
        char *at = f->values.p + i * sizeof whole;
        memcpy(&whole, at, sizeof whole);
        const double x = (double)whole;
        memcpy(at, &x, sizeof x);
    }
    f->list_type = META_LIST_F64;
}

static void list_add(struct flat *f, const struct meta_entry *v)
{
    const enum meta_list_type type = v->kind == META_TEXT ? META_LIST_TEXT : v->kind == META_NUM ? META_LIST_F64 : META_LIST_I64;
    if (!f->n_values) f->list_type = type;
    if (v->kind == META_NULL || v->kind == META_BOOL || (type == META_LIST_TEXT) != (f->list_type == META_LIST_TEXT)) {
        f->is_long_list = 0;
        return;
    }
    if (type == META_LIST_F64 && f->list_type == META_LIST_I64) widen_values(f);
    if (type == META_LIST_TEXT) {
        const uint64_t n = strlen(v->text);
        buf_add(&f->values, &n, sizeof n);
        buf_add(&f->values, v->text, (size_t)n);
    } else if (f->list_type == META_LIST_F64) {
        const double x = type == META_LIST_I64 ? (double)v->i : v->x;
        buf_add(&f->values, &x, sizeof x);
    } else {
        buf_add(&f->values, &v->i, sizeof v->i);
    }
    f->n_values++;
}

/* The innermost list is too long for settings: its entries become the first values of a long list. */
static void list_begin(struct flat *f)
{
    const struct flat_level *l = top(f);
    buf_clear(&f->values);
    f->n_values = 0;
    f->is_long_list = l->is_list && f->m->n - l->mark == FLAT_LONG;
    for (uint32_t i = l->mark; i < f->m->n && f->is_long_list; i++) {
        const struct meta_entry *member = &f->m->entry[i];
        if (strchr(member->key + l->key_len + 1, '.')) f->is_long_list = 0; /* a member of an inner list or map */
        else list_add(f, member);
    }
}

static int list_end(struct flat *f, steno_error *e)
{
    if (f->values.err) return err_nomem(e, f->values.len, "a long list of settings");
    char *copy = arena_alloc(f->m->arena, f->values.len);
    if (!copy) return err_nomem(e, f->values.len, "a long list of settings");
    memcpy(copy, f->values.p, f->values.len);
    struct meta_list l = { .key = f->key, .type = f->list_type, .n = f->n_values, .size = f->values.len };
    file_from_memory(&l.file, f->name, copy, f->values.len);
    return meta_add_list(f->m, &l, e);
}

/* Count another member of the innermost level. */
static int count_member(struct flat *f, steno_error *e)
{
    struct flat_level *l = top(f);
    if (++l->count > FLAT_LONG && f->depth > 1 && !f->hidden) {
        list_begin(f);
        f->m->n = l->mark;
        f->hidden = f->depth;
    }
    if (f->hidden) return STENO_OK;
    if (l->is_list) {
        char index[16];
        const int n = snprintf(index, sizeof index, "%u", (unsigned)(l->count - 1));
        const int rc = key_part(f, index, (size_t)n, e);
        if (rc) return rc;
    }
    if (++f->n_added > META_ENTRIES_MAX)
        return err_set(e, STENO_EFORMAT, "%s: line %u: more than %d settings", f->name, (unsigned)f->line, META_ENTRIES_MAX);
    return check_once(f, e);
}

int flat_key(struct flat *f, const char *s, size_t n, steno_error *e)
{
    top(f)->want_key = 0;
    int rc = f->hidden ? STENO_OK : key_part(f, s, n, e);
    return rc ? rc : count_member(f, e);
}

/* Before a value. A map has counted its key; a list counts the value here. */
static int begin_value(struct flat *f, steno_error *e)
{
    struct flat_level *l = top(f);
    if (!l) return STENO_OK;
    l->want_key = !l->is_list;
    return l->is_list ? count_member(f, e) : STENO_OK;
}

int flat_open(struct flat *f, int is_list, steno_error *e)
{
    const int rc = begin_value(f, e);
    if (rc) return rc;
    if (f->hidden == f->depth) f->is_long_list = 0; /* it contains more than values */
    if (f->depth == META_DEPTH_MAX)
        return err_set(e, STENO_EFORMAT, "%s: line %u: settings are nested more than %d deep", f->name, (unsigned)f->line, META_DEPTH_MAX);
    f->level[f->depth++] = (struct flat_level){ .mark = f->m->n, .key_len = f->key_len, .is_list = is_list != 0, .want_key = !is_list };
    return STENO_OK;
}

int flat_close(struct flat *f, steno_error *e)
{
    if (!f->depth) return STENO_OK;
    const int ends_long = f->hidden == f->depth && f->is_long_list;
    if (f->hidden == f->depth) f->hidden = 0;
    f->key_len = top(f)->key_len;
    f->key[f->key_len] = 0;
    f->depth--;
    return ends_long ? list_end(f, e) : STENO_OK;
}

int flat_value(struct flat *f, struct meta_entry v, steno_error *e)
{
    const int rc = begin_value(f, e);
    if (!rc && f->hidden == f->depth && f->is_long_list) list_add(f, &v);
    if (rc || f->hidden) return rc;
    v.key = f->key;
    v.source = f->name;
    return meta_add(f->m, &v, e);
}

/* ---- settings from JSON ----------------------------------------------------------------------------------------------------------- */

enum { JSON_MAX = 16 << 20 };

static int add_json_event(struct flat *f, const struct json_reader *j, enum json_event kind, steno_error *e)
{
    switch (kind) {
    case JSON_OBJECT:
    case JSON_ARRAY: return flat_open(f, kind == JSON_ARRAY, e);
    case JSON_CLOSE: return flat_close(f, e);
    case JSON_KEY: return flat_key(f, j->s, j->len, e);
    case JSON_TEXT: return flat_value(f, (struct meta_entry){ .kind = META_TEXT, .text = j->s }, e);
    case JSON_INT: return flat_value(f, (struct meta_entry){ .kind = META_INT, .i = j->i }, e);
    case JSON_NUM: return flat_value(f, (struct meta_entry){ .kind = META_NUM, .x = j->x }, e);
    case JSON_BOOL: return flat_value(f, (struct meta_entry){ .kind = META_BOOL, .i = j->i }, e);
    case JSON_NULL: return flat_value(f, (struct meta_entry){ .kind = META_NULL }, e);
    default: return json_fail(j, e, "want a value");
    }
}

static int read_json_events(struct flat *f, struct json_reader *j, steno_error *e)
{
    enum json_event kind = json_next(j);
    if (kind != JSON_OBJECT) return json_fail(j, e, "want an object of settings");
    for (; kind != JSON_EOF; kind = json_next(j)) {
        f->line = j->line;
        const int rc = add_json_event(f, j, kind, e);
        if (rc) return rc;
    }
    return STENO_OK;
}

int meta_read_json(struct meta *m, const char *prefix, const struct file *file, steno_error *e)
{
    if (file->size > JSON_MAX)
        return err_set(e, STENO_EFORMAT, "%s: %" PRIu64 " bytes, want at most %d for settings", file->name, file->size, JSON_MAX);
    struct arena scratch;
    struct flat f;
    struct json_reader j;
    arena_init(&scratch);
    flat_begin(&f, m, prefix, file->name);
    int rc = json_open(&j, file, 0, file->size, &scratch, e);
    if (!rc) rc = read_json_events(&f, &j, e);
    flat_end(&f);
    arena_free(&scratch);
    return rc;
}

/* ---- settings from YAML ----------------------------------------------------------------------------------------------------------- */

/* The part of YAML that configurations use: maps, lists and scalars; plain scalars are typed by the core schema of YAML 1.2 (null, true,
 * 12, 0x1f, 1e-5, .5). Features that give a file a hidden meaning (anchors, aliases, tags, several documents) are refused. */

enum { YAML_MAX = 16 << 20 };

struct source { const struct file *f; uint64_t at; steno_error *e; int rc; };

static int give_bytes(void *user, unsigned char *dst, size_t n, size_t *got)
{
    struct source *s = user;
    const uint64_t left = s->f->size - s->at;
    *got = n < left ? n : (size_t)left;
    s->rc = file_read(s->f, s->at, dst, *got, s->e);
    s->at += *got;
    return s->rc == STENO_OK;
}

/* ---- scalars ----------------------------------------------------------------------------------------------------------------- */

static int is_one_of(const char *s, const char *const word[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(s, word[i])) return 1;
    return 0;
}
#define IS(s, ...) is_one_of(s, (const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

/* 0x1f, 0o17 */
static int based(const char *s, int64_t *out)
{
    if (s[0] != '0' || (s[1] != 'x' && s[1] != 'o') || !s[2]) return 0;
    const uint64_t base = s[1] == 'x' ? 16 : 8;
    uint64_t v = 0;
    for (s += 2; *s; s++) {
        const int lower = *s | 32;
        const uint64_t d = *s >= '0' && *s <= '9' ? (uint64_t)(*s - '0') : lower >= 'a' && lower <= 'f' ? (uint64_t)(lower - 'a' + 10) : 16;
        if (d >= base || v > ((uint64_t)INT64_MAX - d) / base) return 0;
        v = v * base + d;
    }
    *out = (int64_t)v;
    return 1;
}

static struct meta_entry plain(const char *s)
{
    struct meta_entry v = { .kind = META_TEXT, .text = s };
    const size_t n = strlen(s);
    int whole;
    if (IS(s, "", "~", "null", "Null", "NULL")) return (struct meta_entry){ .kind = META_NULL };
    if (IS(s, "true", "True", "TRUE")) return (struct meta_entry){ .kind = META_BOOL, .i = 1 };
    if (IS(s, "false", "False", "FALSE")) return (struct meta_entry){ .kind = META_BOOL };
    if (IS(s, ".nan", ".NaN", ".NAN")) return (struct meta_entry){ .kind = META_NUM, .x = (double)NAN };
    if (IS(s + (*s == '+' || *s == '-'), ".inf", ".Inf", ".INF"))
        return (struct meta_entry){ .kind = META_NUM, .x = *s == '-' ? -(double)INFINITY : (double)INFINITY };
    int64_t i;
    if (based(s, &i)) return (struct meta_entry){ .kind = META_INT, .i = i };
    if (decimal_scan(s, n, 0, &whole) != n) return v;
    if (whole && decimal_whole(s, n, &i)) return (struct meta_entry){ .kind = META_INT, .i = i };
    return (struct meta_entry){ .kind = META_NUM, .x = decimal_value(s, n) };
}

/* ---- events ------------------------------------------------------------------------------------------------------------------ */

static int refuse(const struct flat *f, steno_error *e, const char *what)
{
    return err_set(e, STENO_EFORMAT, "%s: line %u: %s", f->name, (unsigned)f->line, what);
}

static int add_scalar(struct flat *f, const yaml_event_t *ev, steno_error *e)
{
    const char *s = (const char *)ev->data.scalar.value;
    const size_t n = ev->data.scalar.length;
    if (ev->data.scalar.anchor || ev->data.scalar.tag) return refuse(f, e, "anchors and tags are not read");
    if (memchr(s, 0, n)) return refuse(f, e, "a text with a NUL in it");
    if (!f->depth) return refuse(f, e, "want a map of settings");
    if (flat_expects_key(f)) return flat_key(f, s, n, e);
    const int is_plain = ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    return flat_value(f, is_plain ? plain(s) : (struct meta_entry){ .kind = META_TEXT, .text = s }, e);
}

static int add_level(struct flat *f, int is_list, int is_marked, steno_error *e)
{
    if (is_marked) return refuse(f, e, "anchors and tags are not read");
    if (is_list && !f->depth) return refuse(f, e, "want a map of settings");
    if (flat_expects_key(f)) return refuse(f, e, "want a text as key");
    return flat_open(f, is_list, e);
}

static int add_event(struct flat *f, const yaml_event_t *ev, int *n_documents, steno_error *e)
{
    f->line = (uint32_t)ev->start_mark.line + 1;
    switch (ev->type) {
    case YAML_DOCUMENT_START_EVENT: return (*n_documents)++ ? refuse(f, e, "a second document") : STENO_OK;
    case YAML_SCALAR_EVENT: return add_scalar(f, ev, e);
    case YAML_MAPPING_START_EVENT: return add_level(f, 0, ev->data.mapping_start.anchor || ev->data.mapping_start.tag, e);
    case YAML_SEQUENCE_START_EVENT: return add_level(f, 1, ev->data.sequence_start.anchor || ev->data.sequence_start.tag, e);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT: return flat_close(f, e);
    case YAML_ALIAS_EVENT: return refuse(f, e, "aliases are not read");
    case YAML_STREAM_END_EVENT: return *n_documents ? STENO_OK : refuse(f, e, "want a map of settings");
    default: return STENO_OK;
    }
}

static int syntax_error(const struct flat *f, const yaml_parser_t *p, const struct source *s, steno_error *e)
{
    if (s->rc) return s->rc;
    if (p->error == YAML_MEMORY_ERROR) return err_nomem(e, 0, "reading YAML");
    const size_t line = p->error == YAML_READER_ERROR ? p->mark.line : p->problem_mark.line;
    return err_set(e, STENO_EFORMAT, "%s: line %zu: %s", f->name, line + 1, p->problem ? p->problem : "not YAML");
}

static int read_events(struct flat *f, yaml_parser_t *p, const struct source *s, steno_error *e)
{
    int n_documents = 0;
    for (;;) {
        yaml_event_t ev;
        if (!yaml_parser_parse(p, &ev)) return syntax_error(f, p, s, e);
        const int rc = add_event(f, &ev, &n_documents, e), done = ev.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&ev);
        if (rc || done) return rc;
    }
}

int meta_read_yaml(struct meta *m, const char *prefix, const struct file *file, steno_error *e)
{
    if (file->size > YAML_MAX)
        return err_set(e, STENO_EFORMAT, "%s: %" PRIu64 " bytes, want at most %d for settings", file->name, file->size, YAML_MAX);
    yaml_parser_t p;
    if (!yaml_parser_initialize(&p)) return err_nomem(e, sizeof p, "reading YAML");
    struct source s = { file, 0, e, STENO_OK };
    struct flat f;
    yaml_parser_set_input(&p, give_bytes, &s);
    flat_begin(&f, m, prefix, file->name);
    const int rc = read_events(&f, &p, &s, e);
    flat_end(&f);
    yaml_parser_delete(&p);
    return rc;
}
