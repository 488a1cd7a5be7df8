/* steno: what a search for speech goes by. SPDX-License-Identifier: MIT */
#include "task/vad/vad_rules.h"

enum { CHUNK_OF_FILES = 60000, CHUNK_OF_STREAMS = 200, CHUNK_LIVE = 60 };

void vad_rules_fill(struct vad_params *q, const steno_model *m, const steno_vad_params *p)
{
    const int is_live = p->schedule == STENO_VAD_SCHEDULE_LIVE;
    *q = *(const struct vad_params *)m->part;
    q->schedule = p->max_end_silence_ms >= 0 ? VAD_FIXED : is_live ? VAD_LIVE : VAD_FILES;
    q->streaming = p->streaming;
    q->chunk_ms = p->chunk_size_ms ? p->chunk_size_ms : is_live ? CHUNK_LIVE : p->streaming ? CHUNK_OF_STREAMS : CHUNK_OF_FILES;
    if (p->max_end_silence_ms >= 0) q->max_end_silence_ms = (int)p->max_end_silence_ms;
    if (p->max_segment_ms > 0) q->max_segment_ms = (int)p->max_segment_ms;
    q->threshold = p->threshold;
}
