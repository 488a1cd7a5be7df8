/* steno-serve: OpenAI's realtime transcription as a state machine. SPDX-License-Identifier: MIT
 *
 * Client events, as text, and events of a live session come in; server events go out through a callback. What a client can rely on:
 * - The deltas of an item, joined, are its transcript, and no delta comes after it.
 * - Each committed item gets exactly one of completed and failed, in the order of the commits.
 * - `error` is for mistakes of the client only. Overload is `failed`, or a close code.
 * Audio is counted in milliseconds since the start. All functions may be called from any thread. */
#ifndef STENO_SERVE_REALTIME_H
#define STENO_SERVE_REALTIME_H
#include "api_error.h"
#include "realtime_session.h"

struct live_event;
struct realtime;

/* Close codes of a WebSocket. openai-python connects again after those below 4000. */
enum { CLOSE_GOING = 1001, CLOSE_POLICY = 1008, CLOSE_BROKEN = 1011, CLOSE_BUSY = 1013, CLOSE_UNSERVED = 4000 };

/* A live session: live_session.h, or a test. The functions must not wait, nor call back before they return. */
struct realtime_audio {
    /* Its events are to be passed to realtime_live_...(rt). @return NULL with *e */
    void *(*open)(void *user, const struct realtime_config *c, struct realtime *rt, struct api_error *e);
    int (*push)(void *live, const void *bytes, size_t n); /* @return 0; 1: taken, but push no more until `room`; -1: it is over */
    void (*commit)(void *live);
    void (*clear)(void *live);
    void (*end)(void *live);    /* decode the rest, then `ended` */
    void (*cancel)(void *live);
    void (*close)(void *live);  /* within realtime_live_ended */
};

struct realtime_params {
    int is_beta;             /* the names and the flat session of the beta */
    const char *seed;        /* of identifiers: sess_SEED, item_SEED_1, ...; at most 24 bytes */
    const char *model;       /* default */
    int64_t expires_at;      /* Unix time of the session's end; 0: none */
    const struct realtime_audio *audio;
    void (*send)(void *user, const char *text, size_t n);
    void (*close)(void *user, int code, const char *reason);
    void (*pause)(void *user, int on); /* stop reading from the client, or go on */
    void (*over)(void *user);          /* the last call, after realtime_gone: the machine is freed */
    /* May the session be this? @return 0, or -1 with *e. NULL: yes */
    int (*check)(void *user, const struct realtime_config *c, struct realtime_error *e);
    /* Can the model find turns? If not, clients receive a session without turn detection, and no error: they ask for it by habit. Turns end
     * at their maximum length then, and by commits. @return 1 or 0. NULL: yes */
    int (*finds_turns)(void *user, const char *model);
    void *user;
};

int realtime_open(struct realtime **out, const struct realtime_params *p); /* @return 0, or -1: out of memory */
/* Before realtime_begin: merges a session. @return as realtime_session_update */
int realtime_configure(struct realtime *rt, const json_t *session, struct realtime_error *e);
void realtime_begin(struct realtime *rt); /* sends session.created */

/* From the client. */
void realtime_text(struct realtime *rt, const char *text, size_t n);
void realtime_binary(struct realtime *rt, const void *bytes, size_t n); /* audio */
/* The connection is over. The machine is freed when its live session has ended. */
void realtime_gone(struct realtime *rt);
/* Ends the session: open turns are completed, then it is closed with 1001. is_expired: after an error session_expired */
void realtime_end(struct realtime *rt, int is_expired);

/* From the live session. */
void realtime_live_event(struct realtime *rt, const struct live_event *e);
void realtime_live_speech(struct realtime *rt, int begins, int64_t at_ms);
void realtime_live_flushed(struct realtime *rt);
void realtime_live_cleared(struct realtime *rt);
void realtime_live_room(struct realtime *rt);
void realtime_live_ended(struct realtime *rt, const struct api_error *e); /* e: of a failure, or NULL */
#endif
