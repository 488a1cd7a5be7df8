/* steno: transcriptions that work clip by clip: their state and their requests. SPDX-License-Identifier: MIT */
#include "task/clips/clip_session.h"
#include <math.h>
#include <string.h>
#include "engine/batch_loop.h"
#include "text/repetition.h"
#include "text/words.h"

/* ---- state -------------------------------------------------------------------------------------------------------------------- */

/* Most windows of attention in a run. */
static size_t cuts_of(const steno_model *m, uint32_t n_windows)
{
    return m->window_rows ? n_windows + m->plan[PLAN_ENCODER].max_rows / (uint32_t)m->window_rows : 0;
}

size_t clip_batch_memory(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    (void)n_lanes;
    return sizeof(struct clip_batch) + n_windows * (sizeof(struct clip_window) + sizeof(struct sequence)) +
           cuts_of(m, n_windows) * sizeof(struct sequence) + m->plan[PLAN_ENCODER].max_rows;
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
    c->cut = b->model->window_rows ? arena_array(&b->arena, cuts_of(b->model, b->n_windows), sizeof *c->cut) : NULL;
    c->mute = arena_alloc(&b->arena, clip_encoder_of(b)->max_rows);
    const int has_all = c->window && c->sequence && c->mute && (c->cut || !b->model->window_rows);
    return has_all ? STENO_OK : err_nomem(e, b->n_windows * sizeof *c->window, "a batch");
}

/* Samples of a full clip. */
static int64_t clip_of(const steno_model *m)
{
    return fbank_samples_of_rows(fbank_bank_of(m), m->audio_ctx);
}

/* Most rows of a clip, with VAD or without. */
static int32_t longest_of(const steno_model *m)
{
    return m->segment_ctx > m->audio_ctx ? m->segment_ctx : m->audio_ctx;
}

size_t clip_session_memory(const steno_model *m, const steno_team *team)
{
    return fbank_stream_memory(fbank_bank_of(m), clip_of(m), team) + fbank_stream_levels_memory(fbank_bank_of(m), longest_of(m));
}

int clip_session_open(steno_session *s, const struct clip_decoder *d, steno_error *e)
{
    struct clip_session *c = clips_of(s);
    *c = (struct clip_session){ .decoder = d };
    int rc = fbank_stream_init(&c->fbank, &s->arena, fbank_bank_of(s->model), clip_of(s->model), s->batch->team, e);
    if (!rc) rc = fbank_stream_levels_open(&c->fbank, &s->arena, longest_of(s->model), e);
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

/* ---- a request ---------------------------------------------------------------------------------------------------------------- */

/* Takes over the results of the request that it resumes. */
static int take_resumed(steno_session *s, struct clip_request *q)
{
    int rc = resume_take(&q->resume, s, &q->p, 1);
    if (rc || !q->resume.state) return rc;
    if (q->resume.n_state == sizeof q->n_settled) memcpy(&q->n_settled, q->resume.state, sizeof q->n_settled);
    if (q->n_settled < 0 || q->resume.n_state != sizeof q->n_settled)
        return err_set(&s->error, STENO_EARG, "resume is of another kind of model");
    q->n_passed = q->n_settled;
    const struct segment *g = (const struct segment *)(const void *)s->result.segments.p;
    for (int i = 0; i < result_segments(&s->result) && !*s->result.language; i++)
        if (g[i].tags.language) s->result.language = g[i].tags.language;
    return STENO_OK;
}

int clip_request_take(steno_session *s, const struct request_given *g)
{
    struct clip_session *c = clips_of(s);
    struct clip_request *q = &c->request;
    *q = (struct clip_request){ .p = *g->transcribe, .src = *g->src };
    s->params = &q->p;
    int rc = params_check(s, STENO_CALL_TRANSCRIBE, &q->p);
    if (!rc) rc = clip_speech_take(&c->speech, &q->p, &s->error);
    if (rc) return rc;
    q->from = q->p.offset_ms * 16;
    rc = take_resumed(s, q);
    if (rc) return rc;
    return c->decoder->take ? c->decoder->take(s) : STENO_OK;
}

/* Does the text lack punctuation (result.is_bare)? A result with word times keeps the form of its words, so it does not count as bare. */
static int is_bare(const steno_session *s)
{
    const steno_transcribe_params *p = &clips_of(s)->request.p;
    if (s->model->family->bare_text != BARE_SPOKEN) return s->model->family->bare_text == BARE_ALWAYS;
    return !p->itn && p->tags == STENO_TAGS_APART && !s->result.words.len;
}

int clip_request_end(steno_session *s, int status)
{
    const struct clip_session *c = clips_of(s);
    const struct clip_batch *b = clip_batch_of(s->batch);
    const steno_transcribe_params *p = &c->request.p;
    const int64_t read_ms = (c->fbank.samples - c->request.from) / 16;
    /* the audio may end with silence */
    if (!status && c->speech.model && p->on_progress && read_ms >= 0) p->on_progress(p->user, read_ms, read_ms);
    for (uint32_t i = 0; i < b->n; i++)
        if (b->window[i].s == s) b->window[i].s = NULL;
    if (s->request_state != REQUEST_WAITING) s->result.duration_ms = c->fbank.samples / 16;
    if (c->decoder->end) c->decoder->end(s);
    s->result.is_bare = is_bare(s);
    result_finish(&s->result, &status, &s->error);
    return status;
}

int clip_request_gather(steno_session *s, int *has)
{
    struct clip_session *c = clips_of(s);
    const struct clip_request *q = &c->request;
    if (s->request_state == REQUEST_WAITING) {
        fbank_stream_begin(&c->fbank, &q->src, q->from, q->p.duration_ms * 16);
        c->fbank.may_wait = !s->place.direct;
        fbank_stream_levels_use(&c->fbank, clip_guards(s));
        if (c->decoder->begin) c->decoder->begin(s);
        queue_begin(s);
        s->request_state = REQUEST_LISTENING;
        if (!c->speech.model) clip_speech_close(&c->speech);
        const int rc = c->speech.model ? clip_speech_begin(&c->speech, s, &c->fbank) : STENO_OK;
        if (rc) return rc;
    }
    c->fbank.hurries = clip_batch_of(s->batch)->n > 0;
    if (c->decoder->gather) return c->decoder->gather(s, has);
    return c->speech.model ? clip_speech_gather(&c->speech, has) : fbank_stream_gather(&c->fbank, has, &s->error);
}

int64_t clip_request_at(const steno_session *s)
{
    const struct clip_session *c = clips_of(s);
    if (c->decoder->at) return c->decoder->at(s);
    return c->speech.model ? c->request.from + c->speech.begin : fbank_stream_at(&c->fbank);
}

uint32_t clip_request_rows(const steno_session *s)
{
    const struct clip_session *c = clips_of(s);
    if (c->decoder->rows) return c->decoder->rows(s);
    const struct clip_speech *v = &c->speech;
    const int64_t n = v->model ? fbank_stream_rows_of(&c->fbank, v->end - v->begin) : fbank_stream_rows(&c->fbank);
    return n ? (uint32_t)(c->request.n_head + n) : 0;
}

void clip_rows_report(steno_session *s, const struct clip_window *w, const struct clip_rows *r)
{
    const steno_transcribe_params *p = &clips_of(s)->request.p;
    const steno_rows rows = { .size = sizeof rows, .first = r->first, .n_rows = r->n, .width = r->width, .name = r->name,
                              .at_ms = w->at / 16, .rows = r->x, .stride = (int64_t)r->ld };
    if (p->on_rows && r->n && !clips_of(s)->request.is_passing) p->on_rows(p->user, &rows);
}

int clip_slot_report(steno_session *s, const struct clip_window *w, const char *name, uint16_t slot)
{
    const struct plan *p = clip_encoder_of(s->batch);
    struct clip_rows r = { .name = name, .n = w->rows.n, .width = (int32_t)p->slot[slot].width };
    r.x = exec_output(s->batch->exec, p, slot, (uint32_t)w->rows.row, (uint32_t)r.n, &r.ld);
    if (!r.x) return err_nomem(&s->error, 0, name);
    clip_rows_report(s, w, &r);
    return STENO_OK;
}

static uint8_t *mute_of(const steno_session *s, const struct clip_window *w)
{
    return clip_batch_of(s->batch)->mute + w->rows.row + clips_of(s)->request.n_head;
}

/* A token may lie seconds behind the sound that it was written for, so a clip with any speech keeps all of its text. */
static void clip_keep_if_spoken(const steno_session *s, const struct clip_window *w)
{
    const int n = w->rows.n - clips_of(s)->request.n_head;
    if (clip_guards(s) && n > 0 && !clip_all_mute(s, w)) memset(mute_of(s, w), 0, (size_t)n);
}

void clip_window_fill(steno_session *s, struct clip_window *w, float *x, size_t ld)
{
    struct clip_session *c = clips_of(s);
    const struct clip_request *q = &c->request;
    const size_t width = (size_t)fbank_width(fbank_bank_of(s->model));
    w->s = s;
    w->at = clip_request_at(s);
    if (c->decoder->fill) {
        c->decoder->fill(s, w, x, ld);
        return;
    }
    for (int i = 0; w->rows.n && i < q->n_head; i++) memcpy(x + (size_t)i * ld, q->query + (size_t)q->head[i] * width, width * sizeof *x);
    if (c->speech.model) clip_speech_fill(&c->speech, x + (size_t)q->n_head * ld, ld);
    else fbank_stream_clip(&c->fbank, x + (size_t)q->n_head * ld, ld);
    w->end = clip_request_at(s);
    clip_mark(s, w, 0, w->rows.n);
    clip_keep_if_spoken(s, w);
    clip_rows_report(s, w, &(struct clip_rows){ "features", x + (size_t)q->n_head * ld, 0, w->rows.n - q->n_head,
                                              fbank_features(fbank_bank_of(s->model)), ld });
}

/* ---- text where there is no speech ---------------------------------------------------------------------------------------------- */

void clip_mark(steno_session *s, const struct clip_window *w, int64_t row, int64_t end)
{
    const struct clip_session *c = clips_of(s);
    const int n = w->rows.n - c->request.n_head;
    if (clip_guards(s) && !c->request.is_passing && n > 0) fbank_stream_mute(&c->fbank, row, n, end, mute_of(s, w));
}

int clip_is_mute(const steno_session *s, const struct clip_window *w, int32_t i)
{
    return clip_guards(s) && i >= 0 && i < w->rows.n - clips_of(s)->request.n_head && mute_of(s, w)[i];
}

int clip_all_mute(const steno_session *s, const struct clip_window *w)
{
    const int32_t n = w->rows.n - clips_of(s)->request.n_head;
    int32_t i = 0;
    while (i < n && clip_is_mute(s, w, i)) i++;
    return n > 0 && i == n;
}

int clip_left_out(steno_session *s, const struct clip_window *w, const struct clip_found *f, double start, double end)
{
    const double last = fmin(end, (double)w->end / FBANK_RATE);
    struct left_out l = { .avg_logprob = f->sum_logprob / (f->n + 1), .t0_ms = (int64_t)nearbyint(fmin(start, last) * 1000),
                          .t1_ms = (int64_t)nearbyint(last * 1000), .flags = STENO_FLAG_NO_SPEECH,
                          .whole = (uint16_t)clip_all_mute(s, w) };
    if (f->n_text) result_left_out(&s->result, &l, f->text, f->n_text);
    return result_status(&s->result) ? err_nomem(&s->error, f->n_text, "results") : STENO_OK;
}

/* ---- segments ------------------------------------------------------------------------------------------------------------------ */

struct segment clip_segment_of(const steno_session *s, const struct clip_window *w)
{
    const struct result *r = &s->result;
    return (struct segment){ .seek_frames = w->at / FBANK_HOP, .t0_ms = w->at / 16, .t1_ms = w->end / 16,
                             .start = (double)w->at / FBANK_RATE, .end = (double)w->end / FBANK_RATE, .text = r->text.len,
                             .first_token = r->ids.len / sizeof(int32_t) };
}

int clip_segment_add(steno_session *s, struct segment *g, const struct clip_found *f)
{
    struct result *r = &s->result;
    g->n_tokens = f->n;
    g->avg_logprob = f->sum_logprob / (f->n + 1);
    g->compression_ratio = compression_ratio(f->text, f->n_text);
    if (g->compression_ratio < 0) return err_nomem(&s->error, f->n_text, "the text of a clip");
    if (f->before) {
        buf_str(&r->bytes, f->before);
        buf_add(&r->bytes, f->whole, f->n_whole);
    } else {
        text_join(&r->bytes, f->whole, f->n_whole);
    }
    buf_add(&r->text, f->text, f->n_text);
    buf_add(&r->text, "", 1);
    buf_add(&r->ids, f->ids, (size_t)f->n * sizeof *f->ids);
    buf_add(&r->tokens, f->tokens, (size_t)f->n * sizeof *f->tokens);
    return result_status(r) ? err_nomem(&s->error, r->text.len, "results") : STENO_OK;
}

int clip_segment_report(steno_session *s, const struct segment *g)
{
    const steno_transcribe_params *p = &clips_of(s)->request.p;
    struct result *r = &s->result;
    if (result_status(r)) return err_nomem(&s->error, r->text.len, "results");
    buf_add(&r->segments, g, sizeof *g); /* added last, so that readers only see complete segments */
    if (result_status(r)) return err_nomem(&s->error, r->segments.len, "results");
    if (!*r->language && g->tags.language) r->language = g->tags.language;
    result_report(r, p->on_segment, p->user);
    return STENO_OK;
}

int clip_window_settle(steno_session *s, const struct clip_window *w)
{
    struct clip_session *c = clips_of(s);
    struct clip_request *q = &c->request;
    int rc = w->rows.n || c->decoder->fill ? c->decoder->settle(s, w) : STENO_OK; /* the end of a stream completes words */
    q->n_settled++;
    if (!rc) rc = resume_record(&q->resume, s, &q->p, 1, &q->n_settled, sizeof q->n_settled);
    const int64_t done_ms = (w->end - q->from) / 16, read_ms = (c->fbank.samples - q->from) / 16;
    const int64_t at_ms = done_ms < read_ms ? done_ms : read_ms; /* the last row of a stream may end after its audio */
    if (!rc && q->p.on_progress) q->p.on_progress(q->p.user, at_ms, c->fbank.ended ? read_ms : 0); /* 0: the total is not known */
    return rc;
}
