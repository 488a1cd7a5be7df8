/* steno: output before and after the results of all inputs. SPDX-License-Identifier: MIT
 *
 * Before the results, formats that have one get the job's record on standard output. After them, a job with several inputs prints its
 * sums: a record there, and a line on standard error. The job counts (job.h); this code prints. */
#include "verbs/transcribe.h"
#include "verbs/results.h"
#include <stdio.h>

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

static int flush(const struct sink *out)
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
    return flush(&out);
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
    return flush(&out);
}
