/* steno-serve: the state of a realtime transcription. SPDX-License-Identifier: MIT
 *
 * realtime_out.c sends events, realtime_items.c has the items, realtime.c the client's side, realtime_live.c the live session's. All of
 * it is called with the lock held. */
#ifndef STENO_SERVE_REALTIME_STATE_H
#define STENO_SERVE_REALTIME_STATE_H
#include "realtime.h"
#include <pthread.h>

/* COMMIT_LEAST_MS: the shortest audio of an item. TEXT_MAX: a longer item is committed by the server. HELD_MAX: bytes of messages that
 * wait. FAILURES_MAX: of live sessions, one after another. FLUSHES_MAX: commits that the live session has not answered. */
enum { COMMIT_LEAST_MS = 100, ITEM_TEXT_MAX = 64 << 10, HELD_MAX = 8 << 20, FAILURES_MAX = 3, FLUSHES_MAX = 32, ID_SZ = 48 };

struct realtime_item {
    char id[ID_SZ], previous[ID_SZ];
    int is_committed;
    int is_turn;             /* opened by voice activity */
    int64_t begin_ms, end_ms;
    char *text;              /* [n] transcript so far */
    size_t n, cap;
    size_t turn_from;        /* where the text of the live session's turn begins */
    int begins_turn;         /* the next words are the first ones of a turn */
    char language[16];
    json_t *words;           /* with times, for steno.words; NULL: none */
    json_t *logprobs;        /* of its words; NULL: none */
    char lost[128];          /* why its audio was lost; "": it was not */
    struct realtime_item *next;
};

/* A message that waits until the live session can take it. */
struct realtime_held { struct realtime_held *next; int is_binary; size_t n; char bytes[]; };

struct realtime {
    pthread_mutex_t lock;
    struct realtime_params p;
    char seed[25], model[256];
    struct realtime_session session;
    struct realtime_config config;
    void *live;
    int live_has_vad;
    json_t *live_input;      /* the session that the live one was opened with */
    int64_t base_ms;         /* audio before this live session */
    int64_t live_bytes;
    int rate, width;         /* of this live session */
    int64_t commit_ms;       /* end of what was committed or cleared */
    unsigned char carry;     /* half a sample */
    int has_carry;
    struct realtime_item *items; /* in order of commit; the first one receives the texts */
    char last_id[ID_SZ];     /* of the last committed item; "": none */
    int n_items;
    long long n_events;
    /* reasons to hold messages */
    int n_flushes, is_full, is_swapping, is_clearing, clear_waits, commit_waits;
    int n_committed;         /* items since the client's last commit or clear */
    int64_t flush_ms;        /* audio at the commit that waits */
    struct realtime_held *held, **held_end;
    size_t held_bytes;
    int is_paused;
    int n_failures;
    int is_ending, is_gone, is_closed;
};

/* ---- realtime_out.c */

void out_event(struct realtime *rt, const char *type, json_t *fields); /* takes the reference; NULL: out of memory */
void out_session(struct realtime *rt, int is_new);
void out_error(struct realtime *rt, const struct realtime_error *e, const char *event_id);
void out_close(struct realtime *rt, int code, const char *reason);

/* ---- realtime_items.c */

struct realtime_item *item_open(struct realtime *rt, int64_t begin_ms); /* at the end; NULL: out of memory */
struct realtime_item *item_writing(struct realtime *rt);                /* the first one, or a new one */
struct realtime_item *item_filling(struct realtime *rt);                /* the last one if it is not committed, else NULL */
void item_commit(struct realtime *rt, struct realtime_item *it, int64_t end_ms);
void item_complete(struct realtime *rt); /* the first one: completed, or failed if its audio was lost */
void item_lose(struct realtime_item *it, const char *why);
void item_drop(struct realtime *rt, struct realtime_item *it);
void item_words(struct realtime *rt, struct realtime_item *it, const struct live_event *e);
void item_partial(struct realtime *rt, struct realtime_item *it, const struct live_event *e);

/* ---- realtime.c */

int64_t realtime_now_ms(const struct realtime *rt);
void realtime_refused(struct realtime *rt, const struct api_error *e); /* closes: there is no live session */
void realtime_clear_end(struct realtime *rt); /* drops the open item, and sends cleared */
void realtime_lock(struct realtime *rt);
/* Handles messages that waited, and unlocks. The machine may be freed after it. */
void realtime_unlock(struct realtime *rt);
#endif
