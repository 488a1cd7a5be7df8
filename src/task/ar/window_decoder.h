/* steno: a chain of windows. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_WINDOW_DECODER_H
#define STENO_TASK_AR_WINDOW_DECODER_H
#include "plan/lots.h"
#include "search/ar.h"
#include "task/ar/attempt.h"
#include "task/ar/request.h"
#include "task/draft_model.h"
#include "task/words/words.h"

enum decoder_state { DECODER_IDLE, DECODER_WINDOW /* wants one */, DECODER_DECODE /* has one, in its decode slot */ };

struct window_decoder {
    steno_session *s;        /* whose request it serves, */
    struct request *request; /* this one */
    enum decoder_state state;
    int task;                /* enum steno_task */
    int own;                 /* of the batch: one clip, whose log-mel it holds */
    struct result *result;   /* where its segments go */
    struct speech_options options;
    struct logit_rules rules; /* with the temperature of the attempt at hand */
    int clip;                /* the one at hand */
    int64_t seek, end;       /* frames: where the next window begins, where the clip ends */
    double last_speech;      /* seconds: end of the last word so far */
    float *mel;              /* own: [window, n_mels] log-mel of clip mel_clip, */
    int64_t mel_from;        /* from this frame on */
    int mel_clip;
    int is_heard;            /* own: the log-mel is there */
    int is_told;             /* on_window has been called for the window at hand */
    int32_t *history;        /* [2 text_ctx] latest tokens that may condition the next window, then the end of a carried prompt */
    int32_t n_history;
    int64_t n_past, n_carried; /* how many there have been of each */
    int32_t *prefix;         /* [text_ctx] ids that every window's text begins with */
    int32_t n_prefix;

    float *heard;            /* a model that verifies: [window, n_mels] log-mel of the window at hand, */
    int32_t *first;          /* and [text_ctx] tokens of the first pass */

    /* The window at hand. */
    struct steno_batch *b;   /* that decodes it, */
    uint32_t decode_slot;    /* there */
    int32_t frames;          /* of audio in it */
    float *level;            /* [window] of each frame, log10 */
    int voiceless;           /* with guards: no voice makes its sound: that of notes, strokes or whistles */
    int32_t *prompt;         /* [text_ctx] */
    int32_t *ids;            /* [text_ctx] tokens of the attempt at hand, or of the one that was kept, */
    int32_t n_held;          /* number of given ones before them */
    int language_seen;       /* number of the language that it seems to be in, -1: not asked */
    struct token_segment *token_segments;    /* [text_ctx + 1] */
    struct draft *drafts;    /* [text_ctx + 1] */
    uint8_t *mute;           /* [text_ctx + 1] of each: its text stands where there is no sound */
    struct words words;
    struct buf bytes, text;  /* of the attempt or segment at hand */
    struct buf found;        /* finished beams of the search at hand, where n_best asks */
    struct ar ar;
    struct lots *lots;       /* [RUN_BEAMS] by whisper.cpp's rules; seeded anew for each request */
    uint16_t lane;           /* with the result's tokens, when the search has ended */
    int rung, last_rung;     /* attempts begun and the last there can be */
    int bare;                /* attempt 1 is the first without the text before */
    int silent;              /* the first attempt takes the window for silence, */
    int second_look;         /* and the one after it has been asked, too, without the text before */
    int n_draws, n_sure_draws; /* candidates above the first temperature, and those not below the threshold */
    int repeating;           /* the best attempt is decoded once more */
    struct attempt a, best, kept;
    steno_step step;         /* for the caller's logits filter */
    int failed;              /* a grammar ran out of memory */
    int is_guessed;          /* the draft model guesses for the search at hand */
    struct guessing guessing; /* how it has been, in all windows */
};

int decoder_init(struct window_decoder *w, struct arena *a, const steno_model *m, int own); /* 0, or -1: no memory */
size_t decoder_memory(const steno_model *m, int own);
void decoder_free(struct window_decoder *w);
/* Serve a request: from clip `clip`, one clip (own) or all that follow. */
int decoder_begin(struct window_decoder *w, steno_session *s, int task, int clip);
/* Decode slot `at` is w's: up to where the first attempt's search has begun (DECODER_DECODE), or without another window (DECODER_IDLE).
 * STREAM_WAITS: not yet, the slot is not taken. */
int decoder_window(struct window_decoder *w, uint32_t at);
/* The search has ended: another attempt (DECODER_DECODE), or the window's segments (DECODER_WINDOW, or DECODER_IDLE: the last ones). */
int decoder_settle(struct window_decoder *w);

/* Its window is over, or those were that a request goes on behind: the next one, in the next clip where this has none. A status */
int decoder_go_on(struct window_decoder *w);

/* Whether it goes by whisper.cpp's rules. */
static inline int is_loose(const struct window_decoder *w)
{
    return w->options.decoding == STENO_DECODING_GGML;
}

/* Positions of the encoder. */
static inline int32_t window_ctx(const struct window_decoder *w)
{
    return w->request->p.audio_ctx ? w->request->p.audio_ctx : w->s->model->audio_ctx;
}
#endif
