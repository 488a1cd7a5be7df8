/* steno tests: random calls. SPDX-License-Identifier: MIT
 *
 * Every round opens and closes sessions and batches of several models and calls whatever there is with whatever parameters and sounds, on
 * one thread or three that share models and a team; callbacks call back, cancel and close. What has to be refused must be, every failure
 * has its reason, results can be read at any moment, and what comes after gives what it gave before.
 *
 *     attack_calls                    the short form
 *     attack_calls SECONDS [SEED]     goes on for so long
 *     attack_calls 0 SEED ROUND       one round again, from the line of a finding */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include "calls.h"

static steno_model *model[MODELS];
static steno_team *team;
static uint64_t plain_digest[MODELS], seed;
static float *sound[6]; /* [SOUND] speech, noise, silence, what is no number, infinite, huge */
static atomic_long findings, calls, refused;

static void found(const struct world *w, const char *what, int64_t value)
{
    atomic_fetch_add(&findings, 1);
    printf("finding: %s (%lld); again: attack_calls 0 %llu %ld\n", what, (long long)value, (unsigned long long)seed, w->round);
}

/* ---- reading ------------------------------------------------------------------------------------------------------------------------ */

static uint64_t read_all(const struct world *w, const steno_session *s)
{
    uint64_t h = result_digest(s) ^ spans_digest(s) ^ strlen(steno_language(s)) ^ strlen(steno_last_error(s));
    for (int i = 0; i < steno_segment_count(s); i++) {
        steno_segment g = { .size = sizeof g };
        if (steno_segment_get(s, i, &g) || !g.text) found(w, "a segment cannot be read", i);
        else h += strlen(g.text);
    }
    int32_t rows = 0, width = 0;
    int n = 0;
    const float *f = steno_audio_features(s, &rows, &width);
    for (int64_t i = 0; f && i < (int64_t)rows * width; i++) h += f[i] > 0;
    const int32_t *ids = steno_generated(s, &n);
    for (int i = 0; i < n; i++) h += (uint64_t)ids[i];
    for (int i = -1; i < 101; i++) h += steno_language_prob(s, i) > 0;
    steno_timings t = { .size = 4 + below((struct world *)(uintptr_t)w, 100) };
    if (steno_timings_get(s, &t)) found(w, "timings cannot be read", 0);
    return h;
}

/* ---- callbacks ---------------------------------------------------------------------------------------------------------------------- */

static void act(struct world *w);

static void poke(struct one_call *c)
{
    struct world *w = c->w;
    if (w->depth > DEPTH || w->ops <= 0 || below(w, 30)) return;
    w->depth++;
    for (uint32_t i = 1 + below(w, 3); i > 0; i--) act(w);
    w->depth--;
}

static int64_t call_read(void *user, float *pcm, int64_t n)
{
    struct one_call *c = user;
    poke(c);
    if (c->fail_at && c->at >= c->fail_at) return c->fail_at % 2 ? -1 : n + 1; /* fails, or returns an impossible number */
    int64_t take = c->n - c->at < n ? c->n - c->at : n;
    if (c->piece && take > c->piece) take = c->piece;
    for (int64_t i = 0; i < take; i++) pcm[i] = sound[c->sound][(c->at + i) % SOUND];
    c->at += take;
    return take;
}

static int call_rewind(void *user)
{
    struct one_call *c = user;
    poke(c);
    c->at = 0;
    return below(c->w, 20) ? 0 : -1;
}

static int call_abort(void *user)
{
    struct one_call *c = user;
    poke(c);
    return ++c->asked > ASKED_MAX || !below(c->w, 2000);
}

static int call_window(void *user, int64_t at)
{
    (void)at;
    poke(user);
    return below(((struct one_call *)user)->w, 20) != 0;
}

static void call_segment(void *user, const steno_segment *g)
{
    const size_t n = strlen(g->text);
    poke(user);
    if (strlen(g->text) != n) found(((struct one_call *)user)->w, "a segment changed during its callback", (int64_t)n);
}

static void call_progress(void *user, int64_t done, int64_t total) { (void)done, (void)total; poke(user); }
static void call_attempt(void *user, const steno_attempt *a) { (void)a; poke(user); }
static void call_frame(void *user, int64_t t, float p) { (void)t, (void)p; poke(user); }
static void call_span(void *user, const steno_span *span) { (void)span; poke(user); }

static void call_filter(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    struct one_call *c = user;
    (void)tokens, (void)n;
    if (!below(c->w, 8)) logits[below(c->w, (uint32_t)at->n_vocab)] = below(c->w, 2) ? (float)NAN : -INFINITY;
    poke(c);
}

static void line_done(void *user, steno_session *s, int status)
{
    struct line *l = user;
    struct world *w = l->w;
    int i = 0;
    while (i < HOLDERS && w->place[i].s != s) i++;
    if (i == HOLDERS) {
        found(w, "a session that does not exist is done", status);
        return;
    }
    w->place[i].waiting = 0;
    if (status && !steno_last_error(s)[0]) found(w, "a call failed without a reason", status);
    read_all(w, s);
    l->telling++;
    poke(&w->place[i].call);
    l->telling--;
}

/* ---- parameters and sources -------------------------------------------------------------------------------------------------------- */

static steno_transcribe_params random_params(struct world *w, struct one_call *c, enum steno_call call)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    if (call == STENO_CALL_TRANSCRIBE && below(w, 3)) p.sample_len = 1 + (int32_t)below(w, 6);
    if (call == STENO_CALL_TRANSCRIBE && below(w, 3)) p.without_timestamps = 1;
    if (call == STENO_CALL_TRANSCRIBE && below(w, 2)) p.no_speech_threshold = (double)NAN;
    if (call == STENO_CALL_TRANSCRIBE && !below(w, 4)) p.beam_size = 2;
    if (call == STENO_CALL_TRANSCRIBE && !below(w, 4)) p.word_timestamps = 1;
    for (uint32_t n = below(w, 2) ? 0 : below(w, 4); n > 0; n--) set_one(w, call, (uint8_t *)&p);
    p.user = c;
    p.should_abort = call_abort;
    if (below(w, 2)) p.on_progress = call_progress;
    if (call == STENO_CALL_ALIGN) return p;
    if (below(w, 2)) p.on_segment = call_segment;
    if (!below(w, 4)) p.on_window = call_window;
    if (!below(w, 4)) p.on_attempt = call_attempt;
    if (!below(w, 6)) p.logits_filter = call_filter;
    if (!below(w, 40)) p.size = below(w, sizeof p + 64);
    return p;
}

static steno_source random_source(struct world *w, struct holder *at)
{
    struct one_call *c = &at->call;
    *c = (struct one_call){ .w = w, .place = (int)(at - w->place), .sound = below(w, 2) ? 0 : (int)below(w, 6), .n = below(w, 2 * SOUND) };
    if (!below(w, 4)) c->piece = 1 + below(w, 3000);
    if (!below(w, 12)) c->fail_at = 1 + below(w, SOUND);
    return (steno_source){ below(w, 50) ? call_read : NULL, below(w, 20) ? call_rewind : NULL, c };
}

/* ---- one call ----------------------------------------------------------------------------------------------------------------------- */

static struct line *line_of(struct world *w, const struct holder *p)
{
    return p->line < 0 ? NULL : &w->line[p->line];
}

/* Has every call that changes the session to be refused now? */
static int is_busy(struct world *w, const struct holder *p)
{
    const struct line *l = line_of(w, p);
    return p->working || p->waiting || (l && l->running);
}

static void check(struct world *w, const struct holder *p, const char *what, int64_t rc, int busy)
{
    atomic_fetch_add(&calls, 1);
    if (rc < 0) atomic_fetch_add(&refused, 1);
    if (busy && rc != STENO_EARG) found(w, what, rc);
    if (rc < STENO_ENOVOCAB) found(w, "an unknown status", rc);
    if (p->s && rc < 0 && !steno_last_error(p->s)[0]) found(w, "a failure without a reason", rc);
}

static int64_t begin(struct world *w, struct holder *p, uint32_t what)
{
    static const char *const phases[] = { "mel", "encode", "cross", "prompt", "decode", "beam5", "batch", "total", "" };
    const int32_t ids[] = { 1, (int32_t)below(w, 2000), 3, -1 };
    steno_generate_params gp;
    steno_generate_params_init(&gp);
    gp.max_tokens = (int32_t)below(w, 6) - 1;
    if (below(w, 2)) gp.temperature = 0.5;
    if (what == 0) return steno_encode(p->s, sound[below(w, 6)], (int64_t)below(w, SOUND) - 2);
    if (what == 1) return steno_generate(p->s, ids, (int)below(w, 5), below(w, 3) ? &gp : NULL);
    if (what == 2) return steno_generate_continue(p->s, ids, (int)below(w, 5), &gp);
    if (what == 3) return steno_bench_phase(p->s, phases[below(w, 9)], 1 + (int)below(w, 4));
    if (what == 4) return steno_transcribe(p->s, sound[below(w, 6)], (int64_t)below(w, SOUND) - 2, NULL);
    const steno_source src = random_source(w, p);
    if (what == 5) return steno_detect_language(p->s, &src, NULL, (int)below(w, 3) - 1);
    if (what == 6) {
        const steno_transcribe_params a = random_params(w, &p->call, STENO_CALL_ALIGN);
        return steno_align(p->s, &src, random_text(w), below(w, 8) ? &a : NULL);
    }
    if (what == 7) {
        steno_vad_params v;
        steno_vad_params_init(&v);
        if (!below(w, 3)) set_one(w, STENO_CALL_FIND_SPEECH, (uint8_t *)&v);
        v.user = &p->call;
        v.on_frame = call_frame;
        v.on_span = call_span;
        v.should_abort = call_abort;
        return steno_find_speech(p->s, &src, &v);
    }
    const steno_transcribe_params t = random_params(w, &p->call, STENO_CALL_TRANSCRIBE);
    return steno_transcribe_source(p->s, &src, &t);
}

static void act_begin(struct world *w, struct holder *p)
{
    const int busy = is_busy(w, p);
    struct line *l = line_of(w, p);
    if (!busy) {
        p->working = 1;
        if (l) l->running++;
    }
    const int64_t rc = busy ? steno_transcribe(p->s, sound[0], 1600, NULL) : begin(w, p, below(w, 14));
    if (!busy) {
        p->working = 0;
        if (l) l->running--;
    }
    check(w, p, "a call on a session at work", rc, busy);
}

static void act_line(struct world *w, struct line *l)
{
    if (!l->b) return;
    const int busy = l->running;
    l->running++;
    const int rc = steno_batch_run(l->b);
    l->running--;
    atomic_fetch_add(&calls, 1);
    if (rc != (busy ? STENO_EARG : STENO_OK)) found(w, "steno_batch_run", rc);
    for (int i = 0; i < HOLDERS && !busy; i++)
        if (w->place[i].s && w->place[i].waiting && line_of(w, &w->place[i]) == l) found(w, "a queued request has not ended", i);
}

static void act_add(struct world *w, struct holder *p)
{
    struct line *l = line_of(w, p);
    if (!l || !l->b) return;
    const int busy = p->working || p->waiting;
    struct one_call kept = p->call;
    const steno_source src = random_source(w, p);
    const steno_transcribe_params t = random_params(w, &p->call, STENO_CALL_TRANSCRIBE);
    if (busy) p->call = kept; /* another call uses it */
    const int rc = steno_batch_add(l->b, p->s, &src, p->model == VAD_MODEL ? NULL : &t);
    check(w, p, "steno_batch_add", rc, busy);
    if (!rc) p->waiting = 1;
}

static void act_close(struct world *w, struct holder *p)
{
    struct line *l = line_of(w, p);
    const int stays = p->working || (p->waiting && l && l->running && !l->telling);
    steno_session_close(p->s);
    if (stays) {
        read_all(w, p->s);
        return;
    }
    p->s = NULL;
    p->waiting = 0;
    if (l) l->n--;
}

static void act_open(struct world *w, struct holder *p)
{
    steno_session_params sp;
    steno_error e;
    steno_session_params_init(&sp);
    sp.max_lanes = 1 + (int)below(w, 3);
    p->model = (int)below(w, 20) % 7 % MODELS;
    p->line = (int)below(w, LINES + 1) - 1;
    struct line *l = line_of(w, p);
    if (l && (!l->b || l->model != p->model)) l = NULL, p->line = -1;
    if (l) sp.batch = l->b;
    const int rc = steno_session_open(&p->s, model[p->model], below(w, 2) ? team : NULL, &sp, &e);
    if (rc != (p->model == DRY_MODEL ? STENO_EARG : STENO_OK)) found(w, e.text, rc);
    if (p->s && l) l->n++;
}

static void act_batch(struct world *w, struct line *l)
{
    if (l->b && !below(w, 3)) {
        steno_batch_close(l->b);
        if (!l->running) l->b = NULL;
    } else if (!l->b && !l->n) {
        steno_batch_params bp;
        steno_batch_params_init(&bp);
        bp.max_windows = 1 + (int)below(w, 3);
        bp.max_lanes = 1 + (int)below(w, 3);
        bp.user = l;
        bp.on_done = line_done;
        static const int kinds[] = { 0, 1, 0, CTC_MODEL, VAD_MODEL };
        *l = (struct line){ .model = kinds[below(w, 5)], .w = w };
        const int rc = steno_batch_open(&l->b, model[l->model], below(w, 2) ? team : NULL, &bp, NULL);
        if (rc) found(w, "a batch cannot be opened", rc);
    }
}

static void act(struct world *w)
{
    struct holder *p = &w->place[below(w, HOLDERS)];
    const uint32_t what = below(w, 16);
    w->ops--;
    if (what == 0) act_batch(w, &w->line[below(w, LINES)]);
    else if (what == 1) act_line(w, &w->line[below(w, LINES)]);
    else if (!p->s) act_open(w, p);
    else if (what == 2) act_close(w, p);
    else if (what == 3) steno_cancel(p->s);
    else if (what == 4) steno_timings_reset(p->s), steno_profile_enable(p->s, (int)below(w, 2));
    else if (what == 5) steno_result_select(p->s, (int)below(w, 4) - 1);
    else if (what < 9) act_add(w, p);
    else if (what == 9) read_all(w, p->s);
    else act_begin(w, p);
}

/* ---- rounds ------------------------------------------------------------------------------------------------------------------------- */

/* What a session gives that nothing disturbs. */
static uint64_t plain(const struct world *w, steno_session *s, int m)
{
    steno_transcribe_params p;
    struct tap t = { .pcm = sound[0], .n = SOUND };
    const steno_source src = tap_source(&t);
    steno_transcribe_params_init(&p);
    if (m != CTC_MODEL) {
        p.sample_len = 5;
        p.no_speech_threshold = (double)NAN;
        p.temperature_increment_on_fallback = 0;
    }
    const int rc = m == VAD_MODEL ? steno_find_speech(s, &src, NULL) : steno_transcribe_source(s, &src, &p);
    if (rc) found(w, steno_last_error(s), rc);
    return result_digest(s) ^ spans_digest(s);
}

static void world_run(struct world *w)
{
    for (w->ops = OPS + (int)below(w, 2 * OPS); w->ops > 0;) act(w);
    for (int i = 0; i < LINES; i++)
        if (w->line[i].b) act_line(w, &w->line[i]);
    for (int i = 0; i < HOLDERS; i++) {
        struct holder *p = &w->place[i];
        if (!p->s) continue;
        if (!p->waiting && plain(w, p->s, p->model) != plain_digest[p->model]) found(w, "another result afterwards", p->model);
        steno_session_close(p->s);
    }
    for (int i = 0; i < LINES; i++) steno_batch_close(w->line[i].b);
}

static void *thread_run(void *arg)
{
    world_run(arg);
    return NULL;
}

static void round_run(long n)
{
    static struct world w[THREADS];
    const int threads = n % 4 == 3 ? THREADS : 1;
    pthread_t id[THREADS];
    for (int i = 0; i < threads; i++) {
        w[i] = (struct world){ .round = n, .random = (seed * 1000003 + (uint64_t)n) * 7 + (uint64_t)i };
        below(&w[i], 2);
    }
    for (int i = 1; i < threads; i++) pthread_create(&id[i], NULL, thread_run, &w[i]);
    world_run(&w[0]);
    for (int i = 1; i < threads; i++) pthread_join(id[i], NULL);
}

static void models_open(void)
{
    struct whisper_dims brief = small_dims;
    steno_model_params dry;
    brief.n_audio_ctx = 7;
    model[ENGLISH_MODEL] = random_model(&small_dims, DT_F16, 3, NULL);
    model[SHORT_MODEL] = random_model(&brief, DT_F32, 4, NULL);
    model[MANY_MODEL] = random_model(&small_multilingual, DT_F16, 4, NULL);
    model[CTC_MODEL] = funasr_open(ctc_folder, NULL);
    model[VAD_MODEL] = funasr_open(vad_folder, NULL);
    const struct bytes file = random_bytes(&small_dims, DT_F16, 3);
    steno_model_params_init(&dry);
    dry.index_only = 1;
    if (steno_model_open_memory(&model[DRY_MODEL], file.p, file.n, &dry, NULL) || steno_team_open(&team, 2, NULL)) exit(1);
    free(file.p);
}

static void sounds_make(void)
{
    uint32_t state = 3;
    const struct audio demo = demo_audio(0, 0, 1);
    for (int k = 0; k < 6; k++) {
        sound[k] = malloc(SOUND * sizeof(float));
        for (int i = 0; sound[k] && i < SOUND; i++)
            sound[k][i] = k == 0   ? demo.pcm[i]
                          : k == 1 ? 0.3f * noise(&state)
                          : k == 2 ? 0
                          : k == 3 ? (i % 7 ? 0.1f : (float)NAN)
                          : k == 4 ? (i % 5 ? 0.1f : INFINITY)
                                   : 1e30f * noise(&state);
    }
    free(demo.pcm);
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? atof(argv[1]) : 0;
    struct timespec t0, t;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    clock_gettime(CLOCK_MONOTONIC, &t0);
    sounds_make();
    models_open();
    const struct world quiet = { .round = -1 };
    for (int m = 0; m < DRY_MODEL; m++) {
        steno_session *s = session_new(model[m], NULL, 1);
        plain_digest[m] = plain(&quiet, s, m);
        steno_session_close(s);
    }
    long n = argc > 3 ? atol(argv[3]) : 0;
    const long first = n, last = argc > 3 ? n + 1 : argc > 1 ? INT32_MAX : STENO_SANITIZED && !in_full() ? SANITIZED_ROUNDS : SHORT_ROUNDS;
    for (; n < last; n++) {
        clock_gettime(CLOCK_MONOTONIC, &t);
        if (argc > 1 && argc < 4 && (double)(t.tv_sec - t0.tv_sec) >= seconds) break;
        round_run(n);
    }
    for (int m = 0; m < MODELS; m++) steno_model_close(model[m]);
    steno_team_close(team);
    for (int k = 0; k < 6; k++) free(sound[k]);
    printf("%ld rounds of seed %llu, %ld calls, %ld of them refused or failed, %ld findings\n", n - first, (unsigned long long)seed,
           atomic_load(&calls), atomic_load(&refused), atomic_load(&findings));
    return atomic_load(&findings) != 0;
}
