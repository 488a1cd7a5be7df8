/* steno tests: beam search of a transducer. SPDX-License-Identifier: MIT
 *
 * A network without weights: logits are a function of the row and the text. The reference is the sum over all alignments. */
#include <math.h>
#include "harness.h"
#include "search/transducer_beam.h"
#include "toy_vocab.h"

enum { BLANK = 2, IDS = BLANK + 1, DURATIONS_MAX = 4, TEXTS_MAX = 4096, LEN_MAX = 12 };

struct network { uint32_t seed; struct transducer_shape of; float sharp; int32_t n_rows; };
struct text { int32_t n, ids[LEN_MAX]; };

static float noise_of(uint32_t h)
{
    h = (h ^ h >> 16) * 0x7feb352du;
    h = (h ^ h >> 15) * 0x846ca68bu;
    return (float)((h ^ h >> 16) & 0xffffff) / 0x1000000 - 0.5f;
}

static void logits_of(const struct network *w, int32_t row, const struct text *t, float *x)
{
    uint32_t h = w->seed * 2654435761u + (uint32_t)row * 40503u;
    for (int32_t i = 0; i < t->n; i++) h = h * 31 + (uint32_t)t->ids[i] + 7;
    for (int32_t i = 0; i < IDS + w->of.n_durations; i++) x[i] = w->sharp * noise_of(h * 131 + (uint32_t)i);
}

static double sum_of(const float *x, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++) sum += exp((double)x[i]);
    return log(sum);
}

/* ---- all alignments */

static struct { struct text t; double p; } all[TEXTS_MAX];
static int n_all;

static void all_add(const struct text *t, double p)
{
    for (int i = 0; i < n_all; i++)
        if (all[i].t.n == t->n && !memcmp(all[i].t.ids, t->ids, (size_t)t->n * sizeof *t->ids)) {
            all[i].p += p;
            return;
        }
    assert_true(n_all < TEXTS_MAX);
    all[n_all].t = *t;
    all[n_all++].p = p;
}

static void visit(const struct network *w, int32_t row, int32_t here, const struct text *t, double p)
{
    float x[IDS + DURATIONS_MAX];
    if (row >= w->n_rows) {
        all_add(t, p);
        return;
    }
    logits_of(w, row, t, x);
    const double ids = sum_of(x, IDS), durations = w->of.n_durations ? sum_of(x + IDS, w->of.n_durations) : 0;
    for (int32_t id = 0; id < IDS; id++)
        for (int32_t d = 0; d < (w->of.n_durations ? w->of.n_durations : 1); d++) {
            const double q = p * exp((double)x[id] - ids + (w->of.n_durations ? (double)x[IDS + d] - durations : 0));
            const int32_t rows = w->of.n_durations ? w->of.duration[d] : 0;
            struct text more = *t;
            if (id < BLANK) more.ids[more.n++] = id;
            if (id == BLANK) visit(w, row + (rows ? rows : 1), 0, t, q);
            else if (rows) visit(w, row + rows, 0, &more, q);
            else if (here + 1 < w->of.max_symbols) visit(w, row, here + 1, &more, q);
            else visit(w, row + 1, 0, &more, q);
        }
}

static void find_all(const struct network *w)
{
    const struct text none = { 0 };
    n_all = 0;
    visit(w, 0, 0, &none, 1);
}

/* ---- the search */

/* The text of each slot stands for the state of a network. */
static int search(struct transducer_beam *b, const struct network *w, int width)
{
    static struct text slot[BEAM_SLOTS];
    int n, steps = 0;
    b->of = w->of;
    b->width = width;
    transducer_beam_begin(b, w->n_rows);
    while ((n = transducer_beam_next(b)) > 0) {
        struct text t[RUN_BEAMS];
        assert_true(n <= width);
        for (int i = 0; i < n; i++) {
            const struct beam_text *h = &b->here[i];
            t[i] = slot[h->from];
            if (h->pending < 0) continue;
            if (h->pending == BLANK) t[i].n = 0;
            else t[i].ids[t[i].n++] = h->pending;
            assert_in_range(h->to, 0, transducer_beam_slots(width) - 1);
        }
        for (int i = 0; i < n; i++)
            if (b->here[i].pending >= 0) slot[b->here[i].to] = t[i];
        for (int i = 0; i < n; i++) {
            float x[IDS + DURATIONS_MAX];
            assert_int_equal(b->here[i].row, b->here[0].row);
            logits_of(w, b->here[i].row, &t[i], x);
            transducer_beam_feed(b, i, &(struct joint_logits){ x, sum_of(x, IDS) });
        }
        steps++;
    }
    int in_use = 0;
    for (int i = 0; i < BEAM_SLOTS; i++) in_use += b->users[i];
    assert_int_equal(in_use, b->n_pool); /* each text left refers to one slot */
    return steps;
}

static struct text text_at(const struct transducer_beam *b, int place, double *logprob)
{
    struct buf tokens = { 0 }, logprobs = { 0 };
    struct text t = { transducer_beam_end(b, place, &tokens, &logprobs, logprob), { 0 } };
    const struct transducer_token *token = (const struct transducer_token *)(const void *)tokens.p;
    for (int32_t i = 0; i < t.n; i++) {
        t.ids[i] = token[i].id;
        assert_in_range(token[i].row, i ? token[i - 1].row + token[i - 1].duration : 0, b->n_rows - 1);
        assert_true(((const float *)(const void *)logprobs.p)[i] <= 0);
    }
    buf_free(&tokens);
    buf_free(&logprobs);
    return t;
}

static double probability_of(const struct text *t)
{
    for (int i = 0; i < n_all; i++)
        if (all[i].t.n == t->n && !memcmp(all[i].t.ids, t->ids, (size_t)t->n * sizeof *t->ids)) return all[i].p;
    fail_msg("a text that no alignment has");
    return 0;
}

static int32_t const durations[] = { 0, 1, 2 }, long_durations[] = { 1, 2, 4 };
static const struct network networks[] = {
    { 0, { BLANK, 2, NULL, 0 }, 4, 2 },             /* RNN-T */
    { 0, { BLANK, 2, durations, 3 }, 4, 2 },        /* TDT */
    { 0, { BLANK, 3, long_durations, 3 }, 6, 4 },
};
enum { N_NETWORKS = sizeof networks / sizeof *networks, SEEDS = 40 };

static void test_a_beam_for_all_texts_has_the_sums_over_all_alignments(void **state)
{
    static struct transducer_beam b;
    (void)state;
    for (int k = 0; k < N_NETWORKS; k++)
        for (uint32_t seed = 1; seed <= SEEDS; seed++) {
            struct network w = networks[k];
            double logprob, sum = 0, before = 0;
            w.seed = seed;
            find_all(&w);
            assert_in_range(n_all, 7, RUN_BEAMS - 1);
            search(&b, &w, RUN_BEAMS);
            assert_int_equal(b.n_pool, n_all);
            for (int i = 0; i < n_all; i++) {
                const struct text t = text_at(&b, i, &logprob);
                if (fabs(exp(logprob) - probability_of(&t)) > 1e-9)
                    fail_msg("network %d, seed %u, rank %d: %.12g, want %.12g", k, seed, i, exp(logprob), probability_of(&t));
                assert_true(logprob <= before);
                before = logprob;
                sum += exp(logprob);
            }
            assert_true(fabs(sum - 1) < 1e-9);
            transducer_beam_close(&b);
        }
}

/* A narrow beam leaves alignments out, so its sums are lower bounds. */
static void test_narrow_beams_find_the_best_text_of_longer_audio(void **state)
{
    static struct transducer_beam b;
    int found[2] = { 0 }, n = 0;
    (void)state;
    for (int k = 0; k < N_NETWORKS; k++)
        for (uint32_t seed = 1; seed <= SEEDS; seed++, n++) {
            struct network w = networks[k];
            double logprob, best = 0;
            w.seed = seed;
            w.sharp = 10;
            w.n_rows = 4;
            find_all(&w);
            for (int i = 0; i < n_all; i++) best = all[i].p > best ? all[i].p : best;
            for (int wide = 0; wide < 2; wide++) {
                search(&b, &w, wide ? 8 : 2);
                const struct text t = text_at(&b, 0, &logprob);
                assert_true(exp(logprob) <= probability_of(&t) + 1e-9);
                found[wide] += probability_of(&t) >= best - 1e-12;
                transducer_beam_close(&b);
            }
        }
    if (found[0] < n * 8 / 10 || found[1] < n * 95 / 100) fail_msg("of %d best texts %d and %d are found", n, found[0], found[1]);
}

static void test_logits_that_are_no_numbers_end_in_the_texts_before(void **state)
{
    static struct transducer_beam b;
    const float x[IDS] = { NAN, NAN, NAN };
    double logprob;
    struct buf tokens = { 0 }, logprobs = { 0 };
    (void)state;
    b.of = networks[0].of;
    b.width = 4;
    transducer_beam_begin(&b, 3);
    assert_int_equal(transducer_beam_next(&b), 1);
    transducer_beam_feed(&b, 0, &(struct joint_logits){ x, (double)NAN });
    for (int n; /* each row counts as blank */ (n = transducer_beam_next(&b)) > 0;)
        for (int i = 0; i < n; i++) transducer_beam_feed(&b, i, &(struct joint_logits){ x, (double)NAN });
    assert_int_equal(transducer_beam_end(&b, 0, &tokens, &logprobs, &logprob), 0);
    assert_int_equal(transducer_beam_end(&b, 1, &tokens, &logprobs, &logprob), -1);
    transducer_beam_close(&b);
}

/* One row with at most one token. */
static void test_hot_words_leave_blank_as_it_is_and_share_the_rest_by_their_pushes(void **state)
{
    enum { N = 400, WIDTH = 8 };
    static struct transducer_beam b;
    struct toy toy = TOY(" Ku", "Ku", "er", "ne", " a", " P", "st");
    struct hotwords *h;
    struct bpe *bpe;
    steno_error e;
    float x[N], pushed[N];
    double logprob;
    struct network w = { .seed = 3 };
    (void)state;
    const int32_t blank = toy.v.n;
    assert_true(blank < N && !bpe_open(&bpe, &toy.v, NULL));
    if (hotwords_open(&h, "Kune\na", bpe, &e)) fail_msg("%s", e.text);
    for (int32_t id = 0; id <= blank; id++) x[id] = pushed[id] = 6 * noise_of(w.seed * 77 + (uint32_t)id);
    x[blank] = pushed[blank] = 5;
    hotwords_push(h, pushed, NULL, 0, 6);
    const double whole = sum_of(x, blank + 1), tokens = sum_of(x, blank), after = sum_of(pushed, blank);
    assert_true(after > tokens + 0.1);
    b.of = (struct transducer_shape){ blank, 1, NULL, 0 };
    b.width = WIDTH;
    b.hot = h;
    b.boost = 6;
    transducer_beam_begin(&b, 1);
    assert_int_equal(transducer_beam_next(&b), 1);
    transducer_beam_feed(&b, 0, &(struct joint_logits){ x, whole });
    assert_int_equal(transducer_beam_next(&b), 0);
    int n_hot = 0;
    for (int i = 0; i < WIDTH; i++) {
        const struct text t = text_at(&b, i, &logprob);
        const double want = t.n ? (double)pushed[t.ids[0]] - after + tokens - whole : 5 - whole;
        if (fabs(logprob - want) > 1e-5) fail_msg("rank %d: %g, want %g", i, logprob, want);
        n_hot += t.n && pushed[t.ids[0]] > x[t.ids[0]];
    }
    assert_in_range(n_hot, 2, WIDTH);
    transducer_beam_close(&b);
    hotwords_close(h);
    bpe_close(bpe);
    toy_free(&toy);
    b.hot = NULL;
}

/* The texts of a long clip: struct transducer_token and logprobs, one text after another, and the sums of all. */
struct long_texts { struct buf tokens, logprobs, sums; size_t nodes_most; };

/* The state of a slot is a hash of its text. nodes_most: of transducer_beam, 0: as it is */
static void search_long(struct long_texts *to, const struct network *w, int width, uint32_t nodes_most)
{
    static struct transducer_beam b;
    uint32_t slot[BEAM_SLOTS] = { 0 };
    b.of = w->of;
    b.width = width;
    transducer_beam_begin(&b, w->n_rows);
    if (nodes_most) b.n_nodes_most = nodes_most;
    for (int n; (n = transducer_beam_next(&b)) > 0;) {
        uint32_t h[RUN_BEAMS];
        for (int i = 0; i < n; i++) {
            const struct beam_text *t = &b.here[i];
            h[i] = t->pending < 0 ? slot[t->from] : t->pending == BLANK ? 1 : slot[t->from] * 31 + (uint32_t)t->pending + 7;
            if (t->pending >= 0) assert_in_range(t->to, 0, transducer_beam_slots(width) - 1);
        }
        for (int i = 0; i < n; i++)
            if (b.here[i].pending >= 0) slot[b.here[i].to] = h[i];
        for (int i = 0; i < n; i++) {
            float x[IDS + DURATIONS_MAX];
            for (int32_t k = 0; k < IDS + w->of.n_durations; k++)
                x[k] = w->sharp * noise_of((h[i] ^ (uint32_t)b.here[i].row * 40503u) * 131 + (uint32_t)k);
            transducer_beam_feed(&b, i, &(struct joint_logits){ x, sum_of(x, IDS) });
        }
        if (b.nodes.len > to->nodes_most) to->nodes_most = b.nodes.len;
    }
    double sum;
    for (int i = 0; transducer_beam_end(&b, i, &to->tokens, &to->logprobs, &sum) > 0; i++) buf_add(&to->sums, &sum, sizeof sum);
    transducer_beam_close(&b);
}

static void assert_same_bytes(const struct buf *x, const struct buf *y)
{
    assert_int_equal(x->len, y->len);
    assert_memory_equal(x->p, y->p, x->len);
}

/* Their memory grows with the text, not with the number of hypotheses that were dropped. */
static void test_the_nodes_of_dropped_texts_are_dropped_and_the_others_stay(void **state)
{
    enum { NODE = 24 /* bytes */ };
    static const int width[] = { 2, 5, RUN_BEAMS };
    (void)state;
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < sizeof width / sizeof *width; i++) {
            struct long_texts kept = { 0 }, want = { 0 };
            struct network w = networks[k];
            w.sharp = 10;
            w.n_rows = 3000;
            search_long(&kept, &w, width[i], 0);
            search_long(&want, &w, width[i], UINT32_MAX);
            assert_int_equal(kept.sums.len, (size_t)width[i] * sizeof(double));
            assert_same_bytes(&kept.tokens, &want.tokens);
            assert_same_bytes(&kept.logprobs, &want.logprobs);
            assert_same_bytes(&kept.sums, &want.sums);
            const size_t of_one = kept.tokens.len / (size_t)width[i] / sizeof(struct transducer_token);
            assert_true(of_one > 500);
            assert_in_range(kept.nodes_most, NODE * of_one, 2 * NODE * (of_one + 16 * (size_t)width[i]));
            assert_true(want.nodes_most > (width[i] > 2 ? 4 : 1) * kept.nodes_most);
            buf_free(&kept.tokens), buf_free(&kept.logprobs), buf_free(&kept.sums);
            buf_free(&want.tokens), buf_free(&want.logprobs), buf_free(&want.sums);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_beam_for_all_texts_has_the_sums_over_all_alignments),
        cmocka_unit_test(test_narrow_beams_find_the_best_text_of_longer_audio),
        cmocka_unit_test(test_hot_words_leave_blank_as_it_is_and_share_the_rest_by_their_pushes),
        cmocka_unit_test(test_the_nodes_of_dropped_texts_are_dropped_and_the_others_stay),
        cmocka_unit_test(test_logits_that_are_no_numbers_end_in_the_texts_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
