/* steno: what the files of the public API share. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_TASK_H
#define STENO_TASK_TASK_H
#include "task/mel_stream.h"
#include "task/fbank_stream.h"
#include "task/request_queue.h"
#include "task/words/token_times.h"
#include "model/family.h"
#include "plan/executor.h"
#include "search/ar.h"

/* A finished segment; text, tokens and words are places in growing buffers, made pointers when they are read. */
struct segment {
    int64_t seek_frames, t0_ms, t1_ms;
    double start, end;     /* the same in seconds, unrounded; NAN: not known */
    size_t text, first_token, first_word;
    int32_t n_tokens, n_words, attempt, speaker_turn;
    uint32_t flags;
    double temperature, avg_logprob, compression_ratio, no_speech_prob;
    struct ctc_tags tags;
};

/* A word of a segment. */
struct word {
    double start, end, probability; /* seconds in the file */
    size_t text;                    /* place in result.text */
    int32_t n_tokens;
};

enum { MAX_LANGUAGES = 100 };

/* Results of one call; the only memory that grows with the audio. */
struct result {
    struct buf segments;   /* struct segment */
    struct buf tokens;     /* struct picked */
    struct buf ids;        /* int32_t, the same tokens */
    struct buf times;      /* struct token_time, the same tokens; empty where none were asked for */
    struct buf words;      /* struct word */
    struct buf text;       /* segments' and words' texts, each ended by a NUL */
    struct buf bytes;      /* all text tokens' bytes */
    struct buf whole;      /* bytes as UTF-8 */
    struct buf spans;      /* steno_span */
    int64_t duration_ms;
    const char *language;
    float language_prob[MAX_LANGUAGES];
    int n_language_probs;  /* 0: no language was detected */
    struct buf features;   /* float [n_ctx, n_state]: the encoder's output for the last window, where asked for */
};

void result_clear(struct result *r);
void result_free(struct result *r);
int result_status(const struct result *r); /* STENO_OK, or STENO_ENOMEM when a buffer could not grow */

/* Put what `part` holds behind what r holds. */
void result_append(struct result *r, const struct result *part);

struct window_decoder;

/* Room for a window that is being decoded: its cross keys and its lanes. */
struct decode_slot {
    struct window_decoder *user;         /* NULL: free */
    const steno_session *audio;  /* whose window's cross keys are here, NULL: none that could serve again */
    int64_t from;                /* first frame of it */
    int32_t frames;
};

/* What computes: scratch, keys and values, the tables of a run. Sessions of a batch share it; a session by itself has one of its own, for
 * one window. */
struct steno_batch {
    const steno_model *model;
    steno_team *team;
    struct arena arena;
    uint32_t n_windows;         /* that decode together */
    uint32_t n_lanes;           /* of each: window w has lanes [w * n_lanes, (w + 1) * n_lanes) */
    uint32_t turn;              /* window whose prompt goes first in the next replay */
    struct kv_state state[MODEL_STATES];
    struct exec *exec;
    struct run run;
    struct sampled_token *sampled;      /* [windows * lanes, text_ctx] tokens of each lane; CTC: [rows] */
    struct op_time *time;       /* [ops of all plans] of a chain of replays that sessions share, until each has got its part */
    int64_t chain_rows;         /* rows of that chain so far */

    /* Token by token (schedule.c). */
    struct decode_slot *decode_slot;        /* [n_windows] */
    struct window_decoder *decoder;      /* [n_windows] for clips that decode beside each other; NULL in a session's own batch */
    struct request_queue queue; /* requests that the thread at work has not taken yet */
    steno_session *first;       /* requests in line and at work, in the order they came */
    steno_session *solo;        /* the call outside of the line that is at work, NULL: none */
    struct steno_batch *exact;  /* computes in f32, for one window; NULL: nothing is verified */
    const steno_session *heard; /* whose window steno_encode has left in the first decode slot, NULL: nobody's */
    steno_batch_params params;
    int64_t chain_ns;           /* when the replay at hand began */
    int64_t n_steps;            /* replays since the encoder ran */
    int passed;                 /* windows given to others, one after the other, while requests of the last class waited */
    int is_wanted;              /* somebody waits for a free decode slot */
    _Atomic int at_work;        /* a public call has entered and not left: one of a session, or steno_batch_run (entry.c) */
    int telling;                /* on_done is being called */
    _Atomic int n_sessions, closed;    /* sessions that are open in it; its owner has closed it, and it goes with the last of them */
};

int batch_open(struct steno_batch **out, const steno_model *m, steno_team *team, uint32_t n_windows, uint32_t n_lanes, steno_error *e);
void batch_release(struct steno_batch *b); /* gone when its owner has closed it and no session is open in it; NULL is allowed */
size_t batch_memory(const steno_model *m, const steno_team *team, uint32_t n_windows, uint32_t n_lanes);
size_t batch_ids(const steno_model *m); /* most ids of a window */
size_t model_ops(const steno_model *m); /* of all plans */
/* Carry out the calls in line (schedule.c). */
void batch_carry_out(struct steno_batch *b);

/* What a decoded window is held against; NAN: nothing. */
struct limits { double ratio, logprob, no_speech, entropy; };

/* Frames [from, to) of the audio that are to be decoded. */
struct clip { int64_t from, to; };

enum request_state { REQUEST_NONE, REQUEST_WAITING, REQUEST_LIVE };

/* One transcription, from its parameters to its results. */
struct request {
    enum request_state state;
    steno_transcribe_params p;      /* complete */
    steno_source src;
    struct speech_options options;
    struct logit_rules rules;        /* without a temperature */
    struct limits limits;           /* as the caller set them */
    struct limits full;             /* with the defaults for those switched off */
    struct buf clips;               /* struct clip */
    int n_clips, next_clip;         /* next_clip: the first that no window decoder has begun */
    int foreseen;                   /* windows know nothing of each other and begin where they would be cut anyway: each is a clip */
    int beside;                     /* clips decode beside each other, in window decoders of the batch; not with two tasks, which share
                                     * windows */
    struct buf parts;               /* struct part per clip, where clips decode beside each other */
    int committed;                  /* clips whose parts are in the results */
    int stopped;                    /* a callback has ended it, cleanly */
    int direct;                     /* its caller waits for it: nobody else is told that it has ended */
    int64_t begin, all, done;       /* frames: where it begins, how many there are to do, how many are done */
    struct grammar *grammar;
    struct matcher *matcher;
    uint32_t *joining;              /* with a grammar: bits of the text ids that would go on a word */
    struct hotwords *hotwords;
    int status;                     /* of the call when it has ended */
};

struct steno_session {
    const steno_model *model;
    steno_batch *batch;
    int own_batch;              /* opened and closed with the session */
    struct arena arena;
    struct mel_stream mel_stream;           /* SEARCH_AR */
    struct fbank_stream fbank_stream;           /* the others */
    struct vad vad;             /* SEARCH_VAD */
    struct rule_masks masks;
    struct window_decoder *decoder;      /* [2] transcript and translation; SEARCH_AR */
    struct request request;           /* SEARCH_AR */
    steno_session *next;        /* in line behind it */
    struct queue_place place;   /* of its request */
    int32_t *ids;               /* [rows] of a window; SEARCH_CTC */
    struct buf bytes, text;     /* of the window at hand; SEARCH_CTC */
    struct result result, translation;
    const struct result *selected; /* what results are read from */
    struct buf generated;       /* int32_t, new ids of the last steno_generate or steno_generate_continue */
    int32_t generate_len;       /* positions that it holds, the last id not yet among them; -1: no window was encoded */
    int32_t generate_last;      /* that id, -1: none */
    steno_timings timings;      /* of what ran for this session: of replays shared with others its part by rows */
    struct op_time *time;       /* [ops of all plans] likewise */
    int profiling;
    int64_t chain_rows;         /* its rows of the chain at hand */
    steno_error error;
    _Atomic int cancel;
    int entered;                /* a public call on it has entered and not left (entry.c) */
    const steno_transcribe_params *params; /* of the running call */
    int (*should_abort)(void *user);       /* of the running call, when it has other parameters */
    void *abort_user;
};

enum { MAX_LANES = RUN_BEAMS, MAX_WINDOWS = 128 };

/* Open one file without neighbours, which stays its owner's. unfused: with plans whose fusions are taken apart, for comparisons. */
int model_open_file(steno_model **out, const struct file *f, const steno_model_params *p, int unfused, steno_error *e);

/* Those who use a model hold it; it goes when the last one has let go of it, its owner included (model.c). */
void model_hold(const steno_model *m);
void model_release(const steno_model *m);

struct op_time *session_time(const steno_session *s, int plan); /* for what runs for this session alone; NULL: profiling is off */
void session_ready(steno_session *s); /* forgets error and cancel, puts all lanes aside */
void session_begin(steno_session *s); /* and results */
void session_forget(steno_session *s); /* error, cancel and results alone: the batch may be at work for others, on another thread */
/* What the executor x returned, with its reason in the session's error. */
int session_ran(steno_session *s, const struct exec *x, int rc);
int session_should_stop(steno_session *s); /* once it does, until the next call begins */

/* entry.c: which public calls may begin while another is at work. */
int call_enter(steno_session *s);         /* a call that is not for the line; STENO_EARG, with a reason, and nothing else has happened */
int call_leave(steno_session *s, int rc); /* what has entered is over. @return rc */
int line_enter(struct steno_batch *b);    /* the calls in line; STENO_EARG */
void line_leave(struct steno_batch *b);
int queue_may_take(steno_session *s);           /* a request for the line; STENO_EARG, with a reason */
int session_may_change(const steno_session *s); /* what a call at work counts and measures */
int session_may_close(const steno_session *s);
int batch_may_close(const struct steno_batch *b);

/* Parts of a transcription, shared with language detection and the benchmarks (window.c). decode slot: whose cross keys and lanes. */
float *window_mel(const steno_session *s);                      /* where the encoder reads log-mel: [2 audio_ctx, n_mels] */
int window_encode(steno_session *s, uint32_t decode_slot, int32_t n_ctx); /* what window_mel holds, for n_ctx positions of the encoder */
void lane_reset(steno_session *s, uint16_t lane);
void lane_rewind(struct steno_batch *b, uint16_t lane, int32_t len); /* lane_reset that keeps the first len positions */
/* The same for a batch, whoever's window it is; STENO_OK or STENO_ECANCELED. */
float *batch_mel(const struct steno_batch *b);
int batch_encode(struct steno_batch *b, uint32_t decode_slot, int32_t n_ctx, struct op_time *time, struct run_time *spent);
int steps_run(steno_session *s, int steps);                     /* the rows in s->run, then single steps until all lanes are done */
/* For measuring (bench.c): rules that bar the end of text, so that nothing ends before n tokens; of the first windows' lanes the first ones
 * are put to use, and no rows are wanted yet. */
int bench_lanes(steno_session *s, int n, int windows, int lanes);
/* The language asked for by name, in *lang: -1 where the audio or an English-only model tells it. STENO_EARG: the model knows none such */
int language_asked(steno_session *s, const char *name, int *lang);
/* Is a language that is so much ahead of the next, of logits, to be decided in f32? (verify.c) */
int verify_language(const steno_session *s, float ahead);
/* Of the audio the feed has listened to; index or status. */
int language_detect(steno_session *s, uint32_t decode_slot, int segments, double threshold, float *probs, int n);

/* Transcription with a CTC head; parameters are complete, results are cleared (ctc.c). */
int ctc_transcribe(steno_session *s, const steno_source *src, const steno_transcribe_params *p);

/* bytes / deflated bytes of text, as zlib level 6 makes it (openai-whisper, utils.py); negative: no memory */
double compression_ratio(const char *text, size_t n);
/* Parameters as this version knows them: own[n] holds the defaults, over which come as many words of 8 bytes as theirs (NULL: none) says
 * it has.
 * Structs begin with their size and have no padding at the end. @return STENO_EARG where it has fewer than `least`, the first version's */
int params_take(void *own, const void *theirs, size_t n, size_t least);
/* The defaults own[n] into a caller's struct of `size` bytes: what it has of them, zeros past what this version knows. */
void params_give(void *theirs, uint32_t size, const void *own, size_t n);
#endif
