/* steno: spans of speech from probabilities of silence. SPDX-License-Identifier: MIT
 *
 * An end-point machine over frames of 10 ms. Each frame votes speech or silence. When to_speech_ms of the last window_ms are speech, a span
 * opens; its start reaches back over the window and start_pad_ms. It closes after a silence of max_end_silence_ms, at max_segment_ms, or at
 * the end of the audio. With a schedule, the closing silence is long at first and becomes shorter with the time since the last pause; the
 * value is updated once per chunk of audio. Results equal those of FunASR's end-point detector (multi-utterance mode), for a file and for a
 * stream of chunks.
 *
 * Afterwards, short spans are dropped, and neighbours are merged. Merging is FunASR's merge_vad. All beginnings and ends are points in
 * order. A merged span begins at the end of the previous one, and extends as far as possible without exceeding merge_ms. The first one
 * therefore begins with the audio, and pauses are included. A stretch between two points that is longer by itself stays whole. A single
 * span stays unchanged. */
#ifndef STENO_SEARCH_VAD_H
#define STENO_SEARCH_VAD_H
#include <stdint.h>

enum { VAD_FRAME_MS = 10, VAD_WINDOW_MAX = 64, VAD_LIVE_CHUNK_MAX = 1000, VAD_HELD_MAX = 128 };

enum vad_schedule {
    VAD_FIXED, /* max_end_silence_ms closes a span */
    VAD_FILES, /* counts chunks without a pause */
    VAD_LIVE   /* counts how long the span has been open */
};

struct vad_params {
    enum vad_schedule schedule;
    int streaming;          /* reports openings, at the end of their chunk; they count as pauses there, as in FunASR */
    int max_end_silence_ms; /* 800, including the to_silence_ms before counting begins */
    int max_segment_ms;     /* 60000: a longer span is cut */
    int start_pad_ms;       /* 200: distance of a span's start before the window */
    int end_pad_ms;         /* 100: the part of the closing silence that belongs to the span */
    int extend;             /* 1: apply both pads; 0: neither */
    int window_ms;          /* 200, at most VAD_WINDOW_MAX frames */
    int to_speech_ms, to_silence_ms; /* 150, 150 */
    int chunk_ms;           /* 60000: interval of schedule updates; VAD_LIVE: at most VAD_LIVE_CHUNK_MAX */
    int late_frames;        /* 2: delay of a frame after its own audio, in frames */
    double threshold;       /* a frame is speech when 1 - p >= p + threshold; NAN: 0.5 with a schedule, else fixed_threshold */
    double fixed_threshold; /* 0.6 */
};
void vad_params_init(struct vad_params *p); /* selects the schedule of files, as in the reference */

struct vad_span { int64_t t0_ms, t1_ms; };

/* A change of a span. */
struct vad_event {
    struct vad_span span; /* t1_ms -1: it is open */
    int opens;            /* its opening was not reported before */
    int is_cut;           /* the audio ends in the frame that opens it: the reference leaves it open in a stream */
};

/* Called during the functions below. */
struct vad_listener {
    void (*report)(void *user, const struct vad_event *e);
    void *user;
};

struct vad {
    struct vad_params p;
    struct vad_listener listener;
    float held[VAD_HELD_MAX];   /* frames received but not yet decided */
    int hold;                   /* limit of held frames */
    int64_t frames, done;       /* received, decided */
    uint8_t ring[VAD_WINDOW_MAX];
    int window, votes, at;      /* frames in the ring, number of speech votes, next index */
    int in_speech;              /* the window votes speech */
    int open, reported;             /* inside a span; its opening was reported */
    int64_t start;              /* first frame of the open span */
    int64_t floor;              /* the first frame that a later span may have */
    int64_t silent;             /* consecutive frames of silence */
    int end_silence_ms;         /* the silence that closes a span now */
    int64_t spoken_ms, chunk;   /* schedule: length of the chunks since the last pause; number of chunks begun */
    int paused;                 /* schedule: this chunk had a pause */
    int64_t samples;            /* length of the audio, INT64_MAX: not yet known */
};

void vad_begin(struct vad *v, const struct vad_params *p, struct vad_listener l); /* clamps lengths to their ranges */
/* Add a frame: the probability of silence of 10 ms (NaN counts as silence). */
void vad_step(struct vad *v, float p_silence);
/* All frames of the first `samples` at 16 kHz were added, and more audio follows: report what they decide. The call is optional. */
void vad_advance(struct vad *v, int64_t samples);
/* No more frames; `samples`: length of the audio. */
void vad_end(struct vad *v, int64_t samples);
/* No later span begins before this time: earlier audio is no longer needed. */
int64_t vad_floor_ms(const struct vad *v);

/* ---- filtering and merging of spans ------------------------------------------------------------------------------------------ */

struct vad_spans {
    int64_t min_ms, merge_ms; /* 0: no minimum; no merging */
    void (*put)(void *user, const struct vad_span *s);
    void *user;
    int64_t n;                /* spans added */
    struct vad_span first;
    int64_t begin, last;      /* merging: start of the next span, and the last point */
};

void vad_spans_begin(struct vad_spans *s, int64_t min_ms, int64_t merge_ms, void (*put)(void *user, const struct vad_span *s), void *user);
void vad_spans_add(struct vad_spans *s, const struct vad_span *span); /* a span must not begin before the previous one has ended */
/* The next span neither begins nor ends before this time. The call is optional. */
void vad_spans_certain(struct vad_spans *s, int64_t t_ms);
void vad_spans_end(struct vad_spans *s); /* no more spans */
/* Do not wait to learn whether the first span stays the only one: treat it as one of several. */
void vad_spans_hasten(struct vad_spans *s);
/* No later span is put that begins before this time, if no later added span begins before floor_ms. */
int64_t vad_spans_floor_ms(const struct vad_spans *s, int64_t floor_ms);
#endif
