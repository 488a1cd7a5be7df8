/* steno: voice activity detection on audio that is pushed. SPDX-License-Identifier: MIT */
#include "task/vad/vad_finder.h"
#include <stdlib.h>
#include <string.h>
#include "engine/batch.h"

struct vad_finder {
    struct arena arena;
    struct steno_batch *batch; /* used by this finder only */
    struct fbank *fbank;
    struct vad_hearing *hearing;
    float *rows; /* [.., fbank_width] features of pieces that are not searched yet */
    struct {
        int64_t rows, samples; /* number of rows; samples pushed up to its end */
    } piece[VAD_FINDER_PIECES];
    int n, at; /* number of pieces, index of the next one */
    int64_t row;
};

static size_t width_of(const struct vad_finder *f)
{
    return (size_t)fbank_width(fbank_bank_of(f->batch->model));
}

/* Number of pieces whose features are computed together. Frames of raw samples are only copied, so they are not gathered. */
int vad_finder_gathers(const struct vad_finder *f)
{
    return team_threads(f->batch->team) > 1 && !fbank_bank_of(f->batch->model)->frame ? VAD_FINDER_PIECES : 1;
}

static int rows_open(struct vad_finder *f, steno_error *e)
{
    fbank_begin(f->fbank);
    const int64_t rows = fbank_rows_for(f->fbank, (int64_t)vad_finder_gathers(f) * FBANK_PUSH, 1) + FBANK_LFR_MAX;
    f->rows = arena_array(&f->arena, (size_t)rows * width_of(f), sizeof *f->rows);
    return f->rows ? STENO_OK : err_nomem(e, (size_t)rows * width_of(f) * sizeof *f->rows, "a search for speech");
}

int vad_finder_open(struct vad_finder **out, const steno_model *m, steno_team *team, steno_error *e)
{
    struct vad_finder *f = calloc(1, sizeof *f);
    *out = NULL;
    if (!f) return err_nomem(e, sizeof *f, "a search for speech");
    arena_init(&f->arena);
    int rc = batch_open(&f->batch, m, team, 1, 1, e);
    if (!rc) rc = fbank_open(&f->fbank, &f->arena, fbank_bank_of(m), team, e);
    if (!rc) rc = rows_open(f, e);
    if (rc) vad_finder_close(f);
    else *out = f;
    return rc;
}

void vad_finder_close(struct vad_finder *f)
{
    if (!f) return;
    fbank_close(f->fbank);
    if (f->batch) f->batch->closed = 1;
    batch_release(f->batch);
    arena_free(&f->arena);
    free(f);
}

const steno_model *vad_finder_model(const struct vad_finder *f)
{
    return f->batch->model;
}

void vad_finder_begin(struct vad_finder *f, struct vad_hearing *h)
{
    f->hearing = h;
    f->n = f->at = 0;
    fbank_begin(f->fbank);
    fbank_mirror(f->fbank, vad_hearing_mirrors(h));
    exec_state_reset(f->batch->exec, 0, 0);
}

/* Runs the n rows in the network's input. */
static int rows_run(struct vad_finder *f, int64_t n, steno_error *e)
{
    const struct plan *p = &f->batch->model->plan[PLAN_ENCODER];
    struct exec *x = f->batch->exec;
    struct run_time spent;
    size_t ld;
    if (!n) return STENO_OK;
    int rc = exec_phases(x, p, &(struct phases){ .end = 1, .n_rows = (uint32_t)n }, NULL, &spent);
    const float *out = rc ? NULL : exec_output(x, p, p->output, 0, (uint32_t)n, &ld);
    if (!rc && !out) rc = STENO_ENOMEM;
    if (rc) return err_set(e, rc, "the voice-activity model could not be run: %s", *x->error.text ? x->error.text : err_status_text(rc));
    vad_hearing_rows(f->hearing, out, ld, (int)n);
    return STENO_OK;
}

static float *input_of(const struct vad_finder *f, size_t *ld)
{
    const struct plan *p = &f->batch->model->plan[PLAN_ENCODER];
    *ld = p->slot[p->input].ld;
    return exec_input(f->batch->exec, p);
}

void vad_finder_front(struct vad_finder *f, const float *pcm, const int64_t *piece, int n)
{
    const int64_t before = fbank_samples(f->fbank);
    int64_t all = 0, rows = 0;
    for (int i = 0; i < n; i++) {
        all += piece[i];
        f->piece[i].rows = fbank_rows_for(f->fbank, all, 0) - rows;
        f->piece[i].samples = before + all;
        rows += f->piece[i].rows;
    }
    fbank_push(f->fbank, pcm, all, f->rows, width_of(f));
    f->n = n;
    f->at = 0;
    f->row = 0;
}

int vad_finder_search(struct vad_finder *f, steno_error *e)
{
    size_t ld;
    float *in = input_of(f, &ld);
    const size_t width = width_of(f);
    const int64_t rows = f->piece[f->at].rows, samples = f->piece[f->at++].samples;
    for (int64_t i = 0; i < rows; i++, f->row++) memcpy(in + (size_t)i * ld, f->rows + (size_t)f->row * width, width * sizeof *in);
    const int rc = rows_run(f, rows, e);
    if (!rc) vad_hearing_heard(f->hearing, samples);
    return rc;
}

int vad_finder_end(struct vad_finder *f, steno_error *e)
{
    size_t ld;
    float *in = input_of(f, &ld);
    const int64_t samples = fbank_samples(f->fbank);
    const int rc = rows_run(f, fbank_end(f->fbank, in, ld), e);
    if (!rc) vad_hearing_end(f->hearing, samples);
    return rc;
}
