/* steno: reader of npz files. SPDX-License-Identifier: MIT
 *
 * A zip archive of entries NAME.npy, stored as numpy.savez and MLX write it, or deflated as numpy.savez_compressed writes it. An array is a
 * magic number, a version, the length of a header, the header (a dictionary as Python prints it) and the numbers up to the end of the
 * entry.
 *
 * Several threads read numbers at any offset, which deflated data does not allow. Such an entry is unpacked into memory once its header has
 * been read and the sizes agree. An archive that unpacks to far more than weights do is refused first. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "load/array.h"
#include "load/formats.h"
#include "load/zip.h"

enum { MAGIC_SZ = 6, TEXT_MAX = 4096, BEGIN_MAX = 12 + TEXT_MAX, MAX_NAME = 255, MAX_CODE = 8 };
enum { UNPACK_TIMES = 16, UNPACK_FREE = 64 << 20 }; /* limit for all unpacked bytes: this multiple of the file's size, and these bytes */

struct npz {
    struct weights *w;
    const struct file *f;
    const struct zip_entry *entry; /* the current entry */
    uint8_t *head;                 /* [BEGIN_MAX] the first bytes of a packed entry */
    const char *p;                 /* the rest of the header, NUL-terminated */
    struct array a;
    int n_descr, n_order, n_shape;
    steno_error *e;
};

static int bad(const struct npz *z, const char *what)
{
    return err_set(z->e, STENO_EFORMAT, "%s: %s: %s; is the copy complete?", z->f->name, z->entry->name, what);
}

/* ---- the head ------------------------------------------------------------------------------------------------------------------ */

static int take(struct npz *z, char c)
{
    z->p += strspn(z->p, " ");
    if (*z->p != c) return 0;
    z->p++;
    return 1;
}

/* Read a text between single quotes. @return 0: no such text of fewer than cap bytes */
static int take_text(struct npz *z, char *out, size_t cap)
{
    if (!take(z, '\'')) return 0;
    const size_t n = strcspn(z->p, "'\\");
    if (z->p[n] != '\'' || n >= cap) return 0;
    memcpy(out, z->p, n);
    out[n] = 0;
    z->p += n + 1;
    return 1;
}

static int take_word(struct npz *z, const char *word)
{
    const size_t n = strlen(word);
    z->p += strspn(z->p, " ");
    if (strncmp(z->p, word, n) != 0) return 0;
    z->p += n;
    return 1;
}

/* Read a type, '<f4' or '|b1'. A byte order must be this machine's. */
static int read_type(struct npz *z)
{
    char code[MAX_CODE];
    if (!take_text(z, code, sizeof code)) return bad(z, "its type is not a plain one ('<f4')");
    z->a.type = *code && strchr("<|", *code) ? array_type_npy(code + 1) : NULL;
    if (z->a.type && z->a.type->use != ARRAY_REFUSED) return STENO_OK;
    return err_set(z->e, STENO_EUNSUPPORTED, "%s: %s has the type '%s'; <f4, <f2 and MLX's bf16 (<V2) are read", z->f->name, z->entry->name,
                   code);
}

static int read_order(struct npz *z)
{
    z->a.by_columns = take_word(z, "True");
    return z->a.by_columns || take_word(z, "False") ? STENO_OK : bad(z, "its order is neither True nor False");
}

/* An array with at most one extent above 1 has the same order both ways. Weights are reordered on reading; tables of whole numbers are
 * not. */
static int check_order(struct npz *z)
{
    int extents = 0;
    for (int i = 0; i < z->a.n_dims; i++) extents += z->a.dim[i] != 1;
    if (extents < 2) z->a.by_columns = 0;
    if (!z->a.by_columns || z->a.type->use == ARRAY_KEPT) return STENO_OK;
    return err_set(z->e, STENO_EUNSUPPORTED, "%s: %s is a table of whole numbers that is stored column by column (fortran_order); save a "
                   "copy in C order", z->f->name, z->entry->name);
}

/* (384, 80, 3), (384,), () */
static int read_shape(struct npz *z)
{
    enum { DIGITS = 15 };
    if (!take(z, '(')) return bad(z, "its shape is not a tuple");
    while (!take(z, ')')) {
        const size_t n = strspn(z->p, "0123456789");
        if (!n || n > DIGITS) return bad(z, "its shape has a member that is not a size");
        if (z->a.n_dims == ARRAY_DIMS) return bad(z, "its shape has more than 4 members");
        z->a.dim[z->a.n_dims++] = strtoull(z->p, NULL, 10);
        z->p += n;
        if (!take(z, ',') && *z->p != ')') return bad(z, "its shape does not end");
    }
    return STENO_OK;
}

static int read_field(struct npz *z)
{
    char key[16];
    if (!take_text(z, key, sizeof key) || !take(z, ':')) return bad(z, "its head is not a dictionary of descr, fortran_order and shape");
    if (!strcmp(key, "descr") && !z->n_descr++) return read_type(z);
    if (!strcmp(key, "fortran_order") && !z->n_order++) return read_order(z);
    if (!strcmp(key, "shape") && !z->n_shape++) return read_shape(z);
    return bad(z, "its head has a key twice, or one that is not descr, fortran_order or shape");
}

static int read_head(struct npz *z)
{
    int rc = take(z, '{') ? STENO_OK : bad(z, "its head is not a dictionary");
    while (!rc && !take(z, '}')) {
        rc = read_field(z);
        if (!rc && !take(z, ',') && *z->p != '}') rc = bad(z, "its head does not end");
    }
    if (!rc && z->p[strspn(z->p, " \n")]) rc = bad(z, "something follows the dictionary in its head");
    if (!rc && (!z->n_descr || !z->n_order || !z->n_shape)) rc = bad(z, "its head lacks descr, fortran_order or shape");
    return rc;
}

/* ---- an array ------------------------------------------------------------------------------------------------------------------ */

static int unpack_head(const struct npz *z)
{
    const uint64_t size = z->entry->size;
    return z->entry->is_packed ? zip_unpack(z->f, z->entry, z->head, size < BEGIN_MAX ? size : BEGIN_MAX, z->e) : STENO_OK;
}

/* Read n bytes at `at` within the first bytes of the current entry. */
static int read_begin(const struct npz *z, uint64_t at, void *dst, size_t n)
{
    if (!z->entry->is_packed) return file_read(z->f, z->entry->offset + at, dst, n, z->e);
    memcpy(dst, z->head + at, n);
    return STENO_OK;
}

/* Unpack a whole packed entry into a file in the weights' memory. */
static int unpack_all(struct npz *z)
{
    const uint64_t size = z->entry->size;
    struct file *f = arena_alloc(&z->w->arena, sizeof *f);
    void *bytes = f && size <= SIZE_MAX ? arena_alloc(&z->w->arena, (size_t)size) : NULL;
    if (!bytes) return err_nomem(z->e, (size_t)size, "an array that is unpacked");
    file_from_memory(f, z->f->name, bytes, (size_t)size);
    z->w->n_unpacked += size;
    z->a.file = f;
    z->a.offset -= z->entry->offset;
    return zip_unpack(z->f, z->entry, bytes, size, z->e);
}

/* Copy the current entry's header to `text`. *at: the offset after it. */
static int find_head(const struct npz *z, char text[TEXT_MAX + 1], uint64_t *at)
{
    uint8_t p[12];
    const struct zip_entry *it = z->entry;
    if (it->size < sizeof p) return bad(z, "it is too short for an array");
    int rc = unpack_head(z);
    if (!rc) rc = read_begin(z, 0, p, sizeof p);
    if (rc) return rc;
    if (memcmp(p, "\x93NUMPY", MAGIC_SZ) != 0) return bad(z, "it does not begin as an array does");
    if (p[6] < 1 || p[6] > 3)
        return err_set(z->e, STENO_EUNSUPPORTED, "%s: %s has version %u of the form; 1 to 3 are read", z->f->name, it->name,
                       (unsigned)p[6]);
    const uint64_t begin = p[6] > 1 ? 12 : 10;
    const uint64_t n = p[8] | (uint64_t)p[9] << 8 | (p[6] > 1 ? (uint64_t)p[10] << 16 | (uint64_t)p[11] << 24 : 0);
    if (n > TEXT_MAX || n > it->size - begin)
        return err_set(z->e, STENO_EFORMAT, "%s: %s: its head has %" PRIu64 " bytes, want at most %d, and those in the entry; is the copy "
                       "complete?", z->f->name, it->name, n, TEXT_MAX);
    text[n] = 0;
    *at = begin + n;
    return read_begin(z, begin, text, (size_t)n);
}

static int check_size(struct npz *z, uint64_t at)
{
    const uint64_t room = z->entry->size - at;
    if (!array_count(z->a.dim, z->a.n_dims, &z->a.count)) return bad(z, "its shape is out of range");
    if (z->a.count * z->a.type->bytes == room) return STENO_OK;
    return err_set(z->e, STENO_EFORMAT, "%s: %s: its shape and type (%s) take %" PRIu64 " bytes, the entry has %" PRIu64
                   "; is the copy complete?", z->f->name, z->entry->name, z->a.type->name, z->a.count * z->a.type->bytes, room);
}

/* NAME.npy */
static int read_name(const struct npz *z, char name[MAX_NAME + 1])
{
    const char *s = z->entry->name;
    const size_t n = strlen(s), end = sizeof ".npy" - 1;
    if (n <= end || strcmp(s + n - end, ".npy") != 0 || n - end > MAX_NAME)
        return err_set(z->e, STENO_EFORMAT, "%s: zip entry '%s' is no NAME.npy with a name of 1..%d bytes; want arrays alone",
                       z->f->name, s, MAX_NAME);
    for (size_t i = 0; i < n; i++)
        if (s[i] <= ' ' || s[i] > '~') return bad(z, "its name is not of printable characters");
    memcpy(name, s, n - end);
    name[n - end] = 0;
    return STENO_OK;
}

static int read_array(struct npz *z, char text[TEXT_MAX + 1])
{
    char name[MAX_NAME + 1];
    uint64_t at = 0;
    int rc = read_name(z, name);
    if (!rc) rc = find_head(z, text, &at);
    z->p = text;
    if (!rc) rc = read_head(z);
    if (!rc) rc = check_size(z, at);
    if (!rc) rc = check_order(z);
    z->a.name = name;
    z->a.file = z->f;
    z->a.offset = z->entry->offset + at;
    if (!rc && z->entry->is_packed) rc = unpack_all(z);
    return rc ? rc : weights_add_array(z->w, &z->a, z->e);
}

static int npz_match(const struct file_probe *k, const struct file *f)
{
    (void)f;
    return k->form == PROBE_NPZ;
}

/* Runs before anything is unpacked. */
static int check_sum_of_sizes(const struct zip *zip, const struct file *f, steno_error *e)
{
    const uint64_t most = f->size < UINT64_MAX / UNPACK_TIMES - UNPACK_FREE ? f->size * UNPACK_TIMES + UNPACK_FREE : UINT64_MAX;
    uint64_t all = 0;
    for (uint32_t i = 0; i < zip->n; i++) {
        const struct zip_entry *it = &zip->entry[i];
        if (it->is_packed && it->size > most - all)
            return err_set(e, STENO_EFORMAT, "%s: its entries unpack to more than %" PRIu64 " bytes, which is %d times as many as the file "
                           "has, and %d more: weights do not; save it with numpy.savez", f->name, most, UNPACK_TIMES, UNPACK_FREE);
        if (it->is_packed) all += it->size;
    }
    return STENO_OK;
}

static int npz_read(struct weights *w, const struct file *f, steno_error *e)
{
    struct arena scratch;
    struct zip zip;
    arena_init(&scratch);
    char *text = arena_alloc(&scratch, TEXT_MAX + 1);
    uint8_t *head = arena_alloc(&scratch, BEGIN_MAX);
    int rc = text && head ? zip_open(&zip, f, ZIP_DEFLATED, &scratch, e) : err_nomem(e, TEXT_MAX, "the head of an array");
    if (!rc) rc = check_sum_of_sizes(&zip, f, e);
    for (uint32_t i = 0; !rc && i < zip.n; i++) {
        struct npz z = { .w = w, .f = f, .entry = &zip.entry[i], .head = head, .e = e };
        rc = read_array(&z, text);
    }
    arena_free(&scratch);
    if (!rc && !w->n_tensors) rc = err_set(e, STENO_EFORMAT, "%s: no array of floating-point numbers", f->name);
    return rc;
}

const struct format format_npz = { "NumPy .npz", npz_match, npz_read };

/* ---- folders quantised by MLX ----------------------------------------------------------------------------------------------------- */

/* A matrix [n, k] is stored as 32-bit words [n, k * bits / 32] that hold weights of 2 to 8 bits in sequence. Each group of 32, 64 or 128
 * weights has a scale and an offset: weight = scale * q + offset. config.json gives the bits and the group length, for all matrices or
 * for one by the name of its module. Matrices that are not quantised are stored as in other folders. */

enum { NAME_SZ = 320 };

struct join {
    struct weights *w;
    const struct tensor *t; /* the words */
    char module[NAME_SZ];   /* NAME */
    steno_error *e;
};

/* A setting of the module, or else of all modules. */
static const struct meta_entry *setting(const struct join *j, const char *what)
{
    char key[2 * NAME_SZ];
    snprintf(key, sizeof key, "quantization.%s.%s", j->module, what);
    const struct meta_entry *it = meta_find(&j->w->meta, key);
    snprintf(key, sizeof key, "quantization.%s", what);
    return it ? it : meta_find(&j->w->meta, key);
}

static int read_number(const struct join *j, const char *what, int64_t usual, int64_t *out)
{
    const struct meta_entry *it = setting(j, what);
    *out = it ? it->i : usual;
    if (!it || it->kind == META_INT) return STENO_OK;
    return err_set(j->e, STENO_EFORMAT, "%s: quantization of %s: %s is not a whole number", it->source, j->module, what);
}

static int read_settings(const struct join *j, enum tensor_form *form, int64_t *len)
{
    char key[2 * NAME_SZ];
    int64_t bits = 0;
    const struct meta_entry *mode = setting(j, "mode");
    if (mode && (mode->kind != META_TEXT || strcmp(mode->text, "affine") != 0))
        return err_set(j->e, STENO_EUNSUPPORTED, "%s: weights of %s are quantised in the mode %.40s; affine is read:"
                                                 " quantise the model again",
                       mode->source, j->module, mode->kind == META_TEXT ? mode->text : "?");
    snprintf(key, sizeof key, "quantization.%s", j->module);
    const struct meta_entry *off = meta_find(&j->w->meta, key);
    if (off && off->kind == META_BOOL && !off->i)
        return err_set(j->e, STENO_EFORMAT, "%s: %s is not quantised, but %s is of words", off->source, j->module, j->t->name);
    int rc = read_number(j, "bits", 4, &bits);
    if (!rc) rc = read_number(j, "group_size", 64, len);
    *form = form_with_bits(bits);
    if (!rc && *form == FORM_STORED)
        rc = err_set(j->e, STENO_EFORMAT, "%s: quantization of %s: bits is %" PRId64 ", want 2, 3, 4, 5, 6 or 8", j->w->name, j->module,
                     bits);
    if (!rc && *len != 32 && *len != 64 && *len != 128)
        rc = err_set(j->e, STENO_EFORMAT, "%s: quantization of %s: group_size is %" PRId64 ", want 32, 64 or 128", j->w->name, j->module,
                     *len);
    return rc;
}

static int check_scales(const struct join *j, const struct tensor *s, uint64_t groups)
{
    if (s->type != DT_F32 && s->type != DT_F16 && s->type != DT_BF16)
        return err_set(j->e, STENO_EFORMAT, "%s: tensor %s is %s, want f16, bf16 or f32", j->w->name, s->name, dtype_name(s->type));
    if (s->n_dims != 2)
        return err_set(j->e, STENO_EFORMAT, "%s: tensor %s has %d dimensions, want [%" PRIu64 ", %" PRIu64 "]", j->w->name, s->name,
                       s->n_dims, j->t->dim[0], groups);
    if (s->dim[0] == j->t->dim[0] && s->dim[1] == groups) return STENO_OK;
    return err_set(j->e, STENO_EFORMAT, "%s: tensor %s is [%" PRIu64 ", %" PRIu64 "], but the words of %s want [%" PRIu64 ", %" PRIu64 "]",
                   j->w->name, s->name, s->dim[0], s->dim[1], j->t->name, j->t->dim[0], groups);
}

/* The tensor of the module named by `what`. */
static struct tensor *beside(const struct join *j, const char *what)
{
    char name[NAME_SZ + 16];
    snprintf(name, sizeof name, "%s.%s", j->module, what);
    struct tensor *t = weights_find(j->w, name);
    return t && t->form == FORM_STORED ? t : NULL;
}

static int join_words(const struct join *j, struct tensor *t, struct tensor *scale, struct tensor *offset)
{
    enum tensor_form form = FORM_STORED;
    int64_t len = 0;
    int rc = read_settings(j, &form, &len);
    if (rc) return rc;
    const uint64_t bits = t->dim[1] * 32, k = bits / (uint64_t)form_bits(form);
    if (k * (uint64_t)form_bits(form) != bits || k % (uint64_t)len)
        return err_set(j->e, STENO_EFORMAT, "%s: tensor %s has rows of %" PRIu64 " words, no whole groups of %" PRId64
                       " weights of %d bits", j->w->name, t->name, t->dim[1], len, form_bits(form));
    rc = check_scales(j, scale, k / (uint64_t)len);
    if (!rc) rc = check_scales(j, offset, k / (uint64_t)len);
    if (!rc && scale->type != offset->type)
        rc = err_set(j->e, STENO_EFORMAT, "%s: tensor %s is %s, but %s is %s", j->w->name, scale->name, dtype_name(scale->type),
                     offset->name, dtype_name(offset->type));
    struct tensor_groups *g = rc ? NULL : arena_alloc(&j->w->arena, sizeof *g);
    if (!rc && !g) return err_nomem(j->e, sizeof *g, "the index of tensors");
    if (rc) return rc;
    *g = (struct tensor_groups){ scale->type, (uint32_t)len, { scale->file, offset->file }, { scale->offset, offset->offset } };
    t->form = form;
    t->type = form_of_groups(form, 1);
    t->dim[1] = k;
    t->groups = g;
    scale->form = offset->form = FORM_WORDS; /* both leave the index */
    return STENO_OK;
}

static int join_tensor(struct weights *w, struct tensor *t, steno_error *e)
{
    struct join j = { .w = w, .t = t, .e = e };
    const size_t n = strlen(t->name) - strlen(".weight");
    if (n >= NAME_SZ) return err_set(e, STENO_EFORMAT, "%s: tensor %.80s has too long a name", w->name, t->name);
    memcpy(j.module, t->name, n);
    struct tensor *scale = beside(&j, "scales"), *offset = beside(&j, "biases");
    if (scale && offset) return join_words(&j, t, scale, offset);
    enum tensor_form form;
    int64_t len;
    const int rc = setting(&j, "bits") || setting(&j, "mode") ? read_settings(&j, &form, &len) : STENO_OK;
    if (rc || (!scale && !offset && !setting(&j, "bits"))) return rc; /* words that are not MLX weights */
    return err_set(e, STENO_EFORMAT, "%s: tensor %s.%s is missing, which the words of %s need", w->name, j.module,
                   scale ? "biases" : "scales", t->name);
}

int mlx_join(struct weights *w, steno_error *e)
{
    uint32_t n = 0, any = 0;
    for (uint32_t i = 0; i < w->n_tensors; i++) any |= w->tensor[i].form == FORM_WORDS;
    int rc = any ? weights_index(w, e) : STENO_OK;
    for (uint32_t i = 0; i < w->n_tensors && any && !rc; i++)
        if (w->tensor[i].form == FORM_WORDS && w->tensor[i].n_dims == 2 && !w->tensor[i].used) rc = join_tensor(w, &w->tensor[i], e);
    for (uint32_t i = 0; i < w->n_tensors && any; i++)
        if (w->tensor[i].form != FORM_WORDS) w->tensor[n++] = w->tensor[i];
    if (any) w->n_tensors = n;
    return rc;
}
