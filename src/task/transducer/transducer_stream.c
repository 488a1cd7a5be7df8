/* steno: the task of transcribing streams with a transducer. SPDX-License-Identifier: MIT
 *
 * A run has the next chunks of several streams: one of a live stream, as many as have been read of a file. A row depends on its chunk and
 * on earlier ones, so texts do not depend on how chunks are divided among runs. The states of the encoder and of the prediction network
 * carry over from run to run. Chunks become tokens one after another. A word is output when the next one begins, or a segment when the
 * next sentence begins. With a voice-activity model each span of speech is a stream of its own. */
#include <stdio.h>
#include <string.h>
#include "base/os.h"
#include "engine/batch_loop.h"
#include "engine/task.h"
#include "task/clips/clip_step.h"
#include "task/transducer/transducer_stream.h"

/* ---- a request */

static int take_lookahead(steno_session *s)
{
    const struct transducer_stream *m = stream_of(s->model);
    const int32_t asked = clips_of(s)->request.p.lookahead;
    struct stream_pieces *v = pieces_of(s);
    const int32_t most = m->lookahead[m->n_lookaheads - 1];
    const int32_t is = asked == STENO_LOOKAHEAD_MOST ? most : asked == STENO_LOOKAHEAD_USUAL ? m->usual : asked;
    char known[128] = "";
    for (int32_t i = 0; i < m->n_lookaheads; i++) {
        const size_t n = strlen(known);
        if (m->lookahead[i] == is) {
            v->chunk = is + 1;
            v->sentences = asked == STENO_LOOKAHEAD_MOST;
            return STENO_OK;
        }
        snprintf(known + n, sizeof known - n, "%s%d", i ? ", " : "", (int)m->lookahead[i]);
    }
    return err_set(&s->error, STENO_EARG, "lookahead is %d, and this model has %s", (int)asked, known);
}

/* Is a prompt for this language, or for a country's form of it? */
static int is_language(const char *prompt, const char *language, int exactly)
{
    const size_t n = strlen(language);
    for (size_t i = 0; i < n; i++)
        if (!prompt[i] || (prompt[i] | 32) != (language[i] | 32)) return 0;
    return !prompt[n] || (!exactly && prompt[n] == '-');
}

static int take_language(steno_session *s)
{
    const struct transducer_stream *m = stream_of(s->model);
    struct stream_pieces *v = pieces_of(s);
    const char *asked = clips_of(s)->request.p.language;
    v->prompt = m->automatic;
    v->asked = NULL;
    if (language_is_auto(asked)) return STENO_OK;
    const int known = language_find(asked);
    for (int pass = 0; pass < 3; pass++)
        for (int32_t i = 0; i < m->n_prompts; i++) {
            const char *name = pass < 2 ? asked : known < 0 ? NULL : language_code(known);
            if (!name || !is_language(m->prompt[i].language, name, pass == 0)) continue;
            v->prompt = m->prompt[i].id;
            v->asked = m->prompt[i].language;
            return STENO_OK;
        }
    char names[300] = "";
    int n = 0;
    for (int32_t i = 0; i < m->n_prompts && n < (int)sizeof names - 40; i++)
        n += snprintf(names + n, sizeof names - (size_t)n, "%s%.20s", i ? ", " : "", m->prompt[i].language);
    return err_set(&s->error, STENO_EARG, "language is '%.40s', and this model has prompts for %s%s", asked, names,
                   n < (int)sizeof names - 40 ? "" : ", ...");
}

static int take(steno_session *s)
{
    int rc = take_lookahead(s);
    if (!rc) rc = take_language(s);
    return rc ? rc : transducer_hot_take(&pieces_of(s)->hot, s->model, &clips_of(s)->request.p, &s->error);
}

/* Begins a stream: the request's, or that of a span. */
static void stream_begin(steno_session *s)
{
    struct stream_pieces *v = pieces_of(s);
    v->n_rows = v->n_before = v->is_complete = v->is_over = 0;
    v->language = v->asked;
    v->state.copy[STATE_KEYS].newest = (uint32_t)stream_of(s->model)->behind;
    transducer_lane_begin(&v->lane, s->model, &v->hot);
}

static void begin(steno_session *s)
{
    struct stream_pieces *v = pieces_of(s);
    v->in_span = 0;
    v->span_at = 0;
    v->span_end = INT64_MAX;
    stream_begin(s);
}

static void end(steno_session *s)
{
    stream_state_end(s->batch, &pieces_of(s)->state);
    transducer_hot_done(&pieces_of(s)->hot);
}

/* ---- chunks */

/* Rows of the next run: whole chunks, and at the end what is left. */
static int32_t rows_ready(const struct stream_pieces *v)
{
    return v->is_complete ? v->n_rows : v->n_rows / v->chunk * v->chunk;
}

static int is_ready(const struct stream_pieces *v)
{
    return !v->is_over && (rows_ready(v) || v->lane.ids.len);
}

/* Most rows to gather for a run. */
static int rows_most(const struct stream_pieces *v) { return STREAM_ROWS / v->chunk * v->chunk; }

/* The rows that wait for audio behind them. */
static void rows_end(steno_session *s)
{
    struct stream_pieces *v = pieces_of(s);
    const size_t width = row_width(s->model);
    v->n_rows += fbank_stream_flush(&v->clips.fbank, v->rows + (size_t)v->n_rows * width, width);
    v->is_complete = 1;
}

/* Begins the next span. *has 0: there is none */
static int span_begin(steno_session *s, int *has)
{
    struct stream_pieces *v = pieces_of(s);
    struct clip_speech *c = &v->clips.speech;
    const int rc = clip_speech_gather(c, has);
    if (rc || !*has) return rc;
    v->in_span = 1;
    v->span_at = c->begin;
    v->span_end = c->end;
    v->span_read = 0;
    stream_state_end(s->batch, &v->state);
    stream_begin(s);
    fbank_stream_restart(&v->clips.fbank);
    return STENO_OK;
}

/* Makes the next rows of the span. */
static void span_rows(steno_session *s)
{
    struct stream_pieces *v = pieces_of(s);
    const size_t width = row_width(s->model);
    int64_t n;
    const float *pcm = clip_speech_pcm(&v->clips.speech, &n);
    v->span_read += fbank_stream_feed(&v->clips.fbank, pcm + v->span_read, n - v->span_read, rows_most(v), v->rows, width, &v->n_rows);
    if (v->span_read == n && !v->is_complete) rows_end(s);
}

/* As gather, of spans of speech. */
static int gather_speech(steno_session *s, int *has)
{
    struct stream_pieces *v = pieces_of(s);
    for (;;) {
        if (v->in_span) span_rows(s);
        *has = v->in_span && is_ready(v);
        if (*has) return STENO_OK;
        if (v->in_span) clip_speech_pass(&v->clips.speech); /* a short span may have no rows */
        v->in_span = 0;
        const int rc = span_begin(s, has);
        if (rc || !*has) return rc;
    }
}

static int gather(steno_session *s, int *has)
{
    struct stream_pieces *v = pieces_of(s);
    struct fbank_stream *r = &v->clips.fbank;
    if (v->clips.speech.model) return gather_speech(s, has);
    if (!v->is_complete) {
        const int rc = fbank_stream_least(r, v->chunk, rows_most(v), v->rows, row_width(s->model), &v->n_rows, &s->error);
        if (rc) return rc;
        if (r->ended) rows_end(s);
    }
    *has = is_ready(v);
    return STENO_OK;
}

static int64_t next_at(const steno_session *s)
{
    const struct stream_pieces *v = pieces_of(s);
    return v->clips.request.from + v->span_at + v->n_before * row_samples(s->model);
}

static uint32_t rows(const steno_session *s) { return (uint32_t)rows_ready(pieces_of(s)); }

static void fill(steno_session *s, struct clip_window *w, float *x, size_t ld)
{
    struct stream_pieces *v = pieces_of(s);
    const struct clip_request *q = &v->clips.request;
    const size_t width = row_width(s->model);
    const int32_t n = rows_ready(v);
    for (size_t i = 0; i < (size_t)n; i++) memcpy(x + i * ld, v->rows + i * width, width * sizeof *x);
    memmove(v->rows, v->rows + (size_t)n * width, (size_t)(v->n_rows - n) * width * sizeof *x);
    v->n_rows -= n;
    v->n_before += n;
    v->is_over = v->is_complete;
    /* Not the audio's end, which is not known yet when a stream's last words are reported; but that of a span. */
    w->end = next_at(s);
    if (w->end - q->from > v->span_end) w->end = q->from + v->span_end;
    for (int32_t at = 0, k; at < n; at += k) { /* chunk by chunk, by the audio that the chunk has */
        k = n - at < v->chunk ? n - at : v->chunk;
        struct clip_window chunk = *w;
        chunk.rows.row = (uint16_t)(w->rows.row + at);
        chunk.rows.n = (uint16_t)k;
        clip_mark(s, &chunk, v->n_before - n + at, v->n_before - n + at + k);
    }
    clip_rows_report(s, w, &(struct clip_rows){ "features", x, 0, n, fbank_features(fbank_bank_of(s->model)), ld });
}

static int lane(steno_session *s, uint16_t *at)
{
    struct stream_pieces *v = pieces_of(s);
    const int rc = stream_state_take(s->batch, &v->state, &s->error);
    *at = v->state.lane;
    return rc;
}

/* Runs the chunks of each stream: its rows begin with number `base`. */
static int run(struct steno_batch *b)
{
    struct stream_run *c = stream_run_of(b);
    const struct clip_batch *clips = &c->lanes.clips;
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->n_windows; i++) c->place[i] = (struct run_stream){ 0, 1 };
    for (uint32_t i = 0; i < clips->n; i++) {
        const struct clip_window *w = &clips->window[i];
        if (!w->s || !w->rows.n) continue;
        struct stream_pieces *v = pieces_of(w->s);
        struct transducer_lane *l = c->lanes.busy[n++] = &v->lane;
        l->window = w;
        l->base = v->n_before - w->rows.n;
        l->search.n_rows = v->n_before;
        c->place[w->rows.lane] = (struct run_stream){ (uint32_t)l->base, (uint32_t)v->chunk };
        for (uint32_t r = w->rows.row; r < (uint32_t)w->rows.row + w->rows.n; r++) b->run.row[r].token = v->prompt;
    }
    b->run.stream = c->place;
    int rc = transducer_encode(b);
    const int64_t t0 = os_now_ns();
    if (!rc) rc = transducer_decode(b, n);
    transducer_share_time(clips, os_now_ns() - t0);
    return rc;
}

/* ---- words */

static void drop(struct buf *b, size_t n)
{
    b->len -= n;
    if (b->len) memmove(b->p, b->p + n, b->len);
}

static struct clip_pieces pieces_from(const steno_session *s, int32_t from, int32_t to)
{
    struct clip_pieces p = transducer_pieces(s->model, &pieces_of(s)->lane, from, to);
    p.language = pieces_of(s)->language;
    return p;
}

/* Outputs pieces [from, to). Their rows count from the stream's start. */
static int report(steno_session *s, const struct clip_window *w, int32_t from, int32_t to)
{
    struct stream_pieces *v = pieces_of(s);
    const struct clip_window whole = { .s = s, .at = v->clips.request.from + v->span_at, .end = w->end, .rows = w->rows };
    if (from == to) return STENO_OK;
    const struct clip_pieces p = pieces_from(s, from, to);
    return clip_pieces_add(s, &whole, &p, &v->text);
}

/* Number of pieces of rows before `end`. */
static int32_t pieces_before(const struct transducer_lane *l, int32_t end)
{
    const struct piece_rows *rows = (const struct piece_rows *)(const void *)l->rows.p;
    const int32_t all = transducer_lane_tokens(l);
    int32_t n = 0;
    while (n < all && rows[n].begin < end) n++;
    return n;
}

/* Outputs what pieces after the first n do not change, or all n. A tag ends a sentence of its language. */
static int report_whole(steno_session *s, const struct clip_window *w, int32_t n, int all)
{
    struct stream_pieces *v = pieces_of(s);
    struct transducer_lane *l = &v->lane;
    const char **tag = stream_of(s->model)->tag;
    int32_t from = 0;
    int rc = STENO_OK;
    for (int32_t i = 0; tag && i < n && !rc; i++) {
        const int32_t id = ((const int32_t *)(const void *)l->ids.p)[i];
        if (!tag[id]) continue;
        v->language = tag[id];
        rc = report(s, w, from, i);
        from = i + 1;
    }
    const struct clip_pieces rest = pieces_from(s, from, n);
    const int32_t to = all || n == from ? n : from + clip_pieces_whole(s, &rest, v->sentences);
    if (!rc) rc = report(s, w, from, to);
    drop(&l->ids, (size_t)to * sizeof(int32_t));
    drop(&l->tokens, (size_t)to * sizeof(struct sampled_token));
    drop(&l->rows, (size_t)to * sizeof(struct piece_rows));
    return rc;
}

/* Chunk by chunk, however many a run had. */
static int settle(steno_session *s, const struct clip_window *w)
{
    struct stream_pieces *v = pieces_of(s);
    struct transducer_lane *l = &v->lane;
    int rc = STENO_OK;
    if (l->ids.err || l->tokens.err || l->rows.err) return err_nomem(&s->error, l->tokens.len, "the tokens of a stream");
    transducer_lane_judge(s, l, w, v->n_before - w->rows.n);
    for (int32_t end = v->n_before - w->rows.n; end < v->n_before && !rc;) {
        end = v->n_before - end < v->chunk ? v->n_before : end + v->chunk;
        rc = report_whole(s, w, pieces_before(l, end), 0);
    }
    return !rc && v->is_over ? report_whole(s, w, pieces_before(l, INT32_MAX), 1) : rc;
}

static const struct clip_decoder decoder = { .max_clips = UINT32_MAX, .shares = 1, .take = take, .run = run, .settle = settle, .end = end,
                                             .begin = begin, .gather = gather, .at = next_at, .rows = rows, .lane = lane, .fill = fill };

/* ---- the task */

static unsigned serves(const steno_model *m)
{
    const struct transducer_model *c = m->part; /* NULL while the model is being opened */
    return MODELS_PIECES_STREAM | (c && c->stream->prompt ? MODELS_PROMPTED : 0);
}

static struct batch_shape shape(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    (void)n_windows, (void)n_lanes, (void)m;
    return (struct batch_shape){ PLAN_ENCODER, RUN_LANES, 1 };
}

static size_t batch_memory_of(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    const struct stream_run *c = NULL;
    return transducer_batch_memory(m, n_windows, n_lanes) + sizeof *c - sizeof c->lanes + n_windows * sizeof *c->place;
}

static int part_begin(struct steno_batch *b, steno_error *e)
{
    struct stream_run *c = b->part = arena_array(&b->arena, 1, sizeof *c);
    if (!c) return err_nomem(e, sizeof *c, "a batch");
    c->place = arena_array(&b->arena, b->n_windows, sizeof *c->place);
    return c->place ? transducer_batch_init(b, e) : err_nomem(e, b->n_windows * sizeof *c->place, "a batch");
}

/* Takes the memory of a session's part, without the struct itself. */
static void part_take(struct stream_pieces *v, struct arena_take *t, const steno_model *m)
{
    v->rows = arena_take(t, STREAM_ROWS_LAST * row_width(m), sizeof *v->rows);
    v->lane.predicted = arena_take(t, (size_t)transducer_of(m)->width, sizeof *v->lane.predicted);
}

static size_t memory(const steno_model *m, const steno_team *team, int shared)
{
    struct stream_pieces v = { .n_rows = 0 };
    struct arena_take t = { 0 };
    part_take(&v, &t, m);
    return sizeof v + t.sz + clip_session_memory(m, team) + (shared ? stream_state_memory(m) : 0);
}

static int part_open(steno_session *s, steno_error *e)
{
    struct arena_take t = { .a = &s->arena };
    struct stream_pieces *v = s->part = arena_array(&s->arena, 1, sizeof *v);
    if (!v) return err_nomem(e, sizeof *v, "a session");
    const int rc = clip_session_open(s, &decoder, e);
    if (rc) return rc;
    part_take(v, &t, s->model);
    if (t.failed) return err_nomem(e, t.sz, "a session");
    return s->own_batch ? STENO_OK : stream_state_open(&v->state, s->batch, e);
}

static void part_close(steno_session *s)
{
    struct stream_pieces *v = pieces_of(s);
    if (!v) return;
    clip_session_close(s);
    stream_state_close(&v->state);
    transducer_lane_close(&v->lane);
    buf_free(&v->text);
    transducer_hot_done(&v->hot);
}

/* ---- the table */

const struct task transducer_stream_task = {
    .name = "transducer-stream",
    .serves = serves,
    .max_lanes = 1,
    .one_by_one = 1,
    .streams_share = 1,
    .shape = shape,
    .batch_memory = batch_memory_of,
    .batch_open = part_begin,
    .batch_close = transducer_batch_close,
    .memory = memory,
    .open = part_open,
    .close = part_close,
    .front_time = clip_front_time,
    .call = STENO_CALL_TRANSCRIBE,
    .request_take = clip_request_take,
    .request_end = clip_request_end,
    .batch_step = clip_step,
    .bench = transducer_stream_bench,
};
