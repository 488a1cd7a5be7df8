/* steno: results as files in an output folder. SPDX-License-Identifier: MIT */
#include "result_files.h"
#include "atomic_file.h"
#include "out_name.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* path: malloc'd, or NULL */
static int set_path(struct result_files *r, char *path)
{
    free(r->path);
    r->reason = NULL;
    r->why = 0;
    r->path = path;
    return r->path ? RESULT_FILES_OK : RESULT_FILES_NO_MEMORY;
}

static int by_path_guard(int status)
{
    return status == LEDGER_OK ? RESULT_FILES_OK : status == LEDGER_NO_MEMORY ? RESULT_FILES_NO_MEMORY : RESULT_FILES_REFUSED;
}

static int fail(struct result_files *r)
{
    r->why = errno;
    r->reason = r->why ? strerror(r->why) : "write error";
    return r->why == ENOMEM ? RESULT_FILES_NO_MEMORY : RESULT_FILES_FAILED;
}

/* Checks that an output is not read or written elsewhere in this run, and that it can be written. */
static int plan_one(struct result_files *r, const char *path)
{
    int code = set_path(r, strdup(path));
    if (code == RESULT_FILES_OK) code = by_path_guard(path_guard_plan(r->path_guard, r->path));
    if (code == RESULT_FILES_OK) r->reason = atomic_file_fault(r->path);
    return r->reason ? RESULT_FILES_FAILED : code;
}

int result_files_plan(struct result_files *r, const struct out_names *names)
{
    int code = RESULT_FILES_OK;
    for (size_t i = 0; i < names->n && code == RESULT_FILES_OK; i++) code = plan_one(r, names->entry[i].path);
    return code;
}

/* The folder of an input is not created: without the folder there is no input. */
static int can_prepare(const struct result_files *r, const char *input)
{
    struct stat st;
    if (!out_folder_is_beside(r->naming.dir)) return 1;
    char *own = out_folder("@", input);
    const int there = own && stat(own, &st) == 0;
    free(own);
    return there;
}

int result_files_prepare(struct result_files *r, char *const *inputs, int n)
{
    int code = RESULT_FILES_OK;
    const int n_folders = out_folder_is_beside(r->naming.dir) ? n : 1;
    free(r->path);
    r->path = NULL;
    for (int i = 0; i < n_folders && code == RESULT_FILES_OK; i++) {
        char *folder = out_folder(r->naming.dir, inputs[i]);
        const int is_same = folder && r->path && strcmp(folder, r->path) == 0;
        code = set_path(r, folder);
        if (code == RESULT_FILES_OK && !is_same && can_prepare(r, inputs[i]) && atomic_file_prepare(folder)) code = fail(r);
    }
    return code;
}

/* Folders that a template names are first used here. The output folder itself was swept when names were planned. */
static void sweep_folder(struct result_files *r)
{
    const char *template = r->naming.template;
    const size_t n = (size_t)(strrchr(r->path, '/') - r->path);
    if (!template || !strchr(template, '/') || (r->folder && strncmp(r->folder, r->path, n) == 0 && !r->folder[n])) return;
    free(r->folder);
    r->folder = strndup(r->path, n);
    if (r->folder) atomic_file_sweep(r->folder);
}

/* A sink to a stream that also hashes the bytes. */
struct hashed { struct sink to; struct stamp_bytes *bytes; };

static int write_hashed(void *user, const char *bytes, size_t n)
{
    struct hashed *h = user;
    stamp_add(h->bytes, bytes, n);
    sink_bytes(&h->to, bytes, n);
    return h->to.failed;
}

static int write_path(struct result_files *r, const struct transcript *t, int format)
{
    struct atomic_file out;
    sweep_folder(r);
    if (atomic_file_open(&out, r->path)) return fail(r);
    errno = 0;
    struct hashed hashed = { sink_to_stream(out.f), &r->bytes };
    struct sink to = { .write = write_hashed, .user = &hashed };
    r->bytes = stamp_no_bytes();
    if (writers[format].begin) writers[format].begin(&to, t->source);
    writers[format].write(&to, t);
    if (to.failed && !ferror(out.f)) { /* the writer ran out of memory */
        atomic_file_abort(&out);
        errno = ENOMEM;
        return fail(r);
    }
    return atomic_file_commit(&out) ? fail(r) : by_path_guard(path_guard_wrote(r->path_guard, r->path));
}

int result_files_write(struct result_files *r, const char *input, const struct transcript *t, int format)
{
    int code = set_path(r, out_names_one(NULL, &r->naming, input, format, t->language));
    if (code == RESULT_FILES_OK) code = by_path_guard(path_guard_check(r->path_guard, r->path)); /* the language is only known now */
    return code == RESULT_FILES_OK ? write_path(r, t, format) : code;
}

void result_files_free(struct result_files *r)
{
    free(r->path);
    free(r->folder);
    r->path = r->folder = NULL;
}
