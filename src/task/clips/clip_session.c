/* steno: state of transcriptions that work clip by clip. SPDX-License-Identifier: MIT */
#include "task/clips/clip_session.h"

size_t clip_batch_memory(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    (void)m, (void)n_lanes;
    return sizeof(struct clip_batch) + n_windows * (sizeof(struct clip_window) + sizeof(struct sequence));
}

int clip_batch_open(struct steno_batch *b, steno_error *e)
{
    b->part = arena_array(&b->arena, 1, sizeof(struct clip_batch));
    return b->part ? clip_batch_init(b, e) : err_nomem(e, sizeof(struct clip_batch), "a batch");
}

int clip_batch_init(struct steno_batch *b, steno_error *e)
{
    struct clip_batch *c = clip_batch_of(b);
    c->window = arena_array(&b->arena, b->n_windows, sizeof *c->window);
    c->sequence = arena_array(&b->arena, b->n_windows, sizeof *c->sequence);
    return c->window && c->sequence ? STENO_OK : err_nomem(e, b->n_windows * sizeof *c->window, "a batch");
}

/* Samples of a full clip. */
static int64_t clip_of(const steno_model *m)
{
    return (int64_t)m->audio_ctx * fbank_bank_of(m)->lfr_n * FBANK_HOP;
}

size_t clip_session_memory(const steno_model *m, const steno_team *team)
{
    return fbank_stream_memory(fbank_bank_of(m), clip_of(m), team);
}

int clip_session_open(steno_session *s, const struct clip_decoder *d, steno_error *e)
{
    struct clip_session *c = clips_of(s);
    *c = (struct clip_session){ .decoder = d };
    const int rc = fbank_stream_init(&c->fbank, &s->arena, fbank_bank_of(s->model), clip_of(s->model), s->batch->team, e);
    c->fbank.should_stop = session_stop;
    c->fbank.user = s;
    return rc;
}

void clip_session_close(steno_session *s)
{
    clip_speech_close(&clips_of(s)->speech);
    fbank_stream_close(&clips_of(s)->fbank);
}

struct front_time *clip_front_time(const steno_session *s)
{
    return &clips_of(s)->fbank.time;
}
