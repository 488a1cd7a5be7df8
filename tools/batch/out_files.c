/* steno: files of a batch's results, beside its JSON lines. SPDX-License-Identifier: MIT */
#include "batch/out_files.h"
#include "address.h"
#include "cli/message.h"
#include "out_name.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_KEPT = 32, NAME_RESULT = 64, NAME_EACH = 128 }; /* flags of an entry, beside those of ids.h */

static int no_memory(void)
{
    message("out of memory for the names of files");
    return EXIT_MEMORY;
}

/* ---- names ------------------------------------------------------------------------------------------------------------------- */

/* The path that names are made of: the input's own, with its id in place of the stem if the manifest gave one, or if it is one of several
 * parts. @return malloc'd, or NULL */
static char *named_after(const struct manifest_item *it)
{
    if (it->is_named_by_path || strcmp(it->id, it->path) == 0) return strdup(it->path);
    char *from = address_path(it->path), *part = out_part(it->id);
    const char *slash = from ? strrchr(from, '/') : NULL, *ext = from ? out_ext(from) : "";
    const size_t n = slash ? (size_t)(slash - from) + 1 : 0;
    char *path = from && part ? malloc(n + strlen(part) + strlen(ext) + 2) : NULL;
    if (path) {
        memcpy(path, from, n);
        sprintf(path + n, "%s.%s", part, ext);
    }
    free(part);
    free(from);
    return path;
}

/* Look up a folder, unless it was the last one. @return 0, or -1: no memory */
static int look_up(struct batch_files *f, const char *folder, size_t n)
{
    if (f->folder && strlen(f->folder) == n && memcmp(f->folder, folder, n) == 0) return 0;
    free(f->folder);
    free(f->real);
    f->folder = strndup(folder, n);
    f->real = f->folder ? realpath(f->folder, NULL) : NULL;
    if (f->folder && !f->real) f->real = strdup(f->folder); /* it is not there yet */
    return f->real ? 0 : -1;
}

/* The last mark of a track or channel in a path's name, of *n bytes, or NULL. */
static const char *mark_in(size_t *n, const struct batch_files *f, const char *path)
{
    const char *at = strrchr(path, '/'), *found = NULL;
    for (at = at ? at : path; (at = strchr(at, '.')) != NULL; at++) {
        const size_t k = out_mark_length(at, f->has_tracks, f->is_split);
        if (k) found = at, *n = k;
    }
    return found;
}

/* The entry of a path's name in its true folder, without its mark of n_mark bytes; mark NULL: the whole name. @return NULL: no memory */
static struct id_entry *enter(struct batch_files *f, const char *path, const char *mark, size_t n_mark)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    if (look_up(f, slash ? path : ".", slash ? (size_t)(base - path) : 1)) return NULL;
    const size_t n = strlen(f->real) + strlen(base) + 3;
    char *full = malloc(n);
    if (!full) return NULL;
    const int before = mark ? (int)(mark - base) : (int)strlen(base);
    snprintf(full, n, "%s/%.*s%s%s", f->real, before, base, mark ? "/" : "", mark ? mark + n_mark : ""); /* no name has this slash */
    const struct id_key key = id_key_of(full);
    free(full);
    return id_enter(&f->names, &key);
}

/* Enter a path as that of a file that is read, of a result, or of the results of each track and channel (NAME_EACH), and collect the flags
 * of names that are equal. @return 0, or -1: no memory */
static int enter_as(unsigned *met, struct batch_files *f, const char *path, unsigned flag)
{
    const int is_each = flag == NAME_EACH;
    struct id_entry *e = is_each ? NULL : enter(f, path, NULL, 0);
    size_t n = 0;
    *met = e ? e->flags : 0;
    if (!is_each && !e) return -1;
    if (e) e->flags |= (uint16_t)flag;
    const char *mark = mark_in(&n, f, path);
    if (!mark) return 0;
    if (!(e = enter(f, path, mark, n))) return -1;
    *met |= is_each ? e->flags : e->flags & NAME_EACH;
    e->flags |= (uint16_t)flag;
    return 0;
}

int batch_files_keep(struct batch_files *f, const char *path)
{
    unsigned met;
    if (!f->files.naming.dir || !strcmp(path, "-")) return EXIT_OK;
    return enter_as(&met, f, path, NAME_KEPT) ? no_memory() : EXIT_OK;
}

static int refuse(const char *path, long long line, const char *why)
{
    return message_usage("line %lld of the manifest: its result would be %s, %s", line, path, why);
}

/* The path of a result, with its mark. */
static char *path_of(size_t *below, const struct batch_files *f, const char *input, int format, const char *mark)
{
    struct out_naming naming = f->files.naming;
    naming.mark = mark[0] ? mark : NULL;
    return out_names_one(below, &naming, input, format, NULL);
}

/* Does the path have a mark behind that of its result, which would be taken for it? `shown` differs from it in the number after `word`. */
static int is_unclear(const struct batch_files *f, const char *path, const char *shown, const char *word)
{
    size_t same = 0, n = 0;
    while (path[same] && path[same] == shown[same]) same++;
    return mark_in(&n, f, path) + strlen(word) != path + same;
}

static int check_name(const struct batch_files *f, const struct batch_line *at, const char *path, const char *shown, unsigned met)
{
    const char *const word = f->has_tracks ? ".track" : ".ch";
    char why[96];
    snprintf(why, sizeof why, "where a second %s would be taken for the %s; change its name", word, f->has_tracks ? "track" : "channel");
    if (shown != path && is_unclear(f, path, shown, word)) return refuse(shown, at->line, why);
    if (met & NAME_KEPT) return refuse(shown, at->line, "which this run reads or writes itself; give another folder");
    if (met & (NAME_RESULT | NAME_EACH))
        return refuse(shown, at->line,
                      "as that of an earlier line; give both an \"id\", or put {dir}, {ext} or {n} into --output-template");
    return EXIT_OK;
}

/* Enter the name of one result, or those of each track and channel. */
static int plan_one(struct batch_files *f, const char *input, int format, const struct batch_line *at)
{
    const int is_split = f->is_split && at->it->channel < 0, is_each = is_split || f->has_tracks;
    char mark[OUT_MARK_SZ], any[OUT_MARK_SZ];
    size_t below;
    unsigned met = 0;
    out_mark_text(mark, f->has_tracks, is_split ? 0 : -1, NULL);
    snprintf(any, sizeof any, "%s%s", f->has_tracks ? ".trackN" : "", is_split ? ".chN" : "");
    char *path = path_of(&below, f, input, format, mark), *shown = path && is_each ? path_of(NULL, f, input, format, any) : path;
    const char *fault = path ? out_name_fault(path + below) : NULL;
    const int is_full = !shown || enter_as(&met, f, path, is_each ? NAME_EACH : NAME_RESULT);
    int code = EXIT_OK;
    if (is_full) code = no_memory();
    else if (fault) code = refuse(shown, at->line, fault);
    else code = check_name(f, at, path, shown, met);
    if (shown != path) free(shown);
    free(path);
    return code;
}

/* The number of an input as names have it. @return 0: it is too large */
static int number_is(struct out_naming *naming, int64_t number)
{
    naming->index = number <= INT_MAX ? (int)number - 1 : 0;
    return number <= INT_MAX;
}

int batch_files_plan(struct batch_files *f, const struct batch_line *at)
{
    const struct manifest_item *it = at->it;
    unsigned met = 0;
    if (!f->files.naming.dir) return EXIT_OK;
    if (out_folder_is_beside(f->files.naming.dir) && !out_input_has_folder(it->path))
        return message_usage("line %lld of the manifest: --output-dir %s: %s has no folder", at->line, f->files.naming.dir, it->path);
    if (!number_is(&f->files.naming, at->number) && batch_files_count(f))
        return message_usage("line %lld of the manifest: {n} of --output-template ends at %d", at->line, INT_MAX);
    if (strcmp(it->path, "-") && enter_as(&met, f, it->path, NAME_KEPT)) return no_memory();
    if (met & (NAME_RESULT | NAME_EACH))
        return refuse(it->path, at->line, "which is also the result of an earlier line; give another folder");
    char *input = named_after(it);
    int code = input ? EXIT_OK : no_memory();
    for (int format = 0; format < N_WRITERS && code == EXIT_OK; format++)
        if (f->files.naming.formats >> format & 1) code = plan_one(f, input, format, at);
    free(input);
    return code;
}

/* ---- options ----------------------------------------------------------------------------------------------------------------- */

static int has_word(const struct batch_files *f, const char *word)
{
    return f->files.naming.dir && out_template_has(f->files.naming.template, word);
}

int batch_files_count(const struct batch_files *f)
{
    return has_word(f, "{n}");
}

int batch_files_are_dated(const struct batch_files *f)
{
    return has_word(f, "{date}") || has_word(f, "{time}");
}

int batch_files_name_model(const struct batch_files *f)
{
    return has_word(f, "{model}");
}

/* Does the last part of the template have {stem}, and no other part? */
static int marks_name(const char *template)
{
    const char *stem = strstr(template, "{stem}"), *slash = strrchr(template, '/');
    return stem && stem > slash && !strstr(stem + 1, "{stem}");
}

static int check_template(const char *template, const char *option, const char *mark)
{
    const char *word;
    const size_t n = template ? out_template_unknown(template, &word) : 0;
    if (n) return message_usage("--output-template: %.*s is unknown; it takes " OUT_PLACEHOLDERS, (int)n, word);
    if (template && option && !marks_name(template))
        return message_usage("%s: put {stem} once into the last part of --output-template, since %s follows it", option, mark);
    return EXIT_OK;
}

int batch_files_open(struct batch_files *f)
{
    struct out_naming *naming = &f->files.naming;
    if (!naming->dir && naming->template) return message_usage("--output-template needs --output-dir");
    if (!naming->dir != !naming->formats)
        return message_usage("%s", naming->dir ? "--output-dir needs the formats of the files: -f srt" :
                                                 "-f needs the folder of the files: --output-dir DIR; JSON lines go to -o");
    if (!naming->dir) return EXIT_OK;
    const char *const option = f->has_tracks ? "--audio-track all" : f->is_split ? "--channels split" : NULL;
    int code = check_template(naming->template, option, f->has_tracks ? ".track1" : ".ch0");
    if (code == EXIT_OK && naming->formats & (naming->formats - 1) && !out_template_has(naming->template, "{format}"))
        code = message_usage("two formats would have the same names; put {format} into --output-template");
    if (code != EXIT_OK || out_folder_is_beside(naming->dir)) return code;
    char *none = NULL;
    const int status = result_files_prepare(&f->files, &none, 1);
    if (status == RESULT_FILES_OK) return EXIT_OK;
    if (!f->files.path) return no_memory();
    message("%s: cannot write there: %s", f->files.path, f->files.reason);
    return EXIT_OUTPUT;
}

/* ---- writing ----------------------------------------------------------------------------------------------------------------- */

static int failed(struct batch_files *f, int status)
{
    f->reason = f->files.reason ? f->files.reason : "out of memory";
    if (status == RESULT_FILES_REFUSED) f->reason = "it would replace a file that is read";
    return status == RESULT_FILES_NO_MEMORY ? STENO_ENOMEM : STENO_EIO;
}

int batch_files_write(struct batch_files *f, const struct manifest_item *it, const struct transcript *t, int64_t number,
                      const struct batch_audio *of)
{
    char mark[OUT_MARK_SZ];
    struct path_guard *shared = f->files.path_guard, own = { 0 }; /* of this input alone, so that memory does not grow with the files */
    char *input = named_after(it);
    int status = input && path_guard_read(&own, "the input", it->path) == LEDGER_OK ? RESULT_FILES_OK : RESULT_FILES_NO_MEMORY;
    out_mark_text(mark, of->n_tracks ? of->track : 0, of->n_channels ? of->channel : -1, NULL);
    number_is(&f->files.naming, number);
    f->files.naming.mark = mark[0] ? mark : NULL;
    f->files.path_guard = &own;
    for (int format = 0; format < N_WRITERS && status == RESULT_FILES_OK; format++) {
        if (!(f->files.naming.formats >> format & 1)) continue;
        char *path = out_names_one(NULL, &f->files.naming, input, format, t->language);
        if (!path) status = RESULT_FILES_NO_MEMORY;
        else if (path_guard_check(shared, path) != LEDGER_OK) status = RESULT_FILES_REFUSED;
        else status = result_files_write(&f->files, input, t, format);
        free(path);
    }
    f->files.path_guard = shared;
    f->files.naming.mark = NULL;
    path_guard_free(&own);
    free(input);
    return status == RESULT_FILES_OK ? STENO_OK : failed(f, status);
}

void batch_files_free(struct batch_files *f)
{
    result_files_free(&f->files);
    id_set_free(&f->names);
    free(f->folder);
    free(f->real);
    f->folder = f->real = NULL;
}
