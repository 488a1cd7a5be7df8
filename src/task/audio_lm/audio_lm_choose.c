/* steno: the steps of texts in the lanes of an audio language model. SPDX-License-Identifier: MIT
 *
 * Each step has a row for every lane whose text goes on, and rows of draft tokens (prompt_lookup.h). They come from the text itself, from
 * the context and hot words in its prompt, and from the text of the clip that the session decoded last. In a live session that is the
 * pass before over the same audio, whose text the new one repeats. */
#include <string.h>
#include "engine/batch_loop.h"
#include "task/audio_lm/audio_lm_draft.h"
#include "text/repetition.h"
#include "text/tokenizer.h"

/* ---- ends -------------------------------------------------------------------------------------------------------------------- */

int audio_lm_retries(const steno_session *s)
{
    return clips_of(s)->request.p.guards == STENO_GUARDS_RETRY;
}

int audio_lm_loops(steno_session *s, const struct sampler *p)
{
    int32_t *ids = audio_lm_of(s)->ids;
    for (int32_t i = 0; i < p->n; i++) ids[i] = p->out[i].id;
    return tokens_loop(ids, p->n, s->model->n_vocab);
}

/* Ends a lane that chose an end token, or whose session has ended. */
static void lane_look(const struct steno_batch *b, uint32_t lane)
{
    struct sampler *p = &b->run.lane[lane].sampler;
    steno_session *s = audio_lm_owner(b, lane);
    if (p->done) return;
    if (p->n && tokenizer_is_end(b->model->lm.tokenizer, p->out[p->n - 1].id)) {
        p->n--;
        p->ended = p->done = 1;
    }
    if (!s || session_should_stop(s) || (audio_lm_retries(s) && audio_lm_loops(s, p))) p->done = 1;
}

void audio_lm_penalise(void *user, uint16_t lane, float *logits)
{
    const struct steno_batch *b = user;
    sampler_penalise(&b->run.lane[lane].sampler, logits, (float)audio_lm_batch_of(b)->lane[lane].penalty);
}

/* ---- texts ------------------------------------------------------------------------------------------------------------------- */

static int32_t *ids_add(int32_t *to, const void *ids, int32_t n)
{
    if (n) memcpy(to, ids, (size_t)n * sizeof *to);
    return to + n;
}

/* The last id of the prompt is followed: it stands before the beginning of an earlier text, too. */
void audio_lm_text_begin(struct steno_batch *b, uint16_t lane, const steno_session *s, int32_t n_rows)
{
    const struct audio_lm_session *a = audio_lm_of(s);
    struct audio_lm_lane *l = &audio_lm_batch_of(b)->lane[lane];
    const int32_t asked = a->clips.request.p.draft_max;
    int32_t *end = ids_add(l->text, a->earlier, a->n_earlier);
    end = ids_add(end, a->before.p, audio_lm_n_ids(&a->before));
    end = ids_add(end, a->behind.p, audio_lm_n_ids(&a->behind));
    l->n_text = (int32_t)(end - l->text);
    l->n_chosen = 0;
    l->uses_draft = audio_lm_draft_may(b, s);
    l->n_prompt = audio_lm_n_ids(&a->before) + n_rows + audio_lm_n_ids(&a->behind);
    l->speculation = a->speculation;
    l->lookup = prompt_lookup_of(l->uses_draft ? 0 : asked < 0 ? DRAFT_MAX : asked);
    memcpy(l->lookup.odds, a->odds, sizeof a->odds);
    l->lookup.seen = l->n_text - 1;
}

/* Adds the ids that the lane has chosen since the last call. */
static void text_add(struct steno_batch *b, uint32_t lane)
{
    const struct sampler *p = &b->run.lane[lane].sampler;
    struct audio_lm_lane *l = &audio_lm_batch_of(b)->lane[lane];
    for (; l->n_chosen < p->n; l->n_chosen++) l->text[l->n_text++] = p->out[l->n_chosen].id;
}

void audio_lm_texts_end(struct steno_batch *b)
{
    for (uint32_t lane = 0; lane < clip_batch_of(b)->n_sequences; lane++) {
        const struct audio_lm_lane *l = &audio_lm_batch_of(b)->lane[lane];
        steno_session *s = audio_lm_owner(b, lane);
        if (!s || !l->is_read) continue;
        struct audio_lm_session *a = audio_lm_of(s);
        text_add(b, lane);
        a->n_earlier = audio_lm_n_ids(&a->behind) + l->n_chosen;
        memcpy(a->earlier, l->text + l->n_text - a->n_earlier, (size_t)a->n_earlier * sizeof *a->earlier);
        memcpy(a->odds, l->lookup.odds, sizeof a->odds);
        if (l->uses_draft) a->speculation = l->speculation;
    }
}

/* ---- rows -------------------------------------------------------------------------------------------------------------------- */

/* Chooses from the rows of draft tokens while those before them were right. */
static void drafts_check(struct steno_batch *b, uint32_t lane)
{
    struct audio_lm_lane *l = &audio_lm_batch_of(b)->lane[lane];
    struct lane *of = &b->run.lane[lane];
    const struct chain_calls calls = { NULL, audio_lm_penalise, b };
    const int32_t first = b->run.row[l->row].pos;
    steno_session *s = audio_lm_owner(b, lane);
    int32_t right = 0;
    for (;; right++) {
        const int rc = exec_choose(b->exec, audio_lm_decoder_of(b), &b->run, &calls, l->out + (uint32_t)right);
        if (rc) {
            audio_lm_batch_of(b)->status = rc;
            of->sampler.done = 1;
            break;
        }
        lane_look(b, lane);
        if (of->sampler.done || right == l->lookup.n || of->sampler.out[of->sampler.n - 1].id != l->lookup.id[right]) break;
    }
    of->kv.len = first + right + 1;
    lane_cut(b, lane, of->kv.len);
    audio_lm_draft_learn(b, lane, l->lookup.n, right);
    if (!s) return;
    s->timings.n_drafted += l->lookup.n;
    s->timings.n_accepted += right;
}

/* Adds the next row of a lane and its draft tokens, leaving room for the rows of `behind` other lanes. */
static void lane_rows(struct steno_batch *b, uint32_t lane, int32_t behind)
{
    struct audio_lm_lane *l = &audio_lm_batch_of(b)->lane[lane];
    const struct lane *of = &b->run.lane[lane];
    const struct room left = run_left(&b->run, exec_room(b->exec, audio_lm_decoder_of(b)));
    const int32_t rows = (int32_t)(left.rows < left.out ? left.rows : left.out) - behind - 1;
    const int32_t ids = of->sampler.limit - of->sampler.n - 1, context = b->model->text_ctx - of->kv.len - 1;
    const int32_t room = rows < ids ? rows : ids;
    l->row = b->run.n_rows;
    l->out = b->run.n_rows ? b->run.n_out : 0;
    prompt_lookup_rows(&l->lookup, &b->run, (uint16_t)lane, l->text, l->n_text, room < context ? room : context, &b->costs,
                       (int32_t)b->run.n_rows + behind + 1);
}

static int rows_add(struct steno_batch *b)
{
    const uint32_t n = clip_batch_of(b)->n_sequences;
    int32_t behind = 0;
    b->run.n_rows = 0;
    for (uint32_t lane = 0; lane < n; lane++) behind += !b->run.lane[lane].sampler.done;
    for (uint32_t lane = 0; lane < n; lane++) {
        if (b->run.lane[lane].sampler.done) continue;
        text_add(b, lane);
        lane_rows(b, lane, --behind);
    }
    return b->run.n_rows > 0;
}

void audio_lm_look(struct steno_batch *b)
{
    audio_lm_batch_of(b)->status = STENO_OK;
    while (requests_sweep(b)) {}
    for (uint32_t lane = 0; lane < clip_batch_of(b)->n_sequences; lane++) lane_look(b, lane);
}

int audio_lm_rows(struct steno_batch *b)
{
    audio_lm_batch_of(b)->goes_on = 0;
    run_costs_begin(&b->costs);
    return rows_add(b);
}

int audio_lm_next(void *user)
{
    struct steno_batch *b = user;
    struct audio_lm_batch *a = audio_lm_batch_of(b);
    const uint32_t rows = run_costs_rows(&b->run);
    for (uint32_t lane = 0; lane < clip_batch_of(b)->n_sequences; lane++) {
        if (b->run.lane[lane].sampler.done) continue;
        if (a->lane[lane].lookup.n && audio_lm_owner(b, lane)) drafts_check(b, lane);
        else {
            lane_look(b, lane);
            audio_lm_draft_learn(b, lane, 0, 0);
        }
    }
    run_costs_end(&b->costs, rows);
    a->goes_on = !a->status && (requests_should_stop(b) || audio_lm_draft_needed(b));
    return !a->status && !a->goes_on && rows_add(b);
}
