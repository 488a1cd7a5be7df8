/* steno: from probabilities of silence to spans of speech. SPDX-License-Identifier: MIT
 *
 * An end-point machine over frames of 10 ms. Each frame votes speech or silence; when to_speech_ms of the last window_ms are speech, a
 * span opens, reaching back over the window and start_pad_ms; it closes after a silence of max_end_silence_ms, at max_segment_ms, or with
 * the audio. With a schedule the silence that closes is long at first and shorter the longer nobody paused, looked up once per chunk of
 * audio. Results equal those of FunASR's end-point detector (multi-utterance mode), whether it hears a file or a stream of chunks. */
#ifndef STENO_SEARCH_VAD_H
#define STENO_SEARCH_VAD_H
#include <stdint.h>

enum { VAD_FRAME_MS = 10, VAD_WINDOW_MAX = 64, VAD_LIVE_CHUNK_MAX = 1000, VAD_HELD_MAX = 128 };

enum vad_schedule {
    VAD_FIXED, /* max_end_silence_ms closes a span */
    VAD_FILES, /* chunks in which nobody paused are counted */
    VAD_LIVE   /* what counts is how long the span has been open */
};

struct vad_params {
    enum vad_schedule schedule;
    int streaming;          /* openings are told, at the end of their chunk, and count as pauses there, as FunASR's do */
    int max_end_silence_ms; /* 800, of which to_silence_ms have gone by before counting begins */
    int max_segment_ms;     /* 60000: a longer span is cut */
    int start_pad_ms;       /* 200: how much earlier than the window a span opens */
    int end_pad_ms;         /* 100: how much of the closing silence belongs to it */
    int extend;             /* 1; 0: neither of the two */
    int window_ms;          /* 200, at most VAD_WINDOW_MAX frames */
    int to_speech_ms, to_silence_ms; /* 150, 150 */
    int chunk_ms;           /* 60000: how often the schedule is looked up; VAD_LIVE: at most VAD_LIVE_CHUNK_MAX */
    int late_frames;        /* 2: so many frames a frame is given after its own sound */
    double threshold;       /* a frame is speech when 1 - p >= p + threshold; NAN: 0.5 with a schedule, else fixed_threshold */
    double fixed_threshold; /* 0.6 */
};
void vad_params_init(struct vad_params *p); /* the schedule of files is on, as in the reference */

struct vad_span { int64_t t0_ms, t1_ms; };

/* News of a span. */
struct vad_event {
    struct vad_span span; /* t1_ms -1: it is open */
    int opens;            /* nobody was told of it before */
    int is_cut;           /* the audio ends in the frame in which it opens: the reference leaves it open in a stream */
};

/* Who is told, in the middle of the calls below. */
struct vad_listener {
    void (*tell)(void *user, const struct vad_event *e);
    void *user;
};

struct vad {
    struct vad_params p;
    struct vad_listener listener;
    float held[VAD_HELD_MAX];   /* frames that came in and are not yet decided, */
    int hold;                   /* at most so many */
    int64_t frames, done;       /* came in, decided */
    uint8_t ring[VAD_WINDOW_MAX];
    int window, votes, at;      /* frames in the ring, how many of them are speech, next place */
    int in_speech;              /* the ring says speech */
    int open, told;             /* inside a span; which somebody was told of */
    int64_t start;              /* first frame of the open span */
    int64_t floor;              /* first frame that a span may still have */
    int64_t silent;             /* frames of silence in a row */
    int end_silence_ms;         /* that close a span, now */
    int64_t spoken_ms, chunk;   /* schedule: length of the chunks since the last pause; chunks begun */
    int paused;                 /* schedule: this chunk had a pause */
    int64_t samples;            /* of the whole audio, INT64_MAX: not known yet */
};

void vad_begin(struct vad *v, const struct vad_params *p, struct vad_listener l); /* lengths out of range are brought into it */
/* One frame more: the probability of silence of 10 ms (NaN counts as silence). */
void vad_step(struct vad *v, float p_silence);
/* All frames came in that so many samples at 16 kHz give, and there is more audio: what they say is told. Need not be called. */
void vad_heard(struct vad *v, int64_t samples);
/* No frame follows; the audio had `samples`. */
void vad_end(struct vad *v, int64_t samples);
/* No span to come begins before this time: audio before it is not needed any more. */
int64_t vad_floor_ms(const struct vad *v);
#endif
