/* steno: skip inputs that already have results. SPDX-License-Identifier: MIT */
#include "cli/message.h"
#include "input/resume_keys.h"
#include "input/sound.h"
#include "out_name.h"
#include "path.h"
#include "stamp.h"
#include "writers.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- results of which the names are not fully known -------------------------------------------------------------------------- */

/* The names in folders, each read once; {0} is empty. */
struct resume_folders {
    struct resume_folder { char *path, **name; size_t n; } *folder; /* [n]; names are sorted */
    size_t n;
};

struct resume_paths { char **path; size_t n; }; /* {0} is empty */

static void resume_paths_free(struct resume_paths *p)
{
    for (size_t i = 0; i < p->n; i++) free(p->path[i]);
    free(p->path);
    *p = (struct resume_paths){ 0 };
}

static void resume_folders_free(struct resume_folders *f)
{
    for (size_t i = 0; i < f->n; i++) {
        struct resume_paths names = { f->folder[i].name, f->folder[i].n };
        resume_paths_free(&names);
        free(f->folder[i].path);
    }
    free(f->folder);
    *f = (struct resume_folders){ 0 };
}

/* Takes over `text`; NULL means that memory has run out. @return 0, or -1: no memory */
static int path_add(struct resume_paths *p, char *text)
{
    const int is_full = (p->n & (p->n + 1)) == 0; /* its room is the next power of two minus one */
    char **more = text && is_full ? realloc(p->path, 2 * (p->n + 1) * sizeof *more) : p->path;
    if (!text || !more) {
        free(text);
        return -1;
    }
    p->path = more;
    p->path[p->n++] = text;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Reads the names in a folder, sorted. A folder that cannot be read has none. @return 0, or -1: no memory */
static int read_folder(struct resume_paths *names, const char *path)
{
    int bad = 0;
    DIR *d = opendir(path);
    for (struct dirent *e = d ? readdir(d) : NULL; e && !bad; e = readdir(d))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) bad = path_add(names, strdup(e->d_name));
    if (d) closedir(d);
    if (names->n) qsort(names->path, names->n, sizeof *names->path, by_name);
    return bad;
}

/* @return the folder, or NULL: no memory */
static const struct resume_folder *folder_of(struct resume_folders *f, const char *path)
{
    for (size_t i = f->n; i-- > 0;)
        if (strcmp(f->folder[i].path, path) == 0) return &f->folder[i];
    struct resume_folder *more = realloc(f->folder, (f->n + 1) * sizeof *more);
    if (more) f->folder = more;
    char *own = more ? strdup(path) : NULL;
    struct resume_paths names = { 0 };
    if (!own || read_folder(&names, path)) {
        resume_paths_free(&names);
        free(own);
        return NULL;
    }
    f->folder[f->n] = (struct resume_folder){ own, names.path, names.n };
    return &f->folder[f->n++];
}

/* First name in a folder that is not before text[n]. */
static size_t first_from(const struct resume_folder *f, const char *text, size_t n)
{
    size_t low = 0, high = f->n;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (strncmp(f->name[mid], text, n) < 0) low = mid + 1;
        else high = mid;
    }
    return low;
}

/* Adds the paths in folder `dir` that match bytes [from, to) of a pattern. @return 0, or -1: no memory */
static int find_in(struct resume_paths *found, struct resume_folders *folders, const char *dir, const struct out_pattern *p, size_t from,
                   size_t to)
{
    size_t known = 0; /* bytes that precede the first unknown part */
    while (from + known < to && !p->kinds[from + known]) known++;
    if (from + known == to) {
        char *name = strndup(p->text + from, known);
        const int bad = !name || path_add(found, path_join(dir, name));
        free(name);
        return bad ? -1 : 0;
    }
    const struct resume_folder *f = folder_of(folders, dir);
    int bad = !f;
    for (size_t i = f ? first_from(f, p->text + from, known) : 0; !bad && i < f->n; i++) {
        if (strncmp(f->name[i], p->text + from, known) != 0) break;
        if (out_pattern_match(p, from, to, f->name[i])) bad = path_add(found, path_join(dir, f->name[i]));
    }
    return bad ? -1 : 0;
}

/* Finds the paths below `dir` that match a pattern. A name without unknown parts is returned, whether it exists or not.
 * @return 0, or -1: no memory; call resume_paths_free in any case */
static int resume_find(struct resume_paths *found, struct resume_folders *folders, const char *dir, const struct out_pattern *p)
{
    *found = (struct resume_paths){ 0 };
    int bad = path_add(found, strdup(dir));
    for (size_t from = 0, to; from <= p->n && !bad; from = to + 1) {
        struct resume_paths next = { 0 };
        for (to = from; to < p->n && (p->kinds[to] || p->text[to] != '/');) to++;
        for (size_t i = 0; i < found->n && !bad; i++) bad = find_in(&next, folders, found->path[i], p, from, to);
        resume_paths_free(found);
        *found = next;
    }
    return bad ? -1 : 0;
}

/* ---- results of an input ----------------------------------------------------------------------------------------------------- */

/* Why existing results are written again. */
struct again {
    int n[STAMP_MISSING + 1]; /* number of inputs by enum stamp_found */
    char word[STAMP_WORD_SZ]; /* the differing part of the first input with STAMP_OTHER */
};

/* Number `at` of the n results of an input. */
struct number { int at, n; };

/* Search of an input's results. */
struct search {
    const struct resume *r;
    struct resume_folders *folders;
    const char *file, *key;
    struct out_naming naming;
    struct number *number;    /* [n_numbers] of results that this command would write */
    size_t n_numbers;
    int n[STAMP_MISSING + 1]; /* files by enum stamp_found */
    int n_missing;            /* formats without a file */
    char word[STAMP_WORD_SZ]; /* the differing part of the first file with another key */
};

static int by_number(const void *a, const void *b)
{
    const struct number *x = a, *y = b;
    return x->n != y->n ? (x->n > y->n) - (x->n < y->n) : (x->at > y->at) - (x->at < y->at);
}

/* Are all results of the input there? A result may be there several times, of several runs. */
static int is_complete(struct search *s)
{
    int next = 0;
    if (s->n_numbers) qsort(s->number, s->n_numbers, sizeof *s->number, by_number);
    for (size_t i = 0; i < s->n_numbers; i++) {
        if (i && s->number[i].n != s->number[i - 1].n) next = 0;
        if (s->number[i].at == next) next++;
        if (next == s->number[i].n) return 1;
    }
    return 0;
}

/* Check one file. @return its enum stamp_found, or -1: no memory */
static int look_at(struct search *s, const char *path, const char *name)
{
    char word[STAMP_WORD_SZ];
    struct stamp_origin origin = { .key = s->key, .name = name };
    const int found = (int)stamp_look(path, &origin, word);
    if (found == STAMP_OTHER && !s->n[found]) memcpy(s->word, word, sizeof word);
    s->n[found]++;
    if (found != STAMP_SAME) return found;
    struct number *more = realloc(s->number, (s->n_numbers + 1) * sizeof *more);
    if (!more) return -1;
    s->number = more;
    s->number[s->n_numbers++] = (struct number){ origin.at, origin.n };
    return found;
}

/* Check the files that may be results in one format. @return 0, or -1: no memory */
static int look_at_format(struct search *s, int format)
{
    struct out_pattern p = { 0 };
    struct resume_paths paths = { 0 };
    char *dir = out_folder(s->r->dir, s->file), *name = resume_name_of(&s->naming, s->file, format);
    int bad = !dir || !name || out_names_pattern(&p, &s->naming, s->file, format), is_there = 0;
    if (!bad) {
        bad = resume_find(&paths, s->folders, dir, &p);
        const int is_name = out_pattern_is_name(&p);
        out_pattern_free(&p);
        for (size_t i = 0; i < paths.n && !bad; i++) {
            const int found = look_at(s, paths.path[i], name);
            bad = found < 0;
            is_there |= found < STAMP_RENAMED || (found == STAMP_RENAMED && is_name);
            if (found == STAMP_RENAMED && is_name) s->n[STAMP_NONE]++;
        }
    }
    resume_paths_free(&paths);
    s->n_missing += !is_there;
    free(dir);
    free(name);
    return bad ? -1 : 0;
}

/* Check all files that may be results of an input. @return an enum stamp_found for all of them together, or -1: no memory */
static int look_at_results(struct search *s)
{
    int bad = 0;
    for (int f = 0; f < N_WRITERS && !bad; f++)
        if (s->naming.formats >> f & 1) bad = look_at_format(s, f);
    if (bad) return -1;
    if (is_complete(s)) return STAMP_SAME;
    return s->n_missing ? STAMP_MISSING : s->n[STAMP_CHANGED] ? STAMP_CHANGED : s->n[STAMP_OTHER] ? STAMP_OTHER
           : s->n[STAMP_NONE] ? STAMP_NONE : STAMP_MISSING;
}

/* Would this command give the name to a result in the format? @return 1, 0, or -1: no memory */
static int is_own(const struct search *s, const char *name, int format)
{
    struct out_pattern p;
    if (out_names_pattern(&p, &s->naming, s->file, format)) return -1;
    const int is = out_pattern_match(&p, 0, p.n, name);
    out_pattern_free(&p);
    return is;
}

/* Check a file that a journal names. Its stamp may be missing, but not differ. @return 1, 0, or -1: no memory */
static int is_kept_result(struct search *s, const char *dir, const char *name)
{
    int is = 0;
    for (int f = 0; f < N_WRITERS && is == 0; f++) {
        if (!(s->naming.formats >> f & 1) || (is = is_own(s, name, f)) <= 0) continue;
        char *path = path_join(dir, name), *stamped = resume_name_of(&s->naming, s->file, f), word[STAMP_WORD_SZ];
        struct stamp_origin origin = { .key = s->key, .name = stamped };
        const int found = path && stamped ? (int)stamp_look(path, &origin, word) : -1;
        is = found < 0 ? -1 : found == STAMP_SAME || found == STAMP_NONE;
        free(path);
        free(stamped);
    }
    return is;
}

/* Are all results there that a journal of a finished input names? @return 1, 0, or -1: no memory */
static int has_kept_results(struct search *s, const struct journal *j)
{
    char *dir = out_folder(s->r->dir, s->file);
    int is = dir ? j->n && !j->data[j->n - 1] : -1; /* every name must end with NUL */
    for (size_t at = 0; is > 0 && at < j->n; at += strlen(j->data + at) + 1) is = is_kept_result(s, dir, j->data + at);
    free(dir);
    return is;
}

/* An input is finished if its results carry the key, also after a run without --resume. It is also finished if a journal records that
 * and no result carries another key. @return 1, 0, or -1 if out of memory */
static int is_finished(const struct resume *r, const char *file, int place, struct resume_folders *folders, struct again *again)
{
    struct stat st;
    struct journal j = { .fd = -1 };
    if (!resume_is_kept(r, file, &st)) return 0;
    char *path = resume_path_of(r, file, 0, JOB_MIX), *key = resume_key_of(r, file, &st);
    struct search s = { .r = r, .folders = folders, .file = file, .key = key, .naming = *r->naming };
    s.naming.index = place;
    errno = ENOMEM;
    const int kept_as = path && key ? journal_read(&j, path, key) : -1;
    const int no_memory = kept_as < 0 && errno == ENOMEM;
    int is = no_memory ? -1 : kept_as == JOURNAL_DONE ? has_kept_results(&s, &j) : 0;
    const int found = is ? STAMP_SAME : look_at_results(&s);
    if (!is) is = found < 0 ? -1 : found == STAMP_SAME;
    if (!is && found == STAMP_OTHER && !again->n[found]) memcpy(again->word, s.word, sizeof s.word);
    if (!is) again->n[found]++;
    journal_close(&j);
    free(s.number);
    free(path);
    free(key);
    return is;
}

static void report_again(const struct resume *r, const struct again *a, int n)
{
    if (r->quiet) return;
    if (a->n[STAMP_OTHER])
        message("%d of %d inputs have results of another run (%s%s): they are written again", a->n[STAMP_OTHER], n,
                a->n[STAMP_OTHER] > 1 ? "of the first " : "", resume_difference_of(a->word));
    if (a->n[STAMP_CHANGED])
        message("%d of %d inputs have results that were changed or damaged since: they are written again", a->n[STAMP_CHANGED], n);
    if (a->n[STAMP_NONE])
        message("%d of %d inputs have results without a record of their origin (copies, another program's, an older version's, or a file "
                "system without extended attributes): they are written again", a->n[STAMP_NONE], n);
}

int resume_skip(struct resume *r, char **files, int *place, int *n)
{
    int left = 0;
    struct again again = { .word = "" };
    struct resume_folders folders = { 0 };
    if (!r->dir || !r->requested) return EXIT_OK;
    for (int i = 0; i < *n; i++) {
        const int is = is_finished(r, files[i], place[i], &folders, &again);
        if (is < 0) {
            resume_folders_free(&folders);
            message("out of memory for resume data of %s", sound_name(files[i]));
            return EXIT_MEMORY;
        }
        if (is) continue;
        files[left] = files[i];
        place[left++] = place[i];
    }
    resume_folders_free(&folders);
    r->n_finished = *n - left;
    if (left < *n && !r->quiet) message("%d of %d inputs were finished before", *n - left, *n);
    report_again(r, &again, *n);
    *n = left;
    return EXIT_OK;
}
