/* steno: reader of CTranslate2's model.bin. SPDX-License-Identifier: MIT
 *
 * A version, the name and the revision of a specification; then variables, each with name, extents, type and bytes; then aliases, which
 * are further names of variables. Numbers are little-endian, and nothing is aligned.
 *
 * Variables without extents become settings ("ct2.NAME"), as does the specification ("ct2.spec", "ct2.revision"). Integer matrices NAME
 * have their scales in NAME_scale: one per row for int8, one for all of int16. Both become one tensor. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/rd.h"
#include "load/formats.h"

enum { NAME_SZ = 256, SPEC_SZ = 64, ROWS_MAX = 1 << 16, ALIASES_MAX = 4096, VERSION_MIN = 2, VERSION_MAX = 6 };
enum { VARIABLE_MIN = 9, ALIAS_MIN = 6 }; /* bytes of the shortest record */
enum { DROPPED = 2 };                     /* `used` of a scale while tensors are joined */

struct ct2 {
    struct weights *w;
    const struct file *f;
    struct rd r;
    uint32_t version, n_variables; /* the first n_variables rows of the table are variables, the rest aliases */
    uint32_t *target;              /* [aliases] the variable of each alias row */
    steno_error *e;
};

static int cut(const struct ct2 *c, const char *what)
{
    return err_set(c->e, c->r.err, "%s: the file ends at byte %" PRIu64 ", inside %s; is the copy complete?", c->f->name, c->f->size, what);
}

/* A length that counts the NUL at the end, and the characters. what: "variable 3". */
static int read_text(struct ct2 *c, char *out, size_t cap, const char *what)
{
    const uint64_t at = c->r.pos;
    const size_t n = rd_u16(&c->r);
    if (!c->r.err && (n < 1 || n > cap))
        return err_set(c->e, STENO_EFORMAT, "%s: %s: its name at byte %" PRIu64 " has %zu bytes, want 1..%zu", c->f->name, what, at, n,
                       cap);
    rd_bytes(&c->r, out, n);
    if (c->r.err) return cut(c, what);
    if (out[n - 1])
        return err_set(c->e, STENO_EFORMAT, "%s: %s: its name at byte %" PRIu64 " does not end in a NUL", c->f->name, what, at);
    for (size_t i = 0; i + 1 < n; i++)
        if (out[i] <= ' ' || out[i] > '~')
            return err_set(c->e, STENO_EFORMAT, "%s: %s: byte %zu of its name is 0x%02x, want printable characters", c->f->name, what, i,
                           (unsigned)(uint8_t)out[i]);
    return STENO_OK;
}

/* ---- variables ----------------------------------------------------------------------------------------------------------------- */

/* By number in the file: the type or form of rows, and the bytes of a number. FORM_WORDS: 32-bit integers, read as settings alone. */
static const struct { enum dtype type; enum tensor_form form; uint8_t bytes; } stored_type[] = {
    { DT_F32, FORM_STORED, 4 }, { DT_F32, FORM_I8_ROWS, 1 }, { DT_F32, FORM_I16, 2 },
    { DT_F32, FORM_WORDS, 4 },  { DT_F16, FORM_STORED, 2 },  { DT_BF16, FORM_STORED, 2 },
};
enum { STORED_TYPES = sizeof stored_type / sizeof *stored_type, T_F32 = 0, T_I8 = 1, T_I16 = 2 };

/* Before version 4 a file has the bytes of a number and the count of numbers. */
static int read_size(struct ct2 *c, const char *name, unsigned *type, uint64_t *size)
{
    const unsigned code = rd_u8(&c->r);
    const uint64_t n = rd_u32(&c->r);
    if (c->r.err) return cut(c, name);
    *type = c->version >= 4 ? code : code == 4 ? T_F32 : code == 2 ? T_I16 : code == 1 ? T_I8 : STORED_TYPES;
    if (*type >= STORED_TYPES)
        return err_set(c->e, STENO_EFORMAT, "%s: variable %s has the unknown type %u", c->f->name, name, code);
    *size = c->version >= 4 ? n : n * code;
    return STENO_OK;
}

static int read_extents(struct ct2 *c, const char *name, struct tensor *t, uint64_t *count)
{
    const int rank = rd_u8(&c->r);
    if (!c->r.err && rank > 4)
        return err_set(c->e, STENO_EFORMAT, "%s: variable %s has %d dimensions, want at most 4", c->f->name, name, rank);
    t->n_dims = rank;
    *count = 1;
    for (int i = 0; i < 4; i++) {
        t->dim[i] = i < rank ? rd_u32(&c->r) : 1;
        if (c->r.err) return cut(c, name);
        if (!t->dim[i] || *count > TENSOR_MAX / t->dim[i])
            return err_set(c->e, STENO_EFORMAT, "%s: variable %s: its extent %d, %" PRIu64 ", is out of range", c->f->name, name, i,
                           t->dim[i]);
        *count *= t->dim[i];
    }
    return STENO_OK;
}

static int read_variable(struct ct2 *c, uint32_t i)
{
    char name[NAME_SZ], what[32];
    struct tensor t = { .file = c->f };
    unsigned type = 0;
    uint64_t count = 0;
    snprintf(what, sizeof what, "variable %" PRIu32, i);
    int rc = read_text(c, name, sizeof name, what);
    if (!rc) rc = read_extents(c, name, &t, &count);
    if (!rc) rc = read_size(c, name, &type, &t.size);
    if (rc) return rc;
    if (count * stored_type[type].bytes != t.size)
        return err_set(c->e, STENO_EFORMAT, "%s: variable %s: its extents take %" PRIu64 " bytes, the file gives it %" PRIu64, c->f->name,
                       name, count * stored_type[type].bytes, t.size);
    t.offset = c->r.pos;
    rd_skip(&c->r, t.size);
    if (c->r.err)
        return err_set(c->e, c->r.err, "%s: variable %s needs bytes %" PRIu64 "+%" PRIu64 ", the file has %" PRIu64
                       "; is the copy complete?", c->f->name, name, t.offset, t.size, c->f->size);
    if (t.n_dims && stored_type[type].form == FORM_WORDS)
        return err_set(c->e, STENO_EUNSUPPORTED, "%s: variable %s is a table of int32; f32, f16, bf16, int16 and int8 are read", c->f->name,
                       name);
    t.type = stored_type[type].type;
    t.form = stored_type[type].form;
    t.name = arena_strdup(&c->w->arena, name, strlen(name));
    struct tensor *to = t.name ? weights_add(c->w, c->e) : NULL;
    if (!to) return err_nomem(c->e, strlen(name), "the index of tensors");
    *to = t;
    return STENO_OK;
}

/* A count of records that take at least record_sz bytes each. */
static int read_count(struct ct2 *c, const char *what, uint64_t record_sz, uint32_t max, uint32_t *n)
{
    *n = rd_u32(&c->r);
    if (c->r.err) return cut(c, what);
    if (*n > rd_left(&c->r) / record_sz)
        return err_set(c->e, STENO_EFORMAT, "%s: %" PRIu32 " %s do not fit into the %" PRIu64 " bytes that are left; is the copy complete?",
                       c->f->name, *n, what, rd_left(&c->r));
    return *n <= max ? STENO_OK : err_set(c->e, STENO_EFORMAT, "%s: %" PRIu32 " %s, want at most %" PRIu32, c->f->name, *n, what, max);
}

static int read_variables(struct ct2 *c)
{
    int rc = read_count(c, "variables", VARIABLE_MIN, ROWS_MAX, &c->n_variables);
    for (uint32_t i = 0; i < c->n_variables && !rc; i++) rc = read_variable(c, i);
    return rc ? rc : weights_index(c->w, c->e);
}

/* ---- aliases ------------------------------------------------------------------------------------------------------------------- */

/* The row that a target names: a variable, or the variable of an earlier alias. NULL: there is none, and no reader can ask for it. */
static const struct tensor *target_find(struct ct2 *c, const char *name)
{
    struct weights *w = c->w;
    const struct tensor *t = weights_find(w, name);
    for (uint32_t i = c->n_variables; !t && i < w->n_tensors; i++)
        if (!strcmp(w->tensor[i].name, name)) return &w->tensor[c->target[i - c->n_variables]];
    return t;
}

/* An alias with the name of a variable has no effect, as in CTranslate2. */
static int read_alias(struct ct2 *c, uint32_t i)
{
    char name[NAME_SZ], target[NAME_SZ], what[32];
    snprintf(what, sizeof what, "alias %" PRIu32, i);
    int rc = read_text(c, name, sizeof name, what);
    if (!rc) rc = read_text(c, target, sizeof target, what);
    if (rc) return rc;
    const struct tensor *of = weights_find(c->w, name) ? NULL : target_find(c, target);
    if (!of) return STENO_OK;
    const uint32_t number = (uint32_t)(of - c->w->tensor);
    const char *copy = arena_strdup(&c->w->arena, name, strlen(name));
    struct tensor *to = copy ? weights_add(c->w, c->e) : NULL;
    if (!to) return err_nomem(c->e, strlen(name), "the index of tensors");
    *to = c->w->tensor[number];
    to->name = copy;
    c->target[c->w->n_tensors - 1 - c->n_variables] = number;
    return STENO_OK;
}

static int read_aliases(struct ct2 *c)
{
    uint32_t n = 0;
    int rc = c->version >= 3 ? read_count(c, "aliases", ALIAS_MIN, ALIASES_MAX, &n) : STENO_OK;
    if (!rc) c->target = arena_array(&c->w->arena, n + 1, sizeof *c->target);
    if (!rc && !c->target) return err_nomem(c->e, n * sizeof *c->target, "the index of tensors");
    for (uint32_t i = 0; i < n && !rc; i++) rc = read_alias(c, i);
    if (!rc && rd_left(&c->r))
        return err_set(c->e, STENO_EFORMAT, "%s: %" PRIu64 " bytes follow the aliases at byte %" PRIu64 "; want the end of the file",
                       c->f->name, rd_left(&c->r), c->r.pos);
    return rc ? rc : weights_index(c->w, c->e);
}

/* ---- integers and their scales ------------------------------------------------------------------------------------------------- */

static int is_integer(const struct tensor *t)
{
    return t->form == FORM_I8_ROWS || t->form == FORM_I16;
}

static int check_scales(const struct ct2 *c, const struct tensor *s, uint64_t n)
{
    struct rd r;
    rd_init(&r, s->file, s->offset, s->offset + s->size);
    for (uint64_t i = 0; i < n; i++) {
        const float x = rd_f32(&r);
        if (r.err) return err_set(c->e, r.err, "%s: scales %s cannot be read", c->f->name, s->name);
        if (!(isfinite(x) && x > 0))
            return err_set(c->e, STENO_EFORMAT, "%s: %s: the scale of row %" PRIu64 " is %g, want a number above 0; the file is damaged",
                           c->f->name, s->name, i, (double)x);
    }
    return STENO_OK;
}

/* Row 0 of a tensor without rows is the tensor. */
static int join_scales(struct ct2 *c, struct tensor *t)
{
    char name[NAME_SZ + 8];
    snprintf(name, sizeof name, "%s_zero", t->name);
    if (weights_find(c->w, name))
        return err_set(c->e, STENO_EUNSUPPORTED, "%s: %s has zero points (AWQ); convert the model to int8, int16 or float16", c->f->name,
                       t->name);
    snprintf(name, sizeof name, "%s_scale", t->name);
    struct tensor *s = weights_find(c->w, name);
    const int by_rows = t->form == FORM_I8_ROWS;
    const uint64_t n = by_rows ? t->dim[0] : 1;
    if (!s) return err_set(c->e, STENO_EFORMAT, "%s: variable %s is missing, which %s needs", c->f->name, name, t->name);
    if (s->type != DT_F32 || s->form != FORM_STORED || s->size != n * sizeof(float))
        return err_set(c->e, STENO_EFORMAT, "%s: variable %s is %s of %" PRIu64 " bytes, want %" PRIu64 " numbers of f32", c->f->name, name,
                       form_name(s->form, s->type), s->size, n);
    struct tensor_groups *g = arena_alloc(&c->w->arena, sizeof *g);
    if (!g) return err_nomem(c->e, sizeof *g, "the index of tensors");
    const uint64_t count = t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3]; /* less than 2^32, as its bytes are */
    *g = (struct tensor_groups){ .type = DT_F32, .len = (uint32_t)(count / n), .file = { s->file }, .offset = { s->offset } };
    t->groups = g;
    s->used = DROPPED;
    return check_scales(c, s, n);
}

/* A number without extents, as a setting. */
static int add_setting(struct ct2 *c, const struct tensor *t)
{
    char key[NAME_SZ + 8];
    uint8_t bytes[4] = { 0 };
    struct meta_entry it = { .key = key, .kind = META_INT, .source = c->f->name };
    if (snprintf(key, sizeof key, "ct2.%s", t->name) > META_KEY_MAX) return STENO_OK;
    const int rc = file_read(t->file, t->offset, bytes, (size_t)t->size, c->e);
    if (rc) return rc;
    const uint32_t v = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    it.i = t->size == 1 ? (int8_t)v : t->size == 2 ? (int16_t)v : (int32_t)v;
    if (t->form == FORM_STORED) {
        float x;
        dtype_widen_row(&x, t->type, bytes, 1);
        it = (struct meta_entry){ .key = key, .kind = META_NUM, .x = (double)x, .source = c->f->name };
    }
    return meta_add(&c->w->meta, &it, c->e);
}

/* Integers get their scales, first those of variables, then those of their aliases. Scales and numbers without extents leave the table. */
static int join(struct ct2 *c)
{
    struct weights *w = c->w;
    uint32_t n = 0;
    int rc = STENO_OK;
    for (uint32_t i = 0; i < w->n_tensors; i++) w->tensor[i].used = 0;
    for (uint32_t i = 0; i < c->n_variables && !rc; i++)
        if (w->tensor[i].n_dims && is_integer(&w->tensor[i])) rc = join_scales(c, &w->tensor[i]);
    for (uint32_t i = c->n_variables; i < w->n_tensors; i++) {
        const struct tensor *of = &w->tensor[c->target[i - c->n_variables]];
        w->tensor[i].groups = of->groups;
        if (of->used == DROPPED) w->tensor[i].used = DROPPED;
    }
    for (uint32_t i = 0; i < w->n_tensors && !rc; i++) {
        const struct tensor *t = &w->tensor[i];
        if (t->used == DROPPED) continue;
        if (!t->n_dims) {
            rc = add_setting(c, t);
            continue;
        }
        w->tensor[n++] = *t;
    }
    w->n_tensors = n;
    for (uint32_t i = 0; i < n; i++) w->tensor[i].used = 0;
    return rc;
}

/* ---- the file ------------------------------------------------------------------------------------------------------------------ */

static int read_head(struct ct2 *c)
{
    char spec[SPEC_SZ];
    c->version = rd_u32(&c->r);
    if (c->r.err) return cut(c, "the version");
    if (c->version < VERSION_MIN)
        return err_set(c->e, STENO_EUNSUPPORTED, "%s: version %" PRIu32 " of CTranslate2's form; %d to %d are read: convert the model "
                       "again", c->f->name, c->version, VERSION_MIN, VERSION_MAX);
    if (c->version > VERSION_MAX)
        return err_set(c->e, STENO_EUNSUPPORTED, "%s: version %" PRIu32 " of CTranslate2's form, which is newer than %d, the last that is "
                       "read", c->f->name, c->version, VERSION_MAX);
    const int rc = read_text(c, spec, sizeof spec, "the specification");
    const uint32_t revision = rd_u32(&c->r);
    if (rc) return rc;
    if (c->r.err) return cut(c, "the specification");
    const struct meta_entry it[] = { { .key = "ct2.spec", .kind = META_TEXT, .text = spec, .source = c->f->name },
                                     { .key = "ct2.revision", .kind = META_INT, .i = revision, .source = c->f->name } };
    const int added = meta_add(&c->w->meta, &it[0], c->e);
    return added ? added : meta_add(&c->w->meta, &it[1], c->e);
}

static int ct2_match(const struct file_probe *k, const struct file *f)
{
    (void)f;
    return k->form == PROBE_CT2;
}

static int ct2_read(struct weights *w, const struct file *f, steno_error *e)
{
    struct ct2 c = { .w = w, .f = f, .e = e };
    rd_init(&c.r, f, 0, f->size);
    w->vocab_is_listed = 1;
    int rc = read_head(&c);
    if (!rc) rc = read_variables(&c);
    if (!rc) rc = read_aliases(&c);
    return rc ? rc : join(&c);
}

const struct format format_ct2 = { "CTranslate2", ct2_match, ct2_read };
