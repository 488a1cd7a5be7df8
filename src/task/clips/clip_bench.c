/* steno: benchmarks of single phases of clip transcription. SPDX-License-Identifier: MIT */
#include "task/clips/clip_bench.h"
#include <string.h>
#include "base/os.h"
#include "task/clips/clip_run.h"

/* Prepares n samples as the only clip of a run. */
static int clip_hear(steno_session *s, int64_t n)
{
    struct steno_batch *b = s->batch;
    struct clip_batch *c = clip_batch_of(b);
    struct fbank_stream *r = &clips_of(s)->fbank;
    const struct plan *p = clip_encoder_of(b);
    /* query rows before the rows of the audio */
    const uint32_t before = clips_of(s)->decoder->shares ? 0 : p->max_rows - (uint32_t)s->model->segment_ctx;
    const size_t ld = p->slot[p->input].ld;
    const steno_source src = saw_source(&n);
    int has;
    fbank_stream_begin(r, &src, 0, 0);
    const int rc = fbank_stream_hear(r, &has, &s->error);
    const uint32_t rows = !rc && has ? before + (uint32_t)fbank_stream_rows(r) : 0;
    if (rc || rows <= before || rows > p->max_rows) return rc ? rc : err_set(&s->error, STENO_EARG, "so much audio has no rows");
    float *x = exec_input(b->exec, p);
    for (uint32_t i = 0; i < before; i++) memset(x + i * ld, 0, p->slot[p->input].width * sizeof *x);
    fbank_stream_clip(r, x + before * ld, ld);
    c->n = c->n_sequences = 1;
    c->window[0] = (struct clip_window){ .s = s, .rows = sequence_next(NULL, rows, 0) };
    c->sequence[0] = c->window[0].rows;
    b->run.n_rows = 0;
    b->run.lane[0].argmax_mask = NULL;
    for (uint32_t i = 0; i < rows; i++) run_add(&b->run, 0, (int32_t)i, 0, 0);
    return STENO_OK;
}

/* Times one phase for a clip of n samples. own may be NULL: features or the encoder. @return nanoseconds, or a status */
static int64_t clip_time(steno_session *s, int64_t n, int told, int is_features, const struct clip_bench_phase *own)
{
    struct steno_batch *b = s->batch;
    const int64_t *features = &clips_of(s)->fbank.time.features_ns, before = *features; /* excludes the time of the source */
    int rc = clip_hear(s, n);
    if (rc || is_features) return rc ? rc : *features - before;
    run_prepare(&b->run);
    int64_t t0 = os_now_ns();
    rc = clip_run_phase(b, PHASE_ENCODE, NULL);
    if (!rc && own) {
        t0 = os_now_ns();
        rc = own->run(b, told);
    }
    return rc ? session_ran(s, b->exec, rc) : os_now_ns() - t0;
}

static int refuse(steno_session *s, const char *phase, const struct clip_bench_phase *own)
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
    if (!is_first && !own->name) return refuse(s, phase, all);
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
