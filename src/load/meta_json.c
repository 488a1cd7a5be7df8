/* steno: settings from JSON. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include "load/flat.h"
#include "load/jrd.h"

enum { MAX_SIZE = 16 << 20 };

static int add_event(struct flat *f, const struct jrd *j, enum jrd_kind kind, steno_error *e)
{
    switch (kind) {
    case JRD_OBJECT:
    case JRD_ARRAY: return flat_open(f, kind == JRD_ARRAY, e);
    case JRD_CLOSE: flat_close(f); return STENO_OK;
    case JRD_KEY: return flat_key(f, j->s, j->len, e);
    case JRD_TEXT: return flat_value(f, (struct meta_entry){ .kind = META_TEXT, .text = j->s }, e);
    case JRD_INT: return flat_value(f, (struct meta_entry){ .kind = META_INT, .i = j->i }, e);
    case JRD_NUM: return flat_value(f, (struct meta_entry){ .kind = META_NUM, .x = j->x }, e);
    case JRD_BOOL: return flat_value(f, (struct meta_entry){ .kind = META_BOOL, .i = j->i }, e);
    case JRD_NULL: return flat_value(f, (struct meta_entry){ .kind = META_NULL }, e);
    default: return jrd_fail(j, e, "want a value");
    }
}

static int read_events(struct flat *f, struct jrd *j, steno_error *e)
{
    enum jrd_kind kind = jrd_next(j);
    if (kind != JRD_OBJECT) return jrd_fail(j, e, "want an object of settings");
    for (; kind != JRD_EOF; kind = jrd_next(j)) {
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
    struct jrd j;
    arena_init(&scrap);
    flat_begin(&f, m, prefix, file->name);
    int rc = jrd_open(&j, file, 0, file->size, &scrap, e);
    if (!rc) rc = read_events(&f, &j, e);
    flat_end(&f);
    arena_free(&scrap);
    return rc;
}
