/* steno: runs that go on after they were ended. SPDX-License-Identifier: MIT */
#include "input/resume.h"
#include "atomic_file.h"
#include "cli/message.h"
#include "input/resume_keys.h"
#include "input/sound.h"
#include "out_name.h"
#include "path.h"
#include "stamp.h"
#include "writers.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the run ----------------------------------------------------------------------------------------------------------------- */

/* Write the run's part of a key: version, model files with size and time, processor and options. The first word of a line names its
 * subject. */
static void put_run(struct sink *f, const steno_model *const *models, int n, const char *options)
{
    const char *file;
    struct stat st;
    steno_model_info info = { .size = sizeof info };
    steno_model_info_get(models[0], &info);
    sink_format(f, "steno %s\n", steno_version());
    for (int k = 0; k < n; k++)
        for (int i = 0; (file = steno_model_file(models[k], i)) != NULL; i++)
            if (stat(file, &st) == 0) sink_format(f, "model %s %lld %lld\n", file, (long long)st.st_size, (long long)st.st_mtim.tv_sec);
    sink_format(f, "processor %s %s\noptions %s", info.compute, info.cpu_level, options);
}

int resume_begin(struct resume *r, int n_slots, const steno_model *const *models, int n, const char *options)
{
    if (!r->dir) return EXIT_OK;
    struct sink_memory run = { 0 };
    struct sink f = sink_to_memory(&run);
    put_run(&f, models, n, options);
    r->run = r->made = run.p;
    r->slot = calloc((size_t)n_slots, sizeof *r->slot);
    if (f.failed || !r->made || !r->slot) {
        message("out of memory for resume data");
        return EXIT_MEMORY;
    }
    r->n_slots = n_slots;
    for (int i = 0; i < n_slots; i++) r->slot[i].journal.fd = -1;
    return EXIT_OK;
}

/* ---- running inputs ---------------------------------------------------------------------------------------------------------- */

static void slot_close(struct resume_slot *s, int leave)
{
    journal_close(&s->journal);
    if (s->path && !leave) unlink(s->path);
    free(s->path);
    free(s->key);
    s->path = s->key = NULL;
}

/* Report, once per run, that no journal can be kept; errno has the reason. */
static void report_given_up(struct resume *r, const struct job_input *in)
{
    const struct resume_slot *s = &r->slot[in->slot];
    const char *why = errno == EINVAL ? "it is not a regular file; remove it" : errno == EFBIG ? "it is too large" : strerror(errno);
    const char *path = s->path ? s->path : sound_name(in->file);
    if (!r->reported && !r->quiet) message("%s: %s. Results are still written, but --resume cannot continue %s", path, why,
                                           r->n_inputs > 1 ? "such inputs" : "this input");
    r->reported = 1;
}

/* Stop keeping the journal of this input; errno has the reason. Data that was kept before stays. */
static void give_up(struct resume *r, const struct job_input *in)
{
    report_given_up(r, in);
    slot_close(&r->slot[in->slot], 1);
}

/* Remove the slot's journal file. Its data stays in memory, because the library may still read it. @return 1 if there was a file, else 0 */
static int slot_drop(struct resume_slot *s)
{
    const int was = s->path && unlink(s->path) == 0;
    if (s->journal.fd >= 0) close(s->journal.fd);
    s->journal.fd = -1;
    free(s->path);
    free(s->key);
    s->path = s->key = NULL;
    return was;
}

/* Remove the journals of the input's tracks and channels. @return the number of removed files */
static int remove_parts(const struct resume *r, const struct job_input *in)
{
    const int last_track = in->track > 1 ? in->track : 1, n = in->channel == JOB_MIX ? 0 : in->most_channels;
    int n_removed = 0;
    for (int track = 1; track <= last_track; track++)
        for (int c = -1; c < n; c++) {
            char *path = resume_path_of(r, in->file, track, c < 0 ? JOB_MIX : c);
            n_removed += path && unlink(path) == 0;
            free(path);
        }
    return n_removed;
}

int resume_make_room(struct resume *r, const struct job_input *in)
{
    if (!r->slot) return 0;
    struct resume_slot *s = &r->slot[in->slot];
    const int was = s->path && access(s->path, F_OK) == 0;
    errno = ENOSPC;
    if (was) report_given_up(r, in);
    int n = slot_drop(s) + remove_parts(r, in);
    if (n) return 1;
    for (int i = 0; i < r->n_slots; i++) n += slot_drop(&r->slot[i]);
    for (int i = 0; i < r->n_written; i++) n += unlink(r->finished[i]) == 0;
    r->no_room = 1;
    errno = ENOSPC;
    if (n) report_given_up(r, in);
    return n > 0;
}

/* Report a journal that cannot be used, or that the run continues from. */
static void report_found(const struct resume *r, const struct job_input *in, int found)
{
    const char *name = sound_name(in->file);
    const struct resume_slot *s = &r->slot[in->slot];
    if (r->quiet) return;
    if (found == JOURNAL_OTHER)
        message("%s: its journal is of another run (%s); it starts again", name, resume_difference(s->key, s->journal.other));
    if (found == JOURNAL_VERSION) message("%s: its journal %s is of another version of steno; it starts again", name, s->path);
    if (found == JOURNAL_DAMAGED) message("%s: its journal %s is damaged; it starts again", name, s->path);
    if (found == JOURNAL_BEGUN && s->journal.n)
        message("%s: continues where it ended%s", name, s->journal.damaged ? ", as far as its journal is not damaged" : "");
    else if (found == JOURNAL_BEGUN && s->journal.damaged) message("%s: its journal %s is damaged; it starts again", name, s->path);
}

const void *resume_data(struct resume *r, const struct job_input *in, size_t *n)
{
    struct stat st;
    struct resume_slot *s = &r->slot[in->slot];
    *n = 0;
    slot_close(s, 1);
    s->at_ms = s->spent_us = 0;
    s->failed = s->useless = 0;
    if (!resume_is_kept(r, in->file, &st)) return NULL;
    s->path = resume_path_of(r, in->file, in->track, in->channel);
    s->key = resume_key_of(r, in->file, &st);
    errno = ENOMEM;
    if (!s->path || !s->key) {
        give_up(r, in);
        return NULL;
    }
    const int found = journal_read(&s->journal, s->path, s->key), has = found == JOURNAL_BEGUN && s->journal.n;
    if (found < 0) {
        give_up(r, in);
        return NULL;
    }
    if (r->requested) report_found(r, in, found);
    else if (has && !r->quiet)
        message("%s: an interrupted run has left a journal; without --resume it starts again", sound_name(in->file));
    if (!has || !r->requested) {
        journal_close(&s->journal);
        return NULL;
    }
    s->spent_us = s->journal.spent_us;
    *n = s->journal.n;
    return s->journal.data;
}

/* If the folder cannot be written, no journal is kept and the run continues: results matter more. */
void resume_point(struct resume *r, const struct job_input *in, const void *data, size_t n, int64_t spent_us)
{
    struct resume_slot *s = &r->slot[in->slot];
    if (!s->path || !s->key || r->no_room) return;
    int bad = s->journal.fd < 0 && journal_open(&s->journal, s->path, s->key, s->journal.n > 0);
    if (!bad) bad = journal_add(&s->journal, data, n, s->spent_us + spent_us);
    if (bad) give_up(r, in);
}

int64_t resume_spent(const struct resume *r, const struct job_input *in)
{
    return r->slot ? r->slot[in->slot].spent_us : 0;
}

void resume_wrote(struct resume *r, const struct job_input *in, const char *path, int format, const struct stamp_bytes *bytes)
{
    if (!r->slot) return;
    struct resume_slot *s = &r->slot[in->slot];
    struct resume_result *more = realloc(s->result, ((size_t)s->n_results + 1) * sizeof *more);
    if (more) s->result = more;
    const struct resume_result made = { more ? strdup(path) : NULL, more ? resume_name_of(r->naming, in->file, format) : NULL, *bytes };
    if (made.path && made.name) {
        s->result[s->n_results++] = made;
        return;
    }
    free(made.path);
    free(made.name);
    s->unnamed = 1;
}

static void free_results(struct resume_slot *s)
{
    for (int i = 0; i < s->n_results; i++) {
        free(s->result[i].path);
        free(s->result[i].name);
    }
    free(s->result);
}

void resume_failed(struct resume *r, const struct job_input *in, int useless)
{
    if (!r->slot) return;
    r->slot[in->slot].failed = 1;
    r->slot[in->slot].useless |= useless;
}

/* Writes the names of the results, each ends with NUL. They are relative to the output folder, because that folder may be moved. */
static void put_names(struct sink *f, const struct resume_slot *s, const char *dir)
{
    const size_t n_dir = strlen(dir);
    for (int i = 0; i < s->n_results; i++) {
        const char *name = s->result[i].path;
        size_t skip = strncmp(name, dir, n_dir) == 0 ? n_dir : 0;
        while (skip && name[skip] == '/') skip++;
        sink_bytes(f, name + skip, strlen(name + skip) + 1);
    }
}

/* Takes over the slot's path. Without memory the only effect is that the journal is not removed later. */
static void remember_finished(struct resume *r, struct resume_slot *s)
{
    char **more = realloc(r->finished, ((size_t)r->n_written + 1) * sizeof *more);
    if (!more) return;
    r->finished = more;
    r->finished[r->n_written++] = s->path;
    s->path = NULL;
}

/* Store the key in each result of the input. Only now it is certain that all of them are complete. */
static void stamp_results(const struct resume *r, const struct job_input *in, const struct stat *st)
{
    const struct resume_slot *s = &r->slot[in->slot];
    char *key = s->unnamed ? NULL : resume_key_of(r, in->file, st);
    for (int i = 0; key && i < s->n_results; i++) {
        const struct stamp_origin origin = { .key = key, .name = s->result[i].name, .at = i, .n = s->n_results };
        stamp_put(s->result[i].path, &s->result[i].bytes, &origin);
    }
    free(key);
}

/* Record in the input's journal that it is finished. */
static void finish(struct resume *r, const struct job_input *in, const struct stat *st)
{
    struct resume_slot *s = &r->slot[in->slot];
    char *dir = out_folder(r->dir, in->file);
    struct sink_memory names = { 0 };
    struct sink f = sink_to_memory(&names);
    s->path = resume_path_of(r, in->file, 0, JOB_MIX);
    s->key = resume_key_of(r, in->file, st);
    errno = ENOMEM;
    int bad = !dir || !s->path || !s->key || s->unnamed;
    if (!bad) put_names(&f, s, dir);
    if (!bad && f.failed) bad = 1;
    if (!bad) bad = journal_finish(s->path, s->key, names.p, names.n);
    if (bad) give_up(r, in);
    else remember_finished(r, s);
    slot_close(s, 1);
    free(names.p);
    free(dir);
}

static void report_kept(const struct resume_slot *s, const char *in_front)
{
    message("%s; the text up to %lld:%02lld:%02lld is kept in %.*s: the same command with --resume continues there", in_front,
            (long long)(s->at_ms / 3600000), (long long)(s->at_ms / 60000 % 60), (long long)(s->at_ms / 1000 % 60),
            (int)(strrchr(s->path, '/') - s->path), s->path);
}

static int has_journal(const struct resume_slot *s)
{
    return s->path && (s->journal.fd >= 0 || s->journal.n);
}

void resume_done(struct resume *r, const struct job_input *in)
{
    struct stat st;
    if (!r->slot) return;
    struct resume_slot *s = &r->slot[in->slot];
    const int failed = s->failed, leave = failed && !s->useless && has_journal(s);
    if (leave && !r->quiet) report_kept(s, sound_name(in->file));
    r->n_kept += leave;
    r->n_finished += !failed;
    slot_close(s, leave);
    if (!failed && resume_is_kept(r, in->file, &st)) {
        remove_parts(r, in);
        stamp_results(r, in, &st);
        if (!r->no_room && (r->requested || r->n_inputs > 1)) finish(r, in, &st);
    }
    free_results(s);
    *s = (struct resume_slot){ .journal.fd = -1 };
}

/* ---- the end ----------------------------------------------------------------------------------------------------------------- */

static void report_ended(const struct resume *r)
{
    int n = 0;
    for (int i = 0; i < r->n_slots; i++) {
        if (!has_journal(&r->slot[i])) continue;
        report_kept(&r->slot[i], "stopped");
        n++;
    }
    if (r->n_inputs > 1 && r->n_finished)
        message("stopped; %d of %d inputs are finished: the same command with --resume does the others", r->n_finished, r->n_inputs);
    else if (!n && !r->n_kept) message("stopped; there is no text yet to keep");
}

/* Remove temporary files of a killed process, and the folder if it is then empty. */
static void clear_folder(const char *folder)
{
    atomic_file_sweep(folder);
    rmdir(folder);
}

/* The run completed: remove the journals of its inputs. */
static void remove_finished(const struct resume *r, char **files, int n)
{
    for (int i = 0; i < n; i++) {
        char *path = resume_path_of(r, files[i], 0, JOB_MIX);
        if (path) unlink(path);
        free(path);
    }
}

void resume_end(struct resume *r, char **files, int n, int ended)
{
    char *last = NULL;
    if (!r->dir) return;
    if (ended && r->slot && !r->quiet) report_ended(r);
    for (int i = 0; i < r->n_slots; i++) {
        slot_close(&r->slot[i], 1);
        free_results(&r->slot[i]);
    }
    if (!ended && !r->requested && !r->n_kept) remove_finished(r, files, n);
    for (int i = 0; i < n; i++) {
        char *folder = resume_folder_of(r, files[i]);
        if (folder && !(last && strcmp(folder, last) == 0)) clear_folder(folder);
        free(last);
        last = folder;
    }
    free(last);
    for (int i = 0; i < r->n_written; i++) free(r->finished[i]);
    free(r->finished);
    free(r->slot);
    free(r->made);
}
