/* steno: the range of an input that is transcribed. SPDX-License-Identifier: MIT */
#include "input_range.h"
#include "file_source.h"
#include <stdlib.h>

struct input_range input_range_of(const struct job_input *in)
{
    const steno_transcribe_params *p = &in->job->params;
    if (in->own.begin_ms == JOB_SAME_RANGE) return (struct input_range){ p->offset_ms, p->duration_ms };
    return (struct input_range){ in->own.begin_ms, in->own.duration_ms };
}

struct speech_rules input_speech_rules(const struct job_input *in)
{
    struct speech_rules r = in->job->speech;
    if (in->own.begin_ms == JOB_SAME_RANGE) return r;
    r.begin_ms = in->own.begin_ms;
    r.duration_ms = in->own.duration_ms;
    return r;
}

/* ---- audio that begins later than its file ----------------------------------------------------------------------------------- */

enum { GRID_MS = 10 };

/* Moves clip starts that lie before the audio to its start. @return a status */
static int clip_starts(struct job_input *in, double start)
{
    const steno_transcribe_params *p = &in->job->params;
    double *own = malloc((size_t)p->n_clip_timestamps * sizeof *own);
    free(in->clips);
    in->clips = own;
    if (!own) return STENO_ENOMEM;
    for (int32_t i = 0; i < p->n_clip_timestamps; i++) {
        const int reaches = i % 2 == 0 && (i + 1 == p->n_clip_timestamps || p->clip_timestamps[i + 1] > start);
        own[i] = reaches && p->clip_timestamps[i] < start ? start : p->clip_timestamps[i];
    }
    in->params.clip_timestamps = own;
    return STENO_OK;
}

int input_skip_start(struct job_input *in)
{
    const steno_transcribe_params *p = &in->job->params;
    const struct speech_rules *speech = &in->job->speech;
    struct input_range range = input_range_of(in);
    if (speech->session && !speech->join) range = (struct input_range){ p->offset_ms, p->duration_ms }; /* the clips lie in the range */
    const int64_t start = file_source_start_ms(in->media), end = range.begin_ms + range.duration_ms;
    in->params.offset_ms = range.begin_ms;
    in->params.duration_ms = range.duration_ms;
    in->params.clip_timestamps = p->clip_timestamps;
    in->params.n_clip_timestamps = p->n_clip_timestamps;
    if (start <= range.begin_ms || p->chunk_ms || p->vad_model || speech->session) return STENO_OK;
    if (p->n_clip_timestamps) return clip_starts(in, (double)(start / GRID_MS) * GRID_MS / 1000);
    if (range.duration_ms && end <= start) return STENO_OK;
    in->params.offset_ms = start;
    if (range.duration_ms) in->params.duration_ms = end - start;
    return STENO_OK;
}
