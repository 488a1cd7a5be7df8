/* steno: live transcription. SPDX-License-Identifier: MIT
 *
 * Internal interface of libsteno-live (steno/live.h is for other programs). Audio is pushed in pieces of any size, and text is returned as
 * events. Voice activity detection opens and closes turns; without it all audio is one turn. After every `step` of audio within a turn, the
 * recogniser decodes the turn so far. Words on which two such passes agree are final: local agreement (Machacek et al. 2023,
 * whisper_streaming). Final words never change, even if a later pass disagrees. All times are times of the audio. So the size of the pieces
 * does not change the events, unless the caller reports a delay. Nothing here prints, waits, or reads the environment. */
#ifndef STENO_LIVE_H
#define STENO_LIVE_H
#include <stddef.h>
#include <steno/steno.h>

struct word;

enum live_kind {
    LIVE_PARTIAL, /* text after the final words, which may change; replaces the previous partial */
    LIVE_FINAL,   /* words that have become final; clears the partial */
    LIVE_ENDPOINT /* the turn is over: all its words */
};

struct live_event {
    enum live_kind kind;
    int turn;             /* from 1 */
    int64_t t0_ms, t1_ms; /* -1: not known */
    int64_t decoded_ms;   /* end of the audio that was decoded for it */
    int64_t now_ms;       /* end of the audio when it was reported */
    const char *text;     /* UTF-8, without spaces at its ends; valid within the call */
    int spaces;           /* between the final words of the turn so far and `text`; 0 for an endpoint */
    const struct word *words; /* [n_words] its words, with times; valid within the call (live_words.h) */
    size_t n_words;
    const char *language; /* of an endpoint */
};

enum live_turn {
    LIVE_TURN_OPENS,  /* `at_ms`: its start */
    LIVE_TURN_CLOSES, /* no more audio belongs to it; its last words and its endpoint follow */
    LIVE_TURN_BREAKS, /* the same, but at its maximum length: the next turn continues it */
    LIVE_TURN_DROPPED /* it has no endpoint: live_clear, or less than 1 ms of audio */
};

/* What the last pass of a turn encodes (Whisper). */
enum live_last {
    LIVE_LAST_WINDOW, /* always the whole window, as in files */
    LIVE_LAST_TURN    /* as an update: the turn and its padding; nothing if the last update has decoded the turn to its end. A doubtful text
                       * is decoded once more, in the whole window */
};

/* A batch of the caller, in which streams share runs. Its thread reads the source, which may return STENO_SOURCE_WAIT. */
struct live_streams {
    int (*begin)(void *user, steno_session *s, const steno_source *src, const steno_request_params *p); /* queues it. @return a status */
    /* More audio is there: returns when the source has been read and run, is_over: when the request has ended. @return a status */
    int (*run)(void *user, steno_session *s, int is_over);
    void *user;
};

struct live_params {
    steno_session *session;        /* of a recogniser; owned by the caller, used exclusively until live_close */
    const steno_model *chunks;     /* instead of it: a model that decodes a stream chunk by chunk (streaming Paraformer). Its words are
                                    * final at once; step_ms, turn_most_ms, has_words and has_prompt are ignored */
    const struct live_streams *streams; /* for chunks: the batch of `session`; stays in use. NULL: they have one of their own */
    const steno_model *vad;        /* NULL: one turn */
    steno_team *team;              /* for the VAD model */
    const steno_vad_params *find;  /* its parameters; NULL selects the defaults. Their callbacks are not called */
    steno_transcribe_params text;  /* language and other parameters; callbacks and word_timestamps are overwritten */
    const steno_model *prefixed;   /* the recogniser, if it continues a text (prefix) and takes none before it as its prompt; NULL: not */
    int has_words, has_prompt;     /* the model supports word_timestamps; takes the text before as its prompt */
    int64_t step_ms;               /* 200..10000 */
    int64_t audio_padding_ms;      /* silence that an update encodes after the turn; 0: the whole window */
    enum live_last last_pass;
    int32_t audio_ctx;             /* encoder positions of a window, of 20 ms each; 0: the model encodes only the turn anyway */
    int32_t sample_len;            /* most tokens of a window's text; 0: no limit is needed */
    int64_t turn_most_ms;          /* 2000..30000: maximum length of a turn. It is closed after its last final word, else at the quietest
                                    * place of its last 2 s */
    void (*report)(void *user, const struct live_event *e);
    void *user;
    /* Turns, for protocols that report them apart from the text; NULL: not called. Each opened turn is closed, broken or dropped. */
    void (*turn)(void *user, enum live_turn what, int turn, int64_t at_ms);
    /* Runs a pass in the way of the caller, such as in a batch that other sessions share; the result must be in the session. is_last: the
     * last pass of a turn. @return a status. NULL: steno_transcribe_source. Not called for chunks */
    int (*transcribe)(void *user, steno_session *s, const steno_source *src, const steno_transcribe_params *p, int is_last);
};

int live_decodes_chunks(const steno_model *m); /* 1: its words are final at once */

enum { LIVE_PADDING_MS = 3000 };

/* Sets chunks, prefixed, has_words, has_prompt, audio_ctx and sample_len from the model's capabilities. */
void live_params_of(struct live_params *p, const steno_model *m);

struct live;
int live_open(struct live **out, const struct live_params *p, steno_error *e);
/* Events are reported during the call. late_ms: how long the audio has waited for this call, or how much audio waits behind it. From 200 ms
 * on, or from a step on, updates wait for newer audio, so that a slow machine makes fewer of them. 0: all updates are made. */
int live_push(struct live *l, const float *pcm, int64_t n, int64_t late_ms, steno_error *e);
/* Ends the open turn now, with all audio pushed so far: all its words become final. What follows belongs to a new turn, and voice activity
 * detection starts anew there. Without an open turn no event is reported. */
int live_commit(struct live *l, steno_error *e);
/* Drops the open turn, all audio pushed so far, and n more samples, which are only counted. Words already reported as final stay, but the
 * turn has no endpoint. */
int live_clear(struct live *l, int64_t n, steno_error *e);
int live_end(struct live *l, steno_error *e);            /* ends the audio: all words become final */
void live_step_set(struct live *l, int64_t step_ms);     /* changes step_ms from the next update on, also within a callback;
                                                          * the first update of a turn keeps that of live_open */
void live_close(struct live *l);                         /* l may be NULL */
int64_t live_disagreements(const struct live *l);        /* final words that differ from the last pass */
#endif
