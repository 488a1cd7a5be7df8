/* steno: clips of several requests through the encoder together. SPDX-License-Identifier: MIT
 *
 * A step is a run of the encoder. Clips of whoever is next in the queue (request_queue.c) go into it, each a sequence of rows, until there
 * is no room for the next one: short clips share what it costs to read the weights, long ones have runs of their own. A row sees its own
 * sequence alone, so none of this shows in any text. Clips do not wait for a source that gives audio as it is spoken. */
#include "task/clips/clip_step.h"
#include "task/batch_loop.h"
#include "task/stream_state.h"

/* A chunk of a stream goes on from the one before it, so only one is in a run. */
static int wants_window(const struct steno_batch *b, const steno_session *s)
{
    const struct clip_request *q = &clips_of(s)->request;
    (void)b;
    return !s->place.waits && !q->is_over && !(clips_of(s)->decoder->lane && q->n_windows);
}

/* No clip follows; those that are in the run are still to be told. */
static void request_over(steno_session *s, int status)
{
    struct clip_request *q = &clips_of(s)->request;
    q->is_over = 1;
    q->status = status;
    if (!q->n_windows) request_finish(s, status);
}

/* The clip that s has heard, behind those that are in the run; keys: that its rows see. */
static void window_add(struct steno_batch *b, steno_session *s, uint32_t n_rows, uint32_t keys, uint16_t lane)
{
    struct clip_batch *c = clip_batch_of(b);
    const size_t ld = clip_encoder_of(b)->slot[clip_encoder_of(b)->input].ld;
    struct clip_window *w = &c->window[c->n++];
    const struct sequence *last = c->n_sequences ? &c->sequence[c->n_sequences - 1] : NULL;
    w->rows = sequence_next(last, n_rows, lane);
    w->rows.block = (uint16_t)c->blocks;
    c->blocks += kv_blocks(keys);
    if (!c->n_sequences) b->run.n_rows = 0;
    if (n_rows) {
        for (uint32_t i = 0; i < n_rows; i++) run_add(&b->run, 0, (int32_t)i, w->rows.lane, 0);
        b->run.lane[w->rows.lane].argmax_mask = clips_of(s)->request.barred;
        c->sequence[c->n_sequences++] = w->rows;
        queue_given(b, queue_passes(b, s, wants_window));
        queue_window(s);
        s->timings.n_windows++;
        s->request_state = REQUEST_LIVE;
    }
    clip_window_fill(s, w, exec_input(b->exec, clip_encoder_of(b)) + w->rows.row * ld, ld);
    clips_of(s)->request.n_windows++;
}

/* Rows that there are left; a run that several share is as long as the longest clip that is cut, or longer, as the decoder says. Of a
 * stream a token more may end than there are rows. */
static uint32_t room(const struct steno_batch *b, const steno_session *s)
{
    const struct clip_batch *c = clip_batch_of(b);
    const struct plan *p = clip_encoder_of(b);
    if (clips_of(s)->decoder->keys && c->n_sequences) {
        const struct sequence *last = &c->sequence[c->n_sequences - 1];
        const uint32_t used = (uint32_t)last->row + last->n + c->n_sequences + 1;
        const uint32_t blocks = c->blocks + kv_blocks(clips_of(s)->decoder->keys(s));
        return used < p->max_rows && blocks <= kv_blocks(p->max_rows + p->max_past) ? p->max_rows - used : 0;
    }
    const uint32_t most = clip_encoder_of(b)->max_rows;
    const uint32_t shared = clips_of(s)->decoder->shares ? most : (uint32_t)(b->model->audio_ctx + clips_of(s)->request.n_head);
    if (!c->n_sequences) return sequence_room(NULL, most);
    return sequence_room(&c->sequence[c->n_sequences - 1], shared < most ? shared : most);
}

/* A clip whose segment is among the results already: its rows go where those of the next one will lie. */
static void window_pass(struct steno_batch *b, steno_session *s, uint32_t n_rows, uint16_t lane)
{
    const struct clip_batch *c = clip_batch_of(b);
    const size_t ld = clip_encoder_of(b)->slot[clip_encoder_of(b)->input].ld;
    const struct sequence *last = c->n_sequences ? &c->sequence[c->n_sequences - 1] : NULL;
    struct clip_window w = { .rows = sequence_next(last, n_rows, lane) };
    struct clip_request *q = &clips_of(s)->request;
    q->is_passing = 1;
    clip_window_fill(s, &w, exec_input(b->exec, clip_encoder_of(b)) + w.rows.row * ld, ld);
    q->is_passing = 0;
}

/* The next clip of s. @return 1: something went on, 0: there is no room for it */
static int window_take(struct steno_batch *b, steno_session *s)
{
    const struct clip_batch *c = clip_batch_of(b);
    struct clip_request *q = &clips_of(s)->request;
    const steno_transcribe_params *p = &q->p;
    int has;
    const int rc = clip_request_hear(s, &has);
    if (rc == STREAM_WAITS) {
        s->place.waits = 1;
        return 1;
    }
    if (rc || !has) {
        request_over(s, rc);
        return 1;
    }
    const uint32_t n = clip_request_rows(s);
    if (c->n_sequences == clips_of(s)->decoder->max_clips) return 0;
    if (n > room(b, s)) return 0;
    if (q->resume.state && q->n_heard++ < q->n_passed) {
        window_pass(b, s, n, (uint16_t)c->n_sequences);
        return 1;
    }
    if (n && p->on_window && !p->on_window(p->user, clip_request_at(s) / 16)) {
        request_over(s, STENO_OK); /* a clean end */
        return 1;
    }
    const struct clip_decoder *d = clips_of(s)->decoder;
    uint16_t lane = (uint16_t)c->n_sequences;
    const int taken = d->lane ? d->lane(s, &lane) : STENO_OK;
    if (taken) request_over(s, taken);
    else window_add(b, s, n, d->keys ? d->keys(s) : n, lane);
    return 1;
}

/* Clips into the run, while somebody has one and there is room. */
static void gather(struct steno_batch *b)
{
    struct clip_batch *c = clip_batch_of(b);
    c->n = c->n_sequences = c->blocks = 0;
    stream_state_run(b);
    queue_look(b);
    while (c->n < b->n_windows) {
        while (requests_sweep(b)) {}
        queue_take(b);
        steno_session *s = queue_next(b, wants_window);
        if (!s || !window_take(b, s)) return;
    }
}

/* What the run has left behind. rc: how it went */
static void settle(struct steno_batch *b, int rc)
{
    const struct clip_batch *c = clip_batch_of(b);
    for (uint32_t i = 0; i < c->n; i++) {
        struct clip_window *w = &c->window[i];
        steno_session *s = w->s;
        if (!s) continue;
        struct clip_request *q = &clips_of(s)->request;
        int status = request_ran(s, rc);
        if (!status) status = clip_window_settle(s, w);
        s->request_state = q->n_windows > 1 ? REQUEST_LIVE : REQUEST_LISTENING;
        w->s = NULL;
        if (--q->n_windows && !status) continue;
        if (status || q->is_over) request_finish(s, status ? status : q->status);
    }
}

/* NULL: nobody wants what is in the run. */
static const struct clip_decoder *decoder_of(const struct clip_batch *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (c->window[i].s) return clips_of(c->window[i].s)->decoder;
    return NULL;
}

int clip_step(struct steno_batch *b)
{
    const struct clip_batch *c = clip_batch_of(b);
    gather(b);
    if (!c->n) return 0;
    const struct clip_decoder *d = decoder_of(c);
    settle(b, d && c->n_sequences ? d->run(b) : STENO_OK);
    return 1;
}
