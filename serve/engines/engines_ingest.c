/* steno-serve: audio of files is decoded before a model reads it. SPDX-License-Identifier: MIT */
#include "engines_in.h"
#include <stdio.h>
#include <string.h>

/* ---- why it fails ------------------------------------------------------------------------------------------------------------ */

/* Bad audio, as a code. media.h has one status for a file without audio and for an unknown one. */
static enum api_code code_of_audio(int status, const char *reason)
{
    switch (status) {
    case STENO_EUNSUPPORTED: return strstr(reason, "has no sound in it") ? API_no_audio_stream : API_unsupported_format;
    case STENO_EFORMAT: case STENO_ESOURCE: return API_invalid_audio;
    case STENO_EFULL: return API_spool_full;
    default: return API_internal_error;
    }
}

static void item_audio_error(struct item *it, int status, const char *reason)
{
    enum { FULL_RETRY_S = 10 };
    const struct serve_params *p = it->engine->es->p;
    const struct job_input *in = &it->w->input;
    const char *name = it->w->name ? it->w->name : "the file";
    const size_t n = strlen(name);
    if (strncmp(reason, name, n) == 0 && strncmp(reason + n, ": ", 2) == 0) reason += n + 2;
    if (status == DECODED_TOO_LONG) {
        const int64_t declared = in->media ? steno_media_duration_ms(in->media) : -1, more = (int64_t)(p->seconds_max * 1000);
        if (declared > more)
            api_fail(&it->error, API_audio_too_long, "file", "the audio is %.1f s long, and at most %.10g s are accepted; send "
                     "it in parts", (double)declared / 1e3, p->seconds_max);
        else
            api_fail(&it->error, API_audio_too_long, "file", "the audio is longer than %.1f s, and at most %.10g s are accepted; send "
                     "it in parts", p->seconds_max, p->seconds_max);
        return;
    }
    const enum api_code code = code_of_audio(status, reason);
    const char *param = code == API_spool_full || code == API_internal_error ? NULL : "file";
    api_fail(&it->error, code, param, "%.255s: %.200s", name, *reason ? reason : steno_status_text(status));
    if (code == API_spool_full) it->error.retry_after_s = FULL_RETRY_S;
}

/* ---- callbacks of a job ------------------------------------------------------------------------------------------------------ */

/* The decoder makes too little audio for its time. */
static int is_slow(const struct item *it)
{
    const struct job_input *in = &it->w->input;
    const int64_t read = in->n_read > in->decoded.n ? in->n_read : in->decoded.n, audio_us = read * 125 / 2;
    return it->ingest_us && loop_now_us() - it->ingest_us > INGEST_S * 1000000LL + audio_us / INGEST_AUDIO_PART;
}

static int on_stop(void *user)
{
    struct item *it = user;
    int none = 0;
    if (!it->stop && is_slow(it) && atomic_compare_exchange_strong(&it->stop, &none, API_timeout))
        api_fail(&it->error, API_timeout, "file", "its audio could not be decoded within %d s and a part of its length", INGEST_S);
    return it->stop != 0;
}

static int on_segment(void *user, const struct job_input *in, const steno_segment *seg)
{
    struct item *it = user;
    if (!it->w->first_us) it->w->first_us = loop_now_us();
    if (it->w->segment && !it->stop) it->w->segment(it->w, seg);
    (void)in;
    return 0;
}

static void on_progress(void *user, const struct job_input *in, int64_t done_ms, int64_t total_ms)
{
    struct item *it = user;
    (void)in, (void)total_ms;
    it->done_ms = done_ms;
}

static int on_output(void *user, const struct job_input *in, struct transcript *t)
{
    struct item *it = user;
    (void)in;
    if (!it->w->first_us) it->w->first_us = loop_now_us();
    if (it->w->output) it->w->output(it->w, t);
    it->is_delivered = 1;
    return 0;
}

static int on_output_failed(void *user, const struct job_input *in, int status, const char *reason)
{
    struct item *it = user;
    (void)in;
    const enum api_code code = status == STENO_EARG ? API_invalid_value : API_internal_error; /* audio that an aligner does not take */
    api_fail(&it->error, code, NULL, "no transcript can be made: %.300s", *reason ? reason : steno_status_text(status));
    return 1;
}

static int on_end(void *user, const struct job_input *in, const struct job_end *e)
{
    struct item *it = user;
    if (e->status == STENO_OK) return 0;
    if (in->is_refused) api_fail(&it->error, API_invalid_value, "file", "%.400s", e->reason);
    else if (!e->of_model) item_audio_error(it, e->status, e->reason);
    else
        api_fail(&it->error, e->status == STENO_EARG ? API_invalid_value : API_internal_error, NULL, "%.400s",
                 *e->reason ? e->reason : steno_status_text(e->status));
    return 0;
}

/* Gives the descriptor of the file to the reader. */
static int on_open(void *user, const char *path, steno_error *e)
{
    struct item *it = user;
    const int fd = it->w->fd;
    (void)path;
    it->w->fd = -1;
    if (fd < 0) snprintf(e->text, sizeof e->text, "it was opened before");
    return fd < 0 ? STENO_MEDIA_FAILED : fd;
}

static int store_write(void *user, const void *bytes, size_t n)
{
    return spool_write(user, bytes, n);
}

static int store_read(void *user, void *bytes, size_t n, int64_t at)
{
    return spool_read(user, bytes, n, at);
}

/* ---- ingest ------------------------------------------------------------------------------------------------------------------ */

/* Do the sequences that the request wants fit? @return API_OK or a code, in *e */
static int check_lanes(const struct engine *g, const steno_transcribe_params *p, struct api_error *e)
{
    const int is_beam = p->beam_size > g->lanes, many = is_beam ? p->beam_size : p->best_of;
    const char *name = is_beam ? "beam_size" : "best_of";
    if (!g->has_lanes || many <= g->lanes) return API_OK;
    return api_fail(e, API_invalid_value, name, "%s is %d; this server decodes at most %d sequences of a window", name, many, g->lanes);
}

/* The job of an item: the model's defaults, with the changes of its request. @return 0, or -1 with the reason in it->error */
static int job_make(struct item *it)
{
    struct work *w = it->w;
    const struct serve_engine *e = &it->engine->e;
    const double samples = it->engine->es->p->seconds_max * 16000;
    if (!it->engine->can_transcribe)
        return api_fail(&it->error, API_invalid_value, "model", "model %s does not transcribe audio", it->engine->model->id);
    w->job = e->job;
    w->job.model = e->model;
    w->job.punctuation = it->engine->punctuation;
    w->job.aligner = it->engine->aligner;
    w->job.speech.session = NULL;
    w->use_vad = e->uses_vad;
    w->vad = e->vad;
    if (w->prepare && w->prepare(w, e->model, &it->error)) {
        api_fail(&it->error, API_internal_error, NULL, "the request could not be prepared");
        return -1;
    }
    if (check_lanes(it->engine, &w->job.params, &it->error) || words_prepare(it)) return -1;
    const int rc = spool_file_open(&it->file, it->engine->es->spool);
    if (rc != STENO_OK) item_audio_error(it, rc, "no temporary file can be made");
    if (rc != STENO_OK) return -1;
    it->store = (struct decoded_store){ store_write, store_read, it->file, 0, samples < 9e15 ? (int64_t)samples : (int64_t)9e15 };
    w->job.store = &it->store;
    w->job.events = (struct job_events){ .user = it, .stop = on_stop, .segment = on_segment, .progress = on_progress, .end = on_end,
                                         .output = on_output, .output_failed = on_output_failed };
    w->job.media.user = it;
    w->job.media.open = on_open;
    w->job.media.stop = on_stop;
    return 0;
}

static int job_begin(struct item *it, int thread)
{
    struct work *w = it->w;
    const struct engine *g = it->engine;
    if (job_make(it)) return -1;
    if (w->use_vad && !g->vad[thread])
        return api_fail(&it->error, API_invalid_value, NULL, "this server has no model of voice activity detection");
    if (w->use_vad) w->job.speech.session = g->vad[thread];
    input_init(&w->input, &w->job, NULL, 0);
    const struct job_file f = job_file_of(w->name ? w->name : "file", 0);
    return input_open(&w->input, &f) ? 0 : -1;
}

/* Decodes what no reader has read so far. The first read, through the input, moves to the first sample that is decoded. @return a status */
static int drain(struct job_input *in)
{
    float pcm[2048];
    int64_t got = in->src.read(in->src.user, pcm, 1);
    const steno_source decoded = decoded_source(&in->decoded);
    while (got > 0 && !in->decoded.is_whole && !input_stops(in)) got = decoded.read(decoded.user, pcm, 2048);
    if (got < 0) return (int)got;
    return in->src.rewind(in->src.user);
}

/* The first pass of a model that reads audio twice. @return a status */
static int listen(struct item *it)
{
    struct job_input *in = &it->w->input;
    steno_error e = { 0 };
    const steno_source src = input_source(in);
    it->heard = (steno_heard){ .size = sizeof it->heard };
    int rc = steno_listen(it->engine->e.model, &src, &it->heard, &e);
    if (rc == STENO_OK) rc = src.rewind(src.user);
    if (rc != STENO_OK) it->heard.size = 0;
    return rc;
}

/* Reads all audio. @return a status */
static int read_audio(struct item *it)
{
    struct job_input *in = &it->w->input;
    int rc = input_begin(in);
    it->heard.size = 0;
    if (rc == STENO_OK && it->engine->reads_twice && !in->params.chunk_ms && !in->is_silent) rc = listen(it);
    if (rc == STENO_OK && !in->decoded.is_whole) rc = drain(in);
    return rc;
}

/* @return 0, or -1: it is over */
static int ingest_file(struct item *it, int thread)
{
    struct work *w = it->w;
    struct job_input *in = &w->input;
    it->ingest_us = loop_now_us();
    if (job_begin(it, thread)) return -1;
    const int rc = read_audio(it);
    const int64_t samples = in->n_skipped + in->decoded.n;
    it->ingest_us = 0;
    if (rc != STENO_OK || it->stop) {
        input_end(in, rc);
        return -1;
    }
    if (samples < TOO_SHORT)
        return api_fail(&it->error, API_audio_too_short, "file", "the audio is %.3f s long, and at least %.1f s are needed",
                        (double)samples / 16000, TOO_SHORT / 16000.0);
    pthread_mutex_lock(&it->engine->es->lock);
    w->audio_ms = samples / 16;
    w->ingested_us = loop_now_us();
    const int64_t us = w->audio_ms * 1000 * TIMEOUT_TIMES_AUDIO, least = it->deadline_us - it->begun_us;
    if (it->engine->es->p->timeout_s <= 0 && us > least) it->deadline_us = it->begun_us + us;
    pthread_mutex_unlock(&it->engine->es->lock);
    if (w->admitted) w->admitted(w);
    return 0;
}

void *ingest_main(void *user)
{
    struct ingest *t = user;
    struct engines *es = t->es;
    pthread_mutex_lock(&es->lock);
    while (!es->is_closing) {
        struct item *it = queue_for_ingest(es, t->i);
        if (!it) {
            pthread_cond_wait(&es->for_ingest, &es->lock);
            continue;
        }
        struct engine *g = it->engine;
        it->state = ITEM_IN_INGEST;
        pthread_mutex_unlock(&es->lock);
        const int over = it->lm ? lm_prepare(it) : ingest_file(it, t->i);
        pthread_mutex_lock(&es->lock);
        const int goes_on = !over && !it->stop;
        it->state = goes_on ? ITEM_READY : ITEM_ENDS;
        if (it->is_vectors) pthread_cond_broadcast(&g->changed);
        pthread_mutex_unlock(&es->lock);
        if (!goes_on) item_end(it);
        engine_pump(g);
        pthread_mutex_lock(&es->lock);
    }
    pthread_mutex_unlock(&es->lock);
    return NULL;
}
