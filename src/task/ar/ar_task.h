/* steno: a transcription at work, between the files that carry it out. SPDX-License-Identifier: MIT
 *
 * A call (request.c) has one or more window decoders: chains of windows, each beginning where the one before ended (window decoder.c). A
 * window decoder takes a
 * decode slot in the batch when it wants a window, decodes it until an attempt passes (attempt.c), and gives the decode slot back; the
 * schedule
 * (schedule.c) runs all searches that are at work in one replay after the other. */
#ifndef STENO_TASK_AR_AR_TASK_H
#define STENO_TASK_AR_AR_TASK_H
#include "task/task.h"
#include "task/words/words.h"

#define TEMPERATURE_LEAST 1e-6 /* below it logits grow beyond numbers, and what is drawn is the most probable text anyway */
#define VERIFY_MARGIN 0.1 /* of logits: choices that came out otherwise were ahead by less than 0.065 (doc/performance.md) */
#define VERIFY_EVERY 1e9 /* every window, even where nothing else could have been chosen */
#define INCREMENT_LEAST 0.01 /* of temperature: at most 101 attempts and their number fits the streams of random numbers */

/* One decoding of a window and how it came out. */
struct attempt {
    int index, with_previous;
    double temperature, avg_logprob, no_speech_prob, ratio, entropy;
    struct margins margin;   /* in the fast arithmetic */
    int verified, corrected;
    double pushed;           /* how much of avg_logprob hot words may have added */
    int32_t n_tokens;
    int unfinished;          /* it holds no sentence of its grammar */
    uint32_t flags;          /* enum steno_flag, by the full limits */
};

/* What a clip gave that was decoded beside others. */
struct clip_result { struct result result; int done; };

enum decoder_state { DECODER_IDLE, DECODER_WINDOW /* wants one */, DECODER_DECODE /* has one, in its decode slot */ };

struct window_decoder {
    steno_session *s;        /* whose call it serves */
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
    int32_t *history;        /* [2 text_ctx] latest tokens that may condition the next window, then the end of a carried prompt */
    int32_t n_history;
    int64_t n_past, n_carried; /* how many there have been of each */
    int32_t *prefix;         /* [text_ctx] ids that every window's text begins with */
    int32_t n_prefix;

    float *heard;            /* a model that verifies: [window, n_mels] log-mel of the window at hand, */
    int32_t *first;          /* and [text_ctx] tokens of the first pass */

    /* The window at hand. */
    struct steno_batch *b;   /* that decodes it, */
    uint32_t decode_slot;           /* there */
    int32_t frames;          /* of audio in it */
    float *level;            /* [window] of each frame, log10 */
    int32_t *prompt;         /* [text_ctx] */
    int32_t *ids;            /* [text_ctx] tokens of the attempt at hand, or of the one that was kept */
    struct piece *pieces;    /* [text_ctx + 1] */
    struct draft *drafts;    /* [text_ctx + 1] */
    struct words words;
    struct buf bytes, text;  /* of the attempt or segment at hand */
    struct ar ar;
    uint16_t lane;           /* with the result's tokens, when the search has ended */
    int rung, last_rung;     /* attempts begun and the last there can be */
    int bare;                /* attempt 1 is the first without the text before */
    int repeating;           /* the best attempt is decoded once more */
    struct attempt a, best, kept;
    steno_step step;         /* for the caller's logits filter */
    int failed;              /* a grammar ran out of memory */
};

/* window decoder.c */
int decoder_init(struct window_decoder *w, struct arena *a, const steno_model *m, int own); /* 0, or -1: no memory */
size_t decoder_memory(const steno_model *m, int own);
void decoder_free(struct window_decoder *w);
/* Serve a call: from clip `clip`, one clip (own) or all that follow. */
int decoder_begin(struct window_decoder *w, steno_session *s, int task, int clip);
/* Seat `decode slot` is w's: up to where the first attempt's search has begun (STRAND_DECODE), or without another window (STRAND_IDLE). */
int decoder_window(struct window_decoder *w, uint32_t decode_slot);
/* The search has ended: another attempt (STRAND_DECODE), or the window's segments (STRAND_WINDOW, or STRAND_IDLE: that was the last). */
int decoder_settle(struct window_decoder *w);

/* request.c */
int request_begin(steno_session *s, uint32_t decode_slot);    /* the audio is heard, the language known, window decoders have begun */
void request_end(steno_session *s, int status);
int request_clip_done(steno_session *s, struct window_decoder *w); /* a clip of a window decoder of the batch is done: into the results,
                                                                    * in order of clips */
int request_ended(const steno_session *s);              /* no window decoder has anything left to do */
struct clip *request_clips(const steno_session *s);
struct clip_result *request_clip_results(const steno_session *s);
/* Up to frame `at` of a clip; where clips decode beside each other, those that are done. */
void request_progress(const steno_session *s, int clip, int64_t at);

/* clips.c: what is to be decoded, from clip_timestamps, offset_ms and duration_ms, or chunk_ms. */
int request_clips_make(steno_session *s);

/* prompt.c: what stands before the tokens of a window. */
int prompt_begin(struct window_decoder *w);                       /* the initial prompt and the prefix */
int32_t prompt_make(struct window_decoder *w, int previous, int *sot); /* into w->prompt; previous 0: without the text of earlier windows */
int prompt_has_previous(const struct window_decoder *w);
void history_add(struct window_decoder *w, const int32_t *ids, int32_t n);
void history_forget(struct window_decoder *w);

/* attempt.c: decode the window whose cross keys are at hand until an attempt passes; w->kept. */
void limits_init(struct request *c);
int attempts_begin(struct window_decoder *w);
int attempt_settle(struct window_decoder *w, int *again);         /* *again: another search has begun */
int is_silence(const struct window_decoder *w);                   /* nobody spoke, and the text is not sure enough to say otherwise */
/* Text of ids below end-of-text, into w->text. */
void text_of(struct window_decoder *w, const int32_t *ids, int32_t n);

int search_begin(struct window_decoder *w, int again);            /* of attempt w->a, on the lanes of its decode slot (see attempt.c) */
int32_t window_ctx(const struct window_decoder *w);               /* positions of the encoder */

/* verify.c: near-ties of the fast arithmetic, decided in f32. */
int verify_wanted(const struct window_decoder *w, const struct attempt *a);
/* The search that has ended is that of f32 from here on; a->verified, a->corrected. */
int verify_attempt(struct window_decoder *w, struct attempt *a);
struct steno_batch *verify_heard(const struct window_decoder *w); /* the exact batch where the window is encoded there, else NULL */

/* schedule.c: run the searches of the window decoders that have decode slots until one has ended. */
int batch_decode(struct steno_batch *b);
void batch_filter(void *batch, uint16_t lane, float *logits); /* chain_calls.filter: process_logits of whoever has the lane */

/* logits_processors.c: what changes logits before they are chosen from: the caller's filter, hot words, a grammar. */
int processors_open(steno_session *s);
void processors_close(struct request *c);
int processors_wanted(const struct request *c);
void process_logits(struct window_decoder *w, struct lane *l, float *logits);
int processors_failed(steno_session *s);                      /* why w->failed: a status */
double processors_pushed(struct window_decoder *w, const struct lane *l); /* mean of what hot words added to its ids and to the end; into
                                                                           * w->ids */

/* What a grammar leaves of a window's tokens. Text behind the last pair of times is heard again in the next window and the window ends
 * with that pair; where that would leave half a sentence it ends with an earlier pair, or keeps all its text, or has none. */
enum sentence_end { SENTENCE_AS_CUT /* by its times */, SENTENCE_UNCUT /* all of it is one sentence */, SENTENCE_NONE };
struct sentence { enum sentence_end end; int32_t n; /* tokens that count */ };
int is_forced(const struct request *c);                      /* is a grammar more than a wish? */
int sentence_of(struct window_decoder *w, const int32_t *ids, int32_t n, struct sentence *out); /* STENO_OK, STENO_ENOMEM */

/* text_checks.c: measures of a text. */
double token_entropy(const int32_t *ids, int32_t n);      /* nats, of the ids among the last 32 */
int tokens_loop(const int32_t *ids, int32_t n, int32_t text_end); /* the same few ids below text_end over and over */
void window_levels(struct window_decoder *w, const float *mel);   /* of the frames at hand, from their scaled log-mel */
/* Is the level of frames [from, to) of the audio, which lie in the window at hand, steady, as speech never is? */
int window_steady(const struct window_decoder *w, int64_t from, int64_t to);
#endif
