/* steno: clips from spans of speech. SPDX-License-Identifier: MIT
 *
 * With a voice-activity model, audio passes through that model as it is read. Each span of speech becomes a clip; a span that is too long
 * for one clip is cut where it is quietest. Audio is kept from the first sample at which a future span may begin. */
#ifndef STENO_TASK_CLIPS_CLIP_SPEECH_H
#define STENO_TASK_CLIPS_CLIP_SPEECH_H
#include "audio/fbank_stream.h"
#include "engine/session.h"
#include "task/vad/vad_finder.h"

/* State in a session. Positions are samples after the skipped start. */
struct clip_speech {
    const steno_model *model;  /* VAD model of the current request; NULL: no voice activity detection */
    struct vad_search search;
    struct vad_finder *finder; /* of this or an earlier request; NULL before the first one */
    struct fbank_stream *from; /* the request's audio */
    steno_session *session;
    float *pcm, *level;        /* [cap], [rows of a level each 10 ms of the longest clip] */
    int64_t cap, n, at;        /* samples in memory: [at, at + n) */
    struct buf found;          /* struct vad_span */
    size_t taken;              /* bytes of `found` that have been taken */
    int64_t begin, end, rest;  /* the current clip, empty if begin == end; its span ends at `rest` */
    int64_t piece[VAD_FINDER_PIECES]; /* samples of each piece that was read ahead */
    int pieces, piece_at;      /* number of pieces, index of the next one */
    int64_t ahead;             /* samples that were read but not searched yet, after those of [at, at + n) */
    int failed;                /* status of the read after these pieces */
    int ended;                 /* all audio has been processed */
};

/* Takes the parameters of a request. STENO_EARG, with the reason in *e */
int clip_speech_take(struct clip_speech *c, const steno_transcribe_params *p, steno_error *e);
/* Begins with the first sample. STENO_ENOMEM or another status of vad_finder_open */
int clip_speech_begin(struct clip_speech *c, steno_session *s, struct fbank_stream *from);
int clip_speech_gather(struct clip_speech *c, int *has); /* as fbank_stream_gather */
void clip_speech_fill(struct clip_speech *c, float *out, size_t ld); /* writes the current clip, as fbank_stream_clip */
/* Alternative: the current clip's samples, which stay until it is passed. A model of streams has clips of any length. */
const float *clip_speech_pcm(const struct clip_speech *c, int64_t *n);
void clip_speech_pass(struct clip_speech *c);
void clip_speech_close(struct clip_speech *c);
#endif
