/* steno: a chain of windows. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_WINDOW_DECODER_H
#define STENO_TASK_AR_WINDOW_DECODER_H
#include "plan/mt19937.h"
#include "search/ar.h"
#include "task/ar/attempt.h"
#include "task/ar/request.h"
#include "task/decode/draft_model.h"
#include "task/decode/prompt_lookup.h"
#include "task/words/words.h"

enum decoder_state { DECODER_IDLE, DECODER_WINDOW /* needs one */, DECODER_DECODE /* has one, in its decode slot */ };

/* Where the chain of windows is, and the log-mel of the clip. */
struct decoder_position {
    int clip;                /* the current one */
    int64_t seek, end;       /* frames: start of the next window, end of the clip */
    double last_speech;      /* seconds: end of the last word so far */
    int is_reported;             /* on_window has been called for the current window */
    float *mel;              /* own: [window, n_mels] log-mel of clip mel_clip, */
    int64_t mel_from;        /* starting at this frame */
    int mel_clip;
    int is_read;            /* own: the log-mel is complete */
};

/* The text that conditions a window: earlier windows, the prefix, and the prompt made of them. */
struct decoder_context {
    int32_t *history;        /* [2 text_ctx] latest tokens that may condition the next window, then the end of a carried prompt */
    int32_t n_history;
    int64_t n_past, n_carried; /* total number of each */
    int32_t *prefix;         /* [text_ctx] ids at the start of every window's text */
    int32_t n_prefix;
    int32_t *prompt;         /* [text_ctx] */
};

/* The audio of the current window, and its segments and words. */
struct decoder_content {
    int32_t frames;          /* length of its audio */
    float *level;            /* [window] level of each frame, log10 */
    float *mel_copy;            /* a model that verifies: [window, n_mels] log-mel of the current window */
    int voiceless;           /* with guards: no voice makes such a sound (notes, strokes, whistles) */
    int language_seen;       /* index of the detected language, -1: not detected */
    int32_t n_held;          /* number of given tokens before those of the kept attempt */
    struct token_segment *token_segments;    /* [text_ctx + 1] */
    struct draft *drafts;    /* [text_ctx + 1] */
    uint8_t *mute;           /* [text_ctx + 1] of each draft: its text lies where there is no sound */
    struct words words;
};

/* The attempts at the current window, and the search of the current one. */
struct decoder_attempts {
    int fallback_step, last_fallback_step; /* index of the current attempt, and the highest possible index */
    int without_context;     /* attempt 1 is the first without previous text */
    int silent;              /* the first attempt classified the window as silence */
    int second_look;         /* the attempt after it checked that without previous text */
    int n_draws, n_sure_draws; /* candidates above the first temperature, and those that reach the log-probability threshold */
    int repeating;           /* the best attempt is being decoded again */
    struct attempt now, best, kept;
    struct ar ar;            /* the search */
    struct mt19937 *mt19937; /* [RUN_BEAMS] random numbers by whisper.cpp's rules; seeded for each request */
    uint16_t lane;           /* the lane with the result's tokens when the search has ended */
    int32_t *ids;            /* [text_ctx] tokens of the current or the kept attempt */
    int32_t *first;          /* a model that verifies: [text_ctx] tokens of the first pass */
    struct buf found;        /* finished beams of the current search, if n_best is set */
    steno_step step;         /* argument of the caller's logits filter */
    int failed;              /* a grammar ran out of memory */
    int uses_draft;          /* the draft model drafts for the current search, */
    int uses_text;           /* or the text that the session found last */
    int32_t *text;           /* [2 text_ctx] of a session's own decoder: that text, then the chosen ids so far */
    int32_t n_text, n_taken; /* ids; chosen ids among them */
    struct prompt_lookup lookup;
};

struct window_decoder {
    steno_session *s;        /* owner of the request it serves, */
    struct request *request; /* that request */
    enum decoder_state state;
    int task;                /* enum steno_task */
    int own;                 /* belongs to the batch: decodes one clip, whose log-mel it holds */
    struct result *result;   /* receives its segments */
    struct speech_options options;
    struct logit_rules rules; /* with the temperature of the current attempt */
    struct steno_batch *b;   /* the batch that decodes the current window */
    uint32_t decode_slot;    /* its slot there */
    struct decoder_position position;
    struct decoder_context context;
    struct decoder_content window;
    struct decoder_attempts attempts;
    struct buf bytes, text;  /* of the current attempt or segment */
    struct speculation speculation; /* acceptance statistics of all windows */
};

int decoder_init(struct window_decoder *w, struct arena *a, const steno_model *m, int own); /* 0, or -1: no memory */
size_t decoder_memory(const steno_model *m, int own);
void decoder_free(struct window_decoder *w);
/* Serves a request from clip `clip` on: one clip (own) or all following clips. */
int decoder_begin(struct window_decoder *w, steno_session *s, int task, int clip);
/* Uses decode slot `at` for the next window, up to the start of the first search (DECODER_DECODE). DECODER_IDLE: there are no more windows.
 * Returns STREAM_WAITS if the audio is not available yet; the slot stays free. */
int decoder_window(struct window_decoder *w, uint32_t at);
/* Called when a search has ended. It begins another attempt (DECODER_DECODE) or adds the window's segments (DECODER_WINDOW, or DECODER_IDLE
 * after the last window). */
int decoder_settle(struct window_decoder *w);

/* Selects the next window, in the next clip if this one is finished. Call it after a window, or after resuming. A status */
int decoder_go_on(struct window_decoder *w);

/* Number of encoder positions of a window. */
static inline int32_t window_ctx(const struct window_decoder *w)
{
    return w->request->p.audio_ctx ? w->request->p.audio_ctx : w->s->model->audio_ctx;
}
#endif
