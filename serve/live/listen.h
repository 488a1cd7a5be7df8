/* steno-serve: Deepgram's API: its parameters; from events of a live session to messages. SPDX-License-Identifier: MIT
 *
 * A state machine without sockets and sessions. Any thread. */
#ifndef STENO_SERVE_LISTEN_H
#define STENO_SERVE_LISTEN_H
#include "api_error.h"
#include "live_session.h"

enum { LISTEN_TEXT_SZ = 128, LISTEN_HOTWORDS_SZ = 4096, LISTEN_SILENCE_MIN_MS = 300 };

struct listen_config {
    int is_file;                 /* set before the parameters: a file is transcribed, not live audio */
    char model[LISTEN_TEXT_SZ], language[LISTEN_TEXT_SZ]; /* "": the server's default, as "multi" */
    char hotwords[LISTEN_HOTWORDS_SZ];
    int has_encoding;
    enum audio_encoding encoding;
    int rate, channels;
    int interim, vad_events;
    int endpointing, silence_ms; /* silence_ms: -1: default; at least LISTEN_SILENCE_MIN_MS */
    int utterance_end_ms;        /* 0: no such message */
    int utterances, detects_language; /* of a file */
    double utt_split_s;          /* of a file: a longer pause between words begins another utterance */
};

void listen_config_init(struct listen_config *c, int is_file);
/* A parameter of the query. @return API_OK or a code, in *e */
int listen_query(struct listen_config *c, const char *name, const char *value, int is_strict, struct api_error *e);
/* After all parameters; fills in those that were not given. */
int listen_config_check(struct listen_config *c, struct api_error *e);
int listen_model_is_hosted(const char *name);
/* The model's name in requests; names of the hosted service's models, which do not name one of this server, mean the default. */
const char *listen_model(struct engines *es, const struct listen_config *c);
enum { LISTEN_TIME_SZ = 40 };
void listen_time(char out[LISTEN_TIME_SZ]); /* now: UTC, ISO 8601 */

enum listen_message { LISTEN_NOTHING, LISTEN_FINALIZE, LISTEN_CLOSE }; /* what the client asks for */

struct listen;

struct listen_params {
    const struct listen_config *config; /* copied */
    const char *request_id, *model, *family, *created; /* copied; created: UTC, ISO 8601 */
    void (*send)(void *user, const char *text, size_t n); /* on the calling thread; must not call back */
    void *user;
};

struct listen *listen_open(const struct listen_params *p); /* NULL: out of memory */
void listen_close(struct listen *l);                       /* NULL is allowed */
enum listen_message listen_text(struct listen *l, const char *text, size_t n); /* a message of the client */
void listen_pushed(struct listen *l, int64_t ms);          /* the end of the audio so far */
void listen_event(struct listen *l, const struct live_event *e);
void listen_speech(struct listen *l, int begins, int64_t at_ms);
void listen_flushing(struct listen *l);                    /* the audio before a Finalize is being completed, */
void listen_flushed(struct listen *l);                     /* and is decoded */
void listen_ended(struct listen *l, const char *why);      /* the last message */
#endif
