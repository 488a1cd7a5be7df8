/* steno tests: a server's models and work without HTTP. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_ENGINES_RIG_H
#define STENO_TESTS_ENGINES_RIG_H
#include "api/funasr_model.h"
#include "api/wav_folder.h"
#include "engines.h"
#include "writers.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum { RIG_MODELS = 3 };

/* What serve_params.open does. */
struct rig {
    struct serve_params p;
    struct serve_model model[RIG_MODELS];
    const char *path[RIG_MODELS];   /* of each model; "": opening fails */
    int uses_vad, text_ctx;
    int lanes, beams;               /* those of the request and of the defaults */
    int64_t weigh;                  /* bytes of each model that are claimed */
    const steno_model *vad, *aligner;
    _Atomic int n_opened, n_closed;
    _Atomic int open_ms;            /* opening takes this time longer */
    struct spool *spool;
    struct engines *es;
};

static inline void sleep_ms(int ms) { usleep((useconds_t)ms * 1000); }

static inline struct job rig_job(const steno_model *m)
{
    struct job j = { .model = m, .channel = JOB_MIX };
    steno_media_params_init(&j.media);
    steno_transcribe_params_init(&j.params);
    j.params.language = "en";
    j.params.sample_len = SANITIZED ? 4 : 12;
    j.params.audio_ctx = 150; /* windows of 3 s */
    j.params.temperature_increment_on_fallback = 0;
    steno_vad_params_init(&j.speech.params);
    j.speech.pad_ms = 100;
    return j;
}

static inline int rig_model_open(void *user, int i, struct serve_engine *out, steno_error *e)
{
    struct rig *r = user;
    steno_model_params p;
    steno_model_params_init(&p);
    if (strstr(r->path[i], ".gguf")) p.text_ctx = r->text_ctx;
    sleep_ms(r->open_ms);
    steno_model *m;
    const int rc = steno_model_open(&m, r->path[i], &p, e);
    if (rc) return rc;
    *out = (struct serve_engine){ .model = m, .job = rig_job(m), .lanes = r->lanes, .vad = r->vad, .aligner = r->aligner,
                                  .uses_vad = r->uses_vad, .memory = r->weigh };
    out->job.params.beam_size = r->beams;
    r->n_opened++;
    return 0;
}

static inline void rig_model_close(void *user, struct serve_engine *g)
{
    ((struct rig *)user)->n_closed++;
    steno_model_close(g->model);
}

static inline void rig_init(struct rig *r, int n)
{
    static char const *const ids[] = { "digits", "second", "org/third" };
    *r = (struct rig){ 0 };
    r->p = (struct serve_params){ .host = "127.0.0.1", .prefix = "", .queue = 64, .n_ingest = 2, .queue_timeout_s = 300,
                                  .upload_max = 200 * 1000000LL, .spool_max = 8 * 1000000000LL, .seconds_max = 14400,
                                  .live_step_ms = 1000, .live_turn_ms = 30000, .wyoming_port = -1, .version = "" };
    for (int i = 0; i < n; i++) {
        r->path[i] = shipped_model;
        r->model[i] = (struct serve_model){ .id = ids[i], .path = shipped_model };
    }
    r->p.models = r->model;
    r->p.n_models = n;
    r->p.open = rig_model_open;
    r->p.close = rig_model_close;
    r->p.user = r;
    r->p.parallel = 3;
    r->p.live_max = 2;
    r->lanes = 2;
}

static inline void rig_open(struct rig *r)
{
    steno_error e = { 0 };
    if (spool_open(&r->spool, NULL, r->p.spool_max, &e)) fail_msg("%s", e.text);
    if (engines_open(&r->es, &r->p, r->spool, &e)) fail_msg("%s", e.text);
}

/* Nothing is left behind. */
static inline void rig_close(struct rig *r)
{
    engines_close(r->es);
    assert_int_equal(spool_bytes(r->spool), 0);
    assert_int_equal(r->n_opened, r->n_closed);
    spool_close(r->spool);
}

/* ---- work that is waited for ---- */

struct piece {
    struct work w;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int is_over, n_ended, n_admitted, n_output;
    _Atomic int n_segments;
    struct api_error error;
    struct sink_memory text; /* of two writers */
    steno_transcribe_params params;
    int has_params, wants_vad; /* 1, 0; -1: none */
    int64_t end_us; /* monotonic clock */
};

static inline void write_both(struct sink_memory *to, struct transcript *t)
{
    struct sink s = sink_to_memory(to);
    writers[WRITER_SRT].write(&s, t);
    writers[WRITER_VERBOSE_JSON].write(&s, t);
}

static inline int piece_prepare(struct work *w, const steno_model *m, struct api_error *e)
{
    struct piece *x = w->user;
    (void)m, (void)e;
    if (x->has_params) w->job.params = x->params;
    if (x->wants_vad) w->use_vad = x->wants_vad > 0;
    return API_OK;
}

static inline void piece_admitted(struct work *w) { ((struct piece *)w->user)->n_admitted++; }
static inline void piece_segment(struct work *w, const steno_segment *seg)
{
    (void)seg;
    ((struct piece *)w->user)->n_segments++;
}

static inline void piece_output(struct work *w, struct transcript *t)
{
    struct piece *x = w->user;
    x->n_output++;
    write_both(&x->text, t);
}

static inline void piece_ended(struct work *w, const struct api_error *e)
{
    struct piece *x = w->user;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    pthread_mutex_lock(&x->lock);
    x->end_us = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
    x->error = *e;
    x->n_ended++;
    x->is_over = 1;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
}

static inline void piece_init(struct piece *x, struct engine *g, const char *client)
{
    *x = (struct piece){ 0 };
    pthread_mutex_init(&x->lock, NULL);
    pthread_cond_init(&x->changed, NULL);
    x->w = (struct work){ .user = x, .engine = g, .fd = -1, .name = "a.wav", .client = client, .prepare = piece_prepare,
                          .admitted = piece_admitted, .segment = piece_segment, .output = piece_output, .ended = piece_ended };
}

/* @return as work_submit */
static inline int piece_submit(struct piece *x, const char *path, struct api_error *e)
{
    *e = (struct api_error){ 0 };
    x->w.fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(x->w.fd >= 0);
    return work_submit(&x->w, e);
}

static inline void piece_go(struct piece *x, const char *path)
{
    struct api_error e;
    if (piece_submit(x, path, &e)) fail_msg("%s: refused: %s", path, e.message);
}

static inline void piece_wait(struct piece *x)
{
    pthread_mutex_lock(&x->lock);
    while (!x->is_over) pthread_cond_wait(&x->changed, &x->lock);
    pthread_mutex_unlock(&x->lock);
}

static inline void piece_free(struct piece *x)
{
    assert_int_equal(x->n_ended, 1);
    assert_int_equal(x->w.fd, -1);
    free(x->text.p);
    pthread_mutex_destroy(&x->lock);
    pthread_cond_destroy(&x->changed);
}

/* It ended with a code, and its message has a text. */
static inline void expect_code(struct piece *x, enum api_code code, const char *text)
{
    piece_wait(x);
    if (x->error.code != code || (*text && !strstr(x->error.message, text)))
        fail_msg("%s (%s), not %s with '%s'", api_code_name(x->error.code), x->error.message, api_code_name(code), text);
    assert_int_equal(x->n_output, code == API_OK);
}

/* Audio in memory as a source. */
struct rig_pcm { const float *pcm; int64_t n, at; };

static inline int64_t rig_pcm_read(void *user, float *pcm, int64_t n)
{
    struct rig_pcm *x = user;
    if (n > x->n - x->at) n = x->n - x->at;
    memcpy(pcm, x->pcm + x->at, (size_t)n * sizeof *pcm);
    x->at += n;
    return n;
}

static inline int rig_pcm_rewind(void *user)
{
    ((struct rig_pcm *)user)->at = 0;
    return 0;
}

static inline void wait_loaded(struct engine *g, int is)
{
    for (int i = 0; i < 5000 && engine_is_loaded(g) != is; i++) sleep_ms(2);
    assert_int_equal(engine_is_loaded(g), is);
}
#endif
