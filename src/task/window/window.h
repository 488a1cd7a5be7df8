/* steno: runs one window through the plans, and detects its language. SPDX-License-Identifier: MIT
 *
 * For windows of log-mel whose decoder attends to an encoder. A decode slot identifies the cross keys and the lanes of a window. */
#ifndef STENO_TASK_WINDOW_WINDOW_H
#define STENO_TASK_WINDOW_WINDOW_H
#include "audio/mel_stream.h"
#include "engine/batch.h"
#include "engine/session.h"

struct window_decoder;

/* Place of a window that is being decoded: its cross keys and its lanes. */
struct decode_slot {
    struct window_decoder *user; /* NULL if the slot is free */
    const steno_session *audio;  /* session whose window's cross keys are here; NULL if no window can be reused */
    int64_t from;                /* first frame of that window */
    int32_t frames;
    int is_drafted;              /* the draft model's slot holds cross keys of the same window */
};

struct ar_batch {
    struct decode_slot *decode_slot; /* [n_windows] */
    struct window_decoder *decoder;  /* [n_windows] for clips that decode in parallel; NULL in a session's own batch */
    const steno_session *encoded;      /* session whose window steno_encode left in the first decode slot; may be NULL */
    uint32_t turn;                   /* window whose prompt goes first in the next replay */
    int64_t chain_rows;              /* rows of the current chain of replays so far */
    int64_t chain_ns;                /* start of the current replay */
    int64_t n_steps;                 /* replays since the encoder ran, */
    int64_t n_steps_read;           /* and since a slice of audio was read */
    int is_wanted;                   /* a request waits for a free decode slot */
    int in_first_pass;                  /* a request has not finished its first pass */
    int goes_on;                     /* the chain ended only for the draft model: another one follows at once */
};

static inline struct ar_batch *ar_batch_of(const struct steno_batch *b) { return b->part; }

float *window_mel(const steno_session *s);                                /* the encoder's log-mel input: [2 audio_ctx, n_mels] */
int window_encode(steno_session *s, uint32_t decode_slot, int32_t n_ctx); /* encodes the content of window_mel, n_ctx positions of the
                                                                           * encoder */
void slots_forget(const steno_session *s);                                  /* no decode slot holds audio of s afterwards */

/* As above, for a batch and any session's window; STENO_OK or STENO_ECANCELED. */
float *batch_mel(const struct steno_batch *b);
int batch_encode(struct steno_batch *b, uint32_t decode_slot, int32_t n_ctx, struct op_time *time, struct run_time *spent);

/* Votes: the language of each window; the probabilities of the best one. */
struct language_vote {
    int n, over, best;
    int first; /* silent windows before the first one that counts */
    int times[MAX_LANGUAGES];
    float kept[MAX_LANGUAGES];
};

/* Looks up the requested language; *lang: -1 if it must be detected or the model is English-only. STENO_EARG: the model does not have it */
int language_asked(steno_session *s, const char *name, int *lang);

/* Detects the language of the audio that `mel` has read. Returns its index or a status. probs: [n], may be NULL */
int language_detect(steno_session *s, struct mel_stream *mel, uint32_t decode_slot, int segments, double threshold, float *probs, int n);

/* Detects the language of the window of n_ctx positions that is encoded in the decode slot, using the slot's first lane. *probability: of
 * that language. Returns its index or a status */
int language_of_slot(steno_session *s, uint32_t at, int32_t n_ctx, double *probability);

/* One step of language detection for a request, one window at a time. *lang is set when the language is known, and then the session's
 * result has it. STENO_OK, STREAM_WAITS, or an error */
void language_vote_begin(struct language_vote *v);
int language_choose(steno_session *s, struct mel_stream *mel, uint32_t decode_slot, const steno_transcribe_params *p,
                    struct language_vote *v, int32_t *lang);
#endif
