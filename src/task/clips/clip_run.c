/* steno: phases of an encoder over clips of several requests, and their benchmarks. SPDX-License-Identifier: MIT */
#include "task/clips/clip_run.h"
#include <string.h>
#include "base/os.h"
#include "task/clips/clip_step.h"

/* ---- phases ------------------------------------------------------------------------------------------------------------------- */

/* Rows in the run of the session whose first window is w; 0: w is not its first window. */
static uint32_t rows_of(const struct clip_batch *c, const struct clip_window *w)
{
    uint32_t n = 0;
    for (const struct clip_window *k = c->window; k < c->window + c->n; k++) {
        if (k < w && k->s == w->s) return 0;
        if (k->s == w->s) n += k->rows.n;
    }
    return n;
}

/* Adds the time of a phase to a session with n of its `all` rows. */
static void phase_charge(steno_session *s, int phase, int64_t ns, uint32_t n, uint32_t all)
{
    *(phase == PHASE_ENCODE ? &s->timings.encode_us : &s->timings.decode_us) += ns * n / all / 1000;
    s->timings.n_wakes++;
    s->timings.n_encodes += phase == PHASE_ENCODE;
    session_share_time(s, PLAN_ENCODER, n, all);
}

/* Cuts the clips of a run into windows of attention, each a sequence with blocks of its own. @return their number */
static uint32_t windows_cut(const struct steno_batch *b)
{
    const struct clip_batch *c = clip_batch_of(b);
    const uint32_t window = (uint32_t)b->model->window_rows;
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n_sequences; i++)
        for (uint32_t at = 0; at < c->sequence[i].n; at += window, n++) {
            const uint32_t left = c->sequence[i].n - at;
            c->cut[n] = sequence_next(n ? &c->cut[n - 1] : NULL, left < window ? left : window, c->sequence[i].lane);
        }
    return n;
}

/* A phase over the clips of a run; `run` is the table of their rows. */
static struct phases phase_of(const struct steno_batch *b, int phase, struct run *run)
{
    const struct clip_batch *c = clip_batch_of(b);
    const struct sequence *last = &c->sequence[c->n_sequences - 1];
    const uint32_t n = c->cut ? windows_cut(b) : c->n_sequences;
    /* the table may also hold tokens beside the frames */
    return (struct phases){ .first = phase, .end = phase + 1, .n_rows = (uint32_t)last->row + last->n, .run = run,
                            .window = c->sequence[0].lane, .sequence = c->cut ? c->cut : c->sequence, .n_sequences = n > 1 ? n : 0,
                            .tokens = c->tokens };
}

int clip_run_draft_phase(struct steno_batch *b, int phase)
{
    const struct phases what = phase_of(b, phase, &b->draft->run);
    struct run_time spent;
    return exec_phases(b->draft->exec, &b->draft->model->plan[PLAN_ENCODER], &what, NULL, &spent);
}

int clip_run_phase(struct steno_batch *b, int phase, steno_session *only)
{
    const struct clip_batch *c = clip_batch_of(b);
    struct run_time spent;
    int profiling = 0;
    for (uint32_t i = 0; i < c->n; i++) profiling |= c->window[i].s && c->window[i].s->profiling;
    if (profiling) memset(b->time, 0, model_ops(b->model) * sizeof *b->time);
    const struct phases what = phase_of(b, phase, &b->run);
    const int rc = exec_phases(b->exec, clip_encoder_of(b), &what, profiling ? b->time : NULL, &spent);
    const int64_t ns = spent.first_ns + spent.rest_ns;
    if (only) phase_charge(only, phase, ns, 1, 1);
    uint32_t all = 0; /* rows of the windows, some of which may not be in this run */
    for (uint32_t i = 0; i < c->n; i++) all += c->window[i].rows.n;
    for (uint32_t i = 0; i < c->n && !only; i++) {
        const uint32_t own = c->window[i].s ? rows_of(c, &c->window[i]) : 0;
        if (own) phase_charge(c->window[i].s, phase, ns, own, all);
    }
    return rc;
}

int clip_run_head(struct steno_batch *b, uint32_t from, uint32_t to, const struct clip_head *h)
{
    struct run *r = &b->run;
    const uint32_t step = clip_encoder_of(b)->max_out;
    const uint16_t flag = h->panels ? ROW_LOGITS : ROW_BEST;
    int rc = STENO_OK;
    r->argmax.panels = h->panels;
    for (uint32_t at = from, end; at < to && !rc; at = end) {
        end = to - at < step ? to : at + step;
        for (uint32_t i = 0; i < r->n_rows; i++) r->row[i].flags = i >= at && i < end ? flag : 0;
        run_prepare(r);
        rc = clip_run_phase(b, h->phase, h->w ? h->w->s : NULL);
        for (uint32_t i = at; h->show && i < end && !rc; i++) {
            const float *logits = exec_logits(b->exec, clip_encoder_of(b), i - at);
            if (logits) h->show(h->w->s, (int)(i - from), logits, &r->argmax.best[i]);
            else rc = STENO_ENOMEM;
        }
    }
    r->argmax.panels = NULL;
    return rc;
}

/* ---- clips outside of the queue ------------------------------------------------------------------------------------------------ */

void clips_begin(struct steno_batch *b)
{
    struct clip_batch *c = clip_batch_of(b);
    c->n = c->n_sequences = c->blocks = 0;
    b->run.n_rows = 0;
}

struct sequence clip_add(struct steno_batch *b, steno_session *s, uint32_t rows)
{
    struct clip_batch *c = clip_batch_of(b);
    const uint16_t lane = (uint16_t)c->n;
    struct sequence at = sequence_next(c->n ? &c->sequence[c->n - 1] : NULL, rows, lane);
    at.block = (uint16_t)c->blocks;
    c->window[c->n] = (struct clip_window){ .s = s, .rows = at };
    c->sequence[c->n] = at;
    c->blocks += clip_blocks(s->model, rows);
    c->n_sequences = ++c->n;
    b->run.lane[lane].argmax_mask = NULL;
    for (uint32_t i = 0; i < rows; i++) run_add(&b->run, 0, (int32_t)i, lane, 0);
    return at;
}

/* ---- benchmarks --------------------------------------------------------------------------------------------------------------- */

/* Adds n samples as the next clip of a run. *fits 0: there is no room for it */
static int clip_read(steno_session *s, int64_t n, int *fits)
{
    struct steno_batch *b = s->batch;
    struct clip_batch *c = clip_batch_of(b);
    struct fbank_stream *r = &clips_of(s)->fbank;
    const struct plan *p = clip_encoder_of(b);
    /* query rows before the rows of the audio */
    const uint32_t before = clips_of(s)->decoder->shares ? 0 : p->max_rows - (uint32_t)s->model->segment_ctx;
    const uint32_t most = c->n ? clip_room(b, s) : p->max_rows;
    const size_t ld = p->slot[p->input].ld;
    const steno_source src = saw_source(&n);
    int has;
    fbank_stream_begin(r, &src, 0, 0);
    const int rc = fbank_stream_gather(r, &has, &s->error);
    const uint32_t rows = !rc && has ? before + (uint32_t)fbank_stream_rows(r) : 0;
    *fits = rows <= most;
    if (rc || rows <= before || (!c->n && !*fits)) return rc ? rc : err_set(&s->error, STENO_EARG, "audio of this length has no rows");
    if (!*fits) return STENO_OK;
    float *x = exec_input(b->exec, p) + clip_add(b, s, rows).row * ld;
    for (uint32_t i = 0; i < before; i++) memset(x + i * ld, 0, p->slot[p->input].width * sizeof *x);
    fbank_stream_clip(r, x + before * ld, ld);
    return STENO_OK;
}

int clip_bench_read(steno_session *s, int64_t n, uint32_t most)
{
    const struct clip_batch *c = clip_batch_of(s->batch);
    int rc = STENO_OK, fits = 1;
    clips_begin(s->batch);
    while (!rc && fits && c->n < most && c->n < s->batch->n_windows) rc = clip_read(s, n, &fits);
    return rc ? rc : (int)c->n;
}

/* Times one phase for a clip of n samples. own may be NULL: features or the encoder. @return nanoseconds, or a status */
static int64_t clip_time(steno_session *s, int64_t n, int arg, int is_features, const struct clip_bench_phase *own)
{
    struct steno_batch *b = s->batch;
    const int64_t *features = &clips_of(s)->fbank.time.features_ns, before = *features; /* excludes the time of the source */
    int rc = clip_bench_read(s, n, 1);
    if (rc < 0 || is_features) return rc < 0 ? rc : *features - before;
    run_prepare(&b->run);
    int64_t t0 = os_now_ns();
    rc = clip_run_phase(b, PHASE_ENCODE, NULL);
    if (!rc && own) {
        t0 = os_now_ns();
        rc = own->run(b, arg);
    }
    return rc ? session_ran(s, b->exec, rc) : os_now_ns() - t0;
}

static int phase_refuse(steno_session *s, const char *phase, const struct clip_bench_phase *own)
{
    char known[80] = "features, encode";
    for (; own->name; own++) {
        strcat(known, ", ");
        strncat(known, own->name, sizeof known - strlen(known) - 3);
    }
    return err_set(&s->error, STENO_EARG, "unknown phase '%s'; known are %s", phase, known);
}

int64_t clip_bench(steno_session *s, const char *phase, int n, const struct clip_bench_phase *own)
{
    const int is_features = !strcmp(phase, "features"), is_first = is_features || !strcmp(phase, "encode");
    const struct clip_bench_phase *all = own;
    while (!is_first && own->name && strcmp(own->name, phase) != 0) own++;
    if (!is_first && !own->name) return phase_refuse(s, phase, all);
    if (is_first) own = NULL;
    if (own && own->is_of_tokens && n > s->model->audio_ctx)
        return err_set(&s->error, STENO_EARG, "at most %d tokens", (int)s->model->audio_ctx);
    int64_t left = (int64_t)(own && own->is_of_tokens ? CLIP_BENCH_S : n) * FBANK_RATE, ns = 0;
    const int64_t most = clips_of(s)->fbank.clip;
    while (left > 0) {
        const int64_t take = left < most ? left : most, took = clip_time(s, take, n, is_features, own);
        if (took < 0) return took;
        ns += took;
        left -= take;
    }
    return ns / 1000;
}
