/* steno: the task of text embeddings. SPDX-License-Identifier: MIT
 *
 * The encoder's rows attend to all of their text. As many texts run together as fit, each as its own sequence; other texts do not change
 * any bit of a row. Nothing is queued: a call does its work at once. */
#include "engine/task.h"
#include <string.h>
#include "base/os.h"
#include "engine/params.h"
#include "task/embed/embedding.h"

enum { TEXTS_TOGETHER = 128, BENCH_TEXTS = 8 };

struct embed_session { struct front_time time; };

/* Texts [first, first + n) of a call, in one run. */
struct text_group {
    struct sequence sequence[TEXTS_TOGETHER];
    int first;
    uint32_t n;
};

/* Adds a sequence of n rows if it fits. */
static int add_sequence(struct text_group *g, uint32_t n, uint32_t most)
{
    const struct sequence *last = g->n ? &g->sequence[g->n - 1] : NULL;
    if (g->n == TEXTS_TOGETHER || n > sequence_room(last, most)) return 0;
    g->sequence[g->n++] = sequence_next(last, n, 0);
    return 1;
}

/* Adds the rows of the next texts, as many as fit. At least one always fits. */
static void fill(struct steno_batch *b, struct text_group *g, const struct embed_call *c)
{
    struct run *r = &b->run;
    const uint32_t most = b->model->plan[PLAN_ENCODER].max_rows;
    r->n_rows = 0;
    for (g->n = 0; g->first + (int)g->n < c->n_texts;) {
        const struct embed_text *t = embed_text(c, g->first + (int)g->n);
        if (!add_sequence(g, (uint32_t)t->n, most)) break;
        for (int32_t i = 0; i < t->n; i++) run_add(r, embed_ids(c, t)[i], i, 0, 0);
    }
    run_prepare(r);
}

static int run_texts(steno_session *s, const struct text_group *g)
{
    const struct plan *plan = &s->model->plan[PLAN_ENCODER];
    const struct phases what = { .end = 1, .n_rows = s->batch->run.n_rows, .run = &s->batch->run, .sequence = g->sequence,
                                 .n_sequences = g->n > 1 ? g->n : 0 };
    struct run_time spent = { 0 };
    const int rc = exec_phases(s->batch->exec, plan, &what, session_time(s, PLAN_ENCODER), &spent);
    s->timings.encode_us += (spent.first_ns + spent.rest_ns) / 1000;
    s->timings.n_encodes++;
    s->timings.n_windows += (int32_t)g->n;
    s->timings.n_wakes++;
    return session_ran(s, s->batch->exec, rc);
}

static int pool_texts(steno_session *s, struct pool *l, const struct text_group *g, const struct embed_call *c)
{
    const struct plan *plan = &s->model->plan[PLAN_ENCODER];
    for (uint32_t i = 0; i < g->n; i++) {
        const struct sequence *q = &g->sequence[i];
        size_t ld;
        const float *rows = exec_output(s->batch->exec, plan, plan->output, q->row, q->n, &ld);
        if (!rows) return session_ran(s, s->batch->exec, STENO_ENOMEM);
        pool_begin(l, embed_text(c, g->first + (int)i));
        pool_add(l, rows, ld, q->n);
        pool_end(l, s, c);
    }
    return STENO_OK;
}

static int embed(steno_session *s, const struct embed_call *c)
{
    struct text_group g = { .first = 0 };
    struct pool l;
    int rc = pool_open(&l, s, c);
    for (; !rc && g.first < c->n_texts; g.first += (int)g.n) {
        if (session_should_stop(s)) rc = err_set(&s->error, STENO_ECANCELED, "canceled");
        if (rc) break;
        fill(s->batch, &g, c);
        rc = run_texts(s, &g);
        if (!rc) rc = pool_texts(s, &l, &g, c);
    }
    pool_close(&l);
    return rc;
}

/* ---- benchmarks ----------------------------------------------------------------------------------------------------------------- */

/* Fills the run with texts of n arbitrary ids. */
static void fill_any(struct steno_batch *b, struct text_group *g, uint32_t texts, uint32_t n)
{
    const uint32_t most = b->model->plan[PLAN_ENCODER].max_rows, vocab = (uint32_t)b->model->n_vocab;
    b->run.n_rows = 0;
    g->n = 0;
    while (g->n < texts && add_sequence(g, n, most))
        for (uint32_t i = 0; i < n; i++) run_add(&b->run, (int32_t)((i * 7919u + g->n * 101u) % vocab), (int32_t)i, 0, 0);
    run_prepare(&b->run);
}

static int64_t bench(steno_session *s, const char *phase, int n)
{
    struct text_group g = { .first = 0 };
    const int is_batch = !strcmp(phase, "batch");
    if (!is_batch && strcmp(phase, "encode") != 0)
        return err_set(&s->error, STENO_EARG, "unknown phase '%s'; known are encode, batch", phase);
    if (n > s->model->text_ctx) return err_set(&s->error, STENO_EARG, "%d tokens; texts have at most %d", n, (int)s->model->text_ctx);
    const uint32_t texts = is_batch ? BENCH_TEXTS : 1;
    const int64_t t0 = os_now_ns();
    int rc = STENO_OK;
    for (uint32_t done = 0; done < texts && !rc; done += g.n) {
        fill_any(s->batch, &g, texts - done, (uint32_t)n);
        rc = run_texts(s, &g);
    }
    return rc ? rc : (os_now_ns() - t0) / 1000;
}

/* ---- the task ------------------------------------------------------------------------------------------------------------------ */

static unsigned serves(const steno_model *m)
{
    (void)m;
    return MODELS_EMBED;
}

static size_t memory(const steno_model *m, const steno_team *team, int shared)
{
    (void)m, (void)team, (void)shared;
    return sizeof(struct embed_session);
}

static int part_open(steno_session *s, steno_error *e)
{
    struct embed_session *q = s->part = arena_alloc(&s->arena, sizeof *q);
    if (!q) return err_nomem(e, sizeof *q, "a session");
    *q = (struct embed_session){ 0 };
    return STENO_OK;
}

static void part_close(steno_session *s)
{
    (void)s;
}

static struct front_time *front_time(const steno_session *s)
{
    return &((struct embed_session *)s->part)->time;
}

static int request_take(steno_session *s, const struct request_given *g)
{
    (void)g;
    return err_set(&s->error, STENO_EARG, "a %s model does not transcribe: it makes vectors of texts", s->model->family->name);
}

static int request_end(steno_session *s, int status)
{
    (void)s;
    return status;
}

const struct task embed_task = {
    .name = "embed",
    .serves = serves,
    .max_lanes = 1,
    .memory = memory,
    .open = part_open,
    .close = part_close,
    .front_time = front_time,
    .call = STENO_CALL_EMBED,
    .request_take = request_take,
    .request_end = request_end,
    .embed = embed,
    .bench = bench,
};
