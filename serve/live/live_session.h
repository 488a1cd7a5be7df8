/* steno-serve: one live transcription, whatever the protocol. SPDX-License-Identifier: MIT
 *
 * A protocol pushes bytes of audio and receives events. A thread of the session decodes them with live/ on the model's batch, so passes
 * of all sessions and windows of files share runs. Memory is fixed: a ring of LIVE_RING_S seconds and LIVE_RING_SLACK bytes. A machine that
 * does not keep up skips passes: texts come later, and partial texts are missing. */
#ifndef STENO_SERVE_LIVE_SESSION_H
#define STENO_SERVE_LIVE_SESSION_H
#include "engines.h"
#include "live.h"
#include "metrics.h"

struct live_session;

enum { LIVE_RING_S = 30, LIVE_RING_SLACK = 4 << 20 /* pushed after a push that returned 1 */ };

enum audio_encoding { AUDIO_S16LE, AUDIO_F32LE, AUDIO_ULAW, AUDIO_ALAW, AUDIO_S32LE, AUDIO_U8 };

struct live_session_params {
    struct engine *engine;
    struct metrics *metrics;   /* counts updates, or words of a model that decodes chunks; NULL: none */
    enum audio_encoding encoding;
    int rate, channels;        /* 8000 to 192000; 1 to 8, mixed to one */
    /* 1: turns by voice activity; 0: only by live_session_commit. A turn also ends at its maximum length. Without a model for voice
     * activity, 1 is as 0 */
    int uses_vad;
    double threshold;          /* of voice activity; -1: default */
    int silence_ms, padding_ms; /* -1: default */
    int step_ms, max_turn_ms;  /* 200 to 10000, 2000 to 30000; values outside are set to the nearest one. 0: 1000, 30000 */
    int continues;             /* 1: the client had a session before this one, so it is not refused because texts are late */
    int task;
    const char *language, *prompt, *hotwords; /* copied; NULL: default */
    /* On the session's thread. Texts are valid during the call. Each may be NULL, except `ended`. */
    void (*event)(void *user, const struct live_event *e);
    /* A turn begins or ends. Its last words and its endpoint follow its end, except if live_session_clear dropped it or it had less than
     * 1 ms of audio */
    void (*speech)(void *user, int begins, int64_t at_ms);
    void (*flushing)(void *user);                           /* the audio pushed before live_session_commit is being completed, */
    void (*flushed)(void *user);                            /* and is decoded */
    void (*cleared)(void *user);
    void (*room)(void *user);                               /* the ring has room again after a push that did not fit */
    void (*ended)(void *user, const struct api_error *e);   /* the last call; e: NULL after live_session_end, else the failure */
    void *user;
};

/* Does not wait and calls nothing back before it returns, but `ended` may follow at once. If the model is not loaded, the session waits for
 * it on its own thread, and a refusal after that, or a failure to load it, is the error in `ended`. @return API_OK; API_invalid_value
 * (with the parameter's name), API_too_many_sessions, API_overloaded, API_draining, API_internal_error, in *e */
int live_session_open(struct live_session **out, const struct live_session_params *p, struct api_error *e);
/* Close codes of the WebSocket of a session. BUSY: it was refused, and the client may try again later. */
enum { LIVE_CLOSE_END = 1000, LIVE_CLOSE_STOPPING = 1001, LIVE_CLOSE_FAILED = 1011, LIVE_CLOSE_BUSY = 1013 };
/* How a connection ends whose session was refused or has failed. e: of live_session_open or `ended`. Counts a refusal of a busy server,
 * since an open connection has no status. @return one of LIVE_CLOSE_... */
int live_session_refused(struct metrics *m, const struct api_error *e);
/* Any thread, never waits; one thread at a time. @return 0; 1: taken, but the ring is full: push no more until `room`; -1: the session is
 * over, or more than LIVE_RING_SLACK was pushed into a full ring, which ends it */
int live_session_push(struct live_session *s, const void *bytes, size_t n);
void live_session_commit(struct live_session *s); /* the turn ends now */
void live_session_clear(struct live_session *s);  /* drops what was not decoded, and the open turn */
void live_session_end(struct live_session *s);    /* no more audio: decode the rest, then `ended` */
void live_session_cancel(struct live_session *s); /* end soon, without the rest */
void live_session_close(struct live_session *s);  /* after `ended`, or within it: frees it. NULL is allowed */
/* Time since a client that sends audio as a microphone gives it has sent the audio at t_ms. Within `event` */
int64_t live_session_latency_ms(const struct live_session *s, int64_t t_ms);
/* Time between updates after one that has waited for the work of others. While they wait for more than 250 ms, updates become rarer by
 * half, so that their texts stay recent. Else each adds up to 1/8 update per second to the rate, so that all sessions approach the same
 * rate, until they are least_ms apart */
int live_session_step(int step_ms, int least_ms, int64_t wait_us);
int64_t live_session_pushed_ms(const struct live_session *s);
#endif
