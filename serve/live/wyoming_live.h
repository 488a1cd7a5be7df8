/* steno-serve: an utterance of Wyoming whose words are found while it is spoken. SPDX-License-Identifier: MIT
 *
 * A live session whose events arrive on the loop's thread. All functions and callbacks are of that thread. */
#ifndef STENO_SERVE_WYOMING_LIVE_H
#define STENO_SERVE_WYOMING_LIVE_H
#include "live_session.h"
#include "loop.h"
#include "wyoming_codec.h"

struct wyoming_live;

struct wyoming_live_params {
    struct loop *loop;
    struct engine *engine;  /* engine_decodes_chunks */
    const char *language;   /* "": that of the engine */
    struct wyoming_format format;
    struct metrics *metrics; /* as that of a live session */
    void (*words)(void *user); /* the text has more words */
    void (*room)(void *user);  /* more audio may be pushed again */
    void (*ended)(void *user, const struct api_error *e); /* the last call; e: of a failure, or NULL. It may close the utterance */
    void *user;
};

/* @return NULL: no session is free, which is counted as a refusal, or the language is unknown */
struct wyoming_live *wyoming_live_open(const struct wyoming_live_params *p);
int wyoming_live_push(struct wyoming_live *l, const char *bytes, size_t n);  /* @return as live_session_push */
void wyoming_live_end(struct wyoming_live *l);    /* no more audio: decode the rest */
void wyoming_live_cancel(struct wyoming_live *l); /* end soon, without the rest */
const char *wyoming_live_text(const struct wyoming_live *l);     /* so far; valid until the next call of `words` */
const char *wyoming_live_language(const struct wyoming_live *l); /* "": not known yet */
void wyoming_live_close(struct wyoming_live *l); /* after `ended`, or in it */
#endif
