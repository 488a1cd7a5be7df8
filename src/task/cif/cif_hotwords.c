/* steno: hot words for integrate-and-fire models. SPDX-License-Identifier: MIT */
#include "task/cif/cif_hotwords.h"
#include "model/parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct cif_hot_words {
    const steno_model *m;
    struct buf ids, ends;       /* int32_t ids of all words, with the no-word entry last; size_t end of each in ids */
    uint32_t n, width;
    int have_vectors;
    float *vector;              /* [n, width] */
    float *chosen;              /* [hot_most + 1, width] vectors that the tokens attend to */
    float *score, *key, *shares; /* [n] per word; [width, n] transposed; [n] for one token */
};

static const struct cif_model *cif_model_of(const steno_model *m) { return m->part; }
static uint32_t width_of(const steno_model *m) { return m->plan[PLAN_HOT].slot[m->plan[PLAN_HOT].input].width; }

/* ---- words ------------------------------------------------------------------------------------------------------------------- */

static int add_word(struct cif_hot_words *h, const char *s, size_t n, size_t line, steno_error *e)
{
    const size_t before = h->ids.len, most = h->m->plan[PLAN_WORDS].max_rows;
    if (utf8_valid((const uint8_t *)s, n) < n) return err_set(e, STENO_EARG, "hot words, line %zu: not UTF-8", line);
    if (h->m->family->cif->word_ids(h->m, s, n, &h->ids)) return err_nomem(e, n, "hot words");
    const size_t n_ids = (h->ids.len - before) / sizeof(int32_t);
    if (n_ids > most) return err_set(e, STENO_EARG, "hot words, line %zu: %zu tokens, a phrase has at most %zu", line, n_ids, most);
    if (!n_ids) return STENO_OK;
    if (h->n + 1 == most) return err_set(e, STENO_EARG, "hot words, line %zu: a model of this kind takes at most %zu", line, most - 1);
    buf_add(&h->ends, &h->ids.len, sizeof h->ids.len);
    h->n++;
    return STENO_OK;
}

static int add_lines(struct cif_hot_words *h, const char *lines, steno_error *e)
{
    size_t line = 0;
    for (const char *s = lines; *s;) {
        const size_t n = strcspn(s, "\n");
        const int rc = add_word(h, s, n, ++line, e);
        if (rc) return rc;
        s += n + (s[n] == '\n');
    }
    return h->n ? STENO_OK : err_set(e, STENO_EARG, "hot words, line %zu: the text ends and held none", line ? line : 1);
}

static int take_rows(struct cif_hot_words *h, steno_error *e)
{
    const size_t chosen = (size_t)cif_model_of(h->m)->hot_most + 1, all = (2 * (size_t)h->n + chosen) * h->width + 2 * (size_t)h->n;
    h->vector = malloc(all * sizeof *h->vector);
    if (!h->vector) return err_nomem(e, all * sizeof *h->vector, "hot words");
    h->chosen = h->vector + (size_t)h->n * h->width;
    h->key = h->chosen + chosen * h->width;
    h->score = h->key + (size_t)h->n * h->width;
    h->shares = h->score + h->n;
    return STENO_OK;
}

int cif_hot_open(struct cif_hot_words **out, const steno_model *m, const char *lines, steno_error *e)
{
    const struct cif_model *c = cif_model_of(m);
    *out = NULL;
    if (c->hot == CIF_HOT_NONE || (c->hot == CIF_HOT_BESIDE && !lines)) return STENO_OK;
    struct cif_hot_words *h = calloc(1, sizeof *h);
    if (!h) return err_nomem(e, sizeof *h, "hot words");
    h->m = m;
    h->width = width_of(m);
    int rc = lines ? add_lines(h, lines, e) : STENO_OK;
    buf_add(&h->ids, &c->bos, sizeof c->bos); /* the no-word entry */
    buf_add(&h->ends, &h->ids.len, sizeof h->ids.len);
    h->n++;
    if (!rc && (h->ids.err || h->ends.err)) rc = err_nomem(e, h->ids.len, "hot words");
    if (!rc) rc = take_rows(h, e);
    if (rc) cif_hot_close(h);
    else *out = h;
    return rc;
}

void cif_hot_close(struct cif_hot_words *h)
{
    if (!h) return;
    buf_free(&h->ids);
    buf_free(&h->ends);
    free(h->vector);
    free(h);
}

/* ---- runs -------------------------------------------------------------------------------------------------------------------- */

/* Runs a phase of a plan over the table and adds its time to the session. */
static int run_phase(steno_session *s, int plan, int phase, uint32_t n_rows)
{
    struct steno_batch *b = s->batch;
    struct run_time spent;
    const struct phases what = { .first = phase, .end = phase + 1, .n_rows = n_rows, .run = &b->run };
    run_prepare(&b->run);
    const int rc = exec_phases(b->exec, &b->model->plan[plan], &what, session_time(s, plan), &spent);
    s->timings.decode_us += (spent.first_ns + spent.rest_ns) / 1000;
    s->timings.n_wakes++;
    return rc;
}

/* Copies the first n rows of a slot to to[n, width]. */
static int copy_rows(struct steno_batch *b, int plan, uint16_t slot, float *to, uint32_t n, uint32_t width)
{
    size_t ld = 0;
    const float *x = exec_output(b->exec, &b->model->plan[plan], slot, 0, n, &ld);
    for (uint32_t i = 0; i < n && x; i++) memcpy(to + (size_t)i * width, x + (size_t)i * ld, width * sizeof *to);
    return x ? STENO_OK : STENO_ENOMEM;
}

/* Computes the vectors of words first .. last - 1, whose ids fit into a run. */
static int make_vectors_of(struct cif_hot_words *h, steno_session *s, uint32_t first, uint32_t last)
{
    struct steno_batch *b = s->batch;
    const size_t *end = (const size_t *)(const void *)h->ends.p;
    const int32_t *ids = (const int32_t *)(const void *)h->ids.p;
    const size_t from = first ? end[first - 1] / sizeof *ids : 0;
    const struct plan *p = &b->model->plan[PLAN_WORDS];
    b->run.n_rows = 0;
    for (uint32_t w = first; w < last; w++)
        for (size_t begin = w ? end[w - 1] / sizeof *ids : 0, i = begin; i < end[w] / sizeof *ids; i++)
            run_add(&b->run, ids[i], (int32_t)(i - begin), 0, 0);
    const int rc = run_phase(s, PLAN_WORDS, 0, b->run.n_rows);
    if (rc) return rc;
    size_t ld = 0;
    const float *x = exec_output(b->exec, p, p->output, 0, b->run.n_rows, &ld);
    for (uint32_t w = first; w < last && x; w++)
        memcpy(h->vector + (size_t)w * h->width, x + (end[w] / sizeof *ids - 1 - from) * ld, h->width * sizeof *x);
    return x ? STENO_OK : STENO_ENOMEM;
}

static int make_vectors(struct cif_hot_words *h, steno_session *s)
{
    const size_t *end = (const size_t *)(const void *)h->ends.p, room = s->model->plan[PLAN_WORDS].max_rows * sizeof(int32_t);
    int rc = STENO_OK;
    for (uint32_t first = 0, last; first < h->n && !rc; first = last) {
        const size_t from = first ? end[first - 1] : 0;
        for (last = first + 1; last < h->n && end[last] - from <= room; last++) continue;
        rc = make_vectors_of(h, s, first, last);
    }
    h->have_vectors = !rc;
    return rc;
}

/* Writes the words to the input of a phase, followed by rows[n], which become the rows of the table. */
static void give_rows(struct steno_batch *b, const float *words, uint32_t n_words, const float *rows, uint32_t n, uint32_t width)
{
    const struct plan *p = &b->model->plan[PLAN_HOT];
    const size_t ld = p->slot[p->input].ld;
    float *x = exec_input(b->exec, p);
    for (uint32_t i = 0; i < n_words; i++) memcpy(x + i * ld, words + (size_t)i * width, width * sizeof *x);
    for (uint32_t i = 0; i < n; i++) memcpy(x + (n_words + i) * ld, rows + (size_t)i * width, width * sizeof *x);
    b->run.n_rows = 0;
    for (uint32_t i = 0; i < n; i++) run_add(&b->run, token_of_input(n_words + i), (int32_t)i, 0, 0);
}

/* Runs a head over the table's n rows to find their ids. */
static int run_head(steno_session *s, int phase, uint32_t n)
{
    struct run *r = &s->batch->run;
    const uint32_t step = s->model->plan[PLAN_HOT].max_out;
    int rc = STENO_OK;
    for (uint32_t at = 0; at < n && !rc; at += step) {
        for (uint32_t i = 0; i < n; i++) r->row[i].flags = i >= at && i < at + step ? ROW_BEST : 0;
        rc = run_phase(s, PLAN_HOT, phase, n);
    }
    return rc;
}

/* ---- selection of words ------------------------------------------------------------------------------------------------------ */

/* Adds the attention weights of one head of one token to the score of each word. */
static void add_shares(struct cif_hot_words *h, const float *query, const float *key, uint32_t d_head)
{
    const float scale = 1 / sqrtf((float)d_head);
    float *x = h->shares, most = -INFINITY, sum = 0;
    memset(x, 0, h->n * sizeof *x);
    for (uint32_t k = 0; k < d_head; k++)
        for (uint32_t w = 0; w < h->n; w++) x[w] += query[k] * scale * key[(size_t)k * h->n + w];
    for (uint32_t w = 0; w < h->n; w++) most = x[w] > most ? x[w] : most;
    for (uint32_t w = 0; w < h->n; w++) sum += x[w] = expf(x[w] - most);
    for (uint32_t w = 0; w < h->n; w++) h->score[w] += x[w] / sum;
}

/* Selects the words with the most attention from n tokens, best first, and the no-word entry last. That entry may also be among the
 * selected. */
static int choose_words(struct cif_hot_words *h, steno_session *s, const float *attended, uint32_t n)
{
    struct steno_batch *b = s->batch;
    const struct cif_model *m = cif_model_of(h->m);
    const struct plan *p = &b->model->plan[PLAN_HOT];
    const uint32_t d_head = h->width / (uint32_t)m->hot_heads, most = (uint32_t)m->hot_most;
    size_t ld_q = 0, ld_k = 0;
    give_rows(b, h->vector, h->n, attended, n, h->width);
    const int rc = run_phase(s, PLAN_HOT, CIF_SCORE, h->n);
    if (rc) return rc;
    const float *q = exec_output(b->exec, p, p->side_output[CIF_QUERIES], 0, n, &ld_q);
    const float *k = exec_output(b->exec, p, p->side_output[CIF_KEYS], 0, h->n, &ld_k);
    if (!q || !k) return STENO_ENOMEM;
    for (uint32_t w = 0; w < h->n; w++)
        for (uint32_t i = 0; i < h->width; i++) h->key[(size_t)i * h->n + w] = k[w * ld_k + i];
    memset(h->score, 0, h->n * sizeof *h->score);
    for (uint32_t t = 0; t < n; t++)
        for (uint32_t i = 0; i < h->width; i += d_head) add_shares(h, q + t * ld_q + i, h->key + (size_t)i * h->n, d_head);
    for (uint32_t i = 0; i <= most; i++) {
        uint32_t best = 0;
        for (uint32_t w = 1; w < h->n; w++) best = h->score[w] > h->score[best] ? w : best;
        if (i == most) best = h->n - 1;
        memcpy(h->chosen + (size_t)i * h->width, h->vector + (size_t)best * h->width, h->width * sizeof *h->chosen);
        h->score[best] = -1;
    }
    return STENO_OK;
}

/* ---- a clip ------------------------------------------------------------------------------------------------------------------ */

/* The tokens of a clip. */
struct hot_clip { float *own, *attended; struct best *best; uint32_t n; };

/* CIF_HOT_BESIDE: a second decoder attends to the hot words, for the token rows before and after attention of the main decoder. The sum of
 * both gives the ids. */
static int run_beside(struct cif_hot_words *h, steno_session *s, const struct hot_clip *c)
{
    struct steno_batch *b = s->batch;
    const struct cif_model *m = cif_model_of(h->m);
    const uint32_t most = (uint32_t)m->hot_most;
    const int is_chosen = h->n > most;
    const struct best *found = b->run.argmax.best;
    int rc = is_chosen ? choose_words(h, s, c->attended, c->n) : STENO_OK;
    for (int i = 0; i < 2 && !rc; i++) {
        float *rows = i ? c->attended : c->own;
        give_rows(b, is_chosen ? h->chosen : h->vector, is_chosen ? most + 1 : h->n, rows, c->n, h->width);
        rc = run_phase(s, PLAN_HOT, CIF_ATTEND, is_chosen ? most + 1 : h->n);
        if (!rc) rc = copy_rows(b, PLAN_HOT, b->model->plan[PLAN_HOT].output, rows, c->n, h->width);
    }
    if (rc) return rc;
    for (size_t i = 0; i < (size_t)c->n * h->width; i++) c->own[i] += c->attended[i];
    give_rows(b, NULL, 0, c->own, c->n, h->width);
    rc = run_head(s, CIF_HEAD, c->n);
    for (uint32_t i = 0; i < c->n && !rc; i++)
        if (found[i].id != m->no_hotword) c->best[i] = found[i];
    return rc;
}

static int run_within(struct cif_hot_words *h, steno_session *s, const struct hot_clip *c)
{
    struct steno_batch *b = s->batch;
    give_rows(b, h->vector, h->n, c->own, c->n, h->width);
    int rc = run_phase(s, PLAN_HOT, CIF_OWN_ROWS, h->n);
    give_rows(b, h->vector, h->n, c->attended, c->n, h->width);
    if (!rc) rc = run_phase(s, PLAN_HOT, CIF_ATTEND_BOTH, h->n);
    if (!rc) rc = run_head(s, CIF_ATTENDED_HEAD, c->n);
    if (!rc) memcpy(c->best, b->run.argmax.best, c->n * sizeof *c->best);
    return rc;
}

void cif_hot_rows_take(struct cif_hot_rows *r, struct arena_take *t, const steno_model *m)
{
    if (cif_model_of(m)->hot == CIF_HOT_NONE) return;
    const size_t rows = m->plan[PLAN_ENCODER].max_rows;
    r->own = arena_take(t, rows * width_of(m), sizeof *r->own);
    r->attended = arena_take(t, rows * width_of(m), sizeof *r->attended);
    r->best = arena_take(t, rows, sizeof *r->best);
}

int cif_hot_rows_keep(struct cif_hot_rows *r, struct steno_batch *b, uint32_t n)
{
    const struct plan *p = &b->model->plan[PLAN_ENCODER];
    const uint32_t width = width_of(b->model);
    memcpy(r->best, b->run.argmax.best, n * sizeof *r->best);
    const int rc = copy_rows(b, PLAN_ENCODER, p->side_output[CIF_OWN], r->own, n, width);
    return rc ? rc : copy_rows(b, PLAN_ENCODER, p->side_output[CIF_ATTENDED], r->attended, n, width);
}

int cif_hot_run(struct cif_hot_words *h, steno_session *s, struct cif_hot_rows *r, uint32_t first, uint32_t n)
{
    const size_t at = (size_t)first * h->width;
    const struct hot_clip c = { r->own + at, r->attended + at, r->best + first, n };
    const int rc = h->have_vectors ? STENO_OK : make_vectors(h, s);
    if (rc) return rc;
    return cif_model_of(h->m)->hot == CIF_HOT_BESIDE ? run_beside(h, s, &c) : run_within(h, s, &c);
}
