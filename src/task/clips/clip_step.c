/* steno: clips of several requests pass through the encoder together. SPDX-License-Identifier: MIT
 *
 * A step is one run of the encoder. It takes clips of the next requests in the queue (request_queue.c), each as a sequence of rows, until
 * the next clip does not fit. Short clips share the cost of reading the weights; long clips have runs of their own. A row sees its own
 * sequence only, so the grouping does not change any text. A run does not wait for a live source. */
#include "task/clips/clip_step.h"
#include "engine/batch_loop.h"
#include "engine/stream_state.h"

/* A chunk of a stream continues from the one before it, so a run has at most one chunk of each stream. */
static int needs_window(const struct steno_batch *b, const steno_session *s)
{
    const struct clip_request *q = &clips_of(s)->request;
    (void)b;
    return !s->place.waits && !q->is_over && !(clips_of(s)->decoder->lane && q->n_windows);
}

/* No clip follows. Clips in the current run are still added to the results. */
static void request_over(steno_session *s, int status)
{
    struct clip_request *q = &clips_of(s)->request;
    q->is_over = 1;
    q->status = status;
    if (!q->n_windows) request_finish(s, status);
}

/* Appends the clip that s has read to the run. keys: the number of keys that its rows see. */
static void window_add(struct steno_batch *b, steno_session *s, uint32_t n_rows, uint32_t keys, uint16_t lane)
{
    struct clip_batch *c = clip_batch_of(b);
    const size_t ld = clip_encoder_of(b)->slot[clip_encoder_of(b)->input].ld;
    struct clip_window *w = &c->window[c->n++];
    const struct sequence *last = c->n_sequences ? &c->sequence[c->n_sequences - 1] : NULL;
    w->rows = sequence_next(last, n_rows, lane);
    w->rows.block = (uint16_t)c->blocks;
    c->blocks += clip_blocks(b->model, keys);
    if (!c->n_sequences) b->run.n_rows = 0;
    if (n_rows) {
        for (uint32_t i = 0; i < n_rows; i++) run_add(&b->run, 0, (int32_t)i, w->rows.lane, 0);
        b->run.lane[w->rows.lane].argmax_mask = clips_of(s)->request.masked;
        c->sequence[c->n_sequences++] = w->rows;
        queue_given(b, queue_passes(b, s, needs_window));
        queue_window(s);
        s->timings.n_windows++;
        s->request_state = REQUEST_LIVE;
    }
    clip_window_fill(s, w, exec_input(b->exec, clip_encoder_of(b)) + w->rows.row * ld, ld);
    clips_of(s)->request.n_windows++;
}

/* The same for a model with windows of attention, each of which has its own blocks. */
static uint32_t room_of_windows(const struct steno_batch *b, uint32_t rows)
{
    const struct plan *p = clip_encoder_of(b);
    const uint32_t all = kv_blocks(p->max_rows + p->max_past), used = clip_batch_of(b)->blocks, window = (uint32_t)b->model->window_rows;
    const uint32_t left = all > used ? all - used : 0, each = kv_blocks(window), rest = left % each * KV_BLOCK;
    const uint32_t fits = left / each * window + (rest < window ? rest : window - 1);
    return rows < fits ? rows : fits;
}

uint32_t clip_room_of_windows(const struct steno_batch *b)
{
    const struct clip_batch *c = clip_batch_of(b);
    const struct sequence *last = c->n_sequences ? &c->sequence[c->n_sequences - 1] : NULL;
    const uint32_t most = clip_encoder_of(b)->max_rows;
    return room_of_windows(b, last ? most - last->row - last->n : most);
}

/* In a stream the rows may complete one token more than there are rows. */
uint32_t clip_room(const struct steno_batch *b, const steno_session *s)
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
    if (b->model->window_rows) return clip_room_of_windows(b);
    if (!c->n_sequences) return sequence_room(NULL, most);
    return sequence_room(&c->sequence[c->n_sequences - 1], shared < most ? shared : most);
}

/* Skips a clip whose segment is already in the results. Its rows go to memory that the next clip overwrites. */
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

/* Takes the next clip of s. @return 1: the request made progress, 0: the clip does not fit */
static int window_take(struct steno_batch *b, steno_session *s)
{
    const struct clip_batch *c = clip_batch_of(b);
    struct clip_request *q = &clips_of(s)->request;
    const steno_transcribe_params *p = &q->p;
    int has;
    const int rc = clip_request_gather(s, &has);
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
    if (n > clip_room(b, s)) return 0;
    if (q->resume.state && q->n_read++ < q->n_passed) {
        window_pass(b, s, n, (uint16_t)c->n_sequences);
        return 1;
    }
    if (n && p->on_window && !p->on_window(p->user, clip_request_at(s) / 16)) {
        request_over(s, STENO_OK); /* a normal end */
        return 1;
    }
    const struct clip_decoder *d = clips_of(s)->decoder;
    uint16_t lane = (uint16_t)c->n_sequences;
    const int taken = d->lane ? d->lane(s, &lane) : STENO_OK;
    if (taken) request_over(s, taken);
    else window_add(b, s, n, d->keys ? d->keys(s) : n, lane);
    return 1;
}

/* Collects clips for the run while requests have some and there is room. */
static void gather(struct steno_batch *b)
{
    struct clip_batch *c = clip_batch_of(b);
    c->n = c->n_sequences = c->blocks = 0;
    stream_state_run(b);
    queue_look(b);
    while (c->n < b->n_windows) {
        while (requests_sweep(b)) {}
        queue_take(b);
        steno_session *s = queue_next(b, needs_window);
        if (!s || !window_take(b, s)) return;
    }
}

/* Handles the results of the run. rc: its status */
static void settle(struct steno_batch *b, int rc)
{
    const struct clip_batch *c = clip_batch_of(b);
    for (uint32_t i = 0; i < c->n; i++) {
        struct clip_window *w = &c->window[i];
        while (!rc && requests_sweep(b)) {} /* it may take time to settle a window */
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

/* Returns NULL if all sessions of the run have ended. */
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
