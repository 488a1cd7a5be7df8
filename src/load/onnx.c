/* steno: weights of ONNX files. SPDX-License-Identifier: MIT
 *
 * A protobuf message holds a graph, a graph holds nodes and named tensors, a node holds attributes, and an attribute may be a tensor or
 * again a graph. The computation of nodes is not read. A network is recognised by its tensors, and only networks that a family here
 * recognises (by the basis of their spectra) are accepted. Tensors are those that a graph names, and constants, which get the name of their
 * node's output. Only f32 and f16 tensors whose names contain a dot, as parameter names do, are kept. Every length must fit its message,
 * messages nest at most DEPTH deep, and every byte is read once. */
#include "load/formats.h"

#include <inttypes.h>
#include "base/rd.h"

enum { DEPTH = 32, NAME_MAX = 255, TENSORS_MAX = 4096, MAX_DIMS = 4, NO_FIELD = 0 };
enum { WIRE_VARINT = 0, WIRE_8 = 1, WIRE_BYTES = 2, WIRE_4 = 5 };
enum { TYPE_F32 = 1, TYPE_F16 = 10 };
enum onnx_message { MODEL, GRAPH, NODE, ATTRIBUTE, TENSOR, MESSAGES };

/* Nesting: the fields of a message that are messages. */
static const struct { enum onnx_message in; uint32_t field; enum onnx_message is; } nested[] = {
    { MODEL, 7, GRAPH },    { GRAPH, 1, NODE },        { GRAPH, 5, TENSOR },
    { NODE, 5, ATTRIBUTE }, { ATTRIBUTE, 5, TENSOR }, { ATTRIBUTE, 6, GRAPH },
};
enum { NODE_OUTPUT = 2, TENSOR_DIMS = 1, TENSOR_TYPE = 2, TENSOR_FLOATS = 4, TENSOR_NAME = 8, TENSOR_RAW = 9, TENSOR_PLACE = 14 };

struct name { char s[NAME_MAX + 1]; };

struct onnx {
    struct weights *w;
    const struct file *f;
    steno_error *e;
    struct rd r;
    struct level { enum onnx_message is; uint64_t end; } level[DEPTH];
    int depth;
    struct name node; /* the first output of the current node */
};

struct onnx_field { uint32_t number, wire; uint64_t value; }; /* value: a number, or the size of the bytes that follow */

static int bad(struct onnx *o, const char *what)
{
    if (o->r.err && o->r.err != STENO_EFORMAT)
        return err_set(o->e, o->r.err, "%s: read failed at byte %" PRIu64, o->f->name, o->r.pos);
    return err_set(o->e, STENO_EFORMAT, "%s: this is an ONNX model, but %s at byte %" PRIu64 "; is the copy complete?", o->f->name, what,
                   o->r.pos);
}

static uint64_t varint(struct rd *r)
{
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        const uint8_t b = rd_u8(r);
        v |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80) return v;
    }
    r->err = STENO_EFORMAT;
    return 0;
}

/* The next field of a message that ends at `end`. */
static int field_next(struct onnx *o, struct onnx_field *f, uint64_t end)
{
    struct rd *r = &o->r;
    const uint64_t tag = varint(r);
    *f = (struct onnx_field){ (uint32_t)(tag >> 3), (uint32_t)(tag & 7), 0 };
    if (r->err || tag >> 3 > UINT32_MAX || !f->number) return bad(o, "a field has no number");
    if (f->wire == WIRE_8 || f->wire == WIRE_4) f->value = f->wire == WIRE_8 ? 8 : 4;
    else if (f->wire == WIRE_VARINT || f->wire == WIRE_BYTES) f->value = varint(r);
    else return bad(o, "a field is of an unknown kind");
    const int is_out = r->err || r->pos > end || (f->wire != WIRE_VARINT && f->value > end - r->pos);
    return is_out ? bad(o, "a field reaches past its message") : STENO_OK;
}

static void field_skip(struct onnx *o, const struct onnx_field *f)
{
    if (f->wire != WIRE_VARINT) rd_skip(&o->r, f->value);
}

/* Read a name. A name that is too long or not printable counts as absent. */
static void name_read(struct onnx *o, const struct onnx_field *f, struct name *name)
{
    *name = (struct name){ "" };
    if (f->value > NAME_MAX) {
        field_skip(o, f);
        return;
    }
    rd_bytes(&o->r, name->s, (size_t)f->value);
    for (size_t i = 0; i < f->value; i++)
        if (name->s[i] <= ' ' || name->s[i] > '~') name->s[0] = 0;
}

/* ---- tensors */

/* raw: place of its numbers; a list of f32 has the same layout as raw bytes. */
struct onnx_found { struct name name; uint64_t dim[MAX_DIMS], type, raw, raw_sz; int n_dims, has_raw, is_list, elsewhere; };

static void dim_add(struct onnx_found *t, uint64_t d)
{
    if (t->n_dims < MAX_DIMS) t->dim[t->n_dims] = d;
    t->n_dims++;
}

/* A number, or several in bytes. */
static void dims_read(struct onnx *o, const struct onnx_field *f, struct onnx_found *t)
{
    const uint64_t end = o->r.pos + f->value;
    if (f->wire == WIRE_VARINT) dim_add(t, f->value);
    while (f->wire == WIRE_BYTES && o->r.pos < end && !o->r.err) dim_add(t, varint(&o->r));
    if (f->wire == WIRE_BYTES && o->r.pos != end) o->r.err = STENO_EFORMAT;
}

static int tensor_fields(struct onnx *o, struct onnx_found *t, uint64_t end)
{
    while (o->r.pos < end) {
        struct onnx_field f;
        const int rc = field_next(o, &f, end);
        if (rc) return rc;
        if (f.number == TENSOR_DIMS && f.wire != WIRE_8 && f.wire != WIRE_4) {
            dims_read(o, &f, t);
            if (o->r.err) return bad(o, "extents do not end with their field");
            continue;
        }
        if (f.number == TENSOR_TYPE && f.wire == WIRE_VARINT) t->type = f.value;
        if (f.number == TENSOR_PLACE && f.wire == WIRE_VARINT) t->elsewhere = f.value != 0;
        if ((f.number == TENSOR_RAW || f.number == TENSOR_FLOATS) && f.wire == WIRE_BYTES)
            t->has_raw = 1, t->raw = o->r.pos, t->raw_sz = f.value, t->is_list = f.number == TENSOR_FLOATS;
        if (f.number == TENSOR_NAME && f.wire == WIRE_BYTES) name_read(o, &f, &t->name);
        else field_skip(o, &f);
        if (o->r.err) return bad(o, "the file ends inside a tensor");
    }
    return STENO_OK;
}

/* Add the tensor to the index if it is a parameter. */
static int tensor_keep(struct onnx *o, const struct onnx_found *found)
{
    const char *name = o->level[o->depth - 1].is == ATTRIBUTE ? o->node.s : found->name.s;
    const uint64_t bytes = found->type == TYPE_F16 ? 2 : 4;
    uint64_t n = 1;
    if (!strchr(name, '.') || (found->type != TYPE_F32 && found->type != TYPE_F16) || found->n_dims < 1 || found->n_dims > MAX_DIMS)
        return STENO_OK;
    if (found->elsewhere)
        return err_set(o->e, STENO_EUNSUPPORTED, "%s: tensor %s is in another file: take one whose weights are inside", o->f->name, name);
    for (int i = 0; i < found->n_dims; i++) {
        if (!found->dim[i] || found->dim[i] > TENSOR_MAX / n)
            return err_set(o->e, STENO_EFORMAT, "%s: tensor %s: extent %" PRIu64 " is out of range", o->f->name, name, found->dim[i]);
        n *= found->dim[i];
    }
    if (found->is_list && found->type != TYPE_F32)
        return err_set(o->e, STENO_EFORMAT, "%s: tensor %s: f16 in a list of f32", o->f->name, name);
    if (!found->has_raw || found->raw_sz != n * bytes)
        return err_set(o->e, STENO_EFORMAT, "%s: tensor %s has %" PRIu64 " bytes of numbers, want %" PRIu64, o->f->name, name,
                       found->raw_sz, n * bytes);
    if (o->w->n_tensors == TENSORS_MAX) return err_set(o->e, STENO_EFORMAT, "%s: more than %d tensors", o->f->name, TENSORS_MAX);
    struct tensor *t = weights_add(o->w, o->e);
    if (!t) return STENO_ENOMEM;
    *t = (struct tensor){ .name = arena_strdup(&o->w->arena, name, strlen(name)), .type = bytes == 2 ? DT_F16 : DT_F32,
                          .n_dims = found->n_dims, .file = o->f, .offset = found->raw, .size = found->raw_sz };
    for (int i = 0; i < MAX_DIMS; i++) t->dim[i] = i < found->n_dims ? found->dim[i] : 1;
    return t->name ? STENO_OK : err_nomem(o->e, strlen(name), "the name of a tensor");
}

static int tensor_read(struct onnx *o, uint64_t end)
{
    struct onnx_found t = { .n_dims = 0 };
    const int rc = tensor_fields(o, &t, end);
    return rc ? rc : tensor_keep(o, &t);
}

/* ---- the walk */

static int enter(struct onnx *o, enum onnx_message is, uint64_t end)
{
    if (is == TENSOR) return tensor_read(o, end);
    if (is == NODE) o->node.s[0] = 0;
    if (o->depth == DEPTH) return bad(o, "graphs nest too deep");
    o->level[o->depth++] = (struct level){ is, end };
    return STENO_OK;
}

static int step(struct onnx *o, const struct level *at)
{
    struct onnx_field f;
    const int rc = field_next(o, &f, at->end);
    if (rc) return rc;
    for (size_t i = 0; f.wire == WIRE_BYTES && i < sizeof nested / sizeof *nested; i++)
        if (nested[i].in == at->is && nested[i].field == f.number) return enter(o, nested[i].is, o->r.pos + f.value);
    if (at->is == NODE && f.number == NODE_OUTPUT && f.wire == WIRE_BYTES && !o->node.s[0]) name_read(o, &f, &o->node);
    else field_skip(o, &f);
    return o->r.err ? bad(o, "the file ends inside a message") : STENO_OK;
}

/* Other networks are refused with the form to use instead. */
static int check_known(const struct onnx *o)
{
    struct file_probe k;
    for (uint32_t i = 0; i < o->w->n_tensors; i++)
        if (strstr(o->w->tensor[i].name, "stft.forward_basis_buffer")) return STENO_OK;
    const int rc = probe_file(&k, o->f, o->e);
    return rc ? rc : probe_refuse(&k, o->f->name, o->e);
}

static int onnx_match(const struct file_probe *k, const struct file *f)
{
    (void)f;
    return k->form == PROBE_ONNX;
}

static int onnx_read(struct weights *w, const struct file *f, steno_error *e)
{
    struct onnx o = { .w = w, .f = f, .e = e, .depth = 1 };
    int rc = STENO_OK;
    rd_init(&o.r, f, 0, f->size);
    o.level[0] = (struct level){ MODEL, f->size };
    w->has_shape = 1; /* settings in its folder belong to another network */
    while (o.depth && !rc) {
        if (o.r.pos >= o.level[o.depth - 1].end) o.depth--;
        else rc = step(&o, &o.level[o.depth - 1]);
    }
    return rc ? rc : check_known(&o);
}

const struct format format_onnx = { "ONNX", onnx_match, onnx_read };
