/* steno: benchmarks of streams that a transducer transcribes. SPDX-License-Identifier: MIT */
#include <string.h>
#include "base/os.h"
#include "task/transducer/transducer_stream.h"

enum { BENCH_ROWS = 56 /* that a benchmark has of each stream */, BENCH_TOKENS = 18 /* in them: four a second */ };

/* A run with the next chunk of each stream: rows of no sound. before: rows of earlier chunks */
static int bench_chunk(steno_session *s, struct stream_state *stream, uint32_t streams, uint32_t chunk, uint32_t before)
{
    struct steno_batch *b = s->batch;
    struct stream_run *c = stream_run_of(b);
    struct clip_batch *clips = &c->lanes.clips;
    const struct plan *p = clip_encoder_of(b);
    const size_t width = row_width(s->model), ld = p->slot[p->input].ld;
    float *x = exec_input(b->exec, p);
    int rc = STENO_OK;
    for (size_t i = 0; i < (size_t)streams * chunk; i++) {
        memset(x + i * ld, 0, (width - 1) * sizeof *x);
        x[i * ld + width - 1] = (float)fbank_bank_of(s->model)->lfr_n; /* frames of the row */
    }
    stream_state_run(b);
    b->run.n_rows = 0;
    clips->n = clips->n_sequences = streams;
    for (uint32_t i = 0; i < streams && !rc; i++) {
        rc = stream_state_take(b, &stream[i], &s->error);
        clips->sequence[i] = sequence_next(i ? &clips->sequence[i - 1] : NULL, chunk, stream[i].lane);
        clips->window[i] = (struct clip_window){ .rows = clips->sequence[i] };
        c->place[stream[i].lane] = (struct run_stream){ before, chunk };
        c->lanes.busy[i] = &c->lanes.lane[i];
        c->lanes.busy[i]->window = &clips->window[i];
        transducer_lane_begin(c->lanes.busy[i], s->model, NULL);
        for (uint32_t r = 0; r < chunk; r++) run_add(&b->run, pieces_of(s)->prompt, (int32_t)r, stream[i].lane, 0);
    }
    b->run.stream = c->place;
    return rc ? rc : transducer_encode(b);
}

/* BENCH_ROWS of each stream in chunks, with their tokens. As in a long stream, a chunk sees all rows that it may. */
static int bench_chunks(steno_session *s, struct stream_state *stream, uint32_t streams, uint32_t chunk)
{
    uint32_t tokens = 0, before = (uint32_t)stream_of(s->model)->behind;
    int rc = STENO_OK;
    for (uint32_t at = chunk; at <= BENCH_ROWS && !rc; at += chunk, before += chunk) {
        const uint32_t due = at * BENCH_TOKENS / BENCH_ROWS;
        rc = bench_chunk(s, stream, streams, chunk, before);
        const int n = (int)(due - tokens), joins = ((int)chunk + TRANSDUCER_AHEAD - 1) / TRANSDUCER_AHEAD;
        if (!rc) rc = transducer_bench(s->batch, streams, n + joins, n);
        tokens = due;
    }
    return rc;
}

static int64_t bench_streams(steno_session *s, uint32_t streams, int chunk)
{
    struct stream_state stream[MAX_WINDOWS] = { 0 };
    int rc = STENO_OK;
    if (chunk > BENCH_ROWS || BENCH_ROWS % chunk || stream_of(s->model)->behind % chunk)
        return err_set(&s->error, STENO_EARG, "chunks of %d rows: %d rows and the %d before them are not whole chunks", chunk, BENCH_ROWS,
                       (int)stream_of(s->model)->behind);
    for (uint32_t i = 0; i < streams; i++) stream[i].copy[STATE_KEYS].newest = (uint32_t)stream_of(s->model)->behind;
    const int64_t t0 = os_now_ns();
    rc = bench_chunks(s, stream, streams, (uint32_t)chunk);
    const int64_t us = (os_now_ns() - t0) / 1000;
    for (uint32_t i = 0; i < streams; i++) {
        stream_state_end(s->batch, &stream[i]);
        stream_state_close(&stream[i]);
    }
    return rc ? session_ran(s, s->batch->exec, rc) : us;
}

int64_t transducer_stream_bench(steno_session *s, const char *phase, int n)
{
    if (!strcmp(phase, "stream")) return bench_streams(s, 1, n);
    if (!strcmp(phase, "streams")) return bench_streams(s, s->batch->n_windows, n);
    return err_set(&s->error, STENO_EARG, "unknown phase '%s'; known are stream, streams", phase);
}
