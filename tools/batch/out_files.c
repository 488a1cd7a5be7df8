/* steno: files of a batch's results, beside its JSON lines. SPDX-License-Identifier: MIT */
#include "batch/out_files.h"
#include "cli/message.h"
#include "out_name.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_KEPT = 32, NAME_RESULT = 64 }; /* flags of an entry, beside those of ids.h */

static int no_memory(void)
{
    message("out of memory for the names of files");
    return EXIT_MEMORY;
}

/* ---- names ------------------------------------------------------------------------------------------------------------------- */

/* The path that names are made of: the input's own, with its id in place of the stem if the manifest gave one. @return malloc'd, or NULL */
static char *named_after(const struct manifest_item *it)
{
    if (strcmp(it->id, it->path) == 0) return strdup(it->path);
    const char *slash = strrchr(it->path, '/'), *ext = out_ext(it->path);
    const size_t n = slash ? (size_t)(slash - it->path) + 1 : 0;
    char *part = out_part(it->id), *path = part ? malloc(n + strlen(part) + strlen(ext) + 2) : NULL;
    if (path) {
        memcpy(path, it->path, n);
        sprintf(path + n, "%s.%s", part, ext);
    }
    free(part);
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

/* The entry of a path's name in its true folder. @return NULL: no memory */
static struct id_entry *enter(struct batch_files *f, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    if (look_up(f, slash ? path : ".", slash ? (size_t)(base - path) : 1)) return NULL;
    const size_t n = strlen(f->real);
    char *full = malloc(n + strlen(base) + 2);
    if (!full) return NULL;
    sprintf(full, "%s/%s", f->real, base);
    const struct id_key key = id_key_of(full);
    free(full);
    return id_enter(&f->names, &key);
}

int batch_files_keep(struct batch_files *f, const char *path)
{
    if (!f->files.naming.dir || !strcmp(path, "-")) return EXIT_OK;
    struct id_entry *e = enter(f, path);
    if (!e) return no_memory();
    e->flags |= NAME_KEPT;
    return EXIT_OK;
}

static int refuse(const char *path, long long line, const char *why)
{
    return message_usage("line %lld of the manifest: its result would be %s, %s", line, path, why);
}

/* Enter the name of one result. line: of the manifest */
static int plan_one(struct batch_files *f, const char *input, int format, long long line)
{
    size_t below;
    char *path = out_names_one(&below, &f->files.naming, input, format, NULL);
    struct id_entry *e = path ? enter(f, path) : NULL;
    int code = EXIT_OK;
    if (!e) code = no_memory();
    else if (out_name_fault(path + below)) code = refuse(path + below, line, out_name_fault(path + below));
    else if (e->flags & NAME_KEPT) code = refuse(path, line, "which this run reads or writes itself; give another folder");
    else if (e->flags & NAME_RESULT)
        code = refuse(path, line, "as that of an earlier line; give both an \"id\", or put {dir} or {ext} into --output-template");
    else e->flags |= NAME_RESULT;
    free(path);
    return code;
}

int batch_files_plan(struct batch_files *f, const struct manifest_item *it, long long line)
{
    if (!f->files.naming.dir) return EXIT_OK;
    if (out_folder_is_beside(f->files.naming.dir) && !out_input_has_folder(it->path))
        return message_usage("line %lld of the manifest: --output-dir %s: %s has no folder", line, f->files.naming.dir, it->path);
    struct id_entry *own = strcmp(it->path, "-") ? enter(f, it->path) : NULL;
    if (!own && strcmp(it->path, "-")) return no_memory();
    if (own && own->flags & NAME_RESULT) return refuse(it->path, line, "which is also the result of an earlier line; give another folder");
    if (own) own->flags |= NAME_KEPT;
    char *input = named_after(it);
    int code = input ? EXIT_OK : no_memory();
    for (int format = 0; format < N_WRITERS && code == EXIT_OK; format++)
        if (f->files.naming.formats >> format & 1) code = plan_one(f, input, format, line);
    free(input);
    return code;
}

/* ---- options ----------------------------------------------------------------------------------------------------------------- */

static int check_template(const char *template)
{
    static const char *const unsteady[] = { "{n}", "{date}", "{time}", "{model}" };
    const char *word;
    const size_t n = template ? out_template_unknown(template, &word) : 0;
    if (n) return message_usage("--output-template: %.*s is unknown; here it takes {stem}, {ext}, {dir}, {format} and {language}",
                                (int)n, word);
    for (size_t i = 0; template && i < sizeof unsteady / sizeof *unsteady; i++)
        if (out_template_has(template, unsteady[i]))
            return message_usage("--output-template: %s is not known before the run, when names are compared; leave it out", unsteady[i]);
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
    int code = check_template(naming->template);
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

int batch_files_write(struct batch_files *f, const struct manifest_item *it, const struct transcript *t)
{
    struct path_guard *shared = f->files.path_guard, own = { 0 }; /* of this input alone, so that memory does not grow with the files */
    char *input = named_after(it);
    int status = input && path_guard_read(&own, "the input", it->path) == LEDGER_OK ? RESULT_FILES_OK : RESULT_FILES_NO_MEMORY;
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
