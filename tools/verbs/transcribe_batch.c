/* steno: many inputs of transcribe and translate: batches, and sums. SPDX-License-Identifier: MIT
 *
 * In a batch, files are written when their input is done. Text for standard output is held until the text of all earlier inputs is
 * printed, so it comes in the order of the command line.
 *
 * Before the results, formats that have one get the job's record on standard output. After them, a job with several inputs prints its
 * sums: a record there, and a line on standard error. The job counts (job.h); this code prints. */
#include "cli/option_names.h"
#include "models/host.h"
#include "verbs/results.h"
#include "verbs/transcribe.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- batches ----------------------------------------------------------------------------------------------------------------- */

/* Does the batch fit into memory? If the machine does not report its memory, assume that it does. */
static int check_memory(const struct transcription *t, const steno_batch_params *bp, int n)
{
    struct host h;
    steno_session_params sp;
    host_get(&h);
    steno_session_params_init(&sp);
    const int64_t batch = steno_batch_memory(t->engine.model, t->engine.team, bp);
    sp.batch = t->engine.batch;
    const int64_t need = batch + n * steno_session_memory(t->engine.model, t->engine.team, &sp);
    const int64_t have = h.memory_limit && (!h.available || h.memory_limit < h.available) ? h.memory_limit : h.available;
    if (batch < 0 || !have || need <= have) return EXIT_OK;
    message("--batch-size %d takes %lld MB, and %lld MB are free", (int)bp->max_windows, (long long)(need >> 20), (long long)(have >> 20));
    return EXIT_MEMORY;
}

/* @return 0, or -1 if out of memory */
static int shown_open(struct transcription *t, int n_slots, int n)
{
    t->shown = calloc((size_t)n_slots, sizeof *t->shown);
    t->held = (struct held){ calloc((size_t)n, sizeof *t->held.text), calloc((size_t)n, sizeof *t->held.size), calloc((size_t)n, 1), n, 0 };
    for (int i = 0; t->shown && i < n_slots; i++) t->shown[i].sink = sink_to_memory(&t->shown[i].text);
    return t->shown && t->held.text && t->held.size && t->held.done ? 0 : -1;
}

static void shown_close(struct transcription *t, int n_slots)
{
    for (int i = 0; t->shown && i < n_slots; i++) free(t->shown[i].text.p);
    for (int i = 0; t->held.text && i < t->held.n; i++) free(t->held.text[i]);
    free(t->shown);
    free(t->held.text);
    free(t->held.size);
    free(t->held.done);
    t->shown = NULL;
    t->held = (struct held){ 0 };
}

static int batch_run(struct transcription *t, steno_batch_params *bp, char **files, int n)
{
    steno_error e = { 0 };
    const int rc = job_run_batch(&t->job, t->engine.team, bp, files, n, &e);
    return rc == STENO_OK ? transcription_code(t, n) : message_model_error(NULL, rc, e.text);
}

/* The number of windows that decode together. If the command line gives no width, --batch-size is lowered to the library's limit of
 * sequences. */
static int windows_of(const struct transcribe_opts *o, int lanes)
{
    enum { SEQUENCES = 256 }; /* maximum of a batch */
    const int windows = (int)o->batch_size, fit = SEQUENCES / lanes;
    const int is_wish = option_was_given(o->engine.given, "beam-size") || option_was_given(o->engine.given, "best-of");
    if (is_wish || windows <= fit) return windows;
    if (!o->engine.quiet)
        message("note: --batch-size %d: at most %d windows of %d sequences decode together; --greedy has one sequence a window", windows,
                fit, lanes);
    return fit;
}

int transcription_run_batch(struct transcription *t, char **files, int n)
{
    steno_batch_params bp;
    steno_batch_params_init(&bp);
    bp.max_lanes = decode_opts_lanes(&t->o->decode);
    bp.max_windows = windows_of(t->o, bp.max_lanes);
    bp.steps_between_encodes = 0; /* text is not read live */
    bp.draft_model = t->engine.draft;
    const int n_slots = job_slots(&bp, n);
    int code = check_memory(t, &bp, n_slots);
    steno_session_close(t->engine.session); /* it only validated the parameters; each slot has its own session */
    t->engine.session = NULL;
    if (code == EXIT_OK && shown_open(t, n_slots, n)) {
        message("out of memory for %d inputs", n);
        code = EXIT_MEMORY;
    }
    transcription_watch(t);
    if (code == EXIT_OK) code = batch_run(t, &bp, files, n);
    shown_close(t, n_slots);
    return code;
}

/* ---- before and after the results of all inputs ------------------------------------------------------------------------------ */

/* The writer of standard output; NULL if results go elsewhere. */
static const struct writer *stdout_writer(const struct transcription *t)
{
    const struct out_naming *naming = &t->results->files.naming;
    const struct transcribe_as *as = t->o->as;
    if (naming->dir || (as && (as->write || as->output))) return NULL;
    for (int i = 0; i < N_WRITERS; i++)
        if (naming->formats == 1u << i) return &writers[i];
    return NULL;
}

static int record_flush(const struct sink *out)
{
    if (!out->failed || ferror(stdout)) return message_flush();
    message("out of memory for a record of the job");
    return EXIT_MEMORY;
}

int transcription_begin(const struct transcription *t)
{
    const struct writer *w = stdout_writer(t);
    if (!w || !w->begin) return EXIT_OK;
    struct sink out = sink_to_stream(stdout);
    const struct transcript_source job = { .model = t->engine.path, .spent_us = WRITE_TIME_UNKNOWN, .options = t->options, .opts = t->o };
    w->begin(&out, &job);
    return record_flush(&out);
}

static struct transcript_sums sums_of(const struct transcription *t, int n_inputs)
{
    const struct job *j = &t->job;
    return (struct transcript_sums){ .n_inputs = n_inputs, .n_ok = j->n_ok, .n_empty = j->n_empty, .n_failed = j->n_done - j->n_ok,
                                     .n_before = t->n_before, .audio_ms = j->audio_ms,
                                     .spent_us = progress_now_us() - t->bar->begun_us };
}

void transcription_sums_text(char text[SUMS_TEXT_SZ], const struct transcript_sums *s)
{
    size_t at = (size_t)snprintf(text, SUMS_TEXT_SZ, "%d inputs: %d done", s->n_inputs, s->n_ok);
    if (s->n_empty) at += (size_t)snprintf(text + at, SUMS_TEXT_SZ - at, " (%d without text)", s->n_empty);
    if (s->n_failed) at += (size_t)snprintf(text + at, SUMS_TEXT_SZ - at, ", %d failed", s->n_failed);
    if (s->n_before) at += (size_t)snprintf(text + at, SUMS_TEXT_SZ - at, ", %d finished before", s->n_before);
    at += (size_t)snprintf(text + at, SUMS_TEXT_SZ - at, "; %.1f s of audio in %.1f s", (double)s->audio_ms / 1e3,
                           (double)s->spent_us / 1e6);
    if (s->audio_ms > 0 && s->spent_us > 0)
        snprintf(text + at, SUMS_TEXT_SZ - at, ", speed %.1fx", (double)s->audio_ms * 1e3 / (double)s->spent_us);
}

int transcription_end(const struct transcription *t, int n_inputs)
{
    char text[SUMS_TEXT_SZ];
    const struct transcript_sums sums = sums_of(t, n_inputs);
    const struct writer *w = stdout_writer(t);
    if (n_inputs < 2 || !t->job.n_done || t->o->as) return EXIT_OK;
    if (!t->o->engine.quiet) {
        transcription_sums_text(text, &sums);
        message("%s", text);
    }
    if (!w || !w->end) return EXIT_OK;
    struct sink out = sink_to_stream(stdout);
    w->end(&out, &sums);
    return record_flush(&out);
}
