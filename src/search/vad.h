/* steno: from probabilities of silence to spans of speech. SPDX-License-Identifier: MIT
 *
 * An end-point machine over frames of 10 ms. Each frame votes speech or silence; when to_speech_ms of the last window_ms are speech, a
 * span opens, reaching back over the window and start_pad_ms; it closes after a silence of max_end_silence_ms, at max_segment_ms, or with
 * the audio. With the dynamic schedule the silence that closes is long at first and shorter the longer nobody paused, looked up once per
 * chunk of audio. Results equal those of FunASR's end-point detector (multi-utterance mode), fed file-wise. */
#ifndef STENO_SEARCH_VAD_H
#define STENO_SEARCH_VAD_H
#include <stdint.h>

enum { VAD_FRAME_MS = 10, VAD_WINDOW_MAX = 64, VAD_HELD = 2 };

struct vad_params {
    int dynamic;            /* end silence by the schedule; max_end_silence_ms is not used then */
    int max_end_silence_ms; /* 800, of which to_silence_ms have gone by before counting begins */
    int max_segment_ms;     /* 60000: a longer span is cut */
    int start_pad_ms;       /* 200: how much earlier than the window a span opens */
    int end_pad_ms;         /* 100: how much of the closing silence belongs to it */
    int window_ms;          /* 200, at most VAD_WINDOW_MAX frames */
    int to_speech_ms, to_silence_ms; /* 150, 150 */
    int chunk_ms;           /* 60000: how often the schedule is looked up */
    double threshold;       /* a frame is speech when 1 - p >= p + threshold; NAN: 0.5 with the schedule, else 0.6 */
};
void vad_params_init(struct vad_params *p); /* the schedule is on, as in the reference */

struct vad_span { int64_t t0_ms, t1_ms; };

struct vad {
    struct vad_params p;
    float held[VAD_HELD];       /* frames that came in and are not yet decided */
    int64_t frames, done;       /* came in, decided */
    uint8_t ring[VAD_WINDOW_MAX];
    int window, votes, at;      /* frames in the ring, how many of them are speech, next place */
    int in_speech;              /* the ring says speech */
    int open;                   /* inside a span */
    int64_t start;              /* first frame of the open span */
    int64_t floor;              /* first frame that a span may still have */
    int64_t silent;             /* frames of silence in a row */
    int end_silence_ms;         /* that close a span, now */
    int64_t spoken_ms, chunk;   /* schedule: length of the chunks since the last pause; chunks begun */
    int closed;                 /* schedule: this chunk closed a span */
};

void vad_begin(struct vad *v, const struct vad_params *p); /* lengths out of range are brought into it */
/* One frame more: the probability of silence of 10 ms (NaN counts as silence). @return 1 when it closed a span, written to *out, else 0 */
int vad_step(struct vad *v, float p_silence, struct vad_span *out);
/* No frame follows; the audio had `samples` at 16 kHz. @return number of spans written to out, 0..VAD_HELD */
int vad_end(struct vad *v, int64_t samples, struct vad_span out[VAD_HELD]);
/* No span to come begins before this time: audio before it is not needed any more. */
int64_t vad_floor_ms(const struct vad *v);
#endif
