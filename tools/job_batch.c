/* steno: several inputs at a time. SPDX-License-Identifier: MIT
 *
 * Each input in hand has a session of the batch; when its call has ended its results are written and the next input takes the session.
 * Files are written as they are done. What goes to standard output is held until everything before it is out, so the order is that of the
 * command line. */
#include "host.h"
#include "job.h"
#include "signals.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct batch_input {
    struct job job;
    int input;        /* number of the file in hand, -1: none */
    struct sink_memory text; /* what goes to standard output, by way of */
    struct sink sink;
};

struct queue {
    struct job *base;
    struct batch_input *slot;
    int n_slots;
    char **files;
    int n, next;      /* files, and the first that nobody has taken */
    int n_ok, n_refused;
    char **held;      /* [n] texts of inputs that are done, NULL: none */
    size_t *held_n;
    char *done;       /* [n] */
    int told;         /* inputs whose text is out */
};

/* Texts whose turn it is. */
static void tell(struct queue *l)
{
    for (; l->told < l->n && l->done[l->told]; l->told++) {
        if (l->held[l->told]) fwrite(l->held[l->told], 1, l->held_n[l->told], stdout);
        free(l->held[l->told]);
        l->held[l->told] = NULL;
    }
    const int code = message_flush();
    if (code != EXIT_OK && l->base->stop_code == EXIT_OK) l->base->stop_code = code;
}

/* The slot's input is over. */
static void leave(struct queue *l, struct batch_input *s, int ok)
{
    struct job *j = &s->job;
    if (j->media) job_close(j);
    l->n_ok += ok;
    l->n_refused += j->is_refused;
    l->base->n_lost += j->lost != 0;
    if (j->stop_code != EXIT_OK && l->base->stop_code == EXIT_OK) l->base->stop_code = j->stop_code;
    if (j->out && s->sink.failed) {
        if (l->base->stop_code == EXIT_OK) {
            message("out of memory for the text of %s", j->file);
            l->base->stop_code = EXIT_MEMORY;
        }
        free(s->text.p);
        s->text = (struct sink_memory){ 0 };
    }
    j->out = NULL;
    l->held[s->input] = s->text.p;
    l->held_n[s->input] = s->text.n;
    l->done[s->input] = 1;
    progress_bar_done(j->bar);
    s->text = (struct sink_memory){ 0 };
    s->input = -1;
    tell(l);
}

/* Another input for the slot. @return 1, 0: there is none, or the run ends */
static int enter(struct queue *l, struct batch_input *s)
{
    struct job *j = &s->job;
    while (l->next < l->n && l->base->stop_code == EXIT_OK && !signals_pending()) {
        s->input = l->next++;
        s->sink = sink_to_memory(&s->text);
        j->out = j->results->dir ? NULL : &s->sink;
        if (job_open(j, l->files[s->input])) return 1;
        leave(l, s, 0);
    }
    return 0;
}

/* Put the channel in hand in line, or the next one, or another input. */
static void go_on(struct queue *l, struct batch_input *s)
{
    struct job *j = &s->job;
    while (s->input >= 0 || enter(l, s)) {
        int rc = job_begin(j);
        if (rc == STENO_OK) {
            const steno_transcribe_params nothing = job_params_of_nothing(j);
            const steno_source none = job_no_audio();
            rc = steno_batch_add(j->engine.batch, j->engine.session, j->is_silent ? &none : &j->src, j->is_silent ? &nothing : &j->params);
            if (rc == STENO_OK) return;
        }
        leave(l, s, job_end(j, rc));
    }
}

static void on_done(void *user, steno_session *session, int status)
{
    struct queue *l = user;
    struct batch_input *s = l->slot;
    while (s->job.engine.session != session) s++;
    const int ok = job_end(&s->job, status);
    if (!ok || !job_another(&s->job)) leave(l, s, ok);
    go_on(l, s);
}

/* ---- the batch --------------------------------------------------------------------------------------------------------------- */

/* Would it fit? What the machine says it has; where it says nothing it does. */
static int check_memory(const struct job *j, const steno_batch_params *bp, int n)
{
    struct host h;
    steno_session_params sp;
    host_get(&h);
    steno_session_params_init(&sp);
    const int64_t batch = steno_batch_memory(j->engine.model, j->engine.team, bp);
    sp.batch = j->engine.batch;
    const int64_t need = batch + n * steno_session_memory(j->engine.model, j->engine.team, &sp);
    const int64_t have = h.memory_limit && (!h.available || h.memory_limit < h.available) ? h.memory_limit : h.available;
    if (batch < 0 || !have || need <= have) return EXIT_OK;
    message("--batch-size %d takes %lld MB, and %lld MB are free", (int)bp->max_windows, (long long)(need >> 20), (long long)(have >> 20));
    return EXIT_MEMORY;
}

static int slots_open(struct queue *l, struct job *j)
{
    for (int i = 0; i < l->n_slots; i++) {
        struct batch_input *s = &l->slot[i];
        s->job = *j;
        s->input = -1;
        s->job.diarize = (struct diarize){ 0 };
        s->job.vad.clips = NULL;
        s->job.vad.n_clips = 0;
        s->job.engine.session = NULL;
        const int code = engine_session(&s->job.engine, 1);
        if (code != EXIT_OK) return code;
        s->job.console.session = s->job.engine.session;
        job_watch(&s->job);
    }
    return EXIT_OK;
}

static void line_free(struct queue *l)
{
    for (int i = 0; l->slot && i < l->n_slots; i++) {
        struct batch_input *s = &l->slot[i];
        steno_session_close(s->job.engine.session);
        if (s->job.media) job_close(&s->job);
        diarize_free(&s->job.diarize);
        free(s->job.vad.clips);
        free(s->text.p);
    }
    for (int i = 0; l->held && i < l->n; i++) free(l->held[i]);
    free(l->slot);
    free(l->held);
    free(l->held_n);
    free(l->done);
}

/* Each session tells what ran for it; the model was loaded once. */
static void add_timings(steno_timings *all, const struct queue *l)
{
    for (int i = 0; i < l->n_slots; i++) {
        steno_timings t = { .size = sizeof t };
        steno_timings_get(l->slot[i].job.engine.session, &t);
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
    }
}

static int run(struct queue *l, struct job *j)
{
    int code = slots_open(l, j);
    if (code != EXIT_OK) return code;
    signals_defer(1);
    for (int i = 0; i < l->n_slots; i++) go_on(l, &l->slot[i]);
    steno_batch_run(j->engine.batch);
    signals_defer(0);
    add_timings(&j->timings, l);
    return job_code(l->base, l->n, l->n_ok, l->n_refused);
}

int job_run_batch(struct job *j, char **files, int n)
{
    const int windows = (int)j->o->batch_size;
    struct queue l = { .base = j, .files = files, .n = n, .n_slots = n < windows ? n : windows };
    steno_batch_params bp;
    steno_batch_params_init(&bp);
    bp.max_windows = windows;
    bp.max_lanes = decode_opts_lanes(&j->o->decode);
    bp.steps_between_encodes = 0; /* nobody reads along */
    bp.user = &l;
    bp.on_done = on_done;
    int code = check_memory(j, &bp, l.n_slots);
    steno_session_close(j->engine.session); /* it has judged the parameters; the slots have their own */
    j->engine.session = NULL;
    if (code == EXIT_OK) code = engine_batch(&j->engine, &bp);
    l.slot = calloc((size_t)l.n_slots, sizeof *l.slot);
    l.held = calloc((size_t)n, sizeof *l.held);
    l.held_n = calloc((size_t)n, sizeof *l.held_n);
    l.done = calloc((size_t)n, 1);
    if (code == EXIT_OK && (!l.slot || !l.held || !l.held_n || !l.done)) {
        message("out of memory for %d inputs", n);
        code = EXIT_MEMORY;
    }
    if (code == EXIT_OK) code = run(&l, j);
    line_free(&l);
    return code;
}
