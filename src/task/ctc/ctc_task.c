/* steno: transcription with a CTC head. SPDX-License-Identifier: MIT
 *
 * Audio is cut into clips of at most the length the model was trained on, where it is quiet; each goes through the encoder once, and the
 * most probable id of every row, repeats and blanks dropped (Graves et al. 2006, best path), is its text. */
#include <math.h>
#include <string.h>
#include "task/ctc/ctc_task.h"
#include "task/compression.h"
#include "task/ctc/ctc_words.h"
#include "task/fbank_stream.h"

/* What a CTC transcription keeps in a session. */
struct ctc_session {
    struct fbank_stream fbank;
    struct rule_masks masks;
    int32_t *ids;           /* [rows] of a clip */
    struct ctc_text text;   /* of the clip at hand */
    struct ctc_words words; /* likewise */
};

static struct ctc_session *ctc_of(const steno_session *s)
{
    return s->part;
}

static const struct ctc_model *ctc_model_of(const steno_model *m)
{
    return m->part;
}

/* What one request carries from clip to clip. */
struct ctc_job {
    steno_session *s;
    const steno_transcribe_params *p;
    struct ctc_options options;
    int32_t head[PROMPT_PREFIX_MAX], n_head; /* query rows */
    int64_t at, end;      /* samples: where the clip at hand begins and ends */
    double sum_logprob;
    int32_t n_ids;        /* ids of the clip, repeats and blanks dropped, in ctc_session.ids */
};

static float *row_at(const steno_session *s, int i)
{
    const struct plan *p = &s->model->plan[PLAN_ENCODER];
    return exec_input(s->batch->exec, p) + (size_t)i * p->slot[p->input].ld;
}

static int run_phase(steno_session *s, int phase, int n_rows)
{
    const struct plan *p = &s->model->plan[PLAN_ENCODER];
    struct run_time spent;
    struct steno_batch *b = s->batch;
    const struct phases what = { .first = phase, .end = phase + 1, .n_rows = (uint32_t)n_rows, .run = &b->run };
    const int rc = exec_phases(b->exec, p, &what, session_time(s, PLAN_ENCODER), &spent);
    *(phase == PHASE_ENCODE ? &s->timings.encode_us : &s->timings.decode_us) += (spent.first_ns + spent.rest_ns) / 1000;
    s->timings.n_wakes++;
    return session_ran(s, b->exec, rc);
}

/* Is shown the logits of a row, and their most probable id. */
typedef void row_fn(struct ctc_job *j, int row, const float *logits, const struct best *best);

/* Most probable id of each of n rows into the run's table; show NULL: nobody looks at logits, which exist for a few rows at a time. */
static int head_run(struct ctc_job *j, int n, row_fn *show)
{
    steno_session *s = j->s;
    struct run *run = &s->batch->run;
    const struct plan *p = &s->model->plan[PLAN_ENCODER];
    const int step = (int)p->max_out;
    for (int from = 0; from < n; from += step) {
        run->n_rows = 0;
        for (int i = 0; i < n; i++) run_add(run, 0, i, 0, i >= from && i < from + step ? ROW_BEST : 0);
        run_prepare(run);
        const int rc = run_phase(s, PHASE_LM_HEAD, n);
        if (rc) return rc;
        for (int i = from; show && i < n && i < from + step; i++) {
            const float *logits = exec_logits(s->batch->exec, p, (uint32_t)(i - from));
            if (!logits) return err_nomem(&s->error, (size_t)s->model->n_vocab * sizeof *logits, "logits");
            show(j, i, logits, &run->argmax.best[i]);
        }
    }
    return STENO_OK;
}

static void collapse(struct ctc_job *j, int n)
{
    steno_session *s = j->s;
    const int32_t blank = ctc_model_of(s->model)->blank;
    int32_t last = -1;
    j->n_ids = 0;
    j->sum_logprob = 0;
    for (int i = 0; i < n; i++) {
        const struct best *b = &s->batch->run.argmax.best[i];
        if (b->id != last && b->id != blank && b->id >= 0) {
            s->batch->sampled[j->n_ids] = (struct sampled_token){ .id = b->id, .ts_id = -1, .logprob = b->logprob, .p = expf(b->logprob) };
            ctc_of(s)->ids[j->n_ids++] = b->id;
            j->sum_logprob += b->logprob;
        }
        last = b->id;
    }
}

static int words_add(struct ctc_job *j, struct segment *g)
{
    struct ctc_session *c = ctc_of(j->s);
    const struct ctc_heard h = { { c->ids, j->n_ids }, j->s->batch->sampled, (double)j->at / FBANK_RATE,
                                 fbank_bank_of(j->s->model)->lfr_n * FBANK_HOP / (FBANK_RATE / 1000) };
    return ctc_words_add(&c->words, j->s->model, &h, &j->s->result, g);
}

static int segment_add(struct ctc_job *j)
{
    steno_session *s = j->s;
    struct ctc_session *c = ctc_of(s);
    struct result *r = &s->result;
    struct segment g = { .seek_frames = j->at / FBANK_HOP, .t0_ms = j->at / 16, .t1_ms = j->end / 16, .start = (double)j->at / FBANK_RATE,
                         .end = (double)j->end / FBANK_RATE, .text = r->text.len,
                         .first_token = r->ids.len / sizeof(int32_t), .n_tokens = j->n_ids,
                         .avg_logprob = j->sum_logprob / (j->n_ids + 1) };
    const struct ctc_ids ids = { c->ids, j->n_ids };
    struct ctc_shown shown;
    const int rc = ctc_text_make(&c->text, s->model, &ids, j->p->tags, &g.tags, &shown);
    if (rc) return err_nomem(&s->error, (size_t)j->n_ids, "text");
    if (!shown.n) return STENO_OK; /* tags alone are no segment, unless they are to be seen */
    g.compression_ratio = compression_ratio(shown.text, shown.n);
    if (g.compression_ratio < 0) return err_nomem(&s->error, shown.n, "the text of a clip");
    if (r->bytes.len) buf_str(&r->bytes, " ");
    buf_add(&r->bytes, shown.whole, shown.n_whole);
    buf_add(&r->text, shown.text, shown.n);
    buf_add(&r->text, "", 1);
    buf_add(&r->ids, c->ids, (size_t)j->n_ids * sizeof *c->ids);
    buf_add(&r->tokens, s->batch->sampled, (size_t)j->n_ids * sizeof *s->batch->sampled);
    if (j->p->word_timestamps && words_add(j, &g)) return err_nomem(&s->error, r->words.len, "words");
    if (result_status(r)) return err_nomem(&s->error, r->text.len, "results");
    buf_add(&r->segments, &g, sizeof g); /* the last one: what can be read is whole */
    if (result_status(r)) return err_nomem(&s->error, r->segments.len, "results");
    if (!*r->language && g.tags.language) r->language = g.tags.language;
    result_tell(r, j->p->on_segment, j->p->user);
    return STENO_OK;
}

static void show_words(struct ctc_job *j, int row, const float *logits, const struct best *best)
{
    if (row >= j->n_head && best->id >= 0) ctc_words_row(&ctc_of(j->s)->words, row - j->n_head, logits, best);
}

/* The head runs once more: what is looked for was not known before. */
static int find_words(struct ctc_job *j, int n_rows)
{
    struct ctc_session *c = ctc_of(j->s);
    if (ctc_words_begin(&c->words, j->s->model, &(struct ctc_ids){ c->ids, j->n_ids }, n_rows))
        return err_nomem(&j->s->error, (size_t)n_rows * (size_t)(j->n_ids + 1) * sizeof(float), "times of words");
    return head_run(j, j->n_head + n_rows, show_words);
}

static int clip(struct ctc_job *j, int n_rows)
{
    steno_session *s = j->s;
    const size_t width = (size_t)fbank_width(fbank_bank_of(s->model));
    const float *query = ctc_model_of(s->model)->query;
    for (int i = 0; i < j->n_head; i++) memcpy(row_at(s, i), query + (size_t)j->head[i] * width, width * sizeof(float));
    int rc = run_phase(s, PHASE_ENCODE, j->n_head + n_rows);
    s->timings.n_encodes++;
    s->timings.n_windows++;
    if (!rc) rc = head_run(j, j->n_head + n_rows, NULL);
    if (rc) return rc;
    collapse(j, j->n_head + n_rows);
    return j->p->word_timestamps ? find_words(j, n_rows) : STENO_OK;
}

static int job_init(struct ctc_job *j, steno_session *s, const steno_transcribe_params *p)
{
    const steno_model *m = s->model;
    struct ctc_session *c = ctc_of(s);
    *j = (struct ctc_job){ .s = s, .p = p, .options = { p->language, p->itn, p->ban_unknown_emotion } };
    const int rc = params_check(s, STENO_CALL_TRANSCRIBE, p);
    if (rc) return rc;
    j->n_head = m->family->ctc->query_rows(m, &j->options, j->head, &s->error);
    if (j->n_head < 0) return j->n_head;
    const int32_t barred = m->family->ctc->barred(m, &j->options);
    rule_masks_clear(&c->masks);
    rule_bar(&c->masks, barred);
    s->batch->run.lane[0].argmax_mask = barred < 0 ? NULL : c->masks.always;
    return STENO_OK;
}

static int clips_transcribe(steno_session *s, const steno_source *src, const steno_transcribe_params *p)
{
    const steno_model *m = s->model;
    const size_t ld = m->plan[PLAN_ENCODER].slot[m->plan[PLAN_ENCODER].input].ld;
    struct fbank_stream *fbank = &ctc_of(s)->fbank;
    struct ctc_job j;
    int rc = job_init(&j, s, p);
    if (!rc) rc = fbank_stream_begin(fbank, src, p->offset_ms * 16, p->duration_ms * 16, &s->error);
    const int64_t begin = fbank->samples;
    while (!rc && fbank_stream_left(fbank)) {
        j.at = fbank_stream_at(fbank);
        int n = 0;
        rc = fbank_stream_clip(fbank, row_at(s, j.n_head), ld, &n, &s->error);
        j.end = fbank_stream_at(fbank);
        if (!rc && n && p->on_window && !p->on_window(p->user, j.at / 16)) break;
        if (!rc && n) rc = clip(&j, n);
        if (!rc && n) rc = segment_add(&j);
        const int64_t done_ms = (j.end - begin) / 16; /* how much there is, is known when all of it was heard */
        if (!rc && p->on_progress) p->on_progress(p->user, done_ms, fbank->ended ? (fbank->samples - begin) / 16 : 0);
    }
    s->result.duration_ms = fbank->samples / 16;
    return rc;
}

/* ---- the task ---- */

static unsigned serves(const steno_model *m)
{
    (void)m;
    return BY_TAGS;
}

/* Rows are not lanes: a tile's worth of logits. */
static struct batch_shape shape(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    (void)n_windows, (void)n_lanes;
    return (struct batch_shape){ PLAN_ENCODER, RUN_LANES, m->plan[PLAN_ENCODER].max_rows };
}

/* Samples of a clip. */
static int64_t clip_of(const steno_model *m)
{
    return (int64_t)m->audio_ctx * fbank_bank_of(m)->lfr_n * FBANK_HOP;
}

static size_t ids_memory(const steno_model *m)
{
    return m->plan[PLAN_ENCODER].max_rows * sizeof(int32_t);
}

static size_t memory(const steno_model *m, const steno_team *team)
{
    return sizeof(struct ctc_session) + fbank_stream_memory(fbank_bank_of(m), clip_of(m), team) + (size_t)m->n_vocab / 4 + ids_memory(m);
}

static int part_open(steno_session *s, steno_error *e)
{
    const steno_model *m = s->model;
    struct ctc_session *c = s->part = arena_alloc(&s->arena, sizeof *c);
    if (!c) return err_nomem(e, sizeof *c, "a session");
    *c = (struct ctc_session){ 0 };
    if (rule_masks_init(&c->masks, &s->arena, m->n_vocab)) return err_nomem(e, (size_t)m->n_vocab / 4, "a session");
    const int rc = fbank_stream_init(&c->fbank, &s->arena, fbank_bank_of(m), clip_of(m), s->batch->team, e);
    c->fbank.should_stop = session_stop;
    c->fbank.user = s;
    if (rc) return rc;
    c->ids = arena_alloc(&s->arena, ids_memory(m));
    return c->ids ? STENO_OK : err_nomem(e, ids_memory(m), "a session");
}

static void part_close(steno_session *s)
{
    struct ctc_session *c = ctc_of(s);
    if (!c) return;
    fbank_stream_close(&c->fbank);
    ctc_text_free(&c->text);
    ctc_words_free(&c->words);
}

static struct front_time *front_time(const steno_session *s)
{
    return &ctc_of(s)->fbank.time;
}

static int transcribe(steno_session *s, const steno_source *src, const steno_transcribe_params *p)
{
    s->params = p;
    int rc = clips_transcribe(s, src, p);
    ctc_text_whole(&ctc_of(s)->text, s->model, p->tags, &s->result.bytes);
    result_finish(&s->result, &rc, &s->error);
    return rc;
}

const struct task ctc_task = {
    .name = "ctc",
    .serves = serves,
    .max_lanes = 1,
    .shape = shape,
    .memory = memory,
    .open = part_open,
    .close = part_close,
    .front_time = front_time,
    .transcribe = transcribe,
};
