/* steno: settings from JSON. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include "load/flat.h"
#include "load/json_reader.h"

enum { MAX_SIZE = 16 << 20 };

static int add_event(struct flat *f, const struct json_reader *j, enum json_event kind, steno_error *e)
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

static int read_events(struct flat *f, struct json_reader *j, steno_error *e)
{
    enum json_event kind = json_next(j);
    if (kind != JSON_OBJECT) return json_fail(j, e, "want an object of settings");
    for (; kind != JSON_EOF; kind = json_next(j)) {
        f->line = j->line;
        const int rc = add_event(f, j, kind, e);
        if (rc) return rc;
    }
    return STENO_OK;
}

int meta_read_json(struct meta *m, const char *prefix, const struct file *file, steno_error *e)
{
    if (file->size > MAX_SIZE)
        return err_set(e, STENO_EFORMAT, "%s: %" PRIu64 " bytes, want at most %d for settings", file->name, file->size, MAX_SIZE);
    struct arena scrap;
    struct flat f;
    struct json_reader j;
    arena_init(&scrap);
    flat_begin(&f, m, prefix, file->name);
    int rc = json_open(&j, file, 0, file->size, &scrap, e);
    if (!rc) rc = read_events(&f, &j, e);
    flat_end(&f);
    arena_free(&scrap);
    return rc;
}
