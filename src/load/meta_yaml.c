/* steno: settings from YAML. SPDX-License-Identifier: MIT
 *
 * The part of YAML that configurations use: maps, lists and scalars; plain scalars are typed by the core schema of YAML 1.2 (null, true,
 * 12, 0x1f, 1e-5, .5). Features that give a file a hidden meaning (anchors, aliases, tags, several documents) are refused. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <yaml.h>
#include "load/decimal.h"
#include "load/flat.h"

enum { MAX_SIZE = 16 << 20 };

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
    if (flat_wants_key(f)) return flat_key(f, s, n, e);
    const int is_plain = ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    return flat_value(f, is_plain ? plain(s) : (struct meta_entry){ .kind = META_TEXT, .text = s }, e);
}

static int add_level(struct flat *f, int is_list, int is_marked, steno_error *e)
{
    if (is_marked) return refuse(f, e, "anchors and tags are not read");
    if (is_list && !f->depth) return refuse(f, e, "want a map of settings");
    if (flat_wants_key(f)) return refuse(f, e, "want a text as key");
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
    if (file->size > MAX_SIZE)
        return err_set(e, STENO_EFORMAT, "%s: %" PRIu64 " bytes, want at most %d for settings", file->name, file->size, MAX_SIZE);
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
