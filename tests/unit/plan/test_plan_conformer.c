/* steno tests: a Conformer as ops. SPDX-License-Identifier: MIT
 *
 * Stem, attention with relative positions, gated filters and half steps over clips of unequal lengths, against the same written out slowly,
 * at every level. */
#include "conformer_net.h"

/* ---- written out */

static const float *find(struct net *r, const char *name)
{
    char full[96];
    snprintf(full, sizeof full, "encoder.%s", name);
    return net_find(r, full);
}

static const float *part(struct net *r, const char *name)
{
    char full[96];
    snprintf(full, sizeof full, "layers.0.%s", name);
    return find(r, full);
}

static int half(int n) { return streams ? n / 2 + 1 : (n - 1) / 2 + 1; }

/* 3x3 with stride 2 of an image [channels][rows][columns]: of one channel to n, or of each of n. */
static void slow_square(double *y, const double *x, const float *w, const float *b, int n, int rows, int columns, int each)
{
    const int out_rows = half(rows), out_columns = half(columns), left = streams ? 2 : 1;
    for (int c = 0; c < n; c++)
        for (int t = 0; t < out_rows; t++)
            for (int f = 0; f < out_columns; f++) {
                double sum = (double)b[c];
                for (int k = 0; k < 9; k++) {
                    const int i = 2 * t - left + k / 3, j = 2 * f - left + k % 3;
                    if (i >= 0 && i < rows && j >= 0 && j < columns)
                        sum += (double)w[c * 9 + k] * x[((each ? c : 0) * rows + i) * columns + j];
                }
                y[(c * out_rows + t) * out_columns + f] = sum;
            }
}

static void slow_mix(double *x, const float *w, const float *b, int places)
{
    double y[CHANNELS];
    for (int p = 0; p < places; p++) {
        for (int o = 0; o < CHANNELS; o++) {
            y[o] = (double)b[o];
            for (int c = 0; c < CHANNELS; c++) y[o] += (double)w[o * CHANNELS + c] * x[c * places + p];
        }
        for (int o = 0; o < CHANNELS; o++) x[o * places + p] = fmax(y[o], 0);
    }
}

/* frames x MELS to rows of D. */
static int slow_stem(struct net *r, double *out, const double *x, int frames)
{
    static double a[CHANNELS * MAX_ROWS * 4 * MELS], b[CHANNELS * MAX_ROWS * 4 * MELS];
    const int t1 = half(frames), f1 = half(MELS), t2 = half(t1), f2 = half(f1), t3 = half(t2), f3 = half(f2);
    slow_square(a, x, find(r, "pre_encode.conv.0.weight"), find(r, "pre_encode.conv.0.bias"), CHANNELS, frames, MELS, 0);
    slow_relu(a, CHANNELS * t1 * f1);
    slow_square(b, a, find(r, "pre_encode.conv.2.weight"), find(r, "pre_encode.conv.2.bias"), CHANNELS, t1, f1, 1);
    slow_mix(b, find(r, "pre_encode.conv.3.weight"), find(r, "pre_encode.conv.3.bias"), t2 * f2);
    slow_square(a, b, find(r, "pre_encode.conv.5.weight"), find(r, "pre_encode.conv.5.bias"), CHANNELS, t2, f2, 1);
    slow_mix(a, find(r, "pre_encode.conv.6.weight"), find(r, "pre_encode.conv.6.bias"), t3 * f3);
    assert_int_equal(f3, streams ? COLUMNS_CAUSAL : COLUMNS);
    const float *w = find(r, "pre_encode.out.weight"), *v = find(r, "pre_encode.out.bias");
    for (int t = 0; t < t3; t++)
        for (int o = 0; o < D; o++) {
            double sum = (double)v[o];
            for (int c = 0; c < CHANNELS; c++)
                for (int f = 0; f < f3; f++) sum += (double)w[o * CHANNELS * f3 + c * f3 + f] * a[(c * t3 + t) * f3 + f];
            out[t * D + o] = 2.5 * sum;
        }
    return t3;
}

static double silu(double x) { return x / (1 + exp(-x)); }

static void slow_half_step(struct net *r, double *x, int rows, const char *norm, const char *name)
{
    static double y[MAX_ROWS * D], wide[MAX_ROWS * WIDE];
    char full[64];
    const float *w[6];
    static const char *const what[] = { "linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias" };
    for (int i = 0; i < 4; i++) snprintf(full, sizeof full, "%s.%s", name, what[i]), w[i] = part(r, full);
    snprintf(full, sizeof full, "%s.weight", norm), w[4] = part(r, full);
    snprintf(full, sizeof full, "%s.bias", norm), w[5] = part(r, full);
    slow_norm(y, x, w[4], w[5], 1e-5, rows, D);
    slow_linear(wide, y, w[0], w[1], rows, WIDE, D);
    for (int i = 0; i < rows * WIDE; i++) wide[i] = silu(wide[i]);
    slow_linear(y, wide, w[2], w[3], rows, D, WIDE);
    for (int i = 0; i < rows * D; i++) x[i] += y[i] / 2;
}

static void slow_attn_rel(struct net *r, double *x, int rows)
{
    static double y[MAX_ROWS * D], q[MAX_ROWS * D], k[MAX_ROWS * D], v[MAX_ROWS * D], out[MAX_ROWS * D];
    const float *pos = part(r, "self_attn.linear_pos.weight"), *u = part(r, "self_attn.pos_bias_u"), *w = part(r, "self_attn.pos_bias_v");
    slow_norm(y, x, part(r, "norm_self_att.weight"), part(r, "norm_self_att.bias"), 1e-5, rows, D);
    slow_linear(q, y, part(r, "self_attn.linear_q.weight"), part(r, "self_attn.linear_q.bias"), rows, D, D);
    slow_linear(k, y, part(r, "self_attn.linear_k.weight"), part(r, "self_attn.linear_k.bias"), rows, D, D);
    slow_linear(v, y, part(r, "self_attn.linear_v.weight"), part(r, "self_attn.linear_v.bias"), rows, D, D);
    for (int h = 0; h < HEADS; h++)
        for (int i = 0; i < rows; i++) {
            double p[MAX_ROWS], sum = 0;
            for (int j = 0; j < rows; j++) {
                double e[D], at[D], score = 0;
                for (int m = 0; m < D / 2; m++) {
                    e[2 * m] = sin((i - j) * pow(10000, -2.0 * m / D));
                    e[2 * m + 1] = cos((i - j) * pow(10000, -2.0 * m / D));
                }
                slow_linear(at, e, pos, NULL, 1, D, D);
                for (int d = h * D / HEADS; d < (h + 1) * D / HEADS; d++)
                    score += (q[i * D + d] + (double)u[d]) * k[j * D + d] + (q[i * D + d] + (double)w[d]) * at[d];
                const int chunk = streams ? (int)ahead + 1 : 1, apart = i / chunk - j / chunk;
                const int seen = streams ? apart >= 0 && apart <= (int)behind / chunk
                                         : (int64_t)j >= (int64_t)i - (int64_t)behind && (int64_t)j <= (int64_t)i + (int64_t)ahead;
                sum += p[j] = seen ? exp(score / sqrt(D / HEADS)) : 0;
            }
            for (int d = h * D / HEADS; d < (h + 1) * D / HEADS; d++) {
                out[i * D + d] = 0;
                for (int j = 0; j < rows; j++) out[i * D + d] += p[j] / sum * v[j * D + d];
            }
        }
    slow_linear(y, out, part(r, "self_attn.linear_out.weight"), part(r, "self_attn.linear_out.bias"), rows, D, D);
    for (int i = 0; i < rows * D; i++) x[i] += y[i];
}

static void slow_batch_norm(struct net *r, double *x, const float *g, const float *s, int rows)
{
    const float *mean = part(r, "conv.batch_norm.running_mean"), *var = part(r, "conv.batch_norm.running_var");
    for (int i = 0; i < rows; i++)
        for (int c = 0; c < D; c++) {
            const double variance = (double)var[c] * (double)var[c];
            x[i * D + c] = (x[i * D + c] - (double)mean[c]) / sqrt(variance + 1e-5) * (double)g[c] + (double)s[c];
        }
}

static void slow_conv(struct net *r, double *x, int rows)
{
    static double y[MAX_ROWS * D], wide[MAX_ROWS * 2 * D], out[MAX_ROWS * D];
    const float *w = part(r, "conv.depthwise_conv.weight"), *b = part(r, "conv.depthwise_conv.bias");
    const float *g = part(r, "conv.batch_norm.weight"), *s = part(r, "conv.batch_norm.bias");
    slow_norm(y, x, part(r, "norm_conv.weight"), part(r, "norm_conv.bias"), 1e-5, rows, D);
    slow_linear(wide, y, part(r, "conv.pointwise_conv1.weight"), part(r, "conv.pointwise_conv1.bias"), rows, 2 * D, D);
    for (int i = 0; i < rows; i++)
        for (int c = 0; c < D; c++) y[i * D + c] = wide[i * 2 * D + c] / (1 + exp(-wide[i * 2 * D + D + c]));
    for (int i = 0; i < rows; i++)
        for (int c = 0; c < D; c++) {
            double sum = (double)b[c];
            for (int t = 0; t < TAPS; t++) {
                const int at = i + t - (streams ? TAPS - 1 : TAPS / 2);
                if (at >= 0 && at < rows) sum += (double)w[c * TAPS + t] * y[at * D + c];
            }
            out[i * D + c] = sum;
        }
    if (streams) slow_norm(out, out, g, s, 1e-5, rows, D);
    else slow_batch_norm(r, out, g, s, rows);
    for (int i = 0; i < rows * D; i++) out[i] = silu(out[i]);
    slow_linear(y, out, part(r, "conv.pointwise_conv2.weight"), part(r, "conv.pointwise_conv2.bias"), rows, D, D);
    for (int i = 0; i < rows * D; i++) x[i] += y[i];
}

static int slow_clip(struct net *r, double *x, const double *mel, int frames)
{
    const int rows = slow_stem(r, x, mel, frames);
    slow_half_step(r, x, rows, "norm_feed_forward1", "feed_forward1");
    slow_attn_rel(r, x, rows);
    slow_conv(r, x, rows);
    slow_half_step(r, x, rows, "norm_feed_forward2", "feed_forward2");
    slow_norm(x, x, part(r, "norm_out.weight"), part(r, "norm_out.bias"), 1e-5, rows, D);
    return rows;
}

/* ---- the tests */

/* Clips of these numbers of frames in one run, then each alone: as written out, and the same bits. */
static void check_clips(int level, int threads)
{
    static int const frames[] = { 1, 9, 8, 300, 131 };
    enum { N = sizeof frames / sizeof *frames };
    static float in[MAX_ROWS * IN], together[MAX_ROWS * D];
    static double mel[MAX_ROWS * STACK * MELS], want[MAX_ROWS * D];
    struct sequence s[N];
    struct net r;
    uint32_t rows = 0;
    net_open(&r, &desc, level, threads);
    memset(in, 0, sizeof in);
    for (int i = 0; i < N; i++) {
        const uint32_t n = (uint32_t)(frames[i] + STACK - 1) / STACK;
        s[i] = sequence_next(i ? &s[i - 1] : NULL, n, (uint16_t)i);
        for (int t = 0; t < frames[i]; t++)
            for (int m = 0; m < MELS; m++) in[(rows + (uint32_t)(t / STACK)) * IN + (uint32_t)(t % STACK * MELS + m)] = net_noise();
        for (uint32_t k = 0; k < n; k++) in[(rows + k) * IN + IN - 1] = k + 1 < n ? STACK : (float)(frames[i] - (int)k * STACK);
        rows += n;
    }
    assert_true(rows <= MAX_ROWS);
    net_phases(&r, &(struct phases){ .end = 1, .n_rows = rows, .sequence = s, .n_sequences = N }, in);
    net_output(&r, r.plan.output, together, rows, 1e-4f);
    for (int i = 0; i < N; i++) {
        for (int t = 0; t < frames[i]; t++)
            for (int m = 0; m < MELS; m++) mel[t * MELS + m] = (double)in[(s[i].row + t / STACK) * IN + t % STACK * MELS + m];
        assert_int_equal(slow_clip(&r, want, mel, frames[i]), s[i].n);
        net_near(together + s[i].row * D, want, s[i].n, D, 2e-4, "clip", level);
        net_alone(&r, s[i], in, together);
    }
    net_close(&r);
}

static void test_clips_of_unequal_lengths_equal_the_formula(void **state)
{
    (void)state;
    behind = ahead = SIGHT_ALL;
    net_each_level(check_clips);
}

static void test_rows_see_keys_within_limits_only(void **state)
{
    (void)state;
    static uint32_t const limit[][2] = { { 3, 5 }, { 6, 0 }, { 0, 100 } };
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++) {
        behind = limit[i][0];
        ahead = limit[i][1];
        net_each_level(check_clips);
    }
}

/* ---- streams */

enum { STREAMS = 3, STREAM_ROWS = 40 };

/* A stream of frames as rows: the first ends with frame 0. */
struct stream { int frames; uint32_t n, done; float in[STREAM_ROWS * IN]; double want[STREAM_ROWS * D]; float whole[STREAM_ROWS * D]; };

static void stream_fill(struct net *r, struct stream *t, int frames)
{
    static double mel[STREAM_ROWS * STACK * MELS];
    *t = (struct stream){ .frames = frames, .n = (uint32_t)(frames + 2 * STACK - 2) / STACK };
    assert_true(t->n <= STREAM_ROWS);
    for (int f = 0; f < frames; f++)
        for (int m = 0; m < MELS; m++) {
            float *at = &t->in[(f + STACK - 1) / STACK * IN + (f + STACK - 1) % STACK * MELS + m];
            *at = net_noise();
            mel[f * MELS + m] = (double)*at;
        }
    for (uint32_t i = 0; i < t->n; i++) t->in[i * IN + IN - 1] = i + 1 < t->n ? STACK : (float)(frames + STACK - 1 - (int)i * STACK);
    assert_int_equal(slow_clip(r, t->want, mel, frames), t->n);
}

/* Runs the next rows of each stream: of stream i `most[i]`, or what is left. Their outputs equal those of the whole stream. */
static void streams_step(struct net *r, struct stream *all, const uint32_t *most, int both)
{
    static float in[STREAMS * STREAM_ROWS * IN], out[STREAMS * STREAM_ROWS * D];
    struct sequence s[STREAMS];
    struct run_stream at[STREAMS];
    uint32_t n = 0, rows = 0;
    for (uint16_t i = 0; i < STREAMS; i++) {
        struct stream *t = &all[i];
        const uint32_t left = t->n - t->done, some = left < most[i] ? left : most[i];
        at[i] = (struct run_stream){ t->done, ahead + 1 };
        if (!some) continue;
        s[n] = sequence_next(n ? &s[n - 1] : NULL, some, i);
        memcpy(in + rows * IN, t->in + t->done * IN, some * IN * sizeof *in);
        rows += some;
        n++;
    }
    if (!n) return;
    r->run.stream = at;
    const struct phases what = { .end = 1, .n_rows = rows, .run = &r->run, .window = s[0].lane, .sequence = s, .n_sequences = n };
    if (both) {
        net_phases(r, &what, in);
        net_output(r, r->plan.output, out, rows, 1e-4f);
    } else {
        net_exec(r->exec, &r->plan, &what, in);
        net_read(r->exec, &r->plan, r->plan.output, out, rows);
    }
    for (uint32_t k = 0; k < n; k++) {
        struct stream *t = &all[s[k].lane];
        float *to = t->whole + t->done * D;
        const size_t sz = s[k].n * D * sizeof *to;
        if (s[k].n == t->n) memcpy(to, out + s[k].row * D, sz);
        else if (memcmp(to, out + s[k].row * D, sz) != 0) fail_msg("stream %u differs from row %u on", s[k].lane, t->done);
        t->done += s[k].n;
    }
}

static void streams_reset(struct net *r, struct stream *all)
{
    for (uint32_t lane = 0; lane < STREAMS; lane++) {
        all[lane].done = 0;
        for (int i = IMAGE; i <= KEYS; i++) exec_state_reset(r->exec, i, lane), exec_state_reset(r->other, i, lane);
    }
}

/* Streams as written out; then in runs of chunks, alone and beside each other: the same bits. */
static void check_streams(int level, int threads)
{
    static int const frames[STREAMS] = { 257, 1, 130 };
    static uint32_t const whole[STREAMS][STREAMS] = { { 99, 0, 0 }, { 0, 99, 0 }, { 0, 0, 99 } };
    static struct stream all[STREAMS];
    const uint32_t chunk = ahead + 1, steps[][STREAMS] = { { chunk, chunk, chunk }, { 2 * chunk, chunk, chunk }, { 0, chunk, 3 * chunk } };
    const struct state_desc states[] = {
        [IMAGE] = { .name = "image", .kind = STATE_SHIFT, .layers = 1, .heads = 1, .d_head = IN, .positions = 1 },
        [ROWS] = { .name = "rows", .kind = STATE_SHIFT, .layers = 1, .heads = 1, .d_head = D, .positions = TAPS - 1 },
        [KEYS] = { .name = "keys", .kind = STATE_SHIFT, .layers = 1, .heads = 2, .d_head = D, .positions = behind + STREAM_ROWS,
                   .window = behind },
    };
    struct net_desc d = desc;
    struct net r;
    d.state = states;
    d.n_states = 3;
    net_open(&r, &d, level, threads);
    const struct phases long_one = { .end = 1, .n_rows = STREAM_ROWS + 1, .run = &r.run };
    struct run_time spent;
    assert_int_equal(exec_phases(r.exec, &r.plan, &long_one, NULL, &spent), STENO_EARG); /* more keys than the state holds */
    for (int i = 0; i < STREAMS; i++) stream_fill(&r, &all[i], frames[i]);
    streams_reset(&r, all);
    for (int i = 0; i < STREAMS; i++) {
        streams_step(&r, all, whole[i], 1);
        net_near(all[i].whole, all[i].want, all[i].n, D, 2e-4, "stream", level);
    }
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        streams_reset(&r, all);
        for (int k = 0; k < STREAM_ROWS; k++) streams_step(&r, all, steps[i], i == 1);
    }
    net_close(&r);
}

static void test_streams_in_runs_of_chunks_equal_whole_ones(void **state)
{
    (void)state;
    static uint32_t const limit[][2] = { { 8, 3 }, { 6, 0 }, { 6, 1 }, { 0, 6 } };
    streams = 1;
    shapes[COLUMNS_SHAPE].dim[1] = CHANNELS * COLUMNS_CAUSAL;
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++) {
        behind = limit[i][0];
        ahead = limit[i][1];
        net_each_level(check_streams);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clips_of_unequal_lengths_equal_the_formula),
        cmocka_unit_test(test_rows_see_keys_within_limits_only),
        cmocka_unit_test(test_streams_in_runs_of_chunks_equal_whole_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
