/* steno: the members of a tar archive. SPDX-License-Identifier: MIT
 *
 * Reference: POSIX.1-2001, pax interchange format. A header has 512 bytes; the bytes of the member follow, filled up to 512. Headers 'x'
 * and 'L' describe the header after them. */
#include "load/tar.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 512, NAME_AT = 0, SIZE_AT = 124, SUM_AT = 148, TYPE_AT = 156, MAGIC_AT = 257, PREFIX_AT = 345, PAX_MAX = 1 << 16,
       OCTAL_DIGITS = 33 /* bits of the largest size in octal */ };

struct tar_reader {
    const struct file *f;
    struct arena *a;
    steno_error *e;
    struct tar *tar;
    uint64_t at;                 /* byte of the header */
    char name[TAR_NAME_MAX + 1]; /* of the next member, from a header before it; "": none */
    int has_size;
    uint64_t size;
};

static int bad(const struct tar_reader *t, const char *what)
{
    return err_set(t->e, STENO_EFORMAT, "%s: the tar header at byte %" PRIu64 " %s", t->f->name, t->at, what);
}

/* Octal digits between spaces and a NUL, or a binary number that begins with bit 7. @return 0: neither */
static int read_number(const uint8_t *p, unsigned n, uint64_t *out)
{
    unsigned i = 0, digits = 0;
    *out = 0;
    if (p[0] & 0x80) {
        for (i = 0; i < n; i++) {
            const uint8_t byte = i ? p[i] : p[0] & 0x7f;
            if (*out >> 56) return 0;
            *out = *out << 8 | byte;
        }
        return 1;
    }
    while (i < n && p[i] == ' ') i++;
    for (; i < n && p[i] >= '0' && p[i] <= '7'; i++, digits++) *out = *out << 3 | (uint64_t)(p[i] - '0');
    while (i < n && (p[i] == ' ' || !p[i])) i++;
    return i == n && digits;
}

static int check_sum(const struct tar_reader *t, const uint8_t *p)
{
    uint64_t want, sum = 0;
    for (unsigned i = 0; i < BLOCK; i++) sum += i >= SUM_AT && i < SUM_AT + 8 ? ' ' : p[i];
    if (!read_number(p + SUM_AT, 8, &want)) return bad(t, "has no checksum");
    return sum == want ? STENO_OK : bad(t, "does not match its checksum");
}

static int read_size(const struct tar_reader *t, const uint8_t *p, uint64_t *size)
{
    if (!read_number(p + SIZE_AT, 12, size)) return bad(t, "has a size that is not a number");
    if (t->has_size && t->size != *size && t->size >> OCTAL_DIGITS == 0)
        return err_set(t->e, STENO_EFORMAT, "%s: the tar header at byte %" PRIu64 " has a size of %" PRIu64 ", the pax header before it %"
                       PRIu64, t->f->name, t->at, *size, t->size);
    if (t->has_size) *size = t->size;
    const uint64_t left = t->f->size - t->at - BLOCK;
    if (*size > left)
        return err_set(t->e, STENO_EFORMAT, "%s: the tar header at byte %" PRIu64 " announces %" PRIu64 " bytes, but the file has %" PRIu64
                       " more; is the copy complete?", t->f->name, t->at, *size, left);
    return STENO_OK;
}

/* ---- names */

static int set_name(struct tar_reader *t, const char *s, size_t n)
{
    if (!n || n > TAR_NAME_MAX || memchr(s, 0, n)) return bad(t, "has a name of no bytes, of more than 511, or with a NUL");
    memcpy(t->name, s, n);
    t->name[n] = 0;
    return STENO_OK;
}

static int take_name(struct tar_reader *t, const uint8_t *p)
{
    const char *name = (const char *)p + NAME_AT, *prefix = (const char *)p + PREFIX_AT;
    char joined[BLOCK];
    if (t->name[0]) return STENO_OK;
    const int has_prefix = !memcmp(p + MAGIC_AT, "ustar", 6) && *prefix;
    const int n = snprintf(joined, sizeof joined, "%.*s%s%.100s", has_prefix ? 155 : 0, prefix, has_prefix ? "/" : "", name);
    return set_name(t, joined, (size_t)n);
}

/* The name inside the archive, without "./". NULL: it leads elsewhere */
static const char *plain_name(const char *name)
{
    while (!strncmp(name, "./", 2)) name += 2;
    if (*name == '/') return NULL;
    for (const char *c = name; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == '\\') return NULL;
        if ((c == name || c[-1] == '/') && !strncmp(c, "..", 2) && (!c[2] || c[2] == '/')) return NULL;
    }
    return name;
}

/* ---- headers about the next header */

static int read_text(const struct tar_reader *t, uint64_t size, char **text)
{
    *text = NULL;
    if (size > PAX_MAX) return bad(t, "describes a member in more than 64 KiB");
    *text = arena_alloc(t->a, (size_t)size + 1);
    if (!*text) return err_nomem(t->e, (size_t)size, "a tar header");
    (*text)[size] = 0;
    return file_read(t->f, t->at + BLOCK, *text, (size_t)size, t->e);
}

static int take_record(struct tar_reader *t, const char *key, const char *value, size_t n, int is_global)
{
    const int is_path = !strncmp(key, "path=", 5), is_size = !strncmp(key, "size=", 5);
    if (!strncmp(key, "GNU.sparse", 10)) return bad(t, "describes a sparse file");
    if (!is_path && !is_size) return STENO_OK;
    if (is_global) return bad(t, "gives one path or size to all members");
    if (is_path) return set_name(t, value, n);
    t->size = 0;
    t->has_size = n > 0;
    for (size_t i = 0; i < n; i++) {
        if (value[i] < '0' || value[i] > '9' || i > 18) return bad(t, "has a pax size that is not a number");
        t->size = 10 * t->size + (uint64_t)(value[i] - '0');
    }
    return n ? STENO_OK : bad(t, "has an empty pax size");
}

/* "LENGTH KEY=VALUE\n"; LENGTH counts all of it. */
static int read_pax(struct tar_reader *t, uint64_t size, int is_global)
{
    char *text;
    int rc = read_text(t, size, &text);
    for (size_t at = 0, len; at < size && !rc; at += len) {
        size_t i = at;
        for (len = 0; i < size && i < at + 6 && text[i] >= '0' && text[i] <= '9'; i++) len = 10 * len + (size_t)(text[i] - '0');
        if (i == at || len > size - at || text[i] != ' ' || len < i - at + 3 || text[at + len - 1] != '\n')
            return bad(t, "has a pax record whose length is wrong");
        const char *key = text + i + 1, *end = text + at + len - 1, *value = memchr(key, '=', (size_t)(end - key));
        if (!value) return bad(t, "has a pax record without '='");
        rc = take_record(t, key, value + 1, (size_t)(end - value - 1), is_global);
    }
    return rc;
}

static int read_long_name(struct tar_reader *t, uint64_t size)
{
    char *text;
    const int rc = read_text(t, size, &text);
    return rc ? rc : set_name(t, text, strlen(text));
}

/* ---- members */

const struct tar_member *tar_find(const struct tar *t, const char *name)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (!strcmp(t->member[i].name, name)) return &t->member[i];
    return NULL;
}

static int add_member(struct tar_reader *t, const char *name, uint64_t size)
{
    struct tar *to = t->tar;
    if (tar_find(to, name)) return err_set(t->e, STENO_EFORMAT, "%s: %s is in the tar archive twice", t->f->name, name);
    if (to->n == TAR_MEMBERS_MAX)
        return err_set(t->e, STENO_EFORMAT, "%s: more than %d members in a tar archive", t->f->name, TAR_MEMBERS_MAX);
    if (!to->member) to->member = arena_array(t->a, TAR_MEMBERS_MAX, sizeof *to->member);
    char *copy = arena_strdup(t->a, name, strlen(name));
    if (!to->member || !copy) return err_nomem(t->e, sizeof *to->member, "the members of a tar archive");
    to->member[to->n++] = (struct tar_member){ copy, t->at + BLOCK, size };
    return STENO_OK;
}

static int read_member(struct tar_reader *t, const uint8_t *p, int type, uint64_t size)
{
    int rc = take_name(t, p);
    const char *name = rc ? NULL : plain_name(t->name);
    if (!rc && !name) rc = bad(t, "has a name that leads out of the archive");
    if (rc) return rc;
    const size_t n = strlen(name);
    if (type == '5' && size) return bad(t, "is of a folder with bytes");
    if (type != '5' && (!n || name[n - 1] == '/')) return bad(t, "is of a file without a name");
    rc = type == '5' ? STENO_OK : add_member(t, name, size);
    t->name[0] = 0;
    t->has_size = 0;
    return rc;
}

static int read_header(struct tar_reader *t, const uint8_t *p, uint64_t *size)
{
    const int type = p[TYPE_AT];
    const int describes = type == 'x' || type == 'g' || type == 'L';
    if (describes && t->has_size) return bad(t, "follows another one that gives a size");
    int rc = memcmp(p + MAGIC_AT, "ustar", 5) ? bad(t, "is not one of POSIX or GNU") : check_sum(t, p);
    if (!rc) rc = read_size(t, p, size);
    if (rc) return rc;
    if (type == 'x' || type == 'g') return read_pax(t, *size, type == 'g');
    if (type == 'L') return read_long_name(t, *size);
    if (type != '0' && type && type != '5')
        return err_set(t->e, STENO_EFORMAT, "%s: the tar header at byte %" PRIu64 " is of type 0x%02x; want files and folders", t->f->name,
                       t->at, (unsigned)type);
    return read_member(t, p, type, *size);
}

static int is_zero(const uint8_t *p)
{
    for (unsigned i = 0; i < BLOCK; i++)
        if (p[i]) return 0;
    return 1;
}

int tar_open(struct tar *tar, const struct file *f, struct arena *a, steno_error *e)
{
    struct tar_reader t = { .f = f, .a = a, .e = e, .tar = tar };
    uint8_t p[BLOCK];
    *tar = (struct tar){ .n = 0 };
    for (uint32_t i = 0; i < 4 * TAR_MEMBERS_MAX; i++) {
        uint64_t size = 0;
        if (t.at > f->size || f->size - t.at < BLOCK)
            return err_set(e, STENO_EFORMAT, "%s: the tar archive ends without an end record; is the copy complete?", f->name);
        int rc = file_read(f, t.at, p, sizeof p, e);
        if (!rc && is_zero(p)) return t.name[0] || t.has_size ? bad(&t, "ends the archive, but a member is announced") : STENO_OK;
        if (!rc) rc = read_header(&t, p, &size);
        if (rc) return rc;
        t.at += BLOCK + (size + BLOCK - 1) / BLOCK * BLOCK;
    }
    return bad(&t, "is one too many");
}

/* ---- a member as a file */

struct tar_part { struct file whole; uint64_t offset; };

static int read_part(const void *user, uint64_t off, void *dst, size_t n, steno_error *e)
{
    const struct tar_part *p = user;
    return file_read(&p->whole, p->offset + off, dst, n, e);
}

int tar_member_file(struct file *out, const struct file *f, const struct tar_member *m, struct arena *a, steno_error *e)
{
    const size_t n = strlen(f->name) + strlen(m->name) + 2;
    struct tar_part *part = arena_array(a, 1, sizeof *part);
    char *name = arena_alloc(a, n);
    if (!part || !name) return err_nomem(e, sizeof *part + n, "a member of a tar archive");
    snprintf(name, n, "%s:%s", f->name, m->name);
    *part = (struct tar_part){ *f, m->offset };
    *out = (struct file){ .name = name, .size = m->size, .fd = -1, .read = read_part, .user = part };
    return STENO_OK;
}
