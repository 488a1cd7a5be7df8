/* steno: reader of PyTorch files. SPDX-License-Identifier: MIT
 *
 * torch.save writes a zip archive. NAME/data.pkl is a pickle that describes the tensors. NAME/data/KEY holds the bytes of a storage; a
 * tensor is a part of a storage. The pickle is read as data and never run. Weights are the first dictionary with tensors in it: the whole
 * value, or the value of one of a few known keys. Plain numbers and texts of other dictionaries are settings. */
#include "load/formats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "load/pickle.h"
#include "load/strided.h"
#include "load/zip.h"

enum { PICKLE_SZ_MAX = 64 << 20, NAME_SZ = 256, WRAPS = 2, SETTINGS_MAX = 1024, STORAGE_FIRST = 4, NOT_READ = -1 };

/* Names that a pickle may refer to: constructors, then storages by the type and size of their elements. */
static const struct pickle_name known[] = {
    { "torch._utils", "_rebuild_tensor_v2", PICKLE_USE_CALL }, { "torch._utils", "_rebuild_parameter", PICKLE_USE_CALL },
    { "collections", "OrderedDict", PICKLE_USE_DICT },         { "torch", "Size", PICKLE_USE_CALL },
    { "torch", "FloatStorage", PICKLE_USE_VALUE },             { "torch", "HalfStorage", PICKLE_USE_VALUE },
    { "torch", "BFloat16Storage", PICKLE_USE_VALUE },          { "torch", "DoubleStorage", PICKLE_USE_VALUE },
    { "torch", "LongStorage", PICKLE_USE_VALUE },              { "torch", "IntStorage", PICKLE_USE_VALUE },
    { "torch", "ShortStorage", PICKLE_USE_VALUE },             { "torch", "CharStorage", PICKLE_USE_VALUE },
    { "torch", "ByteStorage", PICKLE_USE_VALUE },              { "torch", "BoolStorage", PICKLE_USE_VALUE },
};
static const struct { int8_t type; uint8_t elem_sz; } storage_type[] = { /* of known[STORAGE_FIRST + i] */
    { DT_F32, 4 }, { DT_F16, 2 }, { DT_BF16, 2 }, { NOT_READ, 8 }, { NOT_READ, 8 }, { NOT_READ, 4 }, { NOT_READ, 2 }, { NOT_READ, 1 },
    { NOT_READ, 1 }, { NOT_READ, 1 },
};
enum { REBUILD_TENSOR, REBUILD_PARAMETER }; /* indices in known */

struct torch {
    struct weights *w;
    const struct file *f;
    steno_error *e;
    struct arena scratch;
    struct zip zip;
    char prefix[ZIP_NAME_MAX + 1]; /* "NAME/" */
    uint32_t n_settings;
};

/* ---- the archive --------------------------------------------------------------------------------------------------------------- */

/* The entry that holds a storage; NULL: none. */
static const struct zip_entry *find_storage(const struct torch *t, const char *name, size_t n)
{
    char full[2 * ZIP_NAME_MAX];
    const int len = snprintf(full, sizeof full, "%sdata/%.*s", t->prefix, (int)n, name);
    return len > 0 && len < (int)sizeof full ? zip_find(&t->zip, full) : NULL;
}

/* Find the only NAME/data.pkl. */
static int find_pickle(struct torch *t, const struct zip_entry **pkl)
{
    static const char end[] = "data.pkl";
    *pkl = NULL;
    for (uint32_t i = 0; i < t->zip.n; i++) {
        const char *name = t->zip.entry[i].name, *slash = strchr(name, '/');
        if (!slash || strcmp(slash + 1, end) != 0) continue;
        if (*pkl)
            return err_set(t->e, STENO_EFORMAT, "%s: the archive has both %s and %s", t->f->name, (*pkl)->name, name);
        *pkl = &t->zip.entry[i];
        snprintf(t->prefix, sizeof t->prefix, "%.*s", (int)(slash + 1 - name), name);
    }
    if (!*pkl) return err_set(t->e, STENO_EFORMAT, "%s: the zip archive has no NAME/data.pkl, so it is not a PyTorch file; is a "
                           "model packed in it? unpack it", t->f->name);
    char program[ZIP_NAME_MAX + 16];
    snprintf(program, sizeof program, "%sconstants.pkl", t->prefix);
    if (zip_find(&t->zip, program))
        return err_set(t->e, STENO_EUNSUPPORTED, "%s: this is a TorchScript program, which has its network as code; take the weights it "
                       "was made from", t->f->name);
    if ((*pkl)->size > PICKLE_SZ_MAX)
        return err_set(t->e, STENO_EFORMAT, "%s: %s has %" PRIu64 " bytes, want at most %d", t->f->name, (*pkl)->name, (*pkl)->size,
                       PICKLE_SZ_MAX);
    return STENO_OK;
}

static int check_byte_order(const struct torch *t)
{
    char name[ZIP_NAME_MAX + 16], order[8] = "";
    snprintf(name, sizeof name, "%sbyteorder", t->prefix);
    const struct zip_entry *it = zip_find(&t->zip, name);
    if (!it) return STENO_OK; /* an archive older than this entry */
    const int rc = file_read(t->f, it->offset, order, it->size < sizeof order - 1 ? (size_t)it->size : sizeof order - 1, t->e);
    if (rc || !strcmp(order, "little")) return rc;
    return err_set(t->e, STENO_EUNSUPPORTED, "%s: %s is '%s', want little; save the file on a little-endian machine", t->f->name, name,
                   order);
}

/* ---- tensors ------------------------------------------------------------------------------------------------------------------- */

struct tensor_view {
    const char *name; /* for messages */
    int storage;      /* index in storage_type */
    const struct zip_entry *bytes;
    int64_t offset, n_stored; /* elements */
    const struct pickle_list *size, *stride;
};

static int bad(const struct torch *t, const char *name, const char *what)
{
    return err_set(t->e, STENO_EFORMAT, "%s: tensor %s: %s", t->f->name, name, what);
}

/* ('storage', type, key, device, number of elements) */
static int read_storage(const struct torch *t, struct tensor_view *v, const struct pickle_value *from)
{
    const struct pickle_value *it = from->kind == PICKLE_OUTSIDE && from->list->n == 5 ? from->list->item : NULL;
    if (!it || !pickle_is_text(&it[0], "storage") || it[1].kind != PICKLE_NAME || it[1].name < STORAGE_FIRST ||
        it[2].kind != PICKLE_TEXT || it[4].kind != PICKLE_INT)
        return bad(t, v->name, "want a storage as ('storage', type, key, device, size)");
    v->storage = it[1].name - STORAGE_FIRST;
    v->n_stored = it[4].i;
    v->bytes = find_storage(t, it[2].text, it[2].n < ZIP_NAME_MAX ? it[2].n : ZIP_NAME_MAX);
    if (!v->bytes)
        return err_set(t->e, STENO_EFORMAT, "%s: tensor %s: the archive has no %sdata/%.*s", t->f->name, v->name, t->prefix,
                       it[2].n < 64 ? (int)it[2].n : 64, it[2].text);
    const uint64_t room = v->bytes->size / storage_type[v->storage].elem_sz;
    if (v->n_stored < 0 || (uint64_t)v->n_stored > room)
        return err_set(t->e, STENO_EFORMAT, "%s: tensor %s: storage of %" PRId64 " elements in %s, whose %" PRIu64 " bytes hold %" PRIu64,
                       t->f->name, v->name, v->n_stored, v->bytes->name, v->bytes->size, room);
    return STENO_OK;
}

/* (storage, offset, size, stride, requires_grad, hooks), possibly inside a parameter. */
static int read_view(const struct torch *t, struct tensor_view *v, const struct pickle_value *from)
{
    if (from->name == REBUILD_PARAMETER && from->list->n >= 1) from = &from->list->item[0];
    if (from->kind != PICKLE_CALL || from->name != REBUILD_TENSOR || from->list->n < 4)
        return bad(t, v->name, "want a call of _rebuild_tensor_v2");
    const struct pickle_value *it = from->list->item;
    if (it[1].kind != PICKLE_INT || it[2].kind != PICKLE_TUPLE || it[3].kind != PICKLE_TUPLE)
        return bad(t, v->name, "want a storage, an offset, a size and a stride");
    v->offset = it[1].i;
    v->size = it[2].list;
    v->stride = it[3].list;
    if (v->size->n > 4 || v->size->n != v->stride->n)
        return err_set(t->e, STENO_EFORMAT, "%s: tensor %s has %u extents and %u strides, want as many of both, at most 4", t->f->name,
                       v->name, (unsigned)v->size->n, (unsigned)v->stride->n);
    return read_storage(t, v, &it[0]);
}

/* Read extents and strides. Extents of 1, and those past the rank, get the stride of rows without gaps. @param n  receives the number of
 * elements @param in_order  receives 1 for rows without gaps, 0 for another order */
static int read_shape(const struct torch *t, const struct tensor_view *v, uint64_t dim[4], uint64_t stride[4], uint64_t *n, int *in_order)
{
    *n = *in_order = 1;
    for (uint32_t i = 4; i-- > 0;) {
        dim[i] = stride[i] = 1;
        if (i >= v->size->n) continue;
        const struct pickle_value *size = &v->size->item[i], *step = &v->stride->item[i];
        if (size->kind != PICKLE_INT || step->kind != PICKLE_INT || size->i < 0 || step->i < 0 || size->i > (int64_t)TENSOR_MAX)
            return err_set(t->e, STENO_EFORMAT,
                           "%s: tensor %s: extent %u is %" PRId64 ", its stride %" PRId64 "; want 0 to %" PRIu64 " for both",
                           t->f->name, v->name, (unsigned)i, size->kind == PICKLE_INT ? size->i : -1,
                           step->kind == PICKLE_INT ? step->i : -1, TENSOR_MAX);
        dim[i] = (uint64_t)size->i;
        if (dim[i] > 1) stride[i] = (uint64_t)step->i;
        if (dim[i] > 1 && *n && stride[i] != *n) *in_order = 0;
        if (dim[i] && *n > TENSOR_MAX / dim[i]) return bad(t, v->name, "has more elements than any file");
        *n *= dim[i];
    }
    if (*n && !strided_is_dense(dim, stride))
        return err_set(t->e, STENO_EFORMAT, "%s: tensor %s: strides %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64
                       " leave gaps, or let elements overlap; save a contiguous copy of it",
                       t->f->name, v->name, stride[0], stride[1], stride[2], stride[3]);
    return STENO_OK;
}

static int add_tensor(struct torch *t, const char *name, size_t n_name, const struct pickle_value *from)
{
    char tensor_name[NAME_SZ];
    if (!n_name || n_name >= NAME_SZ) return bad(t, "?", "its name has no bytes, or more than 255");
    for (size_t i = 0; i < n_name; i++)
        if ((unsigned char)name[i] < ' ') return bad(t, "?", "its name has control characters");
    memcpy(tensor_name, name, n_name);
    tensor_name[n_name] = 0;
    struct tensor_view v = { .name = tensor_name };
    uint64_t dim[4], stride[4], n;
    int in_order;
    int rc = read_view(t, &v, from);
    if (!rc) rc = read_shape(t, &v, dim, stride, &n, &in_order);
    if (rc) return rc;
    if (v.offset < 0 || v.offset > v.n_stored || n > (uint64_t)(v.n_stored - v.offset))
        return err_set(t->e, STENO_EFORMAT, "%s: tensor %s needs elements %" PRId64 "+%" PRIu64 " of %s, which has %" PRId64, t->f->name,
                       tensor_name, v.offset, n, v.bytes->name, v.n_stored);
    const int type = storage_type[v.storage].type;
    const uint64_t elem_sz = storage_type[v.storage].elem_sz;
    if (type == NOT_READ || !n) return STENO_OK; /* counters and similar data */
    struct tensor *out = weights_add(t->w, t->e);
    if (!out) return STENO_ENOMEM;
    *out = (struct tensor){ .type = (enum dtype)type, .n_dims = v.size->n ? (int)v.size->n : 1, .file = t->f,
                            .offset = v.bytes->offset + (uint64_t)v.offset * elem_sz, .size = n * elem_sz };
    memcpy(out->dim, dim, sizeof dim);
    out->name = arena_strdup(&t->w->arena, tensor_name, n_name);
    if (!out->name) return err_nomem(t->e, n_name, "the names of tensors");
    return in_order ? STENO_OK : tensor_stride(out, t->w, dim, stride, t->e);
}

/* ---- dictionaries -------------------------------------------------------------------------------------------------------------- */

static int is_tensor(const struct pickle_value *v)
{
    return v->kind == PICKLE_CALL && (v->name == REBUILD_TENSOR || v->name == REBUILD_PARAMETER);
}

static int has_tensors(const struct pickle_value *v)
{
    for (uint32_t i = 1; v->kind == PICKLE_DICT && i < v->list->n; i += 2)
        if (is_tensor(&v->list->item[i])) return 1;
    return 0;
}

/* Find the dictionary of tensors, below at most WRAPS others. */
static const struct pickle_value *find_weights(const struct pickle_value *top)
{
    static const char *const key[] = { "model_state_dict", "state_dict", "model" };
    for (int depth = 0;; depth++) {
        const struct pickle_value *next = NULL;
        for (size_t i = 0; i < sizeof key / sizeof *key && !next; i++) {
            next = pickle_find(top, key[i]);
            if (next && next->kind != PICKLE_DICT) next = NULL;
        }
        if (!next || depth == WRAPS) return has_tensors(top) ? top : NULL;
        top = next;
    }
}

/* A number or text under a text key becomes a setting such as "dims.n_mels"; other values are skipped. */
static int add_setting(struct torch *t, const struct pickle_value *prefix, const struct pickle_value *key, const struct pickle_value *v)
{
    char name[META_KEY_MAX + 1], text[META_KEY_MAX + 1];
    struct meta_entry it = { .key = name, .source = t->f->name };
    if (key->kind != PICKLE_TEXT || key->n + (prefix ? prefix->n : 0) + 1 > META_KEY_MAX || t->n_settings >= SETTINGS_MAX) return STENO_OK;
    if (v->kind == PICKLE_INT || v->kind == PICKLE_BOOL) {
        it.kind = v->kind == PICKLE_INT ? META_INT : META_BOOL;
        it.i = v->i;
    } else if (v->kind == PICKLE_FLOAT) {
        it.kind = META_NUM;
        it.x = v->x;
    } else if (v->kind == PICKLE_TEXT && v->n <= META_KEY_MAX) {
        snprintf(text, sizeof text, "%.*s", (int)v->n, v->text);
        it.kind = META_TEXT;
        it.text = text;
    } else return STENO_OK;
    snprintf(name, sizeof name, "%.*s%s%.*s", prefix ? (int)prefix->n : 0, prefix ? prefix->text : "", prefix ? "." : "", (int)key->n,
             key->text);
    t->n_settings++;
    return meta_add(&t->w->meta, &it, t->e);
}

/* Read settings of the outermost dictionary and of the dictionaries directly inside. One called dims gives the network's shape. */
static int read_settings(struct torch *t, const struct pickle_value *top, const struct pickle_value *weights)
{
    int rc = STENO_OK;
    for (uint32_t i = 0; top != weights && i + 1 < top->list->n && !rc; i += 2) {
        const struct pickle_value *key = &top->list->item[i], *v = key + 1;
        if (v->kind != PICKLE_DICT) rc = add_setting(t, NULL, key, v);
        else if (key->kind == PICKLE_TEXT && v->list != weights->list)
            for (uint32_t k = 0; k + 1 < v->list->n && !rc; k += 2) {
                rc = add_setting(t, key, &v->list->item[k], &v->list->item[k + 1]);
                if (pickle_is_text(key, "dims")) t->w->has_shape = 1;
            }
    }
    return rc;
}

/* Read all tensors. A "module." before every name only shows how the model was wrapped in training. */
static int read_tensors(struct torch *t, const struct pickle_value *weights)
{
    static const char wrap[] = "module.";
    const size_t n_wrap = sizeof wrap - 1;
    const struct pickle_list *l = weights->list;
    int wrapped = 1;
    for (uint32_t i = 0; i < l->n; i += 2) {
        const struct pickle_value *key = &l->item[i];
        if (is_tensor(key + 1) && key->kind != PICKLE_TEXT) return bad(t, "?", "its name is not a text");
        if (is_tensor(key + 1)) wrapped &= key->n > n_wrap && !memcmp(key->text, wrap, n_wrap);
    }
    const size_t skip = wrapped ? n_wrap : 0;
    for (uint32_t i = 0; i < l->n; i += 2) {
        const struct pickle_value *key = &l->item[i];
        const int rc = is_tensor(key + 1) ? add_tensor(t, key->text + skip, key->n - skip, key + 1) : STENO_OK;
        if (rc) return rc;
    }
    return STENO_OK;
}

static int read_pickle(struct torch *t, const struct zip_entry *pkl)
{
    const size_t n = (size_t)pkl->size;
    uint8_t *data = arena_alloc(&t->scratch, n);
    char where[1024];
    struct pickle_value top;
    if (!data) return err_nomem(t->e, n, "a pickle");
    snprintf(where, sizeof where, "%s: %s", t->f->name, pkl->name);
    int rc = file_read(t->f, pkl->offset, data, n, t->e);
    if (!rc) rc = pickle_read(&top, data, n, where, known, sizeof known / sizeof *known, &t->scratch, t->e);
    if (rc) return rc;
    const struct pickle_value *weights = find_weights(&top);
    if (!weights)
        return err_set(t->e, STENO_EFORMAT,
                       "%s: no dictionary of tensors, neither at the top nor under model_state_dict, state_dict or model", where);
    rc = read_settings(t, &top, weights);
    return rc ? rc : read_tensors(t, weights);
}

static int torch_match(const struct file_probe *k, const struct file *f)
{
    (void)f;
    return k->form == PROBE_TORCH;
}

static int torch_read(struct weights *w, const struct file *f, steno_error *e)
{
    struct torch t = { .w = w, .f = f, .e = e };
    const struct zip_entry *pkl = NULL;
    arena_init(&t.scratch);
    int rc = zip_open(&t.zip, f, ZIP_STORED, &t.scratch, e);
    if (!rc) rc = find_pickle(&t, &pkl);
    if (!rc) rc = check_byte_order(&t);
    if (!rc) rc = read_pickle(&t, pkl);
    arena_free(&t.scratch);
    if (!rc && !w->n_tensors) rc = err_set(e, STENO_EFORMAT, "%s: no tensor of floating-point numbers", f->name);
    return rc;
}

const struct format format_torch = { "PyTorch .pt", torch_match, torch_read };
