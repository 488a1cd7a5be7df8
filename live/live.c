/* steno: text while somebody speaks. SPDX-License-Identifier: MIT */
#include "live.h"
#include "live_words.h"
#include <stdlib.h>
#include <string.h>

enum { RATE = 16000, PER_MS = RATE / 1000, LEAST_MS = 200, MARGIN_MS = 100, CUT_MS = 15000, PROMPT_MOST = 400, HELD_MS = 2000 };

struct live {
    struct live_params p;
    /* What was pushed: from sample `at` on. */
    float *pcm;
    int64_t at, n, cap;
    int ended;
    /* The turn. */
    int turn, open;
    int64_t begin;               /* its first sample */
    int64_t cut;                 /* sample from which the recogniser hears it */
    int64_t update;              /* sample at which it does so next */
    int64_t close;               /* the sample behind its last one, -1: nobody knows yet */
    struct words known, heard;   /* final words: all of the turn; what the last pass had behind them */
    size_t known_cut;            /* final words before `cut` */
    char *prompt;
    int64_t disagreements;
    /* Voice activity. */
    steno_batch *batch;
    steno_session *finder;
    steno_vad_params find;
    int64_t given;               /* samples that it has */
    struct edge { int64_t t0_ms, t1_ms; } edge[64]; /* what it told of, and nobody has looked at */
    int n_edges;
    steno_error *e;
    int rc;
};

int64_t live_disagreements(const struct live *l) { return l->disagreements; }

static int fail(struct live *l, int rc, const char *why)
{
    if (!l->rc) l->rc = rc;
    if (l->e && rc && !l->e->text[0]) {
        l->e->status = rc;
        strncat(l->e->text, why, sizeof l->e->text - 1);
    }
    return rc;
}

/* ---- events */

static void tell(struct live *l, enum live_kind kind, const struct words *w, size_t from)
{
    char *text = live_words_text(w, from, w->n);
    if (!text) {
        fail(l, STENO_ENOMEM, "out of memory for words");
        return;
    }
    const int has = from < w->n;
    struct live_event e = { kind, l->turn, has ? w->w[from].t0_ms : -1, has ? w->w[w->n - 1].t1_ms : -1, text, NULL };
    if (kind == LIVE_ENDPOINT) {
        e.t0_ms = l->begin / PER_MS;
        e.t1_ms = l->close / PER_MS;
        e.language = steno_language(l->p.session);
    }
    l->p.tell(l->p.user, &e);
    free(text);
}

/* ---- passes */

struct part { const float *pcm; int64_t n, at; };

static int64_t part_read(void *user, float *pcm, int64_t n)
{
    struct part *p = user;
    const int64_t left = p->n - p->at, some = n < left ? n : left;
    memcpy(pcm, p->pcm + p->at, (size_t)some * sizeof *pcm);
    p->at += some;
    return some;
}

static int part_rewind(void *user)
{
    ((struct part *)user)->at = 0;
    return STENO_OK;
}

/* Words of the session's result, less what the guards speak against; a segment that has no times of words is a word. */
static int words_take(struct live *l, struct words *to)
{
    const steno_session *s = l->p.session;
    const int64_t off = l->cut / PER_MS;
    live_words_clear(to);
    for (int i = 0; i < steno_segment_count(s); i++) {
        steno_segment seg = { .size = sizeof seg };
        steno_segment_get(s, i, &seg);
        if (seg.flags & (STENO_FLAG_REPETITION | STENO_FLAG_NO_SPEECH)) break;
        for (int32_t k = 0; k < seg.n_words; k++) {
            steno_word w = { .size = sizeof w };
            steno_word_get(s, i, k, &w);
            if (live_words_add(to, w.text, off + w.t0_ms, off + w.t1_ms)) return fail(l, STENO_ENOMEM, "out of memory for words");
        }
        if (!seg.n_words && seg.text[0] && live_words_add(to, seg.text, off + seg.t0_ms, off + seg.t1_ms))
            return fail(l, STENO_ENOMEM, "out of memory for words");
    }
    return STENO_OK;
}

/* Hear the turn up to sample `end`. */
static int hear(struct live *l, int64_t end, int is_last, struct words *to)
{
    steno_transcribe_params p = l->p.text;
    struct part part = { l->pcm + (l->cut - l->at), end - l->cut, 0 };
    const steno_source src = { part_read, part_rewind, &part };
    live_words_clear(to);
    if (end <= l->cut) return STENO_OK;
    if (l->prompt && l->p.has_prompt) p.initial_prompt = l->prompt;
    if (!is_last && l->p.has_prompt) p.temperature_increment_on_fallback = 0; /* the ladder is the last pass's */
    const int rc = steno_transcribe_source(l->p.session, &src, &p);
    return rc ? fail(l, rc, steno_last_error(l->p.session)) : words_take(l, to);
}

/* Words [from, end) of w become final. */
static void known_add(struct live *l, const struct words *w, size_t from, size_t end)
{
    const size_t first = l->known.n;
    for (size_t i = from; i < end; i++)
        if (live_words_add(&l->known, w->w[i].text, w->w[i].t0_ms, w->w[i].t1_ms)) fail(l, STENO_ENOMEM, "out of memory for words");
    if (l->known.n > first) tell(l, LIVE_FINAL, &l->known, first);
}

/* Final words within what is heard now. */
static struct words known_here(const struct live *l)
{
    return (struct words){ l->known.w + l->known_cut, l->known.n - l->known_cut, 0 };
}

static int64_t known_end_ms(const struct live *l)
{
    return l->known.n ? l->known.w[l->known.n - 1].t1_ms : -1;
}

/* So much was heard that nobody can go back: what is final becomes a prompt. */
static void turn_cut(struct live *l, int64_t now)
{
    const int64_t end = known_end_ms(l) * PER_MS;
    if (now - l->cut < CUT_MS * PER_MS || end <= l->cut) return;
    char *text = live_words_text(&l->known, 0, l->known.n);
    if (!text) return;
    const size_t n = strlen(text);
    char *from = n > PROMPT_MOST ? strchr(text + n - PROMPT_MOST, ' ') : text;
    free(l->prompt);
    l->prompt = from ? strdup(from) : NULL;
    free(text);
    l->cut = end < now ? end : now;
    l->known_cut = l->known.n;
}

static void turn_update(struct live *l, int64_t now)
{
    struct words w = { 0 };
    const struct words here = known_here(l);
    if (hear(l, now, 0, &w)) {
        live_words_free(&w);
        return;
    }
    size_t from = live_words_behind(&w, &here, known_end_ms(l) - MARGIN_MS), same = from;
    for (size_t i = 0; i < l->heard.n && same < w.n && live_word_same(l->heard.w[i].text, w.w[same].text); i++) same++;
    known_add(l, &w, from, same);
    live_words_clear(&l->heard);
    for (size_t i = same; i < w.n; i++)
        if (live_words_add(&l->heard, w.w[i].text, w.w[i].t0_ms, w.w[i].t1_ms)) fail(l, STENO_ENOMEM, "out of memory for words");
    if (l->heard.n) tell(l, LIVE_PARTIAL, &l->heard, 0);
    live_words_free(&w);
    turn_cut(l, now);
}

/* ---- turns */

static void turn_open(struct live *l, int64_t at)
{
    l->open = 1;
    l->turn++;
    l->begin = l->cut = at;
    l->update = at + l->p.step_ms * PER_MS;
    l->close = -1;
    l->known_cut = 0;
    live_words_clear(&l->known);
    live_words_clear(&l->heard);
    free(l->prompt);
    l->prompt = NULL;
}

/* Its last pass completes the text. */
static void turn_close(struct live *l, int64_t at)
{
    struct words w = { 0 };
    const struct words here = known_here(l);
    l->close = at;
    if (!hear(l, at, 1, &w)) {
        const size_t from = live_words_behind(&w, &here, known_end_ms(l) - MARGIN_MS);
        l->disagreements += from < here.n ? (int64_t)(here.n - from) : 0;
        known_add(l, &w, from, w.n);
        tell(l, LIVE_ENDPOINT, &l->known, 0);
    }
    live_words_free(&w);
    l->open = 0;
}

/* Sound up to sample `now` was heard by who finds turns. */
static void turns_go(struct live *l, int64_t now)
{
    while (l->open && !l->rc) {
        const int64_t most = l->begin + l->p.turn_most_ms * PER_MS;
        const int64_t end = l->close >= 0 && l->close < most ? l->close : most;
        if (l->update < end && l->update <= now) {
            const int64_t at = l->update;
            l->update += l->p.step_ms * PER_MS;
            turn_update(l, at);
        } else if (end <= now) {
            const int is_cut = l->close < 0 || l->close > end;
            const int64_t close = l->close;
            turn_close(l, end);
            if (!is_cut) return;
            turn_open(l, end);
            l->close = close;
        } else return;
    }
}

/* ---- voice activity */

static void on_edge(void *user, const steno_span *s)
{
    struct live *l = user;
    if (l->n_edges < (int)(sizeof l->edge / sizeof *l->edge)) l->edge[l->n_edges++] = (struct edge){ s->t0_ms, s->t1_ms };
}

static int64_t finder_read(void *user, float *pcm, int64_t n)
{
    struct live *l = user;
    const int64_t left = l->at + l->n - l->given, some = n < left ? n : left;
    if (!some) return l->ended ? 0 : STENO_SOURCE_WAIT;
    memcpy(pcm, l->pcm + (l->given - l->at), (size_t)some * sizeof *pcm);
    l->given += some;
    return some;
}

static void edges_go(struct live *l)
{
    for (int i = 0; i < l->n_edges && !l->rc; i++) {
        const struct edge *g = &l->edge[i];
        if (g->t0_ms >= 0 && !l->open) turn_open(l, g->t0_ms * PER_MS > l->at ? g->t0_ms * PER_MS : l->at);
        if (g->t1_ms >= 0 && l->open) {
            l->close = g->t1_ms * PER_MS < l->at + l->n ? g->t1_ms * PER_MS : l->at + l->n;
            turns_go(l, l->at + l->n);
        }
    }
    l->n_edges = 0;
}

static int finder_open(struct live *l, steno_error *e)
{
    steno_batch_params bp;
    steno_session_params sp;
    steno_request_params r;
    const steno_source src = { finder_read, NULL, l };
    if (l->p.find) l->find = *l->p.find;
    else steno_vad_params_init(&l->find);
    l->find.user = l;
    l->find.on_event = on_edge;
    l->find.streaming = 1;
    steno_batch_params_init(&bp);
    bp.max_windows = 1;
    int rc = steno_batch_open(&l->batch, l->p.vad, l->p.team, &bp, e);
    steno_session_params_init(&sp);
    sp.batch = l->batch;
    if (!rc) rc = steno_session_open(&l->finder, l->p.vad, l->p.team, &sp, e);
    steno_request_params_init(&r);
    r.find_speech = &l->find;
    if (!rc) rc = steno_batch_submit(l->batch, l->finder, &src, &r);
    if (rc && l->finder && !e->text[0]) strncat(e->text, steno_last_error(l->finder), sizeof e->text - 1);
    return rc;
}

/* ---- the sound */

int live_open(struct live **out, const struct live_params *p, steno_error *e)
{
    struct live *l = calloc(1, sizeof *l);
    *out = NULL;
    if (!l) return STENO_ENOMEM;
    l->p = *p;
    l->p.text.word_timestamps = p->has_words;
    const int rc = p->vad ? finder_open(l, e) : STENO_OK;
    if (rc) live_close(l);
    else *out = l;
    return rc;
}

void live_close(struct live *l)
{
    if (!l) return;
    steno_session_close(l->finder);
    steno_batch_close(l->batch);
    live_words_free(&l->known);
    live_words_free(&l->heard);
    free(l->prompt);
    free(l->pcm);
    free(l);
}

/* What no turn needs any more is dropped. */
static void pcm_drop(struct live *l)
{
    int64_t from = l->open ? l->cut : l->at + l->n - HELD_MS * PER_MS;
    if (l->p.vad && from > l->given) from = l->given;
    if (from - l->at < RATE) return;
    l->n -= from - l->at;
    memmove(l->pcm, l->pcm + (from - l->at), (size_t)l->n * sizeof *l->pcm);
    l->at = from;
}

/* What was pushed is looked at. */
static void look(struct live *l)
{
    if (!l->p.vad && !l->open && !l->turn) turn_open(l, 0);
    if (l->batch) {
        steno_batch_wake(l->batch);
        steno_batch_run_as(l->batch, STENO_RUN_POLL);
        edges_go(l);
    }
    turns_go(l, l->at + l->n);
    pcm_drop(l);
}

enum { STEP = 512 }; /* samples: sound is looked at in these, whatever the pieces */

/* Up to the end of a step. */
static int some_push(struct live *l, const float *pcm, int64_t n)
{
    if (l->n + n > l->cap) {
        const int64_t cap = 2 * (l->n + n);
        float *more = realloc(l->pcm, (size_t)cap * sizeof *more);
        if (!more) return fail(l, STENO_ENOMEM, "out of memory for sound");
        l->pcm = more;
        l->cap = cap;
    }
    memcpy(l->pcm + l->n, pcm, (size_t)n * sizeof *pcm);
    l->n += n;
    if ((l->at + l->n) % STEP == 0) look(l);
    return l->rc;
}

int live_push(struct live *l, const float *pcm, int64_t n, steno_error *e)
{
    l->e = e;
    while (n > 0 && !l->rc) {
        const int64_t room = STEP - (l->at + l->n) % STEP, some = n < room ? n : room;
        some_push(l, pcm, some);
        pcm += some;
        n -= some;
    }
    return l->rc;
}

int live_end(struct live *l, steno_error *e)
{
    const int64_t now = l->at + l->n;
    l->e = e;
    l->ended = 1;
    if (!l->p.vad && !l->turn && l->n) turn_open(l, 0);
    if (l->batch) {
        steno_batch_wake(l->batch);
        steno_batch_run(l->batch);
        edges_go(l);
    }
    if (l->open && !l->rc) {
        if (l->close < 0 || l->close > now) l->close = now;
        turns_go(l, now);
        if (l->open && !l->rc) turn_close(l, now);
    }
    return l->rc;
}
