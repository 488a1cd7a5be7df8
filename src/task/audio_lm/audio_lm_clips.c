/* steno: transcription by an audio language model. SPDX-License-Identifier: MIT
 *
 * A clip passes through the encoder and the adaptor. The first of its rows become part of a prompt, and the language model continues the
 * prompt with the text (Fun-ASR-Nano). Word times come from an additional CTC head, if the model has one: the text is tokenized with the
 * vocabulary of that head and aligned with the encoder's rows, one clip at a time. */
#include <string.h>
#include "engine/batch_loop.h"
#include "model/parts.h"
#include "task/audio_lm/audio_lm_draft.h"
#include "task/clips/clip_run.h"
#include "task/clips/clip_session.h"

/* ---- word times --------------------------------------------------------------------------------------------------------------- */

/* Runs a phase over the rows of one clip, whose table is filled. */
static int align_phase(steno_session *s, int n, uint32_t rows)
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
    const int rc = align_phase(s, PHASE_ENCODE, w->rows.n);
    return rc ? rc : align_phase(s, PHASE_BEST, w->rows.n);
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
        rc = align_phase(s, PHASE_LM_HEAD, n);
        for (uint32_t i = at; i < end && !rc; i++) {
            const float *logits = exec_logits(b->exec, p, i - at);
            if (!logits) rc = STENO_ENOMEM;
            else if (r->argmax.best[i].id >= 0) ctc_words_row(words, (int)i, logits, &r->argmax.best[i]);
        }
    }
    r->argmax.panels = NULL;
    return rc;
}

/* Adds the words of text[n], the text of window w, to the segment, whose text is already stored. If the text cannot be aligned, no words
 * are added. A status. */
static int audio_lm_words_add(steno_session *s, const struct clip_window *w, const char *text, size_t n, struct segment *g)
{
    struct audio_lm_session *a = audio_lm_of(s);
    const struct audio_lm_ctc *c = s->model->part;
    const int row_ms = fbank_row_ms(fbank_bank_of(s->model));
    const struct ctc_alphabet of = { &c->vocab, c->n_ids, c->blank, NULL, s->model };
    buf_clear(&a->ctc_tokens);
    int rc = bpe_encode(s->model->bpe, text, n, &a->ctc_tokens, &s->error);
    if (rc == STENO_EARG) return STENO_OK; /* the CTC head's vocabulary lacks a byte of the text */
    const struct ctc_ids ids = { (const int32_t *)(const void *)a->ctc_tokens.p, (int32_t)(a->ctc_tokens.len / sizeof(int32_t)) };
    if (!rc && a->ctc_tokens.err) rc = err_nomem(&s->error, a->ctc_tokens.len, "times of words");
    if (rc || !ids.n) return rc;
    rc = request_ran(s, read_rows(s, w));
    if (!rc && ctc_words_begin(&a->words, &of, &ids, w->rows.n)) rc = err_nomem(&s->error, a->ctc_tokens.len, "times of words");
    if (!rc) rc = request_ran(s, read_logits(s, w->rows.n));
    if (rc) return rc;
    const struct ctc_clip h = { ids, NULL, (double)w->at / FBANK_RATE, row_ms, 0 };
    return ctc_words_add(&a->words, &h, &s->result, g) ? err_nomem(&s->error, s->result.words.len, "words") : STENO_OK;
}

/* ---- clips -------------------------------------------------------------------------------------------------------------------- */

enum { NEW_IDS = 512 /* ids of a clip's text, unless the request sets a limit; of a long clip half of its rows */ };

/* Sets the limit of a clip's text so that the longest clip and its text fit into the context. */
static int make_room(steno_session *s)
{
    struct audio_lm_session *a = audio_lm_of(s);
    const steno_model *m = s->model;
    const int32_t longest = a->clips.speech.model ? m->segment_ctx : m->audio_ctx;
    const int32_t rows = m->family->audio_lm->rows(longest), n = audio_lm_n_ids(&a->before) + rows + audio_lm_n_ids(&a->behind);
    const int32_t room = m->text_ctx + 1 - n, usual = rows / 2 > NEW_IDS ? rows / 2 : NEW_IDS;
    const int32_t asked = a->clips.request.p.sample_len, want = asked ? asked : usual;
    if (room < 1)
        return err_set(&s->error, STENO_EARG, "the prompt and a clip are up to %d ids and leave no room in a context of %d: give fewer hot "
                       "words, or open the model with more (text_ctx)", (int)n, (int)m->text_ctx);
    a->limit = want < room ? want : room;
    return STENO_OK;
}

static int take(steno_session *s)
{
    struct audio_lm_session *a = audio_lm_of(s);
    const steno_model *m = s->model;
    const steno_transcribe_params *p = &a->clips.request.p;
    const struct audio_lm_options options = { p->language, p->hotwords, p->itn, p->initial_prompt, p->prefix };
    a->forced = language_is_auto(p->language) ? NULL : p->language;
    buf_clear(&a->before);
    buf_clear(&a->behind);
    const int rc = m->family->audio_lm->prompt(m, &options, &a->before, &a->behind, &s->error);
    a->rules = (struct logit_rules){ .n_vocab = m->n_vocab, .eot = m->tokens.eot, .ts_begin = m->n_vocab };
    return rc ? rc : make_room(s);
}

static void begin(steno_session *s)
{
    struct clip_session *c = clips_of(s);
    fbank_stream_clips(&c->fbank, (int64_t)model_window_ms(s->model) * (FBANK_RATE / 1000),
                       (int64_t)c->request.p.chunk_ms * (FBANK_RATE / 1000));
}

/* Passes rows to on_rows while they are still in the executor's memory. */
static int show_rows(struct steno_batch *b)
{
    const struct clip_batch *c = clip_batch_of(b);
    const struct plan *p = clip_encoder_of(b);
    for (uint32_t i = 0; i < c->n; i++) {
        const struct clip_window *w = &c->window[i];
        if (!w->s || !w->rows.n || !clip_rows_requested(w->s)) continue;
        int rc = clip_slot_report(w->s, w, "encoder", p->side_output[AUDIO_LM_ENCODED]);
        if (!rc) rc = clip_slot_report(w->s, w, "adaptor", p->output);
        if (rc) return rc;
    }
    return STENO_OK;
}

static int run(struct steno_batch *b)
{
    int rc = audio_lm_encode(b);
    if (!rc) rc = show_rows(b);
    return rc ? rc : audio_lm_decode(b);
}

/* A name without a code lives as long as the session. */
static const char *other_language(steno_session *s, const char *name)
{
    struct audio_lm_session *a = audio_lm_of(s);
    for (int i = 0; i < a->n_others; i++)
        if (!strcmp(a->other[i], name)) return a->other[i];
    const char *copy = a->n_others < AUDIO_LM_OTHERS ? arena_strdup(&s->arena, name, strlen(name)) : NULL;
    if (copy) a->other[a->n_others++] = copy;
    return copy;
}

/* The code of the language that the model gave, or its name; NULL: none. */
static const char *language_of(steno_session *s)
{
    const struct buf *name = &audio_lm_of(s)->language;
    if (!name->len) return NULL;
    const char *code = language_code(language_find(name->p));
    return code ? code : other_language(s, name->p);
}

static int settle(steno_session *s, const struct clip_window *w)
{
    const struct audio_lm_lane *l = &audio_lm_batch_of(s->batch)->lane[w->rows.lane];
    const struct sampler *p = &s->batch->run.lane[w->rows.lane].sampler;
    struct clip_found found = { .ids = audio_lm_of(s)->ids, .tokens = p->out, .n = p->n, .sum_logprob = p->sum_logprob };
    struct segment g = clip_segment_of(s, w);
    if (l->status) return l->status;
    int rc = audio_lm_text_of(s, p, &found.text, &found.n_text);
    if (rc || !found.n_text) return rc; /* no speech */
    if (clip_all_mute(s, w)) return clip_left_out(s, w, &found, g.start, g.end);
    found.whole = found.text;
    found.n_whole = found.n_text;
    g.attempt = l->best.index;
    g.tags.language = language_of(s);
    if (clips_of(s)->request.p.guards != STENO_GUARDS_OFF) g.flags = l->best.flags;
    rc = clip_segment_add(s, &g, &found);
    if (!rc && clips_of(s)->request.p.word_timestamps) rc = audio_lm_words_add(s, w, found.text, found.n_text, &g);
    return rc ? rc : clip_segment_report(s, &g);
}

const struct clip_decoder audio_lm_clips = { .max_clips = UINT32_MAX, .shares = 1, .take = take, .run = run, .settle = settle,
                                             .begin = begin };
