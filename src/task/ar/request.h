/* steno: one transcription, token by token, from its parameters to its results. SPDX-License-Identifier: MIT
 *
 * A request has one or more window decoders: chains of windows, each beginning where the one before ended (window_decoder.h). A window
 * decoder takes a slot of the batch when it wants a window, decodes it until an attempt passes (attempt.h), and gives the slot back. The
 * schedule (schedule.h) runs all searches that are at work in one replay after the other. What window decoders have to tell goes up through
 * a sink. */
#ifndef STENO_TASK_AR_REQUEST_H
#define STENO_TASK_AR_REQUEST_H
#include "search/rules.h"
#include "task/ar_batch.h"
#include "task/generation.h"
#include "task/language.h"
#include "task/mel_stream.h"
#include "task/resume.h"
#include "task/task.h"

/* What a decoded window is held against; NAN: nothing. */
struct limits { double ratio, logprob, no_speech, entropy; };

/* Frames [from, to) of the audio that are to be decoded. */
struct clip { int64_t from, to; };

/* What a clip gave that was decoded beside others. */
struct clip_result { struct result result; int done; };

struct window_decoder;

/* What window decoders tell the request they serve. */
struct decoder_sink {
    void (*progress)(const steno_session *s, int clip, int64_t at);        /* decoded up to frame `at` of a clip */
    int (*clip_done)(steno_session *s, const struct window_decoder *w); /* of a window decoder of the batch */
    int (*window_done)(steno_session *s);                               /* of any other: its segments are among the results */
};

struct request {
    steno_transcribe_params p;      /* complete */
    steno_source src;
    const struct decoder_sink *sink;
    struct speech_options options;
    struct logit_rules rules;       /* without a temperature */
    struct limits limits;           /* as the caller set them */
    struct limits full;             /* with the defaults for those switched off */
    struct buf clips;               /* struct clip */
    int n_clips, next_clip;         /* next_clip: the first that no window decoder has begun */
    int foreseen;                   /* windows know nothing of each other and begin where they would be cut anyway: each is a clip */
    int beside;                     /* clips decode beside each other, in window decoders of the batch; not with two tasks, which share
                                     * windows */
    struct buf parts;               /* struct clip_result per clip, where clips decode beside each other */
    int committed;                  /* clips whose parts are in the results */
    int stopped;                    /* a callback has ended it, cleanly */
    struct resume resume;           /* what it goes on from, and what was told of it */
    steno_heard heard;              /* what a first pass has found before; size 0: there was none */
    struct language_vote vote;
    int64_t begin, all, done;       /* frames: where it begins, how many there are to do, how many are done */
    struct grammar *grammar;
    struct matcher *matcher;
    uint32_t *joining;              /* with a grammar: bits of the text ids that would go on a word */
    struct hotwords *hotwords;
};

/* What token by token decoding keeps in a session. */
struct ar_session {
    struct mel_stream mel;
    struct rule_masks masks;
    struct window_decoder *decoder; /* [2] transcript and translation */
    struct request request;
    struct generation generation;   /* of steno_generate */
};

static inline struct ar_session *ar_of(const steno_session *s) { return s->part; }
static inline struct mel_stream *mel_of(const steno_session *s) { return &ar_of(s)->mel; }
static inline struct request *request_of(const steno_session *s) { return &ar_of(s)->request; }
static inline struct clip *request_clips(const struct request *c) { return (struct clip *)(void *)c->clips.p; }
static inline struct clip_result *request_clip_results(const struct request *c) { return (struct clip_result *)(void *)c->parts.p; }

int request_take(steno_session *s, const struct request_given *g); /* everything that can be refused before a sample is read */
int request_listen(steno_session *s); /* a slice of the first pass; REQUEST_HEARD when it is over. STREAM_WAITS */
/* The language, one window of its detection at a time; when it is known window decoders have begun (REQUEST_LIVE). STREAM_WAITS */
int request_begin(steno_session *s, uint32_t decode_slot);
int request_ended(const steno_session *s);                 /* no window decoder has anything left to do */
int request_end(steno_session *s, int status); /* it holds nothing any more, and its results are whole. @return what it came to */
#endif
