/* steno: a transcription request, decoded token by token. SPDX-License-Identifier: MIT
 *
 * A request has one or more window decoders. Each is a chain of windows, and each window begins where the one before ended
 * (window_decoder.h). A window decoder that needs a window takes a decode slot of the batch, decodes the window until an attempt passes
 * (attempt.h), and releases the slot. The schedule (schedule.h) runs all active searches together, replay after replay. Window decoders
 * report to their request through a sink. */
#ifndef STENO_TASK_AR_REQUEST_H
#define STENO_TASK_AR_REQUEST_H
#include "audio/mel_stream.h"
#include "engine/resume.h"
#include "engine/task.h"
#include "search/rules.h"
#include "task/decode/generation.h"
#include "task/decode/prompt_lookup.h"
#include "task/window/window.h"

/* Thresholds for a decoded window; NAN disables a threshold. */
struct limits { double ratio, logprob, no_speech, entropy; };

/* Frames [from, to) of the audio to decode. */
struct clip { int64_t from, to; };

/* Result of a clip that was decoded in parallel with others. */
struct clip_result { struct result result; int done; };

struct window_decoder;

/* How window decoders report to the request they serve. */
struct decoder_sink {
    void (*progress)(const steno_session *s, int clip, int64_t at);        /* frame `at` of a clip has been reached */
    int (*clip_done)(steno_session *s, const struct window_decoder *w); /* a window decoder of the batch has finished its clip */
    int (*window_done)(steno_session *s);                               /* a window decoder of the session has added its segments to the
                                                                         * results */
};

struct request {
    steno_transcribe_params p;      /* with all fields set */
    steno_source src;
    const struct decoder_sink *sink;
    struct speech_options options;
    struct logit_rules rules;       /* without temperature */
    struct limits limits;           /* as the caller set them */
    struct limits full;             /* with defaults for disabled thresholds */
    struct buf clips;               /* struct clip */
    int n_clips, next_clip;         /* next_clip: the first clip that is not assigned to a window decoder */
    int windows_known;              /* windows are independent and their bounds are known in advance: each is a clip */
    int parallel;                   /* clips decode in parallel, in window decoders of the batch; not with two tasks, which share windows */
    struct buf parts;               /* struct clip_result per clip, if clips decode in parallel */
    struct buf shown;               /* struct window_place of windows whose rows on_rows has */
    int merged;                     /* number of clips whose parts are in the results */
    int stopped;                    /* a callback ended the request normally */
    struct resume resume;           /* where it resumes from, and what has been recorded */
    steno_heard first_pass;         /* results of an earlier first pass; size 0: none */
    struct language_vote vote;
    int64_t begin, all, done;       /* frames: where it begins, the number to decode, the number done */
    struct grammar *grammar;
    struct matcher *matcher;
    uint32_t *joining;              /* with a grammar: bit set of the text ids that would continue a word */
    struct hotwords *hotwords;
};

enum { EARLIER_FRAMES = 10 };

/* The text of the first window of the last request, which drafts for a request whose audio begins as it did (draft_text.h). */
struct earlier_text {
    int32_t *ids, n;    /* [text_ctx] */
    float *frame;       /* [EARLIER_FRAMES, n_mels] the first frames */
    struct lookup_odds odds[DRAFT_KINDS];
    int has_odds;
};

/* State of this task in a session. */
struct ar_session {
    struct mel_stream mel;
    struct rule_masks masks;
    struct window_decoder *decoder; /* [2] transcript and translation */
    struct request request;
    struct generation generation;   /* of steno_generate */
    struct earlier_text earlier;
};

static inline struct ar_session *ar_of(const steno_session *s) { return s->part; }
static inline struct mel_stream *mel_of(const steno_session *s) { return &ar_of(s)->mel; }
static inline struct request *request_of(const steno_session *s) { return &ar_of(s)->request; }
static inline struct clip *request_clips(const struct request *c) { return (struct clip *)(void *)c->clips.p; }
static inline struct clip_result *request_clip_results(const struct request *c) { return (struct clip_result *)(void *)c->parts.p; }

int request_take(steno_session *s, const struct request_given *g); /* makes all checks that need no audio */
int request_listen(steno_session *s); /* reads a slice in the first pass; REQUEST_READ at its end. May return STREAM_WAITS */
/* Detects the language, one window per call. When it is known, window decoders begin (REQUEST_LIVE). May return STREAM_WAITS */
int request_begin(steno_session *s, uint32_t decode_slot);
int request_ended(const steno_session *s);                 /* 1: all window decoders have finished */
int request_end(steno_session *s, int status); /* releases the request's memory and completes its results. @return its final status */
#endif
