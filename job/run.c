/* steno: transcribes inputs, one at a time or several in parallel. SPDX-License-Identifier: MIT */
#include "input.h"
#include <stdlib.h>

/* ---- one at a time ----------------------------------------------------------------------------------------------------------- */

static int run_file(struct job_input *in, const struct job_file *f)
{
    const struct job_events *events = &in->job->events;
    if (!input_open(in, f)) return 0;
    int ok;
    if (events->busy) events->busy(events->user, 1);
    do {
        int rc = input_begin(in);
        const steno_source src = input_source(in);
        const steno_transcribe_params p = input_params(in);
        if (rc == STENO_OK) rc = steno_transcribe_source(in->session, &src, &p);
        ok = input_end(in, rc);
    } while (ok && input_another(in, &ok));
    if (events->busy) events->busy(events->user, 0);
    return ok;
}

void job_run(struct job *j, steno_session *s, char **files, int n)
{
    struct job_input in;
    input_init(&in, j, s, 0);
    for (int i = 0; i < n && !job_stops(j); i++) {
        const struct job_file f = job_file_of(files[i], i);
        input_done(&in, run_file(&in, &f));
    }
    input_free(&in);
    j->timings.size = sizeof j->timings;
    steno_timings_get(s, &j->timings);
    speech_time_add(&j->timings, &j->speech);
}

int job_try(const struct job *j, steno_session *s)
{
    const steno_transcribe_params p = input_params_of_nothing(j);
    const steno_source none = input_no_audio();
    return steno_transcribe_source(s, &none, &p);
}

/* ---- in parallel ------------------------------------------------------------------------------------------------------------- */

/* Each current input uses a session of the batch. When its request ends, its transcripts are delivered and the session takes the next
 * input. Transcripts come in the order in which they are finished. */

struct queue {
    struct job *job;
    steno_batch *batch;
    struct job_input *slot;
    int n_slots;
    const struct job_files *files;
    int is_over; /* there is no other file */
};

/* Takes another input for the slot. @return 1, 0: there is none now, or the run ends */
static int enter_file(struct queue *q, struct job_input *in)
{
    struct job_file f;
    while (!q->is_over && !job_stops(q->job)) {
        const enum job_next next = q->files->next(q->files->user, &f);
        q->is_over = next == JOB_NEXT_NONE;
        if (next != JOB_NEXT_FILE) return 0;
        if (input_open(in, &f)) return 1;
        input_done(in, 0);
    }
    return 0;
}

/* Submits the current channel, the next one, or another input. */
static void continue_file(struct queue *q, struct job_input *in)
{
    while (in->index >= 0 || enter_file(q, in)) {
        int rc = input_begin(in);
        if (rc == STENO_OK) {
            const steno_transcribe_params p = input_params(in);
            const steno_source src = input_source(in);
            rc = steno_batch_add(q->batch, in->session, &src, &p);
            if (rc == STENO_OK) return;
        }
        input_done(in, input_end(in, rc));
    }
}

static void on_done(void *user, steno_session *session, int status)
{
    struct queue *q = user;
    struct job_input *in = q->slot;
    while (in->session != session) in++;
    int ok = input_end(in, status);
    if (!ok || !input_another(in, &ok)) input_done(in, ok);
    continue_file(q, in);
    for (int i = 0; i < q->n_slots && !q->is_over && in->index >= 0; i++) { /* files that had to wait for this input */
        if (q->slot[i].index < 0) in = &q->slot[i], continue_file(q, in);
    }
}

static int slots_open(struct queue *q, steno_team *team, steno_error *e)
{
    int rc = STENO_OK;
    steno_session_params sp;
    steno_session_params_init(&sp);
    sp.max_lanes = 1;
    sp.batch = q->batch;
    for (int i = 0; i < q->n_slots && rc == STENO_OK; i++) {
        steno_session *s = NULL;
        rc = steno_session_open(&s, q->job->model, team, &sp, e);
        input_init(&q->slot[i], q->job, s, i);
    }
    return rc;
}

/* Adds the timings of all sessions; the model was loaded once. */
static void add_timings(steno_timings *all, const struct queue *q)
{
    all->size = sizeof *all;
    for (int i = 0; i < q->n_slots; i++) {
        steno_timings t = { .size = sizeof t };
        steno_timings_get(q->slot[i].session, &t);
        all->n_windows += t.n_windows;
        all->n_encodes += t.n_encodes;
        all->n_prompts += t.n_prompts;
        all->n_steps += t.n_steps;
        all->n_prompt_tokens += t.n_prompt_tokens;
        all->n_wakes += t.n_wakes;
        all->load_us = t.load_us;
        all->source_us += t.source_us;
        all->mel_us += t.mel_us;
        all->encode_us += t.encode_us;
        all->cross_us += t.cross_us;
        all->prompt_us += t.prompt_us;
        all->decode_us += t.decode_us;
        all->n_verified += t.n_verified;
        all->n_corrected += t.n_corrected;
        all->verify_us += t.verify_us;
        all->n_drafted += t.n_drafted;
        all->n_accepted += t.n_accepted;
        all->draft_us += t.draft_us;
        all->n_vad += t.n_vad;
        all->vad_us += t.vad_us;
    }
}

static void run_queue(struct queue *q)
{
    const struct job_events *events = &q->job->events;
    if (events->busy) events->busy(events->user, 1);
    for (int i = 0; i < q->n_slots; i++) continue_file(q, &q->slot[i]);
    steno_batch_run(q->batch);
    if (events->busy) events->busy(events->user, 0);
    add_timings(&q->job->timings, q);
    speech_time_add(&q->job->timings, &q->job->speech);
}

int job_slots(const steno_batch_params *bp, int n)
{
    return n < bp->max_windows ? n : bp->max_windows;
}

int job_run_files(struct job *j, steno_team *team, steno_batch_params *bp, const struct job_files *files, int n_slots, steno_error *e)
{
    struct queue q = { .job = j, .files = files, .n_slots = n_slots };
    bp->user = &q;
    bp->on_done = on_done;
    int rc = steno_batch_open(&q.batch, j->model, team, bp, e);
    if (rc == STENO_OK) {
        q.slot = calloc((size_t)q.n_slots, sizeof *q.slot);
        rc = q.slot ? slots_open(&q, team, e) : STENO_ENOMEM;
    }
    if (rc == STENO_OK) run_queue(&q);
    for (int i = 0; q.slot && i < q.n_slots; i++) {
        steno_session_close(q.slot[i].session);
        input_free(&q.slot[i]);
    }
    free(q.slot);
    steno_batch_close(q.batch);
    return rc;
}

struct file_list { char **files; int n, next; };

static enum job_next next_of_list(void *user, struct job_file *f)
{
    struct file_list *l = user;
    if (l->next == l->n) return JOB_NEXT_NONE;
    *f = job_file_of(l->files[l->next], l->next);
    l->next++;
    return JOB_NEXT_FILE;
}

int job_run_batch(struct job *j, steno_team *team, steno_batch_params *bp, char **files, int n, steno_error *e)
{
    struct file_list list = { files, n, 0 };
    const struct job_files from = { next_of_list, &list };
    return job_run_files(j, team, bp, &from, job_slots(bp, n), e);
}
