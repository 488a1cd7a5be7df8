/* steno: a forced aligner: one clip. SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>
#include "engine/batch_loop.h"
#include "search/align_chain.h"
#include "search/align_repair.h"
#include "task/aligner/aligner_session.h"
#include "task/clips/clip_run.h"
#include "task/decode/generation.h"
#include "text/tokenizer.h"

/* ---- the text */

void aligner_text_begin(struct aligner_session *a)
{
    buf_clear(&a->prompt);
    buf_clear(&a->ends);
}

int aligner_text_add(steno_session *s)
{
    struct aligner_session *a = aligner_of(s);
    const int32_t mark = aligner_model_of(s->model)->mark;
    for (size_t i = 0; i < spoken_words_count(&a->words); i++) {
        const struct spoken_word *w = spoken_word_at(&a->words, i);
        const int rc = tokenizer_encode(s->model->lm.tokenizer, a->words.kept.p + w->kept, w->n_kept, 0, &a->prompt, &s->error);
        if (rc) return rc;
        buf_add(&a->prompt, &mark, sizeof mark);
        buf_add(&a->prompt, &mark, sizeof mark);
        const int32_t end = (int32_t)(a->prompt.len / sizeof mark);
        buf_add(&a->ends, &end, sizeof end);
    }
    return a->prompt.err || a->ends.err ? err_nomem(&s->error, a->prompt.len, "the text to align") : STENO_OK;
}

/* ---- the encoder */

/* Encodes a clip of n rows, and keeps the rows of the adaptor, because the language model reuses their memory. A status of the executor. */
static int encode(steno_session *s, const float *pcm, int64_t n, uint32_t rows)
{
    struct steno_batch *b = s->batch;
    const struct plan *p = clip_encoder_of(b);
    const size_t d = p->slot[p->output].width;
    size_t ld;
    fbank_stream_fill(&aligner_of(s)->stream, exec_input(b->exec, p), p->slot[p->input].ld, pcm, n);
    clips_begin(b);
    clip_add(b, s, rows);
    run_prepare(&b->run);
    int rc = clip_run_phase(b, PHASE_ENCODE, s);
    if (!rc) rc = clip_run_phase(b, PHASE_ADAPT, s);
    const float *x = rc ? NULL : exec_output(b->exec, p, p->output, 0, rows, &ld);
    clips_begin(b);
    for (uint32_t i = 0; x && i < rows; i++) memcpy(aligner_batch_of(b)->rows + i * d, x + i * ld, d * sizeof *x);
    s->timings.n_windows++;
    return rc ? rc : x ? STENO_OK : STENO_ENOMEM;
}

/* ---- the language model */

/* The class of a mark with the highest logit, and its probability. */
static void take_class(steno_session *s, const float *logits)
{
    struct aligner_session *a = aligner_of(s);
    const struct aligner_model *m = aligner_model_of(s->model);
    int32_t best = 0;
    double sum = 0;
    for (int32_t i = 1; i < m->classes; i++)
        if (logits[i] > logits[best]) best = i;
    for (int32_t i = 0; i < m->classes; i++) sum += exp((double)logits[i] - (double)logits[best]);
    const int32_t ms = best * m->class_ms;
    const float p = (float)(1 / sum);
    buf_add(&a->clip_ms, &ms, sizeof ms);
    buf_add(&a->clip_probability, &p, sizeof p);
}

/* Replays the rows that have been added, and takes the classes of the marks among them. */
static int replay(steno_session *s)
{
    struct steno_batch *b = s->batch;
    const struct plan *p = &s->model->plan[PLAN_DECODER];
    struct run_time spent;
    uint32_t out = 0;
    int ran = 0;
    if (!b->run.n_rows) return STENO_OK;
    const int rc = exec_chain(b->exec, p, &b->run, 1, NULL, &ran, session_time(s, PLAN_DECODER), &spent);
    s->timings.prompt_us += (spent.first_ns + spent.rest_ns) / 1000;
    s->timings.n_prompt_tokens += b->run.n_rows;
    s->timings.n_wakes++;
    for (uint32_t i = 0; i < b->run.n_rows && !rc; i++) {
        if (!(b->run.row[i].flags & ROW_LOGITS)) continue;
        const float *logits = exec_logits(b->exec, p, out++);
        if (!logits) return STENO_ENOMEM;
        take_class(s, logits);
    }
    b->run.n_rows = 0;
    return rc;
}

/* Adds a row of the prompt; row: of the adaptor, NULL: id is a token. */
static int row_add(steno_session *s, int32_t id, const float *row, int32_t position)
{
    struct steno_batch *b = s->batch;
    const struct plan *p = &s->model->plan[PLAN_DECODER];
    const struct room left = run_left(&b->run, exec_room(b->exec, p));
    const int rc = left.rows && left.out ? STENO_OK : replay(s);
    if (rc) return rc;
    const struct slot *in = &p->slot[p->input];
    const uint32_t i = b->run.n_rows;
    if (row) memcpy(exec_input(b->exec, p) + (size_t)i * in->ld, row, in->width * sizeof *row);
    const int is_mark = !row && id == aligner_model_of(s->model)->mark;
    run_add(&b->run, row ? token_of_input(i) : id, position, 0, is_mark ? ROW_LOGITS : 0);
    return STENO_OK;
}

/* Where the ids of a word begin in the prompt of the text; word: at most their number. */
static int32_t word_at(const struct aligner_session *a, size_t word)
{
    return word ? ((const int32_t *)(const void *)a->ends.p)[word - 1] : 0;
}

/* Are the last words that have run at the end of the clip? `certain`: from there on, ms. */
static int is_at_end(const struct aligner_session *a, int64_t certain)
{
    enum { FEW = 16 /* marks */ };
    const int32_t *ms = (const int32_t *)(const void *)a->clip_ms.p;
    const size_t n = a->clip_ms.len / sizeof *ms;
    size_t behind = 0;
    for (size_t i = n < FEW ? n : n - FEW; i < n; i++) behind += ms[i] >= certain;
    return behind == FEW;
}

/* Adds the words of a clip to its prompt. certain: if it is not negative, no words are added behind those that are at the clip's end. */
static int words_add(steno_session *s, struct aligner_words *w, int32_t position, int64_t certain)
{
    const struct aligner_session *a = aligner_of(s);
    const int32_t *ids = (const int32_t *)(const void *)a->prompt.p;
    const size_t n = w->n;
    int rc = STENO_OK;
    for (w->n = 0; w->n < n && !rc && !(certain >= 0 && is_at_end(a, certain)); w->n++)
        for (int32_t i = word_at(a, w->first + w->n); i < word_at(a, w->first + w->n + 1) && !rc; i++)
            rc = row_add(s, ids[i], NULL, position++);
    return rc ? rc : replay(s);
}

static int read_prompt(steno_session *s, uint32_t rows, struct aligner_words *w, int64_t certain)
{
    const struct aligner_model *m = aligner_model_of(s->model);
    const size_t d = clip_encoder_of(s->batch)->slot[clip_encoder_of(s->batch)->output].width;
    int32_t at = 0;
    lane_reset(s, 0);
    s->batch->run.n_rows = 0;
    int rc = row_add(s, m->begin, NULL, at++);
    for (uint32_t i = 0; i < rows && !rc; i++) rc = row_add(s, 0, aligner_batch_of(s->batch)->rows + i * d, at++);
    if (!rc) rc = row_add(s, m->end, NULL, at++);
    if (!rc) rc = words_add(s, w, at, certain);
    s->timings.n_prompts++;
    s->batch->run.n_rows = 0;
    return rc;
}

/* Leaves out the words that do not fit. */
static int make_room(steno_session *s, int64_t n, uint32_t rows, struct aligner_words *w, int goes_on)
{
    enum { FEW = 16 /* words with which a chain goes on */ };
    const struct aligner_session *a = aligner_of(s);
    const int32_t from = word_at(a, w->first), room = s->model->text_ctx - (int32_t)rows - 2;
    const size_t asked = w->n;
    while (goes_on && w->n && word_at(a, w->first + w->n) - from > room) w->n -= 1 + w->n / 64;
    const int32_t ids = word_at(a, w->first + w->n) - from;
    if (w->n < asked && w->n < FEW) w->n = asked;
    else if (ids <= room) return STENO_OK;
    return err_set(&s->error, STENO_EARG, "%.1f s of audio and %zu words are %lld positions, more than the context of %d: is it the text "
                   "of this audio? Align a part of them, or open the model with a larger text_ctx", (double)n / FBANK_RATE, w->n,
                   (long long)(word_at(a, w->first + w->n) - from) + rows + 2, (int)s->model->text_ctx);
}

int aligner_run(steno_session *s, const float *pcm, int64_t n, struct aligner_words *w, int goes_on)
{
    struct aligner_session *a = aligner_of(s);
    const uint32_t rows = (uint32_t)fbank_stream_rows_of(&a->stream, n);
    int rc = make_room(s, n, rows, w, goes_on);
    if (rc) return rc;
    buf_clear(&a->clip_ms);
    buf_clear(&a->clip_probability);
    rc = encode(s, pcm, n, rows);
    if (!rc) rc = read_prompt(s, rows, w, goes_on ? align_chain_certain(n * 1000 / FBANK_RATE) : -1);
    rc = session_ran(s, s->batch->exec, rc);
    const int32_t n_marks = (int32_t)(a->clip_ms.len / sizeof(int32_t));
    const int is_full = a->clip_ms.err || a->clip_probability.err;
    if (!rc && (is_full || align_repair((int32_t *)(void *)a->clip_ms.p, n_marks, &a->scratch)))
        rc = err_nomem(&s->error, a->clip_ms.len, "the times of words");
    return rc;
}
