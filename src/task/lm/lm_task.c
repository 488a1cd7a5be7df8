/* steno: the task of going on with a text. SPDX-License-Identifier: MIT
 *
 * Ids are read into keys and values, and others are chosen behind them. Nothing is heard. */
#include "task/lm/lm_task.h"
#include "task/generation.h"
#include "task/lm/lm_bench.h"
#include "task/lm/lm_embed.h"

enum { PLAN_TEXT = 0 };

/* What language models keep in a batch: whose text its first lane holds, NULL: nobody's. */
struct lm_batch { const steno_session *reading; };

struct lm_session {
    struct generation generation;
    struct front_time time;  /* nothing */
};

static struct lm_session *lm_of(const steno_session *s)
{
    return s->part;
}

static struct lm_batch *lm_batch_of(const steno_session *s)
{
    return s->batch->part;
}

static unsigned serves(const steno_model *m)
{
    (void)m;
    return BY_TEXT;
}

static struct batch_shape shape(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    const uint32_t lanes = n_windows * n_lanes;
    return (struct batch_shape){ PLAN_TEXT, lanes > ROWS_OUT_MIN ? lanes : ROWS_OUT_MIN, (size_t)m->text_ctx };
}

static size_t lm_batch_memory(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    (void)m, (void)n_windows, (void)n_lanes;
    return sizeof(struct lm_batch);
}

static int lm_batch_open(struct steno_batch *b, steno_error *e)
{
    b->part = arena_array(&b->arena, 1, sizeof(struct lm_batch));
    return b->part ? STENO_OK : err_nomem(e, sizeof(struct lm_batch), "a batch");
}

static size_t memory(const steno_model *m, const steno_team *team, int shared)
{
    (void)m, (void)team, (void)shared;
    return sizeof(struct lm_session);
}

static int part_open(steno_session *s, steno_error *e)
{
    struct lm_session *l = s->part = arena_alloc(&s->arena, sizeof *l);
    if (!l) return err_nomem(e, sizeof *l, "a session");
    *l = (struct lm_session){ .generation = generation_of(PLAN_TEXT) };
    return STENO_OK;
}

static void part_close(steno_session *s)
{
    if (s->part && lm_batch_of(s)->reading == s) lm_batch_of(s)->reading = NULL;
}

static struct front_time *front_time(const steno_session *s)
{
    return &lm_of(s)->time;
}

static int request_take(steno_session *s, const struct request_given *g)
{
    (void)g;
    return err_set(&s->error, STENO_EARG, "a %s model does not transcribe: it goes on with texts", s->model->family->name);
}

static int request_end(steno_session *s, int status)
{
    (void)s;
    return status;
}

static int batch_step(struct steno_batch *b)
{
    (void)b;
    return 0;
}

/* The lane is this session's; what it held of another one's text is gone. */
static struct generation *take_lane(steno_session *s)
{
    struct lm_batch *b = lm_batch_of(s);
    if (b->reading != s) lm_of(s)->generation = generation_of(PLAN_TEXT);
    b->reading = s;
    return &lm_of(s)->generation;
}

static int may_go_on(steno_session *s, int again)
{
    if (!again || lm_batch_of(s)->reading == s) return STENO_OK;
    return err_set(&s->error, STENO_EARG, "there is no text to go on with: another session of the batch has read one since");
}

static int read_ids(steno_session *s, const int32_t *ids, int n, int again)
{
    const int rc = may_go_on(s, again);
    return rc ? rc : generation_read(s, take_lane(s), ids, n, again);
}

static int generate_ids(steno_session *s, const int32_t *ids, int n, const steno_generate_params *p, int again)
{
    const int rc = may_go_on(s, again);
    return rc ? rc : generation_run(s, take_lane(s), ids, n, p, again);
}

static const float *logits(const steno_session *s)
{
    if (lm_batch_of(s)->reading != s || !lm_of(s)->generation.has_logits) return NULL;
    return exec_logits(s->batch->exec, &s->model->plan[PLAN_TEXT], 0);
}

static int embed(steno_session *s, const struct embed_call *c)
{
    *take_lane(s) = generation_of(PLAN_TEXT); /* the lane holds other texts afterwards */
    return lm_embed(s, PLAN_TEXT, c);
}

static int64_t bench(steno_session *s, const char *phase, int n)
{
    lm_batch_of(s)->reading = NULL; /* lanes hold other texts afterwards */
    return lm_bench(s, PLAN_TEXT, phase, n);
}

const struct task lm_task = {
    .name = "lm",
    .serves = serves,
    .max_lanes = 1,
    .shape = shape,
    .batch_memory = lm_batch_memory,
    .batch_open = lm_batch_open,
    .memory = memory,
    .open = part_open,
    .close = part_close,
    .front_time = front_time,
    .call = STENO_CALL_TRANSCRIBE,
    .request_take = request_take,
    .request_end = request_end,
    .batch_step = batch_step,
    .read = read_ids,
    .logits = logits,
    .generate = generate_ids,
    .embed = embed,
    .bench = bench,
};
