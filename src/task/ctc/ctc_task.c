/* steno: the task of transcription with a CTC head. SPDX-License-Identifier: MIT
 *
 * The text of a clip is the best path: the most probable id of each row, with repeats and blanks removed (Graves et al. 2006). */
#include <math.h>
#include "engine/batch_loop.h"
#include "engine/task.h"
#include "model/parts.h"
#include "task/clips/clip_pieces.h"
#include "task/clips/clip_run.h"
#include "task/clips/clip_session.h"
#include "task/clips/clip_step.h"
#include "task/ctc/ctc_session.h"

/* ---- from rows to text -------------------------------------------------------------------------------------------------------- */

static int take(steno_session *s)
{
    const steno_model *m = s->model;
    struct ctc_session *c = ctc_of(s);
    struct clip_request *q = &c->clips.request;
    const struct ctc_options options = { q->p.language, q->p.itn, q->p.ban_unknown_emotion };
    q->query = ctc_model_of(m)->query;
    q->n_head = m->family->ctc->query_rows(m, &options, q->head, &s->error);
    if (q->n_head < 0) return q->n_head;
    const int32_t masked = m->family->ctc->masked(m, &options);
    rule_masks_clear(&c->masks);
    rule_mask(&c->masks, masked);
    q->masked = masked < 0 ? NULL : c->masks.always;
    return ctc_search_take(c->search, m, &q->p, &c->searches, &s->error);
}

int ctc_run_best(struct steno_batch *b)
{
    return clip_run_phase(b, PHASE_BEST, NULL);
}

/* Is the best path needed? A beam search reads the logits itself. */
static int needs_best(const struct steno_batch *b)
{
    const struct clip_batch *c = clip_batch_of(b);
    int needed = 0;
    for (uint32_t i = 0; i < c->n; i++) needed |= c->window[i].s && !ctc_of(c->window[i].s)->searches;
    return needed;
}

static int run(struct steno_batch *b)
{
    run_prepare(&b->run);
    const int rc = clip_run_phase(b, PHASE_ENCODE, NULL);
    return rc || !needs_best(b) ? rc : ctc_run_best(b);
}

/* Best path of the first n rows of a clip. Stores the ids in ctc_session.ids and the tokens in the batch's table. */
static struct clip_found collapse(const steno_session *s, const struct clip_window *w, uint32_t n)
{
    const int32_t blank = ctc_model_of(s->model)->blank;
    struct clip_found c = { .ids = ctc_of(s)->ids, .tokens = s->batch->sampled };
    int32_t last = -1;
    for (uint32_t i = w->rows.row; i < (uint32_t)w->rows.row + n; i++) {
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

/* Computes the logits of a clip's rows and passes them to `show`. panels: bit set of panels to compute; NULL computes all and finds the
 * most probable ids again. */
static int look(steno_session *s, const struct clip_window *w, clip_row_fn *show, const uint32_t *panels)
{
    const struct clip_head h = { PHASE_LM_HEAD, w, show, panels };
    return request_ran(s, clip_run_head(s->batch, w->rows.row, (uint32_t)w->rows.row + w->rows.n, &h));
}

/* The search continues from the id of the last query row, so this id is not repeated in the text. */
static void show_search(steno_session *s, int row, const float *logits, const struct best *best)
{
    struct ctc_session *c = ctc_of(s);
    const struct clip_request *q = &c->clips.request;
    if (row < q->n_head) {
        ctc_search_begin(c->search, best->id == ctc_model_of(s->model)->blank ? -1 : best->id);
        return;
    }
    if (!row) ctc_search_begin(c->search, -1);
    ctc_search_row(c->search, logits, best, q->masked);
}

/* Appends the text of rank `place` to f's tokens. @return 0: there is none */
static int found_add(const steno_session *s, struct clip_found *f, int place, double *logprob)
{
    struct ctc_session *c = ctc_of(s);
    const int32_t more = ctc_search_end(c->search, place, s->batch->sampled + f->n, logprob), n = f->n + more;
    for (; f->n < n; f->n++) {
        c->ids[f->n] = s->batch->sampled[f->n].id;
        f->sum_logprob += s->batch->sampled[f->n].logprob;
    }
    return more >= 0;
}

/* Tags come from the query rows; the search decodes the rows after them. */
static int search(steno_session *s, const struct clip_window *w, struct clip_found *f)
{
    double logprob;
    const int rc = look(s, w, show_search, NULL);
    if (rc) return rc;
    *f = collapse(s, w, (uint32_t)ctc_of(s)->clips.request.n_head);
    found_add(s, f, 0, &logprob);
    return STENO_OK;
}

/* Adds f as a hypothesis of the clip. */
static int hypothesis_add(steno_session *s, const struct clip_window *w, const struct clip_found *f, int place, double score)
{
    struct ctc_session *c = ctc_of(s);
    const struct ctc_ids ids = { c->ids, f->n };
    struct hypothesis h = { .at_ms = w->at * 1000 / FBANK_RATE, .place = place, .score = score };
    h.avg_logprob = f->sum_logprob / (f->n + 1);
    struct ctc_tags tags = { 0 };
    struct ctc_shown shown;
    if (ctc_text_make(&c->text, s->model, &ids, c->clips.request.p.tags, &tags, &shown)) return STENO_ENOMEM;
    result_hypothesis_tokens(&s->result, &h, f->tokens, f->n);
    result_hypothesis(&s->result, &h, shown.text, shown.n);
    return result_status(&s->result);
}

/* Adds the n_best texts of the clip. Reading texts of lower rank overwrites the tokens of the best, which are restored at the end. */
static int hypotheses_add(steno_session *s, const struct clip_window *w, const struct clip_found *best)
{
    struct ctc_session *c = ctc_of(s);
    const int n_best = c->clips.request.p.n_best, n = c->searches ? n_best : n_best > 0;
    double score = best->sum_logprob;
    int rc = STENO_OK, there = 1;
    if (clip_all_mute(s, w)) return STENO_OK; /* no text, no list */
    for (int i = 0; i < n && there && !rc; i++) {
        struct clip_found f = *best;
        if (c->searches) {
            f = collapse(s, w, (uint32_t)c->clips.request.n_head);
            there = found_add(s, &f, i, &score);
        }
        if (there) rc = hypothesis_add(s, w, &f, i, score);
    }
    if (rc) return err_nomem(&s->error, (size_t)best->n, "the texts of a clip");
    if (n < 2) return STENO_OK;
    struct clip_found again = collapse(s, w, (uint32_t)c->clips.request.n_head);
    found_add(s, &again, 0, &score);
    return STENO_OK;
}

static void show_logits(steno_session *s, int row, const float *logits, const struct best *best)
{
    const int32_t n = s->model->n_vocab;
    (void)best;
    clip_rows_report(s, ctc_of(s)->shown, &(struct clip_rows){ "logits", logits, row, 1, n, (size_t)n });
}

/* Passes rows to on_rows. */
static int show_rows(steno_session *s, const struct clip_window *w)
{
    const int rc = clip_slot_report(s, w, "encoder", clip_encoder_of(s->batch)->output);
    ctc_of(s)->shown = w;
    return rc ? rc : look(s, w, show_logits, NULL);
}

static void show_words(steno_session *s, int row, const float *logits, const struct best *best)
{
    const int n_head = clips_of(s)->request.n_head;
    if (row >= n_head && best->id >= 0) ctc_words_row(&ctc_of(s)->words, row - n_head, logits, best);
}

/* The labels are known only after decoding, so the panels of logits that they need are computed again. */
static int find_words(steno_session *s, const struct clip_window *w, int32_t n_ids)
{
    struct ctc_session *c = ctc_of(s);
    const int n_rows = w->rows.n - c->clips.request.n_head;
    const steno_model *m = s->model;
    const struct ctc_alphabet of = { &m->vocab, m->n_vocab, ctc_model_of(m)->blank, m->family->ctc->spoken, m };
    if (ctc_words_begin(&c->words, &of, &(struct ctc_ids){ c->ids, n_ids }, n_rows))
        return err_nomem(&s->error, (size_t)n_rows * (size_t)(n_ids + 1) * sizeof(float), "times of words");
    return look(s, w, show_words, ctc_words_panels(&c->words));
}

static int row_ms_of(const steno_session *s) { return fbank_row_ms(fbank_bank_of(s->model)); }

/* A row covers 60 ms, 30 ms before and after its nominal time. */
static int words_add(steno_session *s, const struct clip_window *w, int32_t n_ids, struct segment *g)
{
    struct ctc_session *c = ctc_of(s);
    const int row_ms = row_ms_of(s);
    const struct ctc_clip h = { { c->ids, n_ids }, s->batch->sampled, (double)w->at / FBANK_RATE, row_ms, row_ms / 2 };
    return ctc_words_add(&c->words, &h, &s->result, g) ? err_nomem(&s->error, s->result.words.len, "words") : STENO_OK;
}

/* Adds the rows of a token whose first row is `row`. *begin: the end of the token before it; -1: there is none */
static void rows_add(const steno_session *s, const struct clip_window *w, int32_t id, int32_t row, int32_t *begin)
{
    if (*begin < 0) *begin = row > 0 ? row - 1 : 0;
    const struct piece_rows rows = { *begin, s->model->family->pieces->is_mark(s->model, id) ? *begin : row, clip_all_mute(s, w) };
    buf_add(&ctc_of(s)->rows, &rows, sizeof rows);
    *begin = row;
}

/* The rows of each token, as NeMo gives them: it ends at the first row where it is the most probable id, and begins where the token before
 * it ends. A mark ends where it begins. STENO_OK, STENO_ENOMEM */
static int find_rows(steno_session *s, const struct clip_window *w)
{
    const struct best *best = s->batch->run.argmax.best + w->rows.row;
    const int32_t blank = ctc_model_of(s->model)->blank;
    int32_t last = -1, begin = -1;
    for (int32_t i = 0; i < w->rows.n; last = best[i++].id) {
        const int32_t id = best[i].id;
        if (id == last || id == blank || id < 0) continue;
        rows_add(s, w, id, i, &begin);
    }
    return ctc_of(s)->rows.err ? err_nomem(&s->error, ctc_of(s)->rows.len, "times of tokens") : STENO_OK;
}

/* The same for the tokens of a search, by their most probable alignment with the rows. */
static int align_rows(steno_session *s, const struct clip_window *w, const struct clip_found *f)
{
    struct ctc_session *c = ctc_of(s);
    int32_t begin = -1;
    int rc = find_words(s, w, f->n);
    if (rc) return rc;
    rc = ctc_words_align(&c->words);
    for (int32_t i = 0, k = 0; i < f->n && !rc; i++) {
        const int32_t row = ctc_words_row_of(&c->words, i, &k), before = begin > 0 ? begin : 0;
        rows_add(s, w, f->ids[i], row >= 0 ? row : before, &begin);
    }
    return rc || c->rows.err ? err_nomem(&s->error, c->rows.len, "times of tokens") : STENO_OK;
}

static int settle_pieces(steno_session *s, const struct clip_window *w)
{
    struct ctc_session *c = ctc_of(s);
    struct clip_found found = { 0 };
    int rc = c->searches ? search(s, w, &found) : STENO_OK;
    if (!c->searches) found = collapse(s, w, w->rows.n);
    if (!rc && clip_rows_requested(s)) rc = show_rows(s, w);
    if (!rc) rc = hypotheses_add(s, w, &found);
    if (rc) return rc;
    buf_clear(&c->rows);
    rc = c->searches ? align_rows(s, w, &found) : find_rows(s, w);
    if (rc) return rc;
    const struct piece_rows *rows = (const struct piece_rows *)(const void *)c->rows.p;
    const struct clip_pieces p = { found.ids, found.tokens, rows, found.n, row_ms_of(s), "ctc", NULL };
    return clip_pieces_add(s, w, &p, &c->text.text);
}

/* Leaves out the text of a clip without speech, and reduces f to the tags of its query rows. */
static int leave_out(steno_session *s, const struct clip_window *w, const struct segment *g, struct clip_found *f)
{
    struct ctc_session *c = ctc_of(s);
    const struct ctc_ids ids = { c->ids, f->n };
    struct ctc_tags tags = { 0 };
    struct ctc_shown shown;
    if (ctc_text_make(&c->text, s->model, &ids, STENO_TAGS_APART, &tags, &shown)) return err_nomem(&s->error, (size_t)f->n, "text");
    f->text = shown.text;
    f->n_text = shown.n;
    const int rc = clip_left_out(s, w, f, g->start, g->end);
    *f = collapse(s, w, (uint32_t)c->clips.request.n_head);
    return rc;
}

static int settle(steno_session *s, const struct clip_window *w)
{
    struct ctc_session *c = ctc_of(s);
    const int is_mute = clip_all_mute(s, w);
    const steno_transcribe_params *p = &c->clips.request.p;
    struct clip_found found = { 0 };
    struct segment g = clip_segment_of(s, w);
    struct ctc_shown shown;
    if (s->model->family->pieces) return settle_pieces(s, w);
    int rc = c->searches && !is_mute ? search(s, w, &found) : STENO_OK;
    if (!c->searches || is_mute) found = collapse(s, w, w->rows.n);
    if (is_mute) rc = leave_out(s, w, &g, &found);
    if (!rc && clip_rows_requested(s)) rc = show_rows(s, w);
    if (!rc && p->word_timestamps) rc = find_words(s, w, found.n);
    if (rc) return rc;
    rc = hypotheses_add(s, w, &found);
    if (rc) return rc;
    const struct ctc_ids ids = { c->ids, found.n };
    rc = ctc_text_make(&c->text, s->model, &ids, p->tags, &g.tags, &shown);
    if (rc) return err_nomem(&s->error, (size_t)found.n, "text");
    if (!shown.n) return STENO_OK; /* a clip with only tags makes no segment unless tags are part of the text */
    found.text = shown.text;
    found.n_text = shown.n;
    found.whole = shown.whole;
    found.n_whole = shown.n_whole;
    s->result.is_remade = p->tags == STENO_TAGS_RICH;
    rc = clip_segment_add(s, &g, &found);
    if (!rc && p->word_timestamps) rc = words_add(s, w, found.n, &g);
    return rc ? rc : clip_segment_report(s, &g);
}

static void end(steno_session *s)
{
    struct ctc_session *c = ctc_of(s);
    ctc_text_whole(&c->text, s->model, c->clips.request.p.tags, &s->result.bytes);
    ctc_search_done(c->search);
}

const struct clip_decoder ctc_decoder = { .max_clips = UINT32_MAX, .take = take, .run = run, .settle = settle, .end = end };

/* ---- the task ----------------------------------------------------------------------------------------------------------------- */

static unsigned serves(const steno_model *m)
{
    return m->family->pieces ? MODELS_PIECES : MODELS_CTC;
}

/* Logits exist for one tile of rows at a time, independent of lanes. A lane is a clip in the run. */
static struct batch_shape shape(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    (void)n_windows, (void)n_lanes;
    return (struct batch_shape){ PLAN_ENCODER, RUN_LANES, m->plan[PLAN_ENCODER].max_rows };
}

static size_t ids_memory(const steno_model *m)
{
    return m->plan[PLAN_ENCODER].max_rows * sizeof(int32_t);
}

static size_t memory(const steno_model *m, const steno_team *team, int shared)
{
    (void)shared;
    return sizeof(struct ctc_session) + clip_session_memory(m, team) + (size_t)m->n_vocab / 4 + ids_memory(m) + ctc_search_memory(m);
}

static int part_open(steno_session *s, steno_error *e)
{
    const steno_model *m = s->model;
    struct ctc_session *c = s->part = arena_array(&s->arena, 1, sizeof *c);
    if (!c) return err_nomem(e, sizeof *c, "a session");
    if (rule_masks_init(&c->masks, &s->arena, m->n_vocab)) return err_nomem(e, (size_t)m->n_vocab / 4, "a session");
    int rc = clip_session_open(s, &ctc_decoder, e);
    if (!rc) rc = ctc_search_open(&c->search, &s->arena, m, e);
    if (rc) return rc;
    c->ids = arena_alloc(&s->arena, ids_memory(m));
    return c->ids ? STENO_OK : err_nomem(e, ids_memory(m), "a session");
}

static void part_close(steno_session *s)
{
    struct ctc_session *c = ctc_of(s);
    if (!c) return;
    clip_session_close(s);
    ctc_text_free(&c->text);
    ctc_words_free(&c->words);
    buf_free(&c->rows);
    ctc_search_done(c->search);
}

static int bench_best(struct steno_batch *b, int n)
{
    (void)n;
    return ctc_run_best(b);
}

static int64_t bench(steno_session *s, const char *phase, int n)
{
    static struct clip_bench_phase const own[] = { { "ctc", bench_best, 0 }, { 0 } };
    return clip_bench(s, phase, n, own);
}

const struct task ctc_task = {
    .name = "ctc",
    .serves = serves,
    .max_lanes = 1,
    .one_by_one = 1,
    .own_windows = CLIPS_TOGETHER,
    .shape = shape,
    .batch_memory = clip_batch_memory,
    .batch_open = clip_batch_open,
    .memory = memory,
    .open = part_open,
    .close = part_close,
    .front_time = clip_front_time,
    .call = STENO_CALL_TRANSCRIBE,
    .request_take = clip_request_take,
    .request_end = clip_request_end,
    .batch_step = clip_step,
    .bench = bench,
};
