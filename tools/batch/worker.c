/* steno: transcribes the inputs of a batch. SPDX-License-Identifier: MIT */
#include "batch/worker.h"
#include "cli/option_names.h"
#include "cli/signals.h"
#include "input/sound.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- results ----------------------------------------------------------------------------------------------------------------- */

static struct batch_slot *slot_of(struct batch_worker *b, const struct job_input *in)
{
    return &b->slot[in->index];
}

static enum batch_class class_of(const struct job_input *in, const struct job_end *e)
{
    if (in->is_refused) return CLASS_INPUT;
    switch (e->status) {
    case STENO_ECANCELED: return CLASS_TIMEOUT;
    case STENO_ENOMEM: return CLASS_MEMORY;
    case STENO_EIO: return CLASS_IO;
    case STENO_EARG: return CLASS_INPUT; /* the options were checked before, so the manifest's language or prompt is at fault */
    default: return e->of_model ? CLASS_DECODE : CLASS_INPUT;
    }
}

/* Add a line to those of the slot's result. @return 0, or -1 if out of memory */
static int line_add(struct batch_done *d, const char *line, size_t n)
{
    char *lines = line ? realloc(d->line, d->n + n) : NULL;
    if (!lines) return -1;
    memcpy(lines + d->n, line, n);
    d->line = lines;
    d->n += n;
    return 0;
}

/* Make the line of the slot's result, or of its next track or channel. A failure is the result of all of them. */
static int result_make(struct batch_worker *b, struct batch_slot *s, const struct batch_outcome *how, struct transcript *t)
{
    const struct transcript_source source = { .model = b->model_path, .sha256 = input_hash(&b->hashes, s->w->item.path) };
    if (s->done.line && s->done.class != CLASS_OK) return EXIT_OK;
    if (how->reason) {
        free(s->done.line);
        s->done = (struct batch_done){ .class = how->class };
    }
    size_t n = 0;
    char *line = batch_work_line(&n, s->w, how, t, &source);
    const int is_full = line_add(&s->done, line, n);
    free(line);
    if (!is_full) return EXIT_OK;
    message("%s: out of memory for its result", s->w->item.id);
    return EXIT_MEMORY;
}

static int on_end(void *user, const struct job_input *in, const struct job_end *e)
{
    struct batch_worker *b = user;
    char reason[OPTION_TEXT_SZ];
    if (e->status == STENO_OK) return EXIT_OK;
    struct batch_outcome how = { .class = class_of(in, e), .reason = reason };
    if (how.class == CLASS_TIMEOUT) batch_timeout_text(reason, b->timeout_s);
    else snprintf(reason, sizeof reason, "%s", sound_reason(in->file, e->reason[0] ? e->reason : steno_status_text(e->status)));
    message_file(slot_of(b, in)->w->item.id, reason);
    return result_make(b, slot_of(b, in), &how, NULL);
}

static struct batch_audio audio_of(const struct job_input *in)
{
    return (struct batch_audio){ in->track > 0 ? in->track : 0, in->job->track == JOB_ALL_TRACKS ? in->n_tracks : 0,
                                 in->channel == JOB_MIX ? -1 : in->channel, in->is_split ? in->n_channels : 0 };
}

/* Write the files of a transcript. @return CLASS_OK, or the class of a failure, after a message */
static enum batch_class write_files(struct batch_worker *b, const struct job_input *in, struct transcript *what)
{
    const struct batch_work *w = slot_of(b, in)->w;
    const struct manifest_item *it = &w->item;
    const struct transcript_source source = { .input = sound_shown(in->file), .model = b->model_path, .spent_us = WRITE_TIME_UNKNOWN,
                                              .sha256 = input_hash(&b->hashes, it->path) };
    if (!b->files.files.naming.dir) return CLASS_OK;
    what->layout = &b->t.layout;
    what->source = &source;
    const struct batch_audio audio = audio_of(in);
    int32_t *speakers = NULL;
    int rc = STENO_ENOMEM;
    if (subtitle_opts_channel(&speakers, what, &b->t.o->subtitles, in->channel == JOB_MIX ? -1 : in->channel) == EXIT_OK)
        rc = batch_files_write(&b->files, it, what, w->number, &audio);
    what->source = NULL;
    if (speakers) what->speakers = NULL;
    free(speakers);
    if (rc == STENO_OK) return CLASS_OK;
    message("%s: cannot write %s: %s", it->id, b->files.files.path ? b->files.files.path : "its files", b->files.reason);
    return rc == STENO_ENOMEM ? CLASS_MEMORY : CLASS_IO;
}

static int on_output(void *user, const struct job_input *in, struct transcript *what)
{
    struct batch_worker *b = user;
    char reason[OPTION_TEXT_SZ];
    if (slot_of(b, in)->done.class != CLASS_OK) return EXIT_OK; /* an earlier track or channel failed */
    what->token_logprobs = b->t.o->token_logprobs;
    const enum batch_class class = write_files(b, in, what);
    if (class != CLASS_OK) snprintf(reason, sizeof reason, "its files were not written: %s", b->files.reason);
    const struct batch_outcome how = { class, class == CLASS_OK ? NULL : reason, audio_of(in) };
    slot_of(b, in)->done.audio_ms += manifest_item_ms(&slot_of(b, in)->w->item, in->audio_ms);
    return result_make(b, slot_of(b, in), &how, class == CLASS_OK ? what : NULL);
}

static int on_output_failed(void *user, const struct job_input *in, int status, const char *reason)
{
    struct batch_worker *b = user;
    const struct batch_outcome how = { .class = status == STENO_ENOMEM ? CLASS_MEMORY : CLASS_DECODE, .reason = reason };
    return result_make(b, slot_of(b, in), &how, NULL);
}

static int on_done(void *user, const struct job_input *in)
{
    struct batch_worker *b = user;
    struct batch_slot was = *slot_of(b, in);
    *slot_of(b, in) = (struct batch_slot){ 0 };
    was.done.is_empty = !in->has_text;
    if (was.done.line) return b->code = b->source->done(b->source->user, was.w, &was.done);
    return b->code = b->source->stopped(b->source->user, was.w);
}

/* ---- inputs ------------------------------------------------------------------------------------------------------------------ */

static enum job_next next_file(void *user, struct job_file *f)
{
    struct batch_worker *b = user;
    struct batch_work *w;
    int at = 0, n_busy = 0;
    for (int i = b->n_slots - 1; i >= 0; i--) {
        if (b->slot[i].w && b->slot[i].w->is_alone) return JOB_NEXT_LATER;
        if (b->slot[i].w) n_busy++;
        else at = i;
    }
    const enum job_next next = b->source->next(b->source->user, n_busy, &w);
    if (next != JOB_NEXT_FILE) return next;
    b->code = b->source->begun(b->source->user, w);
    b->slot[at].w = w;
    *f = job_file_of(w->item.path, at);
    f->language = w->item.language;
    f->initial_prompt = w->item.initial_prompt;
    if (w->item.channel >= 0) f->channel = w->item.channel;
    if (w->item.begin_ms >= 0) f->begin_ms = w->item.begin_ms, f->duration_ms = w->item.duration_ms;
    return JOB_NEXT_FILE;
}

static int on_stop(void *user)
{
    const struct batch_worker *b = user;
    if (b->source->tick) b->source->tick(b->source->user);
    return signals_pending() || b->code != EXIT_OK;
}

static int on_expired(void *user, const struct job_input *in)
{
    struct batch_worker *b = user;
    return b->timeout_s > 0 && (double)(progress_now_us() - slot_of(b, in)->w->begun_us) > b->timeout_s * 1e6;
}

/* ---- the run ----------------------------------------------------------------------------------------------------------------- */

/* Let the library check the parameters before the first input. */
static int try_params(struct batch_worker *b)
{
    char reason[OPTION_TEXT_SZ];
    struct engine *e = &b->t.engine;
    int code = engine_open_session(e, decode_opts_lanes(&b->t.o->decode));
    const int rc = code == EXIT_OK ? job_try(&b->t.job, e->session) : STENO_OK;
    if (rc != STENO_OK) code = message_model_error(NULL, rc, option_reason(reason, b->t.o->engine.given, steno_last_error(e->session)));
    steno_session_close(e->session);
    e->session = NULL;
    return code;
}

int batch_worker_open(struct batch_worker *b, struct transcribe_opts *o)
{
    struct transcription *t = &b->t;
    int code = t->engine.team ? EXIT_OK : engine_team(&t->engine.team, &o->engine);
    if (code == EXIT_OK) code = vad_open(&t->vad, &o->vad, &t->engine, &o->engine, 1);
    if (code == EXIT_OK) code = aligner_open(&t->aligner, &o->aligner, o->language, &t->engine, &o->engine);
    if (code == EXIT_OK) code = punctuation_open(&t->punctuation, &o->punctuation, &t->engine, &o->engine, transcription_punctuation(o));
    if (code == EXIT_OK) code = transcription_params(t, t->engine.model);
    transcription_job(t);
    if (code == EXIT_OK) code = try_params(b);
    t->job.events = (struct job_events){ .user = b, .stop = on_stop, .expired = on_expired, .busy = transcription_on_busy,
                                         .watch = transcription_on_watch, .end = on_end, .output = on_output,
                                         .output_failed = on_output_failed, .done = on_done };
    return code;
}

int batch_worker_run(struct batch_worker *b)
{
    steno_batch_params bp;
    steno_error e = { 0 };
    const struct job_files files = { next_file, b };
    steno_batch_params_init(&bp);
    bp.max_lanes = decode_opts_lanes(&b->t.o->decode);
    bp.max_windows = b->n_slots;
    bp.steps_between_encodes = 0; /* text is not read live */
    bp.draft_model = b->t.engine.draft;
    b->slot = calloc((size_t)b->n_slots, sizeof *b->slot);
    if (!b->slot) {
        message("out of memory for %d inputs", b->n_slots);
        return EXIT_MEMORY;
    }
    const int rc = job_run_files(&b->t.job, b->t.engine.team, &bp, &files, b->n_slots, &e);
    if (rc != STENO_OK) b->code = message_model_error(NULL, rc, e.text);
    for (int i = 0; i < b->n_slots; i++) { /* inputs that were being processed when the run ended */
        if (b->slot[i].w) b->source->stopped(b->source->user, b->slot[i].w);
        free(b->slot[i].done.line);
    }
    free(b->slot);
    b->slot = NULL;
    return b->code;
}

void batch_worker_close(struct batch_worker *b)
{
    punctuation_close(&b->t.punctuation);
    aligner_close(&b->t.aligner);
    vad_close(&b->t.vad);
    engine_close(&b->t.engine);
    decode_data_free(&b->t.data);
    batch_files_free(&b->files);
}
