/* steno: what the files of the public API share. SPDX-License-Identifier: MIT */
#ifndef STENO_LIB_LIB_H
#define STENO_LIB_LIB_H
#include "lib/feed.h"
#include "lib/rows.h"
#include "model/family.h"
#include "plan/exec.h"
#include "search/ar.h"

/* A finished segment; text and tokens are places in growing buffers, made pointers when they are read. */
struct segment {
    int64_t seek_frames, t0_ms, t1_ms;
    size_t text, first_token;
    int32_t n_tokens, attempt;
    uint32_t flags;
    double temperature, avg_logprob, compression_ratio, no_speech_prob;
    struct ctc_tags tags;
};

enum { MAX_LANGUAGES = 100 };

/* Results of one call; the only memory that grows with the audio. */
struct result {
    struct buf segments;   /* struct segment */
    struct buf tokens;     /* struct picked */
    struct buf ids;        /* int32_t, the same tokens */
    struct buf text;       /* segments' texts, each ended by a NUL */
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

/* What computes: scratch, keys and values, the tables of a run. Sessions of a batch share it; a session by itself has one of its own, for one
 * window. */
struct steno_batch {
    const steno_model *model;
    steno_team *team;
    struct arena arena;
    uint32_t n_windows;         /* that decode together */
    uint32_t n_lanes;           /* of each: window w has lanes [w * n_lanes, (w + 1) * n_lanes) */
    struct kv_state state[MODEL_STATES];
    struct exec exec;
    struct run run;
    struct picked *picked;      /* [windows * lanes, text_ctx] tokens of each lane; CTC: [rows] */
    steno_timings timings;
    struct op_time *time;       /* [ops of all plans] */
    int profiling;
};

int batch_open(struct steno_batch **out, const steno_model *m, steno_team *team, uint32_t n_windows, uint32_t n_lanes, steno_error *e);
void batch_close(struct steno_batch *b);
size_t batch_memory(const steno_model *m, const steno_team *team, uint32_t n_windows, uint32_t n_lanes);
size_t batch_ids(const steno_model *m); /* most ids of a window */

struct steno_session {
    const steno_model *model;
    steno_batch *batch;
    int own_batch;              /* opened and closed with the session */
    struct arena arena;
    struct feed feed;           /* SEARCH_AR */
    struct rows rows;           /* the others */
    struct vad vad;             /* SEARCH_VAD */
    struct rule_masks masks;
    struct pick_rules rules;
    int32_t *prompt;            /* [text_ctx] */
    int32_t *history;           /* [2 text_ctx] latest tokens that may condition the next window, then the end of a carried prompt */
    int32_t n_history;
    int64_t n_past, n_carried;  /* how many there have been of each */
    int32_t *ids;               /* [text_ctx] of the window at hand */
    struct piece *pieces;       /* [text_ctx + 1] */
    struct buf bytes, text;     /* of the window at hand */
    struct result result;
    steno_error error;
    int64_t encoded_from;       /* first frame of the full window whose cross keys are at hand, -1: none */
    _Atomic int cancel;
    const steno_transcribe_params *params; /* of the running call */
    steno_step step;            /* of the attempt at hand, for the caller's logits filter */
    int (*should_abort)(void *user);       /* of the running call, when it has other parameters */
    void *abort_user;
};

enum { MAX_LANES = RUN_BEAMS };

struct op_time *session_time(const steno_session *s, int plan); /* NULL: profiling is off */
void session_begin(steno_session *s); /* clears error, cancel and results */

/* Parts of a transcription, shared with language detection and the benchmarks (window.c). */
float *window_mel(const steno_session *s);                      /* where the encoder reads log-mel: [2 audio_ctx, n_mels] */
int window_encode(steno_session *s, int64_t from);              /* what window_mel holds; from: its first frame, for reuse; -1: none */
void lane_reset(steno_session *s, uint16_t lane);
void lane_rewind(steno_session *s, uint16_t lane, int32_t len); /* lane_reset that keeps the first len positions */
int steps_run(steno_session *s, int steps);                     /* the rows in s->run, then single steps until all lanes are done */
int language_detect(steno_session *s, float *probs, int n);     /* of the audio the feed has listened to; index or status */

/* Transcription with a CTC head; parameters are complete, results are cleared (ctc.c). */
int ctc_transcribe(steno_session *s, const steno_source *src, const steno_transcribe_params *p);

/* bytes / deflated bytes of text, as zlib level 6 makes it (openai-whisper, utils.py); negative: no memory */
double compression_ratio(const char *text, size_t n);
/* Parameters as this version knows them: own[n] holds the defaults, over which come as many bytes as theirs (NULL: none) says it has.
 * Structs begin with their size and have no padding at the end. @return STENO_EARG where it has fewer than `least`, the first version's */
int params_take(void *own, const void *theirs, size_t n, size_t least);
/* The defaults own[n] into a caller's struct of `size` bytes: what it has of them, zeros past what this version knows. */
void params_give(void *theirs, uint32_t size, const void *own, size_t n);
/* Narrow text[n] to what Python's str.strip() leaves; text is UTF-8. */
void text_strip(const char **text, size_t *n);
#endif
