/* steno: word times for a text from an audio language model. SPDX-License-Identifier: MIT */
#include "task/audio_lm/audio_lm_words.h"
#include <string.h>
#include "engine/batch_loop.h"

/* Runs a phase over the rows of one clip, whose table is filled. */
static int phase(steno_session *s, int n, uint32_t rows)
{
    struct steno_batch *b = s->batch;
    const struct plan *p = &s->model->plan[PLAN_ALIGN];
    const struct phases what = { .first = n, .end = n + 1, .n_rows = rows, .run = &b->run };
    struct run_time spent;
    run_prepare(&b->run);
    const int rc = exec_phases(b->exec, p, &what, session_time(s, PLAN_ALIGN), &spent);
    s->timings.decode_us += (spent.first_ns + spent.rest_ns) / 1000;
    s->timings.n_wakes++;
    return rc;
}

/* Finds the most probable id of every row. */
static int read_rows(steno_session *s, const struct clip_window *w)
{
    struct steno_batch *b = s->batch;
    const struct plan *p = &s->model->plan[PLAN_ALIGN];
    const struct slot *in = &p->slot[p->input];
    const float *x = audio_lm_batch_of(b)->encoded + (size_t)w->rows.row * in->width;
    float *to = exec_input(b->exec, p);
    b->run.n_rows = 0;
    b->run.lane[0].argmax_mask = NULL;
    for (uint32_t i = 0; i < w->rows.n; i++) {
        memcpy(to + i * in->ld, x + (size_t)i * in->width, in->width * sizeof *x);
        run_add(&b->run, 0, (int32_t)i, 0, 0);
    }
    const int rc = phase(s, PHASE_ENCODE, w->rows.n);
    return rc ? rc : phase(s, PHASE_BEST, w->rows.n);
}

/* Computes the logits of the panels that hold an id of the text. */
static int read_logits(steno_session *s, uint32_t n)
{
    struct steno_batch *b = s->batch;
    struct run *r = &b->run;
    struct ctc_words *words = &audio_lm_of(s)->words;
    const struct plan *p = &s->model->plan[PLAN_ALIGN];
    int rc = STENO_OK;
    r->argmax.panels = ctc_words_panels(words);
    for (uint32_t at = 0, end; at < n && !rc; at = end) {
        end = n - at < p->max_out ? n : at + p->max_out;
        for (uint32_t i = 0; i < n; i++) r->row[i].flags = i >= at && i < end ? ROW_LOGITS : 0;
        rc = phase(s, PHASE_LM_HEAD, n);
        for (uint32_t i = at; i < end && !rc; i++) {
            const float *logits = exec_logits(b->exec, p, i - at);
            if (!logits) rc = STENO_ENOMEM;
            else if (r->argmax.best[i].id >= 0) ctc_words_row(words, (int)i, logits, &r->argmax.best[i]);
        }
    }
    r->argmax.panels = NULL;
    return rc;
}

int audio_lm_words_add(steno_session *s, const struct clip_window *w, const char *text, size_t n, struct segment *g)
{
    struct audio_lm_session *a = audio_lm_of(s);
    const struct audio_lm_ctc *c = s->model->part;
    const int row_ms = fbank_bank_of(s->model)->lfr_n * FBANK_HOP / (FBANK_RATE / 1000);
    const struct ctc_alphabet of = { &c->vocab, c->n_ids, c->blank, NULL, s->model };
    buf_clear(&a->said);
    int rc = bpe_encode(s->model->bpe, text, n, &a->said, &s->error);
    if (rc == STENO_EARG) return STENO_OK; /* the CTC head's vocabulary lacks a byte of the text */
    const struct ctc_ids ids = { (const int32_t *)(const void *)a->said.p, (int32_t)(a->said.len / sizeof(int32_t)) };
    if (!rc && a->said.err) rc = err_nomem(&s->error, a->said.len, "times of words");
    if (rc || !ids.n) return rc;
    rc = request_ran(s, read_rows(s, w));
    if (!rc && ctc_words_begin(&a->words, &of, &ids, w->rows.n)) rc = err_nomem(&s->error, a->said.len, "times of words");
    if (!rc) rc = request_ran(s, read_logits(s, w->rows.n));
    if (rc) return rc;
    const struct ctc_heard h = { ids, NULL, (double)w->at / FBANK_RATE, row_ms, 0 };
    return ctc_words_add(&a->words, &h, &s->result, g) ? err_nomem(&s->error, s->result.words.len, "words") : STENO_OK;
}
