/* steno: clips where somebody speaks. SPDX-License-Identifier: MIT
 *
 * With a voice-activity model audio is heard through it as it comes; each span that it finds is a clip, cut where it is quietest as long as
 * it is too long for one. Audio is kept from the first sample that a span to come may begin with. */
#ifndef STENO_TASK_CLIPS_CLIP_SPEECH_H
#define STENO_TASK_CLIPS_CLIP_SPEECH_H
#include "task/fbank_stream.h"
#include "task/session.h"
#include "task/vad/vad_finder.h"

/* Of a session. Places are samples behind those that were passed over. */
struct clip_speech {
    const steno_model *model;  /* of the request at hand; NULL: audio is not heard through one */
    struct vad_hearing hearing;
    struct vad_finder *finder; /* of this request or an earlier one; NULL: none has come yet */
    struct fbank_stream *from; /* the request's audio */
    steno_session *session;
    float *pcm, *level;        /* [cap], [rows of a level each 10 ms of the longest clip] */
    int64_t cap, n, at;        /* held: [at, at + n) */
    struct buf found;          /* struct vad_span */
    size_t taken;              /* of them */
    int64_t begin, end, rest;  /* the clip at hand, none where they are the same; the span that it is of ends at `rest` */
    int64_t piece[VAD_FINDER_PIECES]; /* samples of each piece that was read ahead, behind what is held */
    int pieces, piece_at;      /* their number, and the next of them */
    int64_t ahead;             /* samples of those from piece_at on */
    int failed;                /* why nothing was read behind them */
    int ended;                 /* all is heard */
};

/* What a request asks for. STENO_EARG, with a reason in *e */
int clip_speech_take(struct clip_speech *c, const steno_transcribe_params *p, steno_error *e);
/* Its first sample is next. STENO_ENOMEM and the like */
int clip_speech_begin(struct clip_speech *c, steno_session *s, struct fbank_stream *from);
int clip_speech_hear(struct clip_speech *c, int *has); /* as fbank_stream_hear */
void clip_speech_fill(struct clip_speech *c, float *out, size_t ld); /* the clip at hand, as fbank_stream_clip */
void clip_speech_close(struct clip_speech *c);
#endif
