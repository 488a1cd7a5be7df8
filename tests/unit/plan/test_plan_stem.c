/* steno tests: a stem of chunks as ops. SPDX-License-Identifier: MIT
 *
 * Convolutions over all channels of chunks, the projection and the positions, against the same written out slowly, at every level. */
#include "executor/net.h"
#include "plan/stem.h"

enum { D = 32, MELS = 21, CHANNELS = 24, STACK = 8, FRAMES = 100, CHUNK = 13, COLUMNS = 3, MAX_ROWS = 9 * KV_BLOCK, IN = MELS * STACK };

static struct net_shape const shapes[] = {
    { "tower.conv2d1.weight", { CHANNELS, 1, 3, 3 } }, { "tower.conv2d1.bias", { CHANNELS } },
    { "tower.conv2d2.weight", { CHANNELS, CHANNELS, 3, 3 } }, { "tower.conv2d2.bias", { CHANNELS } },
    { "tower.conv2d3.weight", { CHANNELS, CHANNELS, 3, 3 } }, { "tower.conv2d3.bias", { CHANNELS } },
    { "tower.conv_out.weight", { D, CHANNELS *COLUMNS } },
};

static void fill(struct build *b)
{
    static struct stem_of_chunks const s = { .n_mels = MELS, .channels = CHANNELS, .d = D, .stack = STACK, .frames = FRAMES,
                                             .rows = MAX_ROWS };
    b->plan.output = stem_of_chunks_build(b, &s, "tower");
}

static struct net_desc const desc = { .shape = shapes, .n_shapes = sizeof shapes / sizeof *shapes, .fill = fill, .max_rows = MAX_ROWS,
                                      .scale = 0.4f };

/* ---- written out */

static int half(int n) { return (n - 1) / 2 + 1; }

/* y[o][t][f] = gelu(b + sum of w[o][c][mel][time] x[c][t][f]), stride 2, zeros around the image. */
static void slow_conv(double *y, const double *x, const float *w, const float *b, int channels, int rows, int columns)
{
    for (int o = 0; o < CHANNELS; o++)
        for (int t = 0; t < half(rows); t++)
            for (int f = 0; f < half(columns); f++) {
                double sum = (double)b[o];
                for (int c = 0; c < channels; c++)
                    for (int k = 0; k < 9; k++) {
                        const int i = 2 * t - 1 + k % 3, j = 2 * f - 1 + k / 3;
                        if (i < 0 || i >= rows || j < 0 || j >= columns) continue;
                        sum += (double)w[(o * channels + c) * 9 + k] * x[(c * rows + i) * columns + j];
                    }
                y[(o * half(rows) + t) * half(columns) + f] = sum / 2 * (1 + erf(sum / sqrt(2)));
            }
}

/* The first n rows of a chunk [FRAMES][MELS], whose frames after the last one are zeros. */
static void slow_chunk(struct net *r, double *out, const double *mel, int n)
{
    static double a[CHANNELS * FRAMES * MELS], b[CHANNELS * FRAMES * MELS];
    slow_conv(a, mel, net_find(r, "tower.conv2d1.weight"), net_find(r, "tower.conv2d1.bias"), 1, FRAMES, MELS);
    slow_conv(b, a, net_find(r, "tower.conv2d2.weight"), net_find(r, "tower.conv2d2.bias"), CHANNELS, half(FRAMES), half(MELS));
    slow_conv(a, b, net_find(r, "tower.conv2d3.weight"), net_find(r, "tower.conv2d3.bias"), CHANNELS, half(half(FRAMES)),
              half(half(MELS)));
    const float *w = net_find(r, "tower.conv_out.weight");
    for (int t = 0; t < n; t++)
        for (int o = 0; o < D; o++) {
            const double turn = t * exp(-(o % (D / 2)) * log(10000) / (D / 2 - 1));
            double sum = o < D / 2 ? sin(turn) : cos(turn);
            for (int i = 0; i < CHANNELS * COLUMNS; i++)
                sum += (double)w[o * CHANNELS * COLUMNS + i] * a[(i / COLUMNS * CHUNK + t) * COLUMNS + i % COLUMNS];
            out[t * D + o] = sum;
        }
}

/* ---- the tests */

static int rows_of(int frames) { return frames / FRAMES * CHUNK + (frames % FRAMES + STACK - 1) / STACK; }

static void put_frames(float *in, int frames)
{
    for (int t = 0; t < frames; t++)
        for (int m = 0; m < MELS; m++)
            in[(t / FRAMES * CHUNK + t % FRAMES / STACK) * IN + t % FRAMES % STACK * MELS + m] = net_noise();
}

static void want_rows(struct net *r, double *want, const float *in, int frames)
{
    static double mel[FRAMES * MELS];
    for (int at = 0; at < frames; at += FRAMES) {
        const int n = frames - at < FRAMES ? frames - at : FRAMES;
        const float *chunk = in + at / FRAMES * CHUNK * IN;
        memset(mel, 0, sizeof mel);
        for (int t = 0; t < n; t++)
            for (int m = 0; m < MELS; m++) mel[t * MELS + m] = (double)chunk[t / STACK * IN + t % STACK * MELS + m];
        slow_chunk(r, want + at / FRAMES * CHUNK * D, mel, (n + STACK - 1) / STACK);
    }
}

/* Clips of these numbers of frames in one run, then each alone: as written out, and the same bits. */
static void check_clips(int level, int threads)
{
    static int const frames[] = { 252, 50, 100, 1, 101, 200, 96, 97 };
    enum { N = sizeof frames / sizeof *frames };
    static float in[MAX_ROWS * IN], together[MAX_ROWS * D];
    static double want[MAX_ROWS * D];
    struct sequence s[N];
    struct net r;
    uint32_t rows = 0;
    net_open(&r, &desc, level, threads);
    memset(in, 0, sizeof in);
    for (int i = 0; i < N; i++) {
        s[i] = sequence_next(i ? &s[i - 1] : NULL, (uint32_t)rows_of(frames[i]), (uint16_t)i);
        put_frames(in + rows * IN, frames[i]);
        rows += s[i].n;
    }
    assert_true(rows <= MAX_ROWS);
    net_phases(&r, &(struct phases){ .end = 1, .n_rows = rows, .sequence = s, .n_sequences = N }, in);
    net_output(&r, r.plan.output, together, rows, 1e-4f);
    for (int i = 0; i < N; i++) {
        want_rows(&r, want, in + s[i].row * IN, frames[i]);
        net_near(together + s[i].row * D, want, s[i].n, D, 2e-4, "clip", level);
        net_alone(&r, s[i], in, together);
    }
    net_close(&r);
}

static void test_chunks_equal_the_formula_and_do_not_see_each_other(void **state)
{
    (void)state;
    net_each_level(check_clips);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_chunks_equal_the_formula_and_do_not_see_each_other) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
