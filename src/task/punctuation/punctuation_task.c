/* steno: the task of punctuation. SPDX-License-Identifier: MIT
 *
 * A text becomes the same text with marks. There is no audio, so nothing is queued: a call does its work at once. */
#include "engine/task.h"
#include "model/parts.h"
#include <string.h>
#include "task/punctuation/punctuation_result.h"
#include "task/punctuation/punctuation_run.h"

/* ---- calls --------------------------------------------------------------------------------------------------------------------- */

static int check(steno_session *s, const steno_punctuate_params *p)
{
    const int rc = params_check(s, STENO_CALL_PUNCTUATE, p);
    if (rc) return rc;
    s->should_abort = p->should_abort;
    s->abort_user = p->user;
    if (!p->go_on || punctuation_model_of(s)->as_it_comes) return STENO_OK;
    return err_set(&s->error, STENO_EARG, "go_on is for models that mark text as it comes; this one sees a text as a whole");
}

/* Lists the mark after each new word, preceded by the one after the last earlier word. */
static int list_punctuation(steno_session *s)
{
    const struct punctuation_session *q = punctuation_of(s);
    const struct punctuation_model *m = punctuation_model_of(s);
    const struct marked_word *w = marked_words(q);
    struct buf *out = &s->result.marks;
    for (size_t i = q->n_before ? q->n_before - 1 : 0; i < marked_count(q); i++) {
        const int is_new = i >= q->n_before;
        const int64_t at = is_new ? (int64_t)w[i].from : 0;
        buf_add(out, &(steno_mark) { .size = sizeof(steno_mark), .id = w[i].mark, .at = at, .end = is_new ? (int64_t)w[i].to : 0,
                                     .text = punctuation_text(m, w[i].mark, q->text.p[w[i].at]) }, sizeof(steno_mark));
    }
    return out->err ? err_nomem(&s->error, out->len, "marks") : STENO_OK;
}

static int punctuate(steno_session *s, const char *text, const steno_punctuate_params *p)
{
    struct punctuation_session *q = punctuation_of(s);
    const struct punctuation_model *m = punctuation_model_of(s);
    struct buf *whole = &s->result.whole;
    int rc = check(s, p);
    if (rc) return rc;
    punctuation_begin(s, p);
    rc = punctuation_add(s, text, strlen(text), 1);
    if (!rc) rc = punctuation_decide(s);
    if (!rc) {
        if (m->as_it_comes) punctuation_write_more(whole, q, m);
        else punctuation_write(whole, q, m);
        rc = whole->err ? err_nomem(&s->error, whole->len, "the text") : list_punctuation(s);
    }
    if (rc) punctuation_begin(s, &(steno_punctuate_params) { .block_words = p->block_words }); /* the next call cannot continue */
    return rc;
}

static int punctuate_result(steno_session *s, struct result *r, const steno_punctuate_params *p)
{
    const int rc = check(s, p);
    return rc ? rc : punctuation_put(s, r, p);
}

/* ---- the task ------------------------------------------------------------------------------------------------------------------ */

static unsigned serves(const steno_model *m)
{
    (void)m;
    return MODELS_PUNCTUATION;
}

static size_t memory(const steno_model *m, const steno_team *team, int shared)
{
    (void)m, (void)team, (void)shared;
    return sizeof(struct punctuation_session);
}

static int part_open(steno_session *s, steno_error *e)
{
    struct punctuation_session *q = s->part = arena_alloc(&s->arena, sizeof *q);
    if (!q) return err_nomem(e, sizeof *q, "a session");
    *q = (struct punctuation_session){ 0 };
    return STENO_OK;
}

static void part_close(steno_session *s)
{
    if (!punctuation_of(s)) return;
    buf_free(&punctuation_of(s)->text);
    buf_free(&punctuation_of(s)->words);
}

static struct front_time *front_time(const steno_session *s)
{
    return &punctuation_of(s)->time;
}

const struct task punctuation_task = {
    .name = "marks",
    .serves = serves,
    .max_lanes = 1,
    .memory = memory,
    .open = part_open,
    .close = part_close,
    .front_time = front_time,
    .call = STENO_CALL_PUNCTUATE,
    .punctuate = punctuate,
    .punctuate_result = punctuate_result,
    .bench = punctuation_bench,
};
