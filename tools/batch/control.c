/* steno: which inputs of a batch run, and what becomes of them. SPDX-License-Identifier: MIT */
#include "batch/control.h"
#include "batch/journal_lines.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "verbs/transcribe.h"
#include "utf8.h"
#include "write.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AGAIN_MAX = 4096 }; /* inputs that wait for another attempt; more fail at once, so that a lost disk does not fill the memory */

static int fail(struct batch_control *c, int code)
{
    if (c->code == EXIT_OK) c->code = code;
    c->is_over = 1;
    return c->code;
}

static int no_memory(struct batch_control *c)
{
    if (c->code == EXIT_OK) message("out of memory for an input of the batch");
    return fail(c, EXIT_MEMORY);
}

/* ---- queues ------------------------------------------------------------------------------------------------------------------ */

static void queue_push(struct batch_queue *q, struct batch_work *w)
{
    if (!q->last) q->last = &q->first;
    w->next = NULL;
    *q->last = w;
    q->last = &w->next;
    q->n++;
}

static struct batch_work *queue_pop(struct batch_queue *q)
{
    struct batch_work *w = q->first;
    if (w) q->first = w->next, q->n--;
    if (!q->first) q->last = &q->first;
    return w;
}

/* ---- the manifest ------------------------------------------------------------------------------------------------------------ */

/* Enter the id of an input of this shard. @return its entry; NULL: it is of another shard (code EXIT_OK), or it was there, or there is no
 * memory */
static struct id_entry *enter(struct batch_control *c, const struct manifest_item *it, struct id_key *key)
{
    *key = id_key_of(it->id);
    if (id_shard(key, c->n_shards) != c->shard) return NULL;
    struct id_entry *e = id_enter(&c->ids, key);
    if (!e) return no_memory(c), NULL;
    if (c->is_checked || !(e->flags & ID_IN_MANIFEST)) {
        e->flags |= ID_IN_MANIFEST;
        return e;
    }
    fail(c, manifest_reader_twice(&c->reader, it->id));
    return NULL;
}

/* Read the next input, and enter the names of its files. @return 1, or 0 at the end or after a failure */
static int read_item(struct batch_control *c, struct manifest_item *it, const char **line)
{
    if (c->code != EXIT_OK || !manifest_reader_next(&c->reader, it, line)) {
        if (c->reader.code != EXIT_OK) fail(c, c->reader.code);
        return 0;
    }
    c->n_lines++;
    const struct batch_line at = { it, c->reader.lines.number, c->n_lines };
    const int code = c->is_checked || !c->files ? EXIT_OK : batch_files_plan(c->files, &at);
    if (code == EXIT_OK) return 1;
    manifest_item_free(it);
    fail(c, code);
    return 0;
}

int batch_control_check(struct batch_control *c)
{
    struct manifest_item it;
    struct id_key key;
    const char *line;
    if (manifest_reader_open(&c->reader, c->manifest) != EXIT_OK) return fail(c, c->reader.code);
    if (manifest_reader_is_pipe(&c->reader)) {
        if (c->files && batch_files_count(c->files))
            return fail(c, message_usage("--output-template: {n} needs a manifest that is a file, whose lines keep their numbers"));
        return EXIT_OK;
    }
    while (read_item(c, &it, &line)) {
        if (enter(c, &it, &key)) c->n_inputs++;
        manifest_item_free(&it);
    }
    if (c->code != EXIT_OK) return c->code;
    c->is_checked = 1;
    c->n_lines = 0;
    c->header.manifest_bytes = text_lines_at(&c->reader.lines);
    const int64_t n = manifest_hash(c->header.manifest_sha256, c->manifest, c->header.manifest_bytes);
    if (n != c->header.manifest_bytes) {
        message_file(c->manifest, n < 0 ? strerror(errno) : "it became shorter while it was read");
        return fail(c, EXIT_INPUT);
    }
    return manifest_reader_again(&c->reader) == EXIT_OK ? EXIT_OK : fail(c, c->reader.code);
}

/* ---- the journal ------------------------------------------------------------------------------------------------------------- */

static const char *shown_path(const struct batch_control *c)
{
    return strcmp(c->journal.path, "-") ? c->journal.path : "standard output";
}

static int not_written(struct batch_control *c)
{
    if (c->code != EXIT_OK) return c->code;
    const int why = errno;
    return fail(c, message_not_written(shown_path(c), why));
}

/* Take over a whole line. */
static int add_line(struct batch_control *c, char *line, size_t n)
{
    if (!line) return no_memory(c);
    if (c->code != EXIT_MEMORY && c->code != EXIT_OUTPUT && batch_journal_add(&c->journal, line, n)) not_written(c);
    free(line);
    return c->code;
}

static int add_mark(struct batch_control *c, const char *type, const struct batch_work *w)
{
    struct sink_memory memory = { 0 };
    struct sink f = sink_to_memory(&memory);
    sink_format(&f, "{\"type\": \"%s\", \"id\": ", type);
    utf8_json(&f, w->item.id);
    sink_format(&f, ", \"attempt\": %d}\n", w->attempt);
    if (f.failed) free(memory.p), memory.p = NULL;
    return add_line(c, memory.p, memory.n);
}

int batch_control_open(struct batch_control *c, const char *path, int may_exist)
{
    const enum journal_status how = batch_journal_open(&c->journal, path);
    if (how == BATCH_JOURNAL_FAILED) return not_written(c);
    if (how == BATCH_JOURNAL_BUSY) {
        message("%s: another process writes it; give each shard a file of its own", path);
        return fail(c, EXIT_OUTPUT);
    }
    if (how == BATCH_JOURNAL_UNLOCKED && !c->quiet) message("note: %s: its file system has no locks; no other process may write it", path);
    if (c->journal.is_stream && may_exist)
        return fail(c, message_usage("--resume needs a file: %s cannot be read again", shown_path(c)));
    if (c->journal.size && !may_exist)
        return fail(c, message_usage("%s exists; --resume continues it", path));
    return EXIT_OK;
}

static int add_header(struct batch_control *c)
{
    struct sink_memory memory = { 0 };
    struct sink f = sink_to_memory(&memory);
    struct transcript_source job = c->source;
    job.more = batch_header_write;
    job.user = &c->header;
    write_jsonl_job(&f, &job);
    if (f.failed) free(memory.p), memory.p = NULL;
    return add_line(c, memory.p, memory.n);
}

static int other_run(struct batch_control *c, const char *what, const char *was, const char *is)
{
    message("%s: %s of another run: %s there, %s here; use another file, and join both with --merge", c->journal.path, what,
            was[0] ? was : "none", is[0] ? is : "none");
    return fail(c, EXIT_USAGE);
}

/* Compare the journal's header with this run's. A manifest that only grew at its end is the same. */
static int compare_header(struct batch_control *c, const struct batch_header *was)
{
    const struct batch_header *is = &c->header;
    char start[SHA_HEX_SZ];
    if (strcmp(was->engine, is->engine)) return other_run(c, "it is by another version of steno, and", was->engine, is->engine);
    if (strcmp(was->model_sha256, is->model_sha256)) return other_run(c, "it has the model", was->model_sha256, is->model_sha256);
    if (strcmp(was->options_sha256, is->options_sha256))
        return other_run(c, "its first line has the options", was->options_sha256, is->options_sha256);
    if (strcmp(was->shard, is->shard)) return other_run(c, "it has the shard", was->shard, is->shard);
    if (c->files && batch_files_are_dated(c->files) && strcmp(was->begun, is->begun))
        return other_run(c, "it began at the time", was->begun, is->begun);
    if (!was->manifest_sha256[0] || !is->manifest_sha256[0] || !strcmp(was->manifest_sha256, is->manifest_sha256)) return EXIT_OK;
    if (was->manifest_bytes < is->manifest_bytes && manifest_hash(start, c->manifest, was->manifest_bytes) == was->manifest_bytes &&
        strcmp(start, was->manifest_sha256) == 0)
        return EXIT_OK;
    return other_run(c, "it has a manifest that was changed, not only continued,", was->manifest_sha256, is->manifest_sha256);
}

/* Enter a record of the journal. @return 0, or -1 if out of memory */
static int enter_record(struct batch_control *c, const struct batch_record *r)
{
    const struct id_key key = id_key_of(r->id);
    struct id_entry *e = id_enter(&c->ids, &key);
    if (!e) return -1;
    if (r->kind == RECORD_BEGIN) e->begun += e->begun < UINT16_MAX;
    else if (r->kind == RECORD_STOP) e->begun -= e->begun > 0;
    else {
        e->begun = 0;
        e->flags = (uint16_t)((e->flags & ID_IN_MANIFEST) | ID_ENTERED | (r->class == CLASS_OK ? ID_DONE : ID_FAILED));
        if (batch_class_is_retryable(r->class)) e->flags |= ID_RETRYABLE;
    }
    return 0;
}

struct scan { struct batch_control *c; int64_t n_records; struct batch_group group; struct batch_header header; };

static int not_own(const struct batch_control *c, long long number)
{
    return message_usage("%s: line %lld is not a line of a batch's journal; move the file away", c->journal.path, number);
}

static int scan_line(void *user, const struct text_lines *l, char *line, int64_t at)
{
    struct scan *s = user;
    struct batch_record r;
    if (l->number == 1) return batch_header_read(&s->header, line) ? EXIT_OK : not_own(s->c, l->number);
    batch_record_read(&r, line);
    if (r.kind == RECORD_BAD) return not_own(s->c, l->number);
    const int is_complete = batch_group_add(&s->group, &r, at);
    if (!r.id) return EXIT_OK;
    s->n_records++;
    if (r.kind == RECORD_RESULT && !is_complete) return EXIT_OK;
    return enter_record(s->c, &r) ? no_memory(s->c) : EXIT_OK;
}

/* Read all lines. whole: bytes up to the last complete one, of a complete result. */
static int scan_lines(struct batch_control *c, struct scan *s, int64_t *whole)
{
    const struct journal_lines each = { scan_line, s };
    int code = journal_lines_walk(c->journal.path, &each, whole);
    if (code == EXIT_OK && !*whole && !batch_journal_may_begin(&c->journal)) code = not_own(c, 1);
    if (s->group.n) *whole = s->group.at;
    return code == EXIT_OK ? EXIT_OK : fail(c, code);
}

int batch_control_begin(struct batch_control *c)
{
    struct scan s = { .c = c };
    int64_t whole = 0;
    if (c->ordered && !(c->held = calloc((size_t)c->n_held, sizeof *c->held))) return no_memory(c);
    if (c->journal.is_stream) return add_header(c);
    if (c->journal.size && scan_lines(c, &s, &whole) != EXIT_OK) return c->code;
    if (!s.n_records) whole = 0; /* no input was begun */
    else if (compare_header(c, &s.header) != EXIT_OK) return c->code;
    if (whole < c->journal.size && batch_journal_cut(&c->journal, whole)) return not_written(c);
    return whole ? EXIT_OK : add_header(c);
}

/* ---- dealing ----------------------------------------------------------------------------------------------------------------- */

static int write_result(struct batch_control *c, struct batch_work *w, const struct batch_done *d);

static int add_failure(struct batch_control *c, struct batch_work *w, const struct batch_outcome *how)
{
    struct batch_done d = { .class = how->class };
    d.line = batch_work_line(&d.n, w, how, NULL, &c->source);
    message_file(w->item.id, how->reason);
    return write_result(c, w, &d);
}

/* The result of an input whose process was killed too often. */
static int add_poison(struct batch_control *c, struct batch_work *w)
{
    char reason[80];
    snprintf(reason, sizeof reason, "the process was killed %d times during this input", w->attempt);
    return add_failure(c, w, &(struct batch_outcome){ .class = CLASS_POISON, .reason = reason });
}

/* @return 1: the input has a result */
static int has_result(struct batch_control *c, const struct id_entry *e)
{
    const int again = e->flags & ID_FAILED && e->flags & ID_RETRYABLE && c->retry_failed;
    if (again || !(e->flags & (ID_DONE | ID_FAILED))) return 0;
    c->n_before++;
    c->n_failed_before += (e->flags & ID_FAILED) != 0;
    return 1;
}

/* Take the input of a line, which is of this shard and has no result. @return a status of struct job_files.next */
static enum job_next take(struct batch_control *c, const struct manifest_item *it, const char *line, const struct id_entry *e,
                          struct batch_work **out)
{
    struct batch_work *w = batch_work_new(line);
    if (!w) {
        struct manifest_item drop = *it;
        manifest_item_free(&drop);
        return no_memory(c), JOB_NEXT_NONE;
    }
    w->item = *it;
    w->place = c->n_taken++;
    w->number = c->n_lines;
    w->attempt = e->begun;
    if (e->begun > c->retries) {
        add_poison(c, w);
        return c->is_over ? JOB_NEXT_NONE : JOB_NEXT_LATER;
    }
    w->is_alone = e->begun > 0;
    if (w->is_alone) queue_push(&c->again, w);
    else *out = w;
    return w->is_alone ? JOB_NEXT_LATER : JOB_NEXT_FILE;
}

/* Read on to the next input that runs now. @return NONE at the manifest's end */
static enum job_next take_next(struct batch_control *c, struct batch_work **w)
{
    struct manifest_item it;
    struct id_key key;
    const char *line;
    while (!c->is_over && !(c->ordered && c->again.first) && read_item(c, &it, &line)) {
        const struct id_entry *e = enter(c, &it, &key);
        if (e && !c->is_checked) c->n_inputs++;
        if (!e || has_result(c, e)) {
            manifest_item_free(&it);
            continue;
        }
        const enum job_next next = take(c, &it, line, e, w);
        if (next != JOB_NEXT_LATER) return next;
    }
    if (!(c->ordered && c->again.first)) c->is_read = 1;
    return JOB_NEXT_NONE;
}

enum job_next batch_control_next(struct batch_control *c, int n_busy, struct batch_work **w)
{
    if (c->is_over || signals_pending()) return JOB_NEXT_NONE;
    if (!c->ready.first && c->ordered && c->n_taken - c->n_written >= c->n_held && !c->again.first) return JOB_NEXT_LATER;
    if ((*w = queue_pop(&c->ready))) return JOB_NEXT_FILE;
    if (!c->is_read && !(c->ordered && c->again.first) && take_next(c, w) == JOB_NEXT_FILE) return JOB_NEXT_FILE;
    if (c->is_over) return JOB_NEXT_NONE;
    const struct batch_work *first = c->again.first;
    if (n_busy && (!first || first->is_alone)) return JOB_NEXT_LATER; /* a running input may come back */
    if (!first) return JOB_NEXT_NONE;
    *w = queue_pop(&c->again);
    return JOB_NEXT_FILE;
}

int batch_control_begun(struct batch_control *c, struct batch_work *w)
{
    w->attempt++;
    w->begun_us = progress_now_us();
    return add_mark(c, "begin", w);
}

/* ---- ends -------------------------------------------------------------------------------------------------------------------- */

static int hold_result(struct batch_control *c, int64_t place, char *line, size_t n)
{
    if (!line) return no_memory(c);
    c->held[place % c->n_held] = (struct batch_held){ line, n };
    for (struct batch_held *h; (h = &c->held[c->n_written % c->n_held])->line; c->n_written++) {
        add_line(c, h->line, h->n);
        h->line = NULL;
    }
    return c->code;
}

static int write_result(struct batch_control *c, struct batch_work *w, const struct batch_done *d)
{
    if (d->class != CLASS_OK) c->n_failed++;
    else {
        c->n_ok++;
        c->n_empty += d->is_empty;
        c->audio_ms += d->audio_ms;
    }
    if (c->ordered) hold_result(c, w->place, d->line, d->n);
    else add_line(c, d->line, d->n);
    batch_work_free(w);
    if (c->max_failures && c->n_failed >= c->max_failures && !c->is_over) {
        message("%" PRId64 " inputs failed: the run ends (--max-failures)", c->n_failed);
        c->is_over = 1;
    }
    return c->code;
}

int batch_control_done(struct batch_control *c, struct batch_work *w, const struct batch_done *d)
{
    const int again = d->class == CLASS_IO && w->attempt <= c->retries && !c->is_over && c->again.n < AGAIN_MAX;
    if (!again) return write_result(c, w, d);
    free(d->line);
    add_mark(c, "stop", w);
    queue_push(&c->again, w);
    return c->code;
}

int batch_control_stopped(struct batch_control *c, struct batch_work *w)
{
    add_mark(c, "stop", w);
    batch_work_free(w);
    return c->code;
}

int batch_control_killed(struct batch_control *c, struct batch_work *w)
{
    if (w->attempt > c->retries) return add_poison(c, w);
    w->is_alone = 1;
    queue_push(&c->again, w);
    return c->code;
}

int batch_control_expired(struct batch_control *c, struct batch_work *w, double timeout_s)
{
    char reason[BATCH_REASON_SZ];
    batch_timeout_text(reason, timeout_s);
    return add_failure(c, w, &(struct batch_outcome){ .class = CLASS_TIMEOUT, .reason = reason });
}

int batch_control_spared(struct batch_control *c, struct batch_work *w)
{
    add_mark(c, "stop", w);
    w->attempt--;
    queue_push(&c->ready, w);
    return c->code;
}

void batch_control_returned(struct batch_control *c, struct batch_work *w)
{
    queue_push(&c->ready, w);
}

void batch_control_tick(struct batch_control *c)
{
    if (batch_journal_tick(&c->journal, progress_now_us())) not_written(c);
}

/* ---- the end of the run ------------------------------------------------------------------------------------------------------ */

static struct transcript_sums sums_of(const struct batch_control *c)
{
    return (struct transcript_sums){ .n_inputs = (int)c->n_inputs, .n_ok = (int)c->n_ok, .n_empty = (int)c->n_empty,
                                     .n_failed = (int)(c->n_failed + c->n_failed_before),
                                     .n_before = (int)(c->n_before - c->n_failed_before), .audio_ms = c->audio_ms,
                                     .spent_us = progress_now_us() - c->begun_us };
}

/* Add the sums of a run that came to its end, unless there was nothing to do. */
static void add_sums(struct batch_control *c)
{
    struct sink_memory memory = { 0 };
    struct sink f = sink_to_memory(&memory);
    char text[SUMS_TEXT_SZ];
    const struct transcript_sums sums = sums_of(c);
    transcription_sums_text(text, &sums);
    if (!c->quiet) message("%s", text);
    if (!c->n_ok && !c->n_failed) return;
    write_jsonl_sums(&f, &sums);
    if (f.failed) free(memory.p), memory.p = NULL;
    add_line(c, memory.p, memory.n);
}

int batch_control_end(struct batch_control *c)
{
    const int is_whole = c->is_read && !c->is_over && !signals_pending();
    if (c->code == EXIT_OK && is_whole) add_sums(c);
    if (c->journal.fd >= 0 && batch_journal_close(&c->journal, 1)) not_written(c);
    if (c->code != EXIT_OK) return c->code;
    if (signals_pending()) return EXIT_SIGNAL + signals_pending();
    return c->n_failed || c->n_failed_before || !is_whole ? EXIT_SOME : EXIT_OK;
}

static void queue_free(struct batch_queue *q)
{
    for (struct batch_work *w; (w = queue_pop(q));) batch_work_free(w);
}

void batch_control_free(struct batch_control *c)
{
    batch_journal_close(&c->journal, 0);
    for (int i = 0; c->held && i < c->n_held; i++) free(c->held[i].line);
    free(c->held);
    queue_free(&c->ready);
    queue_free(&c->again);
    id_set_free(&c->ids);
    manifest_reader_close(&c->reader);
}
