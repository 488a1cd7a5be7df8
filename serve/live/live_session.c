/* steno-serve: one live transcription. SPDX-License-Identifier: MIT
 *
 * The ring holds the client's bytes. Commands have a place in them, so they apply to the audio that was pushed before them. */
#include "live_session.h"
#include "loop.h"
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <steno/media.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMMANDS_MAX = 64, PIECE_MS = 100, STEP_MS = 1000, STEP_LEAST_MS = 200, STEP_MOST_MS = 10000, TURN_MS = 30000, AHEAD_US = 2000000 };

enum command_kind { COMMAND_COMMIT, COMMAND_CLEAR, COMMAND_END };
struct command { enum command_kind kind; int64_t at; /* byte of the audio */ };

struct live_session {
    struct live_session_params p; /* texts are owned */
    int64_t bytes_per_s;
    atomic_int is_cancelled;

    /* With the lock. */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    uint8_t *ring;
    int64_t cap, most;       /* bytes; most: the ring counts as full */
    int64_t pushed, taken;   /* bytes since the start */
    int64_t base_us;         /* when the first byte was due, had the client sent audio as a microphone gives it */
    int is_ahead;            /* the client sends faster than a microphone: its audio is never late */
    int is_full, is_ending, is_over;
    const char *broken;      /* why the session cannot go on; static */
    struct command command[COMMANDS_MAX];
    int n_commands;

    /* Of the session's thread. */
    steno_session *session; /* of the engine; NULL: not taken yet */
    const struct serve_engine *engine;
    steno_resampler *resampler;
    struct live_streams streams;
    struct live *live;
    steno_vad_params find;
    uint8_t *piece;
    int64_t skipped;        /* samples dropped before the clear that follows */
    int is_clearing;
    int decodes_chunks;     /* the model does, so there are no passes */
    int64_t n_disagreements; /* that were counted */
    int step_ms;            /* between updates now: p.step_ms, or more on a busy machine */
};

/* ---- bytes and commands, from any thread ------------------------------------------------------------------------------------- */

static void ring_put(struct live_session *s, const uint8_t *bytes, int64_t n)
{
    const int64_t at = s->pushed % s->cap, first = n < s->cap - at ? n : s->cap - at;
    memcpy(s->ring + at, bytes, (size_t)first);
    memcpy(s->ring, bytes + first, (size_t)(n - first));
    s->pushed += n;
}

static void ring_get(struct live_session *s, uint8_t *to, int64_t n)
{
    const int64_t at = s->taken % s->cap, first = n < s->cap - at ? n : s->cap - at;
    memcpy(to, s->ring + at, (size_t)first);
    memcpy(to + first, s->ring, (size_t)(n - first));
    s->taken += n;
}

static int64_t to_us(const struct live_session *s, int64_t bytes)
{
    return (int64_t)((double)bytes * 1e6 / (double)s->bytes_per_s);
}

int live_session_push(struct live_session *s, const void *bytes, size_t n)
{
    pthread_mutex_lock(&s->lock);
    const int64_t now = loop_now_us();
    if (s->pushed == s->taken) {
        s->base_us = now - to_us(s, s->pushed);
        s->is_ahead = 0;
    }
    if (n > (size_t)(s->cap - (s->pushed - s->taken)) && !s->is_ending)
        s->broken = "the client sent more audio than the session can hold; send it more slowly";
    int rc = s->is_ending || s->is_over || s->broken ? -1 : 0;
    if (!rc) {
        ring_put(s, bytes, (int64_t)n);
        s->is_ahead |= to_us(s, s->pushed) - (now - s->base_us) > AHEAD_US;
        s->is_full |= s->pushed - s->taken > s->most;
        rc = s->is_full;
    }
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

static void command_add(struct live_session *s, enum command_kind kind)
{
    pthread_mutex_lock(&s->lock);
    if (!s->is_ending && !s->is_over) {
        if (s->n_commands == COMMANDS_MAX) s->broken = "too many commits wait; send them more slowly";
        else s->command[s->n_commands++] = (struct command){ kind, s->pushed };
        s->is_ending |= kind == COMMAND_END;
    }
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
}

void live_session_commit(struct live_session *s) { command_add(s, COMMAND_COMMIT); }
void live_session_clear(struct live_session *s) { command_add(s, COMMAND_CLEAR); }
void live_session_end(struct live_session *s) { command_add(s, COMMAND_END); }

void live_session_cancel(struct live_session *s)
{
    pthread_mutex_lock(&s->lock);
    atomic_store(&s->is_cancelled, 1);
    pthread_cond_signal(&s->wake);
    engine_session_stop(s->p.engine); /* it may wait for its model */
    pthread_mutex_unlock(&s->lock);
}

int64_t live_session_pushed_ms(const struct live_session *s)
{
    struct live_session *own = (struct live_session *)s;
    pthread_mutex_lock(&own->lock);
    const int64_t us = to_us(s, s->pushed);
    pthread_mutex_unlock(&own->lock);
    return us / 1000;
}

int64_t live_session_latency_ms(const struct live_session *s, int64_t t_ms)
{
    struct live_session *own = (struct live_session *)s;
    pthread_mutex_lock(&own->lock);
    const int64_t us = loop_now_us() - s->base_us;
    pthread_mutex_unlock(&own->lock);
    return us / 1000 > t_ms ? us / 1000 - t_ms : 0;
}

static int clamp(int x, int dflt, int lo, int hi)
{
    return x <= 0 ? dflt : x < lo ? lo : x > hi ? hi : x;
}

/* ---- decoding, on the session's thread --------------------------------------------------------------------------------------- */

static int should_abort(void *user)
{
    return atomic_load(&((struct live_session *)user)->is_cancelled);
}

/* An update of a turn searches greedily: only the last pass costs what the defaults of the model ask for. */
static void update_fill(steno_transcribe_params *p)
{
    p->beam_size = p->best_of = p->n_best = 0;
    p->patience = p->length_penalty = (double)NAN;
}

/* Time since the audio that was decoded last. With the lock. */
static int64_t late_us(const struct live_session *s)
{
    const int64_t us = loop_now_us() - s->base_us - to_us(s, s->taken);
    return us > 0 ? us : 0;
}

/* A pass has ended, or a chunk has words. */
static void pass_count(struct live_session *s, int is_done)
{
    pthread_mutex_lock(&s->lock);
    const int64_t us = late_us(s);
    const int counts = is_done && !s->is_ahead;
    pthread_mutex_unlock(&s->lock);
    if (counts) engine_live_delay(s->p.engine, us);
    if (s->p.metrics) metrics_live_update(s->p.metrics, is_done ? (double)us / 1e6 : -1);
}

int live_session_step(int step_ms, int least_ms, int64_t wait_us)
{
    enum { WAIT_US = 250000, PART = 8 };
    const int64_t busy_ms = wait_us / 1000 < STEP_MOST_MS ? wait_us / 1000 : STEP_MOST_MS; /* without a wait, this would be the step */
    const int64_t from_ms = step_ms > busy_ms ? step_ms : busy_ms;
    if (wait_us > WAIT_US) return clamp((int)(from_ms * 3 / 2), STEP_MS, least_ms, STEP_MOST_MS);
    const double hz = 1000.0 / step_ms + (1 - (double)wait_us / WAIT_US) / PART;
    return clamp((int)lround(1000 / hz), STEP_MS, least_ms, STEP_MOST_MS);
}

static void step_adapt(struct live_session *s, const steno_session *session)
{
    steno_request_timings t = { .size = sizeof t };
    if (steno_request_timings_get(session, &t) != STENO_OK) return;
    s->step_ms = live_session_step(s->step_ms, s->p.step_ms, t.total_us - t.encode_us - t.decode_us);
    live_step_set(s->live, s->step_ms);
}

static int transcribe(void *user, steno_session *session, const steno_source *src, const steno_transcribe_params *p, int is_last)
{
    struct live_session *s = user;
    steno_transcribe_params greedy = *p;
    update_fill(&greedy);
    const int rc = engine_transcribe(s->p.engine, session, src, is_last ? p : &greedy,
                                     is_last ? STENO_PRIORITY_END_OF_TURN : STENO_PRIORITY_LIVE);
    if (rc == STENO_OK && !is_last) step_adapt(s, session);
    pass_count(s, rc == STENO_OK);
    return rc;
}

static void on_event(void *user, const struct live_event *e)
{
    struct live_session *s = user;
    const int64_t n = e->kind == LIVE_ENDPOINT && s->p.metrics ? live_disagreements(s->live) - s->n_disagreements : 0;
    if (n) metrics_live_disagreements(s->p.metrics, n);
    s->n_disagreements += n;
    if (s->decodes_chunks && e->kind == LIVE_FINAL) pass_count(s, 1);
    if (s->p.event) s->p.event(s->p.user, e);
}

static void on_turn(void *user, enum live_turn what, int turn, int64_t at_ms)
{
    struct live_session *s = user;
    (void)turn;
    if (s->p.speech && !s->is_clearing) s->p.speech(s->p.user, what == LIVE_TURN_OPENS, at_ms);
}

/* Work to do: a piece, or a command. */
struct task {
    int64_t n, late_ms;
    int is_dropped; /* a clear follows */
    int has_command, gives_room;
    enum command_kind command;
};

static void task_take(struct live_session *s, struct task *t)
{
    const struct command *c = s->n_commands ? &s->command[0] : NULL;
    const int64_t end = c ? c->at : s->pushed, most = s->bytes_per_s * PIECE_MS / 1000;
    *t = (struct task){ .n = end - s->taken < most ? end - s->taken : most, .is_dropped = c && c->kind == COMMAND_CLEAR };
    if (t->n) {
        ring_get(s, s->piece, t->n);
        t->late_ms = s->is_ahead ? 0 : to_us(s, s->pushed - s->taken) / 1000;
    } else if (c) {
        t->has_command = 1;
        t->command = c->kind;
        memmove(s->command, s->command + 1, (size_t)--s->n_commands * sizeof *s->command);
    }
    t->gives_room = s->is_full && s->pushed - s->taken <= s->most / 2;
    if (t->gives_room) s->is_full = 0;
}

/* Waits for work. @return 0: the session is cancelled or broken */
static int task_wait(struct live_session *s, struct task *t)
{
    pthread_mutex_lock(&s->lock);
    while (!should_abort(s) && !s->broken && s->taken == s->pushed && !s->n_commands) pthread_cond_wait(&s->wake, &s->lock);
    const int goes_on = !should_abort(s) && !s->broken;
    if (goes_on) task_take(s, t);
    pthread_mutex_unlock(&s->lock);
    return goes_on;
}

/* The last samples belong to the turn that ends. */
static int audio_end(struct live_session *s, steno_error *e)
{
    const float *pcm;
    const int64_t n = steno_resampler_end(s->resampler, &pcm, e);
    const int rc = n < 0 ? (int)n : live_push(s->live, pcm, n, 0, e);
    return rc ? rc : live_end(s->live, e);
}

static int command_run(struct live_session *s, enum command_kind kind, steno_error *e)
{
    if (kind == COMMAND_END) return audio_end(s, e);
    if (kind == COMMAND_COMMIT && s->p.flushing) s->p.flushing(s->p.user);
    s->is_clearing = kind == COMMAND_CLEAR;
    const int rc = kind == COMMAND_CLEAR ? live_clear(s->live, s->skipped, e) : live_commit(s->live, e);
    s->is_clearing = 0;
    s->skipped = 0;
    if (rc) return rc;
    void (*done)(void *) = kind == COMMAND_CLEAR ? s->p.cleared : s->p.flushed;
    if (done) done(s->p.user);
    return STENO_OK;
}

static int audio_decode(struct live_session *s, const struct task *t, steno_error *e)
{
    const float *pcm;
    const int64_t n = steno_resampler_push(s->resampler, s->piece, (size_t)t->n, &pcm, e);
    if (n < 0) return (int)n;
    if (!t->is_dropped) return live_push(s->live, pcm, n, t->late_ms, e);
    s->skipped += n;
    return STENO_OK;
}

/* @return a status, with the reason in *e */
static int run(struct live_session *s, steno_error *e)
{
    struct task t;
    while (task_wait(s, &t)) {
        if (t.gives_room && s->p.room) s->p.room(s->p.user);
        const int rc = t.n ? audio_decode(s, &t, e) : t.has_command ? command_run(s, t.command, e) : STENO_OK;
        if (rc || (t.has_command && t.command == COMMAND_END)) return rc;
    }
    return STENO_OK;
}

/* ---- opening ----------------------------------------------------------------------------------------------------------------- */

static void find_fill(struct live_session *s)
{
    const struct live_session_params *p = &s->p;
    steno_vad_params_init(&s->find);
    if (p->threshold >= 0) s->find.threshold = p->threshold;
    if (p->silence_ms >= 0) s->find.max_end_silence_ms = p->silence_ms;
    if (p->padding_ms >= 0 && steno_serves(s->engine->vad, STENO_CALL_FIND_SPEECH, "speech_pad_ms")) s->find.speech_pad_ms = p->padding_ms;
}

/* The model's defaults, changed by the client's parameters. */
static void text_fill(struct live_session *s, steno_transcribe_params *t)
{
    const struct live_session_params *p = &s->p;
    *t = s->engine->job.params;
    t->on_segment = NULL;
    t->on_progress = NULL;
    t->on_window = NULL;
    t->on_attempt = NULL;
    t->logits_filter = NULL;
    t->on_rows = NULL;
    t->on_resume_point = NULL;
    t->should_abort = should_abort;
    t->user = s;
    if (p->task != STENO_TRANSCRIBE) t->task = p->task;
    if (p->language) t->language = *p->language ? p->language : NULL;
    if (p->prompt) t->initial_prompt = p->prompt;
    if (p->hotwords) t->hotwords = p->hotwords;
}

static int stream_begin(void *user, steno_session *session, const steno_source *src, const steno_request_params *p)
{
    return engine_stream_begin(((struct live_session *)user)->p.engine, session, src, p);
}

static int stream_run(void *user, steno_session *session, int is_over)
{
    return engine_stream_run(((struct live_session *)user)->p.engine, session, is_over);
}

/* A failure that is no refusal. */
static int fail(struct api_error *e, int status, const char *text)
{
    return api_fail(e, API_internal_error, NULL, "%.500s", *text ? text : steno_status_text(status));
}

/* Opens what needs the model. @return API_OK or a code, in *e */
static int model_take(struct live_session *s, struct api_error *e)
{
    steno_error why = { 0 };
    if (!s->session && engine_session(s->p.engine, &s->session, &s->engine, &s->is_cancelled, e) != API_OK) {
        s->session = NULL;
        return e->code;
    }
    s->streams = (struct live_streams){ stream_begin, stream_run, s };
    struct live_params lp = { .session = s->session, .vad = s->p.uses_vad ? s->engine->vad : NULL,
                              .step_ms = s->p.step_ms, .turn_most_ms = s->p.max_turn_ms,
                              .audio_padding_ms = s->engine->live_padding_ms,
                              .last_pass = s->engine->live_last ? LIVE_LAST_TURN : LIVE_LAST_WINDOW, .report = on_event, .user = s,
                              .turn = on_turn,
                              .transcribe = transcribe, .streams = &s->streams };
    live_params_of(&lp, s->engine->model);
    s->decodes_chunks = lp.chunks != NULL;
    text_fill(s, &lp.text);
    if (lp.vad) {
        find_fill(s);
        lp.find = &s->find;
    }
    const int rc = live_open(&s->live, &lp, &why);
    return rc ? fail(e, rc, why.text) : API_OK;
}

static void *session_thread(void *user)
{
    struct live_session *s = user;
    struct api_error e = { 0 };
    steno_error why = { 0 };
    const int rc = model_take(s, &e) == API_OK ? run(s, &why) : STENO_OK;
    pthread_mutex_lock(&s->lock);
    s->is_over = 1;
    const char *broken = s->broken;
    pthread_mutex_unlock(&s->lock);
    if (rc) fail(&e, rc, why.text);
    else if (broken) fail(&e, STENO_EARG, broken);
    live_close(s->live);
    s->live = NULL;
    if (s->session) engine_session_end(s->p.engine, s->session);
    s->p.ended(s->p.user, should_abort(s) || e.code == API_OK ? NULL : &e); /* the session may be gone now */
    return NULL;
}

static const struct { int type, size; } encodings[] = {
    [AUDIO_S16LE] = { STENO_SAMPLES_S16LE, 2 }, [AUDIO_F32LE] = { STENO_SAMPLES_F32LE, 4 }, [AUDIO_ULAW] = { STENO_SAMPLES_ULAW, 1 },
    [AUDIO_ALAW] = { STENO_SAMPLES_ALAW, 1 },   [AUDIO_S32LE] = { STENO_SAMPLES_S32LE, 4 }, [AUDIO_U8] = { STENO_SAMPLES_U8, 1 },
};

/* @return a copy, NULL of NULL; *rc: -1 without memory */
static const char *copy(const char *text, int *rc)
{
    char *own = text ? strdup(text) : NULL;
    if (text && !own) *rc = -1;
    return own;
}

static int out_of_memory(struct api_error *e) { return api_fail(e, API_internal_error, NULL, "out of memory for a live session"); }

static int audio_open(struct live_session *s, struct api_error *e)
{
    const struct live_session_params *p = &s->p;
    steno_error why = { 0 };
    if ((unsigned)p->encoding >= sizeof encodings / sizeof *encodings)
        return api_fail(e, API_invalid_value, "encoding", "the encoding is unknown");
    const int rc = steno_resampler_open(&s->resampler, encodings[p->encoding].type, p->rate, p->channels, &why);
    if (rc == STENO_ENOMEM) return out_of_memory(e);
    if (rc) return api_fail(e, API_invalid_value, p->channels < 1 || p->channels > 8 ? "channels" : "rate", "%.400s", why.text);
    s->bytes_per_s = (int64_t)p->rate * p->channels * encodings[p->encoding].size;
    s->most = LIVE_RING_S * s->bytes_per_s;
    s->cap = s->most + LIVE_RING_SLACK;
    s->ring = malloc((size_t)s->cap);
    s->piece = malloc((size_t)(s->bytes_per_s * PIECE_MS / 1000));
    return s->ring && s->piece ? API_OK : out_of_memory(e);
}

static int thread_start(struct live_session *s, struct api_error *e)
{
    pthread_attr_t a;
    pthread_t thread;
    pthread_attr_init(&a);
    pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
    const int rc = pthread_create(&thread, &a, session_thread, s);
    pthread_attr_destroy(&a);
    return rc ? out_of_memory(e) : API_OK;
}

int live_session_open(struct live_session **out, const struct live_session_params *p, struct api_error *e)
{
    struct live_session *s = calloc(1, sizeof *s);
    int copied = 0;
    *out = NULL;
    if (!s) return out_of_memory(e);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->wake, NULL);
    s->p = *p;
    s->p.language = copy(p->language, &copied);
    s->p.prompt = copy(p->prompt, &copied);
    s->p.hotwords = copy(p->hotwords, &copied);
    s->p.step_ms = s->step_ms = clamp(p->step_ms, STEP_MS, STEP_LEAST_MS, STEP_MOST_MS);
    s->p.max_turn_ms = clamp(p->max_turn_ms, TURN_MS, 2000, 30000);
    int code = copied ? out_of_memory(e) : audio_open(s, e);
    if (code == API_OK && !p->continues) code = engine_keeps_up(p->engine, e);
    if (code == API_OK && engine_is_loaded(p->engine)) code = engine_session(p->engine, &s->session, &s->engine, NULL, e);
    if (code == API_OK) {
        code = thread_start(s, e);
        if (code != API_OK && s->session) engine_session_end(p->engine, s->session);
    }
    if (code != API_OK) live_session_close(s);
    else *out = s;
    return code;
}

int live_session_refused(struct metrics *m, const struct api_error *e)
{
    const int status = api_status(e->code);
    if (status != 429 && status != 503) return LIVE_CLOSE_FAILED;
    if (m) metrics_rejected(m, api_code_name(e->code));
    return e->code == API_draining ? LIVE_CLOSE_STOPPING : LIVE_CLOSE_BUSY;
}

void live_session_close(struct live_session *s)
{
    if (!s) return;
    steno_resampler_close(s->resampler);
    free(s->ring);
    free(s->piece);
    free((char *)s->p.language);
    free((char *)s->p.prompt);
    free((char *)s->p.hotwords);
    pthread_cond_destroy(&s->wake);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
