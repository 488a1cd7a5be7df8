/* steno: the files that a run reads and writes. SPDX-License-Identifier: MIT */
#include "path_guard.h"
#include "path.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* READ, PLANNED and WRITTEN are existing files. NAMED is a name in a folder, with or without a file. */
enum role { NONE, READ, PLANNED, WRITTEN, NAMED };

struct path_guard_entry {
    enum role role;    /* NONE: the place is free */
    uint64_t dev, ino; /* of the file; NAMED: of the folder, 0 if it does not exist */
    char *name;        /* NAMED only: name in the folder, or the whole path */
    char *path;        /* as named by the user, for messages */
    const char *what;  /* READ only */
};

static int refuse(struct path_guard *l, int status, const char *path, const char *what, const char *other)
{
    l->refused = (struct path_guard_refusal){ .status = status, .path = path, .what = what, .other = other };
    return status;
}

/* ---- the table --------------------------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t hash_of(const struct path_guard_entry *e)
{
    uint64_t h = mix(mix(mix(1, (uint64_t)e->role), e->dev), e->ino);
    for (const char *p = e->name ? e->name : ""; *p; p++) h = mix(h, (unsigned char)*p);
    return h;
}

static int is_same(const struct path_guard_entry *a, const struct path_guard_entry *b)
{
    return a->role == b->role && a->dev == b->dev && a->ino == b->ino &&
           (a->role != NAMED || strcmp(a->name, b->name) == 0);
}

/* The place of `key`: its entry, or the free place for it. The table has room. */
static struct path_guard_entry *place_of(struct path_guard *l, const struct path_guard_entry *key)
{
    size_t i = hash_of(key) & (l->cap - 1);
    for (;; i = (i + 1) & (l->cap - 1)) {
        l->n_looks++;
        if (!l->entry[i].role || is_same(&l->entry[i], key)) return &l->entry[i];
    }
}

static const struct path_guard_entry *find(struct path_guard *l, enum role role, const struct stat *st)
{
    const struct path_guard_entry key = { .role = role, .dev = (uint64_t)st->st_dev, .ino = (uint64_t)st->st_ino };
    const struct path_guard_entry *e = l->cap ? place_of(l, &key) : NULL;
    return e && e->role ? e : NULL;
}

/* Makes room for another entry; half of the places stay free. */
static int grow(struct path_guard *l)
{
    if (2 * (l->n + 1) <= l->cap) return 0;
    struct path_guard big = { .cap = l->cap ? 2 * l->cap : 64 };
    big.entry = calloc(big.cap, sizeof *big.entry);
    if (!big.entry) return -1;
    for (size_t i = 0; i < l->cap; i++)
        if (l->entry[i].role) *place_of(&big, &l->entry[i]) = l->entry[i];
    free(l->entry);
    l->entry = big.entry;
    l->cap = big.cap;
    l->n_looks += big.n_looks;
    return 0;
}

static void entry_free(struct path_guard_entry *e)
{
    free(e->name);
    free(e->path);
}

/* Adds an entry unless it exists; name and path are copied. */
static int add(struct path_guard *l, struct path_guard_entry key)
{
    const char *name = key.name;
    key.name = name ? strdup(name) : NULL;
    key.path = strdup(key.path);
    if (!key.path || (name && !key.name) || grow(l)) {
        entry_free(&key);
        return LEDGER_NO_MEMORY;
    }
    struct path_guard_entry *e = place_of(l, &key);
    if (e->role) entry_free(&key);
    else *e = key, l->n++;
    return LEDGER_OK;
}

static int add_file(struct path_guard *l, enum role role, const struct stat *st, const char *what, const char *path)
{
    return add(l, (struct path_guard_entry){ .role = role, .dev = (uint64_t)st->st_dev, .ino = (uint64_t)st->st_ino, .what = what,
                                         .path = (char *)(uintptr_t)path });
}

void path_guard_free(struct path_guard *l)
{
    for (size_t i = 0; i < l->cap; i++) entry_free(&l->entry[i]);
    free(l->entry);
    free(l->folder);
    memset(l, 0, sizeof *l);
}

/* ---- files that are read ----------------------------------------------------------------------------------------------------- */

/* Writing to a device such as /dev/null destroys nothing. */
static int can_be_lost(const struct stat *st)
{
    return !S_ISCHR(st->st_mode);
}

int path_guard_read(struct path_guard *l, const char *what, const char *path)
{
    struct stat st;
    l->n_looks++;
    if ((strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &st) : stat(path, &st)) || !can_be_lost(&st)) return LEDGER_OK;
    const struct path_guard_entry *planned = find(l, PLANNED, &st);
    return planned ? refuse(l, LEDGER_READ, planned->path, what, NULL) : add_file(l, READ, &st, what, path);
}

/* ---- files that are written -------------------------------------------------------------------------------------------------- */

/* Identifies the folder of `target`. The last one is cached, because consecutive outputs often share it. */
static int find_folder(struct path_guard *l, const char *target, size_t n)
{
    struct stat st;
    if (l->folder && strncmp(l->folder, target, n) == 0 && !l->folder[n]) return LEDGER_OK;
    free(l->folder);
    l->folder = strndup(target, n);
    if (!l->folder) return LEDGER_NO_MEMORY;
    l->n_looks++;
    const int missing = stat(n ? l->folder : ".", &st);
    l->folder_dev = missing ? 0 : (uint64_t)st.st_dev;
    l->folder_ino = missing ? 0 : (uint64_t)st.st_ino;
    return LEDGER_OK;
}

/* Adds an output by folder and name, with links resolved: `target` is the file that will be written. */
static int add_name(struct path_guard *l, const char *path, const char *target)
{
    const char *slash = strrchr(target, '/'), *name = slash ? slash + 1 : target;
    const int code = find_folder(l, target, (size_t)(name - target));
    if (code != LEDGER_OK) return code;
    const struct path_guard_entry key = { .role = NAMED, .dev = l->folder_dev, .ino = l->folder_ino, .path = (char *)(uintptr_t)path,
                                      .name = (char *)(uintptr_t)(l->folder_ino ? name : target) };
    const struct path_guard_entry *other = l->cap ? place_of(l, &key) : NULL;
    if (!other || !other->role) return add(l, key);
    return refuse(l, LEDGER_PLANNED_TWICE, path, NULL, other->path);
}

int path_guard_plan(struct path_guard *l, const char *path)
{
    struct stat st;
    char *target = path_target(path);
    if (!target) return errno == ENOMEM ? LEDGER_NO_MEMORY : LEDGER_OK; /* circular links are reported when the file is opened */
    l->n_looks++;
    const int exists = stat(target, &st) == 0;
    const struct path_guard_entry *read = exists ? find(l, READ, &st) : NULL;
    int code = read ? refuse(l, LEDGER_READ, path, read->what, NULL) : LEDGER_OK;
    if (code == LEDGER_OK && exists && can_be_lost(&st)) code = add_file(l, PLANNED, &st, NULL, path);
    if (code == LEDGER_OK && (!exists || S_ISREG(st.st_mode))) code = add_name(l, path, target);
    free(target);
    return code;
}

int path_guard_check(struct path_guard *l, const char *path)
{
    struct stat st;
    l->n_looks++;
    if (stat(path, &st)) return LEDGER_OK;
    const struct path_guard_entry *read = find(l, READ, &st);
    if (read) return refuse(l, LEDGER_READ, path, read->what, NULL);
    return find(l, WRITTEN, &st) ? refuse(l, LEDGER_WRITTEN, path, NULL, NULL) : LEDGER_OK;
}

int path_guard_wrote(struct path_guard *l, const char *path)
{
    struct stat st;
    l->n_looks++;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? add_file(l, WRITTEN, &st, NULL, path) : LEDGER_OK;
}

int path_guard_plan_open(struct path_guard *l, int fd, const char *name)
{
    struct stat st;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) return LEDGER_OK;
    const struct path_guard_entry *read = find(l, READ, &st);
    return read ? refuse(l, LEDGER_READ, name, read->what, NULL) : add_file(l, PLANNED, &st, NULL, name);
}
