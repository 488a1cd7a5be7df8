/* steno: a forced aligner: clips that run together. SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>
#include "engine/batch_loop.h"
#include "search/align_repair.h"
#include "task/aligner/aligner_session.h"
#include "task/clips/clip_run.h"
#include "task/clips/clip_step.h"
#include "text/tokenizer.h"

enum { CHAIN_MARKS = ROWS_OUT_MIN /* of a chain, that run together */ };

/* ---- the texts */

static void cut(struct buf *b, size_t len)
{
    b->len = len;
    b->err = 0;
}

void aligner_text_begin(struct aligner_session *a)
{
    buf_clear(&a->prompt);
    buf_clear(&a->ends);
}

static int words_encode(steno_session *s)
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

int aligner_text_add(steno_session *s)
{
    struct aligner_session *a = aligner_of(s);
    const size_t n_prompt = a->prompt.len, n_ends = a->ends.len;
    const int rc = words_encode(s);
    if (!rc) return STENO_OK;
    cut(&a->prompt, n_prompt);
    cut(&a->ends, n_ends);
    return rc;
}

/* ---- the clips of a run */

void aligner_run_begin(steno_session *s)
{
    struct steno_batch *b = s->batch;
    clips_begin(b);
    aligner_batch_of(b)->n = aligner_batch_of(b)->blocks = 0;
}

static struct aligner_clip *clip_at(const steno_session *s, uint32_t i) { return &aligner_batch_of(s->batch)->clip[i]; }

/* Where the ids of a word begin in the prompts of the texts; word: at most their number. */
static int32_t word_at(const struct aligner_session *a, size_t word)
{
    return word ? ((const int32_t *)(const void *)a->ends.p)[word - 1] : 0;
}

/* The number of positions of a prompt. */
static int64_t positions_of(const struct aligner_session *a, const struct aligner_clip *c)
{
    return (int64_t)word_at(a, c->words.first + c->words.n) - word_at(a, c->words.first) + c->rows + 2;
}

/* Leaves out the words that do not fit. */
static int make_room(steno_session *s, struct aligner_clip *c)
{
    enum { FEW = 16 /* words with which a chain goes on */ };
    const struct aligner_session *a = aligner_of(s);
    struct aligner_words *w = &c->words;
    const int64_t room = s->model->text_ctx;
    const size_t asked = w->n;
    while (c->goes_on && w->n && positions_of(a, c) > room) w->n -= 1 + w->n / 64;
    const int fits = positions_of(a, c) <= room;
    if (w->n < asked && w->n < FEW) w->n = asked;
    else if (fits) return STENO_OK;
    return err_set(&s->error, STENO_EARG, "%.1f s of audio and %zu words are %lld positions, more than the context of %d: is it the text "
                   "of this audio? Align a part of them, or open the model with a larger text_ctx", (double)c->n / FBANK_RATE, w->n,
                   (long long)positions_of(a, c), (int)s->model->text_ctx);
}

int aligner_run_add(steno_session *s, const float *pcm, const struct aligner_clip *clip, int *fits)
{
    struct steno_batch *b = s->batch;
    struct aligner_session *a = aligner_of(s);
    struct aligner_batch *own = aligner_batch_of(b);
    struct aligner_clip c = *clip;
    const struct plan *p = clip_encoder_of(b);
    const size_t ld = p->slot[p->input].ld;
    const uint32_t n = own->n;
    c.rows = (uint32_t)fbank_stream_rows_of(&a->stream, c.n);
    const int rc = n ? STENO_OK : make_room(s, &c);
    const int64_t positions = positions_of(a, &c);
    *fits = 0;
    if (rc || (n && (n == b->n_windows || c.rows > clip_room_of_windows(b) || positions > s->model->text_ctx))) return rc;
    const uint32_t blocks = kv_blocks((uint32_t)positions);
    if (n && own->blocks + blocks > kv_blocks((uint32_t)s->model->text_ctx)) return STENO_OK;
    *fits = 1;
    own->clip[own->n++] = c;
    own->blocks += blocks;
    fbank_stream_fill(&a->stream, exec_input(b->exec, p) + clip_add(b, s, c.rows).row * ld, ld, pcm, c.n);
    return STENO_OK;
}

/* ---- the encoder */

/* Encodes the clips, and keeps the rows of the adaptor, because the language model reuses their memory. A status of the executor. */
static int encode(steno_session *s)
{
    struct steno_batch *b = s->batch;
    const struct plan *p = clip_encoder_of(b);
    const size_t d = p->slot[p->output].width;
    const uint32_t rows = b->run.n_rows;
    size_t ld;
    run_prepare(&b->run);
    int rc = clip_run_phase(b, PHASE_ENCODE, s);
    if (!rc) rc = clip_run_phase(b, PHASE_ADAPT, s);
    const float *x = rc ? NULL : exec_output(b->exec, p, p->output, 0, rows, &ld);
    for (uint32_t i = 0; x && i < rows; i++) memcpy(aligner_batch_of(b)->rows + i * d, x + i * ld, d * sizeof *x);
    s->timings.n_windows += aligner_batch_of(b)->n;
    clips_begin(b); /* the rows of the run are now those of prompts */
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

/* Room for rows. In a chain, the words that are left out depend on the number of marks that run together. */
static struct room room_of(const steno_session *s)
{
    struct room r = exec_room(s->batch->exec, &s->model->plan[PLAN_DECODER]);
    if (clip_at(s, 0)->goes_on && r.out > CHAIN_MARKS) r.out = CHAIN_MARKS;
    return r;
}

/* Adds a row of a prompt; row: of the adaptor, NULL: id is a token. */
static int row_add(steno_session *s, int32_t id, const float *row, int32_t position, uint16_t lane)
{
    struct steno_batch *b = s->batch;
    const struct plan *p = &s->model->plan[PLAN_DECODER];
    const struct room left = run_left(&b->run, room_of(s));
    const int rc = left.rows && left.out ? STENO_OK : replay(s);
    if (rc) return rc;
    const struct slot *in = &p->slot[p->input];
    const uint32_t i = b->run.n_rows;
    if (row) memcpy(exec_input(b->exec, p) + (size_t)i * in->ld, row, in->width * sizeof *row);
    const int is_mark = !row && id == aligner_model_of(s->model)->mark;
    run_add(&b->run, row ? token_of_input(i) : id, position, lane, is_mark ? ROW_LOGITS : 0);
    return STENO_OK;
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

/* Adds the words of a clip to its prompt. If its audio goes on, none are added behind those that are at its end. */
static int words_add(steno_session *s, struct aligner_clip *c, int32_t position, uint16_t lane)
{
    const struct aligner_session *a = aligner_of(s);
    const int32_t *ids = (const int32_t *)(const void *)a->prompt.p;
    const int64_t certain = align_chain_certain(c->n * 1000 / FBANK_RATE);
    struct aligner_words *w = &c->words;
    const size_t n = w->n;
    int rc = STENO_OK;
    for (w->n = 0; w->n < n && !rc && !(c->goes_on && is_at_end(a, certain)); w->n++)
        for (int32_t i = word_at(a, w->first + w->n); i < word_at(a, w->first + w->n + 1) && !rc; i++)
            rc = row_add(s, ids[i], NULL, position++, lane);
    return rc;
}

/* Gives the blocks of a lane back to the pool. */
static void lane_clear(struct steno_batch *b, uint32_t lane)
{
    lane_cut(b, lane, 0);
    b->run.lane[lane] = (struct lane){ .kv.window = (uint16_t)lane, .sampler = { .last_ts = -1, .done = 1 } };
}

static int prompt_add(steno_session *s, uint16_t lane, const float *row)
{
    const struct aligner_model *m = aligner_model_of(s->model);
    const size_t d = clip_encoder_of(s->batch)->slot[clip_encoder_of(s->batch)->output].width;
    struct aligner_clip *c = clip_at(s, lane);
    int32_t at = 0;
    int rc = row_add(s, m->begin, NULL, at++, lane);
    for (uint32_t i = 0; i < c->rows && !rc; i++) rc = row_add(s, 0, row + i * d, at++, lane);
    if (!rc) rc = row_add(s, m->end, NULL, at++, lane);
    if (!rc) rc = words_add(s, c, at, lane);
    s->timings.n_prompts++;
    return rc;
}

static int prompts_read(steno_session *s)
{
    struct steno_batch *b = s->batch;
    const size_t d = clip_encoder_of(b)->slot[clip_encoder_of(b)->output].width;
    const uint32_t n = aligner_batch_of(b)->n;
    const float *row = aligner_batch_of(b)->rows;
    int rc = STENO_OK;
    for (uint32_t i = 0; i < b->run.n_lanes; i++) lane_clear(b, i);
    for (uint32_t i = 0; i < n && !rc; i++) {
        rc = prompt_add(s, (uint16_t)i, row);
        row += clip_at(s, i)->rows * d;
    }
    if (!rc) rc = replay(s);
    b->run.n_rows = 0;
    return rc;
}

/* ---- the whole run */

/* Makes the times of each clip rise. */
static int repair(steno_session *s)
{
    struct aligner_session *a = aligner_of(s);
    int32_t *ms = (int32_t *)(void *)a->clip_ms.p;
    int rc = a->clip_ms.err || a->clip_probability.err;
    size_t mark = 0;
    for (uint32_t i = 0; i < aligner_batch_of(s->batch)->n && !rc; i++) {
        struct aligner_clip *c = clip_at(s, i);
        c->mark = mark;
        rc = align_repair(ms + mark, (int32_t)(2 * c->words.n), &a->scratch);
        mark += 2 * c->words.n;
    }
    return rc ? err_nomem(&s->error, a->clip_ms.len, "the times of words") : STENO_OK;
}

int aligner_run(steno_session *s)
{
    struct aligner_session *a = aligner_of(s);
    buf_clear(&a->clip_ms);
    buf_clear(&a->clip_probability);
    int rc = encode(s);
    if (!rc) rc = prompts_read(s);
    rc = session_ran(s, s->batch->exec, rc);
    return rc ? rc : repair(s);
}
