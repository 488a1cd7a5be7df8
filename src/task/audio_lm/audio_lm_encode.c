/* steno: the rows of clips for an audio language model. SPDX-License-Identifier: MIT
 *
 * A turn of live speech is encoded pass after pass while it grows. If attention stays within windows, a window whose features have the same
 * bits as in the run before has the same rows, too: they are copied, and the encoder runs on the rest. All features change when the loudest
 * sound of a clip gets louder. */
#include <string.h>
#include "engine/batch.h"
#include "model/parts.h"
#include "task/audio_lm/audio_lm_draft.h"
#include "task/clips/clip_run.h"

/* ---- windows of the run before ----------------------------------------------------------------------------------------------- */

size_t audio_lm_kept_rows(const steno_model *m)
{
    enum { MOST = 1040 };
    if (!m->window_rows || !m->family->audio_lm->has_context || audio_lm_has_ctc(m)) return 0; /* a CTC head reads all rows */
    return m->segment_ctx < MOST ? (size_t)m->segment_ctx : MOST;
}

/* Floats of a row of features. */
static size_t width_of(const struct steno_batch *b)
{
    return clip_encoder_of(b)->slot[clip_encoder_of(b)->input].width;
}

static const float *features_of(struct steno_batch *b, uint32_t row)
{
    const struct plan *p = clip_encoder_of(b);
    return exec_input(b->exec, p) + (size_t)row * p->slot[p->input].ld;
}

/* Do rows [at, at + n) of a clip have the features that its lane kept? */
static int is_same(struct steno_batch *b, const struct sequence *s, uint32_t at, uint32_t n)
{
    const struct audio_lm_batch *a = audio_lm_batch_of(b);
    const size_t width = width_of(b);
    const float *kept = a->kept + (size_t)(a->lane[s->lane].kept.row + at) * width;
    for (uint32_t i = 0; i < n; i++)
        if (memcmp(features_of(b, s->row + at + i), kept + i * width, width * sizeof *kept) != 0) return 0;
    return 1;
}

/* Rows at the beginning of a clip that the run before has computed. */
static uint32_t rows_known(struct steno_batch *b, const struct sequence *s)
{
    const struct audio_lm_batch *a = audio_lm_batch_of(b);
    const struct audio_lm_lane *l = &a->lane[s->lane];
    const uint32_t window = (uint32_t)b->model->window_rows;
    uint32_t at = 0;
    if (!a->kept || l->kept.run != a->run - 1 || l->held.run != a->run - 1) return 0;
    while (at < s->n) {
        const uint32_t left = s->n - at, n = left < window ? left : window;
        const int is_there = n == window ? at + n <= l->kept.n : s->n == l->kept.n && s->n == (uint32_t)l->held.n;
        if (!is_there || !is_same(b, s, at, n)) break;
        at += n;
    }
    return at;
}

/* Keeps the features of the run's clips, as far as there is room. */
static void features_keep(struct steno_batch *b)
{
    const struct clip_batch *c = clip_batch_of(b);
    struct audio_lm_batch *a = audio_lm_batch_of(b);
    const size_t width = width_of(b);
    uint32_t row = 0, room = (uint32_t)audio_lm_kept_rows(b->model);
    for (uint32_t i = 0; a->kept && i < c->n_sequences; i++) {
        const struct sequence *s = &c->sequence[i];
        const uint32_t n = s->n <= room ? s->n : room / (uint32_t)b->model->window_rows * (uint32_t)b->model->window_rows;
        for (uint32_t k = 0; k < n; k++)
            memcpy(a->kept + (size_t)(row + k) * width, features_of(b, s->row + k), width * sizeof *a->kept);
        a->lane[s->lane].kept.row = row;
        a->lane[s->lane].kept.n = n;
        a->lane[s->lane].kept.run = a->run;
        row += n;
        room -= n;
    }
}

/* ---- the encoder ------------------------------------------------------------------------------------------------------------- */

/* A clip of the run, whose first rows are known: the others are rows of a shorter run. */
struct clip_part { uint32_t known; struct sequence rest; };

/* Copies rows [from, from + n) of a slot to the rows of `to` from number `at` on. */
static int copy_rows(struct steno_batch *b, uint16_t slot, float *to, uint32_t at, uint32_t from, uint32_t n)
{
    const struct plan *p = clip_encoder_of(b);
    const size_t d = p->slot[slot].width;
    size_t ld;
    const float *x = n ? exec_output(b->exec, p, slot, from, n, &ld) : to;
    for (uint32_t r = 0; x && r < n; r++) memcpy(to + (at + r) * d, x + r * ld, d * sizeof *x);
    return x ? STENO_OK : STENO_ENOMEM;
}

static int needs_words(const struct steno_batch *b)
{
    const struct clip_batch *c = clip_batch_of(b);
    int needed = 0;
    for (uint32_t i = 0; i < c->n; i++) needed |= c->window[i].s && clips_of(c->window[i].s)->request.p.word_timestamps;
    return needed;
}

/* Copies the rows for the prompts and for the word times, because the decoder reuses their memory. */
static int keep_rows(struct steno_batch *b, const struct clip_part *part)
{
    const struct clip_batch *c = clip_batch_of(b);
    const struct audio_lm_batch *a = audio_lm_batch_of(b);
    const struct plan *p = clip_encoder_of(b);
    const int words = needs_words(b);
    const size_t d = audio_lm_width(b->model);
    int rc = STENO_OK;
    for (uint32_t i = 0; i < c->n_sequences && !rc; i++) {
        const struct sequence *s = &c->sequence[i];
        const uint32_t known = part[i].known, n = (uint32_t)b->model->family->audio_lm->rows(s->n);
        if (known) memcpy(a->rows + s->row * d, a->lane[s->lane].held.row, known * d * sizeof *a->rows);
        rc = copy_rows(b, p->output, a->rows, s->row + known, part[i].rest.row, n - known);
        if (!rc && words) rc = copy_rows(b, p->side_output[AUDIO_LM_ENCODED], a->encoded, s->row, s->row, s->n);
    }
    return rc;
}

/* Moves the features of rows that are not known to the front, where they are the clips of a shorter run. @return the number of clips */
static uint32_t parts_move(struct steno_batch *b, const struct clip_part *part, struct sequence *rest)
{
    const struct clip_batch *c = clip_batch_of(b);
    const struct plan *p = clip_encoder_of(b);
    const size_t ld = p->slot[p->input].ld;
    float *x = exec_input(b->exec, p);
    uint32_t n = 0;
    b->run.n_rows = 0;
    for (uint32_t i = 0; i < c->n_sequences; i++) {
        const struct sequence *s = &part[i].rest;
        if (!s->n) continue;
        memmove(x + s->row * ld, x + (c->sequence[i].row + part[i].known) * ld, s->n * ld * sizeof *x);
        for (uint32_t k = 0; k < s->n; k++) run_add(&b->run, 0, (int32_t)k, s->lane, 0);
        rest[n++] = *s;
    }
    return n;
}

/* Finds what is known of each clip, unless callers ask for all rows. */
static void parts_find(struct steno_batch *b, struct clip_part *part)
{
    const struct clip_batch *c = clip_batch_of(b);
    const struct sequence *last = NULL;
    int all = 0;
    audio_lm_batch_of(b)->n_known = 0;
    for (uint32_t i = 0; i < c->n; i++) all |= c->window[i].s && clip_rows_requested(c->window[i].s);
    for (uint32_t i = 0; i < c->n_sequences; i++) {
        const struct sequence *s = &c->sequence[i];
        part[i].known = all ? 0 : rows_known(b, s);
        part[i].rest = sequence_next(last, s->n - part[i].known, s->lane);
        last = &part[i].rest;
        audio_lm_batch_of(b)->n_known += part[i].known;
    }
}

static int phases_run(struct steno_batch *b)
{
    run_prepare(&b->run);
    const int rc = clip_run_phase(b, PHASE_ENCODE, NULL);
    return rc ? rc : clip_run_phase(b, PHASE_ADAPT, NULL);
}

/* Runs the encoder on what is not known. */
static int rest_run(struct steno_batch *b, const struct clip_part *part)
{
    struct sequence rest[MAX_WINDOWS];
    struct clip_batch *c = clip_batch_of(b), all = *c;
    c->n_sequences = parts_move(b, part, rest);
    c->sequence = rest;
    const int rc = c->n_sequences ? phases_run(b) : STENO_OK;
    c->sequence = all.sequence;
    c->n_sequences = all.n_sequences;
    return rc;
}

int audio_lm_encode(struct steno_batch *b)
{
    struct audio_lm_batch *a = audio_lm_batch_of(b);
    struct clip_part part[MAX_WINDOWS];
    if (a->earlier) {
        float *const earlier = a->rows;
        a->rows = a->earlier;
        a->earlier = earlier;
    }
    a->run++;
    int rc = audio_lm_draft_encode(b);
    parts_find(b, part);
    features_keep(b);
    if (!rc) rc = a->n_known ? rest_run(b, part) : phases_run(b);
    return rc ? rc : keep_rows(b, part);
}
