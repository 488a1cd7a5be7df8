/* steno: runs that go on where they were ended. SPDX-License-Identifier: MIT */
#include "resume.h"
#include "message.h"
#include "out_name.h"
#include "path.h"
#include "print.h"
#include "sound.h"
#include "steno_out.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char kept[] = ".steno_resume"; /* in the output folder */
enum { ENDS = 1 << 14 /* bytes at each end of an input that are looked at */ };

static uint64_t hash(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * UINT64_C(1099511628211);
    return h;
}

/* Both ends of a file, as a number. */
static uint64_t hash_ends(const char *file, off_t size)
{
    char bytes[ENDS];
    uint64_t h = UINT64_C(14695981039346656037);
    const int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return h;
    ssize_t n = pread(fd, bytes, sizeof bytes, 0);
    if (n > 0) h = hash(h, bytes, (size_t)n);
    n = size > ENDS ? pread(fd, bytes, sizeof bytes, size - ENDS) : 0;
    if (n > 0) h = hash(h, bytes, (size_t)n);
    close(fd);
    return h;
}

/* Whether it is a file that is the same when it is read again; *st: of it. */
static int is_kept(const struct resume *r, const char *file, struct stat *st)
{
    return r->dir && strcmp(file, "-") != 0 && stat(file, st) == 0 && S_ISREG(st->st_mode);
}

/* "DIR/.steno_resume" of an input; malloc'd, NULL: no memory */
static char *folder_of(const struct resume *r, const char *file)
{
    char *dir = out_folder(r->dir, file), *folder = dir ? path_join(dir, kept) : NULL;
    free(dir);
    return folder;
}

/* "DIR/.steno_resume/0123456789abcdef.0": of a channel of an input's track; malloc'd, NULL: no memory */
static char *path_of(const struct resume *r, const char *file, int track, int channel)
{
    char name[64], of_track[16] = "", *whole = realpath(file, NULL), *folder = folder_of(r, file);
    const char *said = whole ? whole : file;
    if (track > 1) snprintf(of_track, sizeof of_track, ".t%d", track);
    snprintf(name, sizeof name, "%016llx%s.%d", (unsigned long long)hash(UINT64_C(14695981039346656037), said, strlen(said)), of_track,
             channel == JOB_MIX ? 0 : channel + 1);
    char *path = folder ? path_join(folder, name) : NULL;
    free(folder);
    free(whole);
    return path;
}

/* malloc'd, NULL: no memory */
static char *key_of(const struct resume *r, const char *file, const struct stat *st)
{
    char about[160];
    snprintf(about, sizeof about, "size %lld time %lld.%09ld ends %016llx\n", (long long)st->st_size, (long long)st->st_mtim.tv_sec,
             st->st_mtim.tv_nsec, (unsigned long long)hash_ends(file, st->st_size));
    char *key = malloc(strlen(about) + strlen(r->run) + 1);
    if (key) strcpy(stpcpy(key, about), r->run);
    return key;
}

/* ---- the run ----------------------------------------------------------------------------------------------------------------- */

/* Files of the model, with sizes and times. */
static size_t put_model(char *out, size_t n, const steno_model *m)
{
    size_t at = 0;
    const char *file;
    struct stat st;
    for (int i = 0; (file = steno_model_file(m, i)) != NULL; i++)
        if (stat(file, &st) == 0)
            at += (size_t)snprintf(out ? out + at : NULL, out ? n - at : 0, "%s %lld %lld\n", file, (long long)st.st_size,
                                   (long long)st.st_mtim.tv_sec);
    return at;
}

int resume_begin(struct resume *r, int n_slots, const steno_model *m, const char *options)
{
    if (!r->dir) return EXIT_OK;
    const size_t n = put_model(NULL, 0, m) + strlen(options) + 64;
    r->run = r->made = malloc(n);
    r->slot = calloc((size_t)n_slots, sizeof *r->slot);
    if (!r->made || !r->slot) {
        message("out of memory for what is in hand");
        return EXIT_MEMORY;
    }
    r->n_slots = n_slots;
    for (int i = 0; i < n_slots; i++) r->slot[i].journal.fd = -1;
    const int at = snprintf(r->made, n, "steno %s\n", steno_version());
    const size_t model = put_model(r->made + at, n - (size_t)at, m);
    snprintf(r->made + at + model, n - (size_t)at - model, "%s", options);
    return EXIT_OK;
}

/* Whether results are where they would be written; where the language or the run decides that is not known. */
static int has_results(const struct resume *r, const char *file, int place)
{
    static const char *const decide[] = { "{language}", "{date}", "{time}" };
    struct out_naming of = *r->naming;
    int has = 1;
    of.index = place;
    for (size_t i = 0; i < sizeof decide / sizeof *decide; i++)
        if (of.mark || out_template_has(of.template, decide[i])) return 1;
    for (int f = 0; f < N_WRITERS && has; f++) {
        if (!(of.formats >> f & 1)) continue;
        char *path = out_names_one(NULL, &of, file, f, "");
        has = path && access(path, F_OK) == 0;
        free(path);
    }
    return has;
}

static int is_finished(const struct resume *r, const char *file, int place)
{
    struct stat st;
    struct journal j = { .fd = -1 };
    if (!is_kept(r, file, &st)) return 0;
    char *path = path_of(r, file, 0, JOB_MIX), *key = key_of(r, file, &st);
    const int found = path && key ? journal_read(&j, path, key) : -1;
    journal_close(&j);
    free(path);
    free(key);
    return found == JOURNAL_DONE && has_results(r, file, place);
}

int resume_skip(struct resume *r, char **files, int *place, int *n)
{
    int left = 0;
    if (!r->dir || !r->wanted) return EXIT_OK;
    for (int i = 0; i < *n; i++) {
        if (is_finished(r, files[i], place[i])) continue;
        files[left] = files[i];
        place[left++] = place[i];
    }
    if (left < *n && !r->quiet) message("%d of %d inputs were finished before", *n - left, *n);
    *n = left;
    return EXIT_OK;
}

/* ---- inputs in hand ---------------------------------------------------------------------------------------------------------- */

static void slot_close(struct resume_slot *s, int leave)
{
    journal_close(&s->journal);
    if (s->path && !leave) unlink(s->path);
    free(s->path);
    free(s->key);
    *s = (struct resume_slot){ .journal.fd = -1 };
}

const void *resume_data(struct resume *r, const struct job_input *in, size_t *n)
{
    struct stat st;
    struct resume_slot *s = &r->slot[in->slot];
    *n = 0;
    slot_close(s, 1);
    if (!is_kept(r, in->file, &st)) return NULL;
    s->path = path_of(r, in->file, in->track, in->channel);
    s->key = key_of(r, in->file, &st);
    const int found = s->path && s->key ? journal_read(&s->journal, s->path, s->key) : JOURNAL_NONE;
    if (!r->wanted) {
        journal_close(&s->journal);
        return NULL;
    }
    if (found == JOURNAL_OTHER && !r->quiet)
        message("%s: what is kept of it is of another model, other options or another file; it begins anew", sound_name(in->file));
    if (found != JOURNAL_BEGUN || !s->journal.n) {
        journal_close(&s->journal);
        return NULL;
    }
    if (!r->quiet) message("%s: going on where it was ended", sound_name(in->file));
    *n = s->journal.n;
    return s->journal.data;
}

/* Where the folder cannot be written nothing is kept; results are what counts. */
void resume_point(struct resume *r, const struct job_input *in, const void *data, size_t n)
{
    struct resume_slot *s = &r->slot[in->slot];
    if (!s->path || !s->key) return;
    if (s->journal.fd < 0 && journal_open(&s->journal, s->path, s->key, s->journal.n > 0)) {
        slot_close(s, 1);
        return;
    }
    if (journal_add(&s->journal, data, n)) slot_close(s, 1);
}

void resume_failed(struct resume *r, const struct job_input *in)
{
    if (r->slot) r->slot[in->slot].failed = 1;
}

/* What is kept of its tracks and channels. */
static void remove_parts(const struct resume *r, const struct job_input *in)
{
    const int last_track = in->track > 1 ? in->track : 1, n = in->channel == JOB_MIX ? 0 : in->most_channels;
    for (int track = 1; track <= last_track; track++)
        for (int c = -1; c < n; c++) {
            char *path = path_of(r, in->file, track, c < 0 ? JOB_MIX : c);
            if (path) unlink(path);
            free(path);
        }
}

void resume_done(struct resume *r, const struct job_input *in)
{
    struct stat st;
    if (!r->slot) return;
    struct resume_slot *s = &r->slot[in->slot];
    const int failed = s->failed;
    slot_close(s, 0);
    if (failed || !is_kept(r, in->file, &st)) return;
    remove_parts(r, in);
    if (!r->wanted && r->n_inputs < 2) return;
    char *path = path_of(r, in->file, 0, JOB_MIX), *key = key_of(r, in->file, &st);
    if (path && key) journal_finish(path, key);
    free(path);
    free(key);
}

/* ---- the end ----------------------------------------------------------------------------------------------------------------- */

static void tell_stopped(const struct resume *r)
{
    for (int i = 0; i < r->n_slots; i++) {
        const struct resume_slot *s = &r->slot[i];
        if (s->journal.fd < 0) continue;
        message("stopped; what was found up to %lld:%02lld:%02lld is kept in %.*s: the same command with --resume goes on there",
                (long long)(s->at_ms / 3600000), (long long)(s->at_ms / 60000 % 60), (long long)(s->at_ms / 1000 % 60),
                (int)(strrchr(s->path, '/') - s->path), s->path);
    }
}

/* If nothing is in it. */
static void remove_folder(const struct resume *r, const char *file)
{
    char *folder = folder_of(r, file);
    if (folder) rmdir(folder);
    free(folder);
}

void resume_end(struct resume *r, char **files, int n, int stopped)
{
    if (!r->dir) return;
    if (stopped && !r->quiet) tell_stopped(r);
    for (int i = 0; i < r->n_slots; i++) slot_close(&r->slot[i], stopped);
    for (int i = 0; i < n && !stopped && !r->wanted; i++) {
        char *path = path_of(r, files[i], 0, JOB_MIX);
        if (path) unlink(path);
        free(path);
    }
    for (int i = 0; i < n; i++) remove_folder(r, files[i]);
    free(r->slot);
    free(r->made);
}
