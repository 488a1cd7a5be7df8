/* steno: one transcription with a CTC head, from clip to clip. SPDX-License-Identifier: MIT
 *
 * Audio is cut into clips of at most the length the model was trained on, where it is quiet. The most probable id of every row of a clip,
 * repeats and blanks dropped (Graves et al. 2006, best path), is its text. */
#include "task/ctc/ctc_request.h"
#include <math.h>
#include <string.h>
#include "task/batch_loop.h"
#include "task/compression.h"
#include "task/ctc/ctc_run.h"

int ctc_request_take(steno_session *s, const struct request_given *g)
{
    const steno_model *m = s->model;
    struct ctc_session *c = ctc_of(s);
    struct ctc_request *q = &c->request;
    *q = (struct ctc_request){ .p = *g->transcribe, .src = *g->src };
    s->params = &q->p;
    const struct ctc_options options = { q->p.language, q->p.itn, q->p.ban_unknown_emotion };
    const int rc = params_check(s, STENO_CALL_TRANSCRIBE, &q->p);
    if (rc) return rc;
    q->n_head = m->family->ctc->query_rows(m, &options, q->head, &s->error);
    if (q->n_head < 0) return q->n_head;
    const int32_t barred = m->family->ctc->barred(m, &options);
    rule_masks_clear(&c->masks);
    rule_bar(&c->masks, barred);
    c->barred = barred < 0 ? NULL : c->masks.always;
    q->from = q->p.offset_ms * 16;
    return STENO_OK;
}

int ctc_request_end(steno_session *s, int status)
{
    struct ctc_session *c = ctc_of(s);
    const struct ctc_batch *b = ctc_batch_of(s->batch);
    for (uint32_t i = 0; i < b->n; i++)
        if (b->window[i].s == s) b->window[i].s = NULL;
    if (s->request_state != REQUEST_WAITING) s->result.duration_ms = c->fbank.samples / 16;
    ctc_text_whole(&c->text, s->model, c->request.p.tags, &s->result.bytes);
    result_finish(&s->result, &status, &s->error);
    return status;
}

int ctc_request_hear(steno_session *s, int *has)
{
    struct ctc_session *c = ctc_of(s);
    const struct ctc_request *q = &c->request;
    if (s->request_state == REQUEST_WAITING) {
        fbank_stream_begin(&c->fbank, &q->src, q->from, q->p.duration_ms * 16);
        c->fbank.may_wait = !s->place.direct;
        queue_begin(s);
        s->request_state = REQUEST_LISTENING;
    }
    return fbank_stream_hear(&c->fbank, has, &s->error);
}

uint32_t ctc_request_rows(const steno_session *s)
{
    const struct ctc_session *c = ctc_of(s);
    const int n = fbank_stream_rows(&c->fbank);
    return n ? (uint32_t)(c->request.n_head + n) : 0;
}

void ctc_window_fill(steno_session *s, struct ctc_window *w, float *x, size_t ld)
{
    struct ctc_session *c = ctc_of(s);
    const struct ctc_request *q = &c->request;
    const size_t width = (size_t)fbank_width(fbank_bank_of(s->model));
    const float *query = ctc_model_of(s->model)->query;
    w->s = s;
    w->at = fbank_stream_at(&c->fbank);
    for (int i = 0; w->rows.n && i < q->n_head; i++) memcpy(x + (size_t)i * ld, query + (size_t)q->head[i] * width, width * sizeof *x);
    fbank_stream_clip(&c->fbank, x + (size_t)q->n_head * ld, ld);
    w->end = fbank_stream_at(&c->fbank);
}

/* Ids of a clip, repeats and blanks dropped, in ctc_session.ids and the batch's table of tokens. */
struct collapsed { int32_t n; double sum_logprob; };
static struct collapsed collapse(const steno_session *s, const struct ctc_window *w)
{
    const int32_t blank = ctc_model_of(s->model)->blank;
    struct collapsed c = { 0 };
    int32_t last = -1;
    for (uint32_t i = w->rows.row; i < (uint32_t)w->rows.row + w->rows.n; i++) {
        const struct best *b = &s->batch->run.argmax.best[i];
        if (b->id != last && b->id != blank && b->id >= 0) {
            s->batch->sampled[c.n] = (struct sampled_token){ .id = b->id, .ts_id = -1, .logprob = b->logprob, .p = expf(b->logprob) };
            ctc_of(s)->ids[c.n++] = b->id;
            c.sum_logprob += b->logprob;
        }
        last = b->id;
    }
    return c;
}

static void show_words(steno_session *s, int row, const float *logits, const struct best *best)
{
    const int n_head = ctc_of(s)->request.n_head;
    if (row >= n_head && best->id >= 0) ctc_words_row(&ctc_of(s)->words, row - n_head, logits, best);
}

/* The head runs once more: what is looked for was not known before. */
static int find_words(steno_session *s, const struct ctc_window *w, int32_t n_ids)
{
    struct ctc_session *c = ctc_of(s);
    const int n_rows = w->rows.n - c->request.n_head;
    if (ctc_words_begin(&c->words, s->model, &(struct ctc_ids){ c->ids, n_ids }, n_rows))
        return err_nomem(&s->error, (size_t)n_rows * (size_t)(n_ids + 1) * sizeof(float), "times of words");
    return request_ran(s, ctc_run_again(s->batch, w, show_words));
}

static int words_add(steno_session *s, const struct ctc_window *w, int32_t n_ids, struct segment *g)
{
    struct ctc_session *c = ctc_of(s);
    const struct ctc_heard h = { { c->ids, n_ids }, s->batch->sampled, (double)w->at / FBANK_RATE,
                                 fbank_bank_of(s->model)->lfr_n * FBANK_HOP / (FBANK_RATE / 1000) };
    return ctc_words_add(&c->words, s->model, &h, &s->result, g) ? err_nomem(&s->error, s->result.words.len, "words") : STENO_OK;
}

static int segment_add(steno_session *s, const struct ctc_window *w)
{
    struct ctc_session *c = ctc_of(s);
    const steno_transcribe_params *p = &c->request.p;
    struct result *r = &s->result;
    const struct collapsed found = collapse(s, w);
    struct segment g = { .seek_frames = w->at / FBANK_HOP, .t0_ms = w->at / 16, .t1_ms = w->end / 16, .start = (double)w->at / FBANK_RATE,
                         .end = (double)w->end / FBANK_RATE, .text = r->text.len,
                         .first_token = r->ids.len / sizeof(int32_t), .n_tokens = found.n,
                         .avg_logprob = found.sum_logprob / (found.n + 1) };
    const struct ctc_ids ids = { c->ids, found.n };
    struct ctc_shown shown;
    int rc = p->word_timestamps ? find_words(s, w, found.n) : STENO_OK;
    if (rc) return rc;
    rc = ctc_text_make(&c->text, s->model, &ids, p->tags, &g.tags, &shown);
    if (rc) return err_nomem(&s->error, (size_t)found.n, "text");
    if (!shown.n) return STENO_OK; /* tags alone are no segment, unless they are to be seen */
    g.compression_ratio = compression_ratio(shown.text, shown.n);
    if (g.compression_ratio < 0) return err_nomem(&s->error, shown.n, "the text of a clip");
    if (r->bytes.len) buf_str(&r->bytes, " ");
    buf_add(&r->bytes, shown.whole, shown.n_whole);
    buf_add(&r->text, shown.text, shown.n);
    buf_add(&r->text, "", 1);
    buf_add(&r->ids, c->ids, (size_t)found.n * sizeof *c->ids);
    buf_add(&r->tokens, s->batch->sampled, (size_t)found.n * sizeof *s->batch->sampled);
    if (p->word_timestamps) rc = words_add(s, w, found.n, &g);
    if (rc) return rc;
    if (result_status(r)) return err_nomem(&s->error, r->text.len, "results");
    buf_add(&r->segments, &g, sizeof g); /* the last one: what can be read is whole */
    if (result_status(r)) return err_nomem(&s->error, r->segments.len, "results");
    if (!*r->language && g.tags.language) r->language = g.tags.language;
    result_tell(r, p->on_segment, p->user);
    return STENO_OK;
}

int ctc_window_settle(steno_session *s, const struct ctc_window *w)
{
    const struct ctc_session *c = ctc_of(s);
    const struct ctc_request *q = &c->request;
    const int rc = w->rows.n ? segment_add(s, w) : STENO_OK;
    const int64_t done_ms = (w->end - q->from) / 16; /* how much there is, is known when all of it was heard */
    if (!rc && q->p.on_progress) q->p.on_progress(q->p.user, done_ms, c->fbank.ended ? (c->fbank.samples - q->from) / 16 : 0);
    return rc;
}
