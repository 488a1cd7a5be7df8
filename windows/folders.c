/* steno: names in folders, and patterns of names, on Windows. SPDX-License-Identifier: MIT */
#include "win.h"

struct win_dir {
    HANDLE find; /* INVALID_HANDLE_VALUE: an empty root of a drive, which has not even . and .. */
    int fd; /* of the folder; -1: not opened yet */
    int n;  /* names given out */
    char *path;
    WIN32_FIND_DATAW it;
    struct dirent entry;
};

DIR *opendir(const char *path)
{
    const size_t n = strlen(path);
    struct stat st;
    int is_open = 0;
    DIR *d = calloc(1, sizeof *d);
    char *all = d ? malloc(n + 3) : NULL;
    if (all) snprintf(all, n + 3, "%s%s", path, n && path[n - 1] == '/' ? "*" : "/*");
    wchar_t *wide = all ? win_path(all) : NULL;
    if (d) *d = (DIR){ .find = INVALID_HANDLE_VALUE, .fd = -1, .path = strdup(path) };
    if (wide && d->path) {
        d->find = n ? FindFirstFileW(wide, &d->it) : (SetLastError(ERROR_PATH_NOT_FOUND), INVALID_HANDLE_VALUE);
        is_open = d->find != INVALID_HANDLE_VALUE;
        if (!is_open) win_fail();
        if (!is_open && errno == ENOENT && stat(path, &st) == 0) {
            is_open = S_ISDIR(st.st_mode);
            errno = ENOTDIR;
        }
    }
    free(wide);
    free(all);
    if (is_open) return d;
    const int why = errno;
    if (d) free(d->path);
    free(d);
    errno = why;
    return NULL;
}

DIR *fdopendir(int fd)
{
    const HANDLE h = win_handle(fd);
    char *path = h == INVALID_HANDLE_VALUE ? NULL : win_final_path(h);
    DIR *d = path ? opendir(path) : NULL;
    free(path);
    if (d) d->fd = fd;
    return d;
}

int dirfd(DIR *d)
{
    if (d->fd < 0) d->fd = open(d->path, O_RDONLY | O_DIRECTORY);
    return d->fd;
}

/* At the end errno stays. */
struct dirent *readdir(DIR *d)
{
    if (d->find == INVALID_HANDLE_VALUE) return NULL;
    while (!d->n++ || FindNextFileW(d->find, &d->it))
        if (WideCharToMultiByte(CP_UTF8, 0, d->it.cFileName, -1, d->entry.d_name, sizeof d->entry.d_name, NULL, NULL) > 0) return &d->entry;
    if (GetLastError() != ERROR_NO_MORE_FILES) win_fail();
    return NULL;
}

int closedir(DIR *d)
{
    if (d->find != INVALID_HANDLE_VALUE) FindClose(d->find);
    if (d->fd >= 0) close(d->fd);
    free(d->path);
    free(d);
    return 0;
}

int alphasort(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int by_name(const void *a, const void *b)
{
    return alphasort((const struct dirent **)a, (const struct dirent **)b);
}

/* Sorted by name, whatever `order` is: there is no other. */
int scandir(const char *path, struct dirent ***out, int (*filter)(const struct dirent *),
            int (*order)(const struct dirent **, const struct dirent **))
{
    struct dirent **all = NULL;
    const int before = errno;
    int n = 0, cap = 0, bad = 0;
    DIR *d = opendir(path);
    (void)order;
    if (!d) return -1;
    errno = 0;
    for (struct dirent *e; !bad && (e = readdir(d));) {
        if (filter && !filter(e)) continue;
        if (n == cap) {
            struct dirent **more = realloc(all, (size_t)(cap = cap ? 2 * cap : 16) * sizeof *all);
            if (more) all = more;
            else bad = 1;
        }
        const size_t sz = strlen(e->d_name) + 1;
        struct dirent *copy = bad ? NULL : malloc(sz);
        if (copy) all[n++] = memcpy(copy, e, sz);
        else bad = 1;
    }
    const int why = bad ? ENOMEM : errno;
    closedir(d);
    if (why) {
        while (n > 0) free(all[--n]);
        free(all);
        errno = why;
        return -1;
    }
    errno = before;
    if (n) qsort(all, (size_t)n, sizeof *all, by_name);
    *out = all;
    return n;
}

/* ---- patterns ---------------------------------------------------------------------------------------------------------------- */

/* Does the set that begins behind `[` at p contain c? *end: behind the set, NULL if it is not closed */
static int in_set(const char *p, unsigned char c, const char **end)
{
    const int inverse = *p == '!' || *p == '^';
    int found = 0;
    p += inverse;
    for (const char *first = p; *p && (*p != ']' || p == first); p++) {
        const unsigned char low = (unsigned char)*p;
        const int is_range = p[1] == '-' && p[2] && p[2] != ']';
        if (is_range) p += 2;
        found |= c >= low && c <= (unsigned char)*p;
    }
    *end = *p ? p + 1 : NULL;
    return found != inverse;
}

/* Both in small letters, because names differ by more than case. \ takes a pattern's special meaning from the next character.
 *
 * One * is tried again with one byte more whenever what follows it does not match. */
static int matches(const char *pattern, const char *name)
{
    const char *star = NULL, *from = NULL, *end;
    if (name[0] == '.' && pattern[0] != '.') return 0;
    while (*name) {
        if (*pattern == '*') {
            star = ++pattern;
            from = name;
            continue;
        }
        if (*pattern == '[') {
            const int is_in = in_set(pattern + 1, (unsigned char)*name, &end);
            if (end ? is_in : *name == '[') {
                pattern = end ? end : pattern + 1;
                name++;
                continue;
            }
        } else if (*pattern == '?' || (*pattern && (*pattern == '\\' ? pattern[1] : *pattern) == *name)) {
            name++;
            if (*pattern == '\\') pattern++;
            else if (*pattern == '?') /* a whole character */
                while ((*name & 0xc0) == 0x80) name++;
            pattern++;
            continue;
        }
        if (!star) return 0;
        pattern = star;
        name = ++from;
    }
    while (*pattern == '*') pattern++;
    return !*pattern;
}

static int add(glob_t *g, char *path)
{
    if (path && g->gl_pathc == g->cap) {
        const size_t cap = g->cap ? 2 * g->cap : 16;
        char **more = realloc(g->gl_pathv, cap * sizeof *more);
        if (more) g->gl_pathv = more, g->cap = cap;
    }
    if (path && g->gl_pathc < g->cap) {
        g->gl_pathv[g->gl_pathc++] = path;
        return 0;
    }
    free(path);
    return GLOB_NOSPACE;
}

static char *joined(const char *dir, const char *name, size_t n)
{
    const size_t at = strlen(dir), need = at + n + 2;
    char *path = malloc(need);
    if (path) snprintf(path, need, "%s%s%.*s", dir, at && dir[at - 1] != '/' ? "/" : "", (int)n, name);
    return path;
}

static char *small(const char *text)
{
    wchar_t *wide = win_wide(text);
    if (wide) CharLowerW(wide);
    char *all = wide ? win_utf8(wide) : NULL;
    free(wide);
    return all;
}

/* A part without special characters, without its \. */
static void unescape(char *part)
{
    char *to = part;
    for (const char *p = part; *p; p++)
        if (*p != '\\' || !p[1]) *to++ = *p;
        else *to++ = *++p;
    *to = '\0';
}

static int is_special(const char *part)
{
    for (; *part; part++)
        if (*part == '\\' && part[1]) part++;
        else if (strchr("*?[", *part)) return 1;
    return 0;
}

/* Adds to `to` what one part of the pattern matches in folder dir. */
static int expand_part(glob_t *to, const char *dir, const char *part, size_t n, int is_last)
{
    struct dirent **entry;
    struct stat st;
    char *literal = strndup(part, n), *pattern = literal ? small(literal) : NULL;
    int rc = pattern ? 0 : GLOB_NOSPACE;
    if (!rc && !is_special(pattern)) {
        unescape(literal);
        char *path = joined(dir, literal, strlen(literal));
        if (path && stat(path, &st)) free(path);
        else rc = add(to, path);
    } else if (!rc) {
        const int n_entries = scandir(dir[0] ? dir : ".", &entry, NULL, alphasort);
        for (int i = 0; i < n_entries; i++) {
            const char *name = entry[i]->d_name;
            char *name_small = rc ? NULL : small(name), *path = NULL;
            if (!rc && !name_small) rc = GLOB_NOSPACE;
            if (name_small && matches(pattern, name_small)) path = joined(dir, name, strlen(name));
            free(name_small);
            if (path && (is_last || (stat(path, &st) == 0 && S_ISDIR(st.st_mode)))) rc = add(to, path);
            else free(path);
            free(entry[i]);
        }
        if (n_entries >= 0) free(entry);
        else if (errno == ENOMEM) rc = GLOB_NOSPACE;
    }
    free(pattern);
    free(literal);
    return rc;
}

void globfree(glob_t *g)
{
    for (size_t i = 0; i < g->gl_pathc; i++) free(g->gl_pathv[i]);
    free(g->gl_pathv);
    *g = (glob_t){ 0 };
}

/* The length of what is no pattern: "/", "C:/" or "//server/share/". */
static size_t root_of(const char *pattern)
{
    size_t n = strspn(pattern, "/");
    if (n == 2)
        for (int i = 0; i < 2; i++) {
            n += strcspn(pattern + n, "/");
            n += strspn(pattern + n, "/");
        }
    else if (!n && pattern[0] && pattern[1] == ':') n = 2 + strspn(pattern + 2, "/");
    return n;
}

/* Part by part: the paths so far are the folders of the next part. */
int glob(const char *pattern, int flags, int (*fault)(const char *, int), glob_t *g)
{
    const size_t root = root_of(pattern);
    glob_t now = { 0 };
    int rc = add(&now, strndup(pattern, root));
    (void)flags, (void)fault;
    for (const char *at = pattern + root; *at && !rc;) {
        const size_t n = strcspn(at, "/"), behind = n + strspn(at + n, "/");
        glob_t next = { 0 };
        for (size_t i = 0; i < now.gl_pathc && !rc; i++) rc = expand_part(&next, now.gl_pathv[i], at, n, !at[behind]);
        globfree(&now);
        now = next;
        at += behind;
    }
    *g = now;
    if (!rc && !g->gl_pathc) rc = GLOB_NOMATCH;
    if (rc) globfree(g);
    return rc;
}
