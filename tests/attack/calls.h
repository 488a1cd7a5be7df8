/* steno tests: what a round of random calls is about, and parameters made by chance. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_CALLS_H
#define STENO_TESTS_CALLS_H
#include "api/funasr_model.h"
#include "api/random_model.h"

enum { SHORT_ROUNDS = 60, SANITIZED_ROUNDS = 15 }; /* the latter under sanitizers, without script/test --long */
enum { MODELS = 6, HOLDERS = 5, LINES = 2, OPS = 14, DEPTH = 2, THREADS = 3, SOUND = RATE, ASKED_MAX = 1500 };
enum { ENGLISH_MODEL, SHORT_MODEL, MANY_MODEL, CTC_MODEL, VAD_MODEL, DRY_MODEL };

struct world;

/* A call on a session: what its callbacks and its source know. */
struct one_call {
    struct world *w;
    int place, sound, asked;
    int64_t n, at, piece, fail_at;
};

struct holder {
    steno_session *s;
    int model, line; /* line -1: a batch of its own */
    int working;     /* in a call of its own, which returns to this thread */
    int waiting;     /* queued */
    struct one_call call;
};

struct line {
    steno_batch *b; /* NULL: closed by its owner, or none */
    int model, n, running, telling;
    struct world *w;
};

struct world {
    uint64_t random;
    long round;
    int depth, ops;
    struct holder place[HOLDERS];
    struct line line[LINES];
};

static inline uint32_t below(struct world *w, uint32_t n)
{
    w->random = w->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((w->random >> 33) % n);
}

static inline const char *random_text(struct world *w)
{
    static const char *const texts[] = { "en", "de", "auto", "en-US", "jp", "xx", "", "-1", "1, 2", "-1,7 ", "1,x", "root ::= [a-z]+",
                                         "root ::= ", "one\ntwo", "a+",
                                         "(", "\xff\xfe", "\"'", "a very long text that goes on", "root", " ", "\n\n" };
    return below(w, 6) ? texts[below(w, sizeof texts / sizeof *texts)] : NULL;
}

static inline double random_number(struct world *w, const steno_param *r)
{
    const double often[] = { r->min, r->max, r->value, r->none, r->min - 1, r->max + 1,
                             (double)NAN, (double)INFINITY, 1e-310, -1e300, 0, 1 };
    if (below(w, 3)) return r->min + (r->max - r->min) * below(w, 1000) / 1000;
    return often[below(w, sizeof often / sizeof *often)];
}

static inline int64_t whole(double v)
{
    return v >= -9e18 && v <= 9e18 ? (int64_t)v : 0;
}

/* One of the parameters of a call at p to something. */
static inline void set_one(struct world *w, enum steno_call call, uint8_t *p)
{
    static int32_t const ids[] = { 1, 5, 9, 1800, -1, 99999 };
    static double const times[] = { 0, 0.4, 0.3, 0.9, 0.2, 5 };
    steno_param r = { .size = sizeof r };
    int n = 0;
    while (!steno_param_get(NULL, call, n, &r)) n++;
    if (steno_param_get(NULL, call, (int)below(w, (uint32_t)n), &r)) return;
    const double v = random_number(w, &r);
    const int32_t i32 = (int32_t)(v >= INT32_MIN && v <= INT32_MAX ? v : -7);
    const int64_t i64 = whole(v);
    const char *text = random_text(w);
    const int is_clips = !strcmp(r.name, "clip_timestamps");
    const void *list = is_clips ? (const void *)times : ids;
    switch (r.kind) {
    case STENO_PARAM_FLAG: memcpy(p + r.offset, &(int32_t){ below(w, 3) }, 4); break;
    case STENO_PARAM_CHOICE:
    case STENO_PARAM_INT32: memcpy(p + r.offset, &i32, sizeof i32); break;
    case STENO_PARAM_INT64:
    case STENO_PARAM_UINT64: memcpy(p + r.offset, &i64, sizeof i64); break;
    case STENO_PARAM_NUMBER: memcpy(p + r.offset, &v, sizeof v); break;
    case STENO_PARAM_TEXT: memcpy(p + r.offset, &text, sizeof text); break;
    case STENO_PARAM_LIST: {
        steno_transcribe_params *q = (steno_transcribe_params *)(void *)p;
        memcpy(p + r.offset, &list, sizeof list);
        int32_t *count = is_clips ? &q->n_clip_timestamps : !strcmp(r.name, "prefix_tokens") ? &q->n_prefix_tokens : &q->n_prompt_tokens;
        *count = (int32_t)below(w, 7) - !below(w, 20);
        break;
    }
    default: break;
    }
}
#endif
