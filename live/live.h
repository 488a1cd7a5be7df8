/* steno: text while somebody speaks. SPDX-License-Identifier: MIT
 *
 * The inside of libsteno-live (steno_live.h is for other programs). Sound is pushed in pieces of any size; what is said comes back
 * as events. Voice activity opens and closes turns; without it the whole sound is one. Every `step` of sound within a turn the recogniser
 * hears the turn so far, and words on which two such passes agree are final: local agreement (Machacek et al. 2023, whisper_streaming).
 * Final words never change; where a later pass disagrees they stay. All is reckoned in time of the sound, so that pieces of any size give
 * the same events, unless the caller says that it is late. Nothing here prints, waits, or reads the environment. */
#ifndef STENO_LIVE_H
#define STENO_LIVE_H
#include <stddef.h>
#include <steno/steno.h>

struct word;

enum live_kind {
    LIVE_PARTIAL, /* what is heard behind the final words, and may change; in place of the partial before it */
    LIVE_FINAL,   /* words that are final now; no partial stands behind them until the next one */
    LIVE_ENDPOINT /* the turn is over: all its words */
};

struct live_event {
    enum live_kind kind;
    int turn;             /* from 1 */
    int64_t t0_ms, t1_ms; /* -1: not known */
    int64_t heard_ms;     /* where the sound ends that the recogniser heard for it */
    int64_t now_ms;       /* where the sound ended that there was when it was told */
    const char *text;     /* UTF-8, without spaces at its ends; valid within the call */
    const struct word *words; /* [n_words] of it, with their times; valid within the call (live_words.h) */
    size_t n_words;
    const char *language; /* of an endpoint */
};

struct live_params {
    steno_session *session;        /* of a recogniser, the caller's, and nobody else's meanwhile */
    const steno_model *chunks;     /* in its place: a model that hears a stream chunk by chunk (streaming Paraformer), whose words are final
                                      as soon as they are heard; step_ms, turn_most_ms, has_words and has_prompt are not for it */
    const steno_model *vad;        /* NULL: one turn */
    steno_team *team;              /* for it */
    const steno_vad_params *find;  /* how it finds speech; NULL: the defaults. Its callbacks are not called */
    steno_transcribe_params text;  /* language, and so on; callbacks and word_timestamps are set */
    int has_words, has_prompt;     /* it serves word_timestamps; initial_prompt */
    int64_t step_ms;               /* 200..10000 */
    int64_t turn_most_ms;          /* 2000..30000: a turn is closed by then, behind its last final word, else at the quietest
                                      place of its last 2 s */
    void (*tell)(void *user, const struct live_event *e);
    void *user;
};

/* Set chunks, has_words and has_prompt by what the model serves. */
void live_params_of(struct live_params *p, const steno_model *m);

struct live;
int live_open(struct live **out, const struct live_params *p, steno_error *e);
/* Events are told in the middle of it. late_ms: how long the sound has waited for this call; who is late by a step or more goes without
 * updates, so as to keep up. 0: all updates are made. */
int live_push(struct live *l, const float *pcm, int64_t n, int64_t late_ms, steno_error *e);
int live_end(struct live *l, steno_error *e);            /* the sound ends: what was heard is final */
void live_close(struct live *l);                         /* NULL is allowed */
int64_t live_disagreements(const struct live *l);        /* words that stayed though the last pass had others */
#endif
