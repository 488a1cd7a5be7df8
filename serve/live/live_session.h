/* steno-serve: one live transcription, whatever the protocol. SPDX-License-Identifier: MIT
 *
 * A protocol pushes bytes of audio and receives events. A thread of the session decodes them with live/ on the model's batch, so passes
 * of all sessions and windows of files share runs. Memory is fixed: a ring of LIVE_RING_S seconds. */
#ifndef STENO_SERVE_LIVE_SESSION_H
#define STENO_SERVE_LIVE_SESSION_H
#include "engines.h"
#include "live.h"

struct live_session;

enum audio_encoding { AUDIO_S16LE, AUDIO_F32LE, AUDIO_ULAW, AUDIO_ALAW, AUDIO_S32LE, AUDIO_U8 };

struct live_session_params {
    struct engine *engine;
    enum audio_encoding encoding;
    int rate, channels;        /* rate: 8000 to 96000 */
    int uses_vad;              /* 1: turns by voice activity; 0: only by live_session_commit */
    double threshold;          /* of voice activity; -1: default */
    int silence_ms, padding_ms; /* -1: default */
    int step_ms, max_turn_ms;  /* 0: the server's */
    int task;
    const char *language, *prompt, *hotwords; /* copied; NULL: default */
    /* On the session's thread. Texts are valid during the call. */
    void (*event)(void *user, const struct live_event *e);
    void (*speech)(void *user, int begins, int64_t at_ms);  /* a turn begins or ends; may be NULL */
    void (*flushed)(void *user);                            /* all audio pushed before live_session_commit is decoded */
    void (*cleared)(void *user);
    void (*room)(void *user);                               /* the ring has room again after a push that did not fit */
    void (*ended)(void *user, const char *why);             /* the last call; why: NULL after live_session_end, else the failure */
    void *user;
};

int live_session_open(struct live_session **out, const struct live_session_params *p, struct api_error *e);
/* Any thread, never waits. @return 0; 1: taken, but the ring is full: push no more until `room`; -1: the session is over */
int live_session_push(struct live_session *s, const void *bytes, size_t n);
void live_session_commit(struct live_session *s); /* the turn ends now */
void live_session_clear(struct live_session *s);  /* drops what was not decoded, and the open turn */
void live_session_end(struct live_session *s);    /* no more audio: decode the rest, then `ended` */
void live_session_cancel(struct live_session *s); /* end soon, without the rest */
void live_session_close(struct live_session *s);  /* after `ended`, or within it: frees it */
int64_t live_session_pushed_ms(const struct live_session *s);
#endif
