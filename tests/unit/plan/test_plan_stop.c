/* steno tests: a run that is to end, or has no room. SPDX-License-Identifier: MIT
 *
 * A request to end a run is served within an op of any number of rows; all threads leave behind it, and the part it left half done
 * shows in no later run. */
#include "api/random_model.h"
#include "internal.h"

enum { CTX = 600, LANES = 20, PROMPT = 3, VOCAB = 5000 };

/* Keys of three blocks, in parts where one window's rows are few; logits in two stages, of two slices. */
static struct whisper_dims const dims = { 80, CTX, 64, 2, 1, VOCAB, 60, 64, 2, 1 };

/* Ends the run within op `at`, at the first question there. */
struct stopper {
    const struct cpu_exec *x;
    uint16_t at;
    int asked, stopped;  /* questions within that op */
    int64_t first, last; /* its items that were taken at the first question, and when the op was over */
};

static int stop_within(void *user)
{
    struct stopper *s = user;
    const int64_t taken = atomic_load(&s->x->counter[s->at]);
    if (s->stopped) s->last = s->last ? s->last : taken;
    if (!taken || s->stopped) return s->stopped;
    s->asked++;
    s->first = taken;
    return s->stopped = 1;
}

static void noise_into(steno_session *s)
{
    float *mel = inside_mel(s);
    uint32_t seed = 9;
    for (size_t i = 0; i < 2 * (size_t)CTX * (size_t)inside_n_mels(s->model); i++) mel[i] = noise(&seed);
}

/* The encoder, then `lanes` prompts of one window, each choosing its token. */
static void rows_add(steno_session *s, int lanes, int prompt)
{
    static struct logit_rules rules;
    rules = (struct logit_rules){ .n_vocab = VOCAB, .eot = VOCAB - 1, .ts_begin = VOCAB };
    inside_clear(s);
    for (uint16_t l = 0; l < lanes; l++) {
        inside_lane_begin(s, l, &rules, 8)->kv.window = 0;
        for (int i = 0; i < prompt; i++) inside_add(s, (l * 577 + i * 131 + 3) % VOCAB, i, l, i == prompt - 1 ? ROW_SAMPLE : 0);
    }
}

static int encode(steno_session *s)
{
    inside_begin(s);
    noise_into(s);
    return inside_encode_for(s, 0, CTX);
}

static int decode(steno_session *s, int lanes, int prompt)
{
    rows_add(s, lanes, prompt);
    return inside_replay(s, 1);
}

struct chosen { int32_t id[LANES]; float logprob[LANES]; };

static struct chosen chosen_of(const steno_session *s, int lanes)
{
    struct chosen c = { { 0 }, { 0 } };
    for (int l = 0; l < lanes; l++) c.id[l] = inside_picked(s, l)[0].id, c.logprob[l] = inside_picked(s, l)[0].logprob;
    return c;
}

static struct stopper stop_in(steno_session *s, int plan, uint16_t at, int lanes, int prompt)
{
    struct exec *x = inside_exec(s);
    struct stopper stop = { .x = inside_cpu(s), .at = at };
    int (*const usual)(void *user) = x->should_stop;
    void *const user = x->user;
    x->should_stop = stop_within;
    x->user = &stop;
    const int rc = plan == PLAN_ENCODER ? encode(s) : decode(s, lanes, prompt);
    assert_int_equal(rc, stop.stopped ? STENO_ECANCELED : STENO_OK);
    x->should_stop = usual;
    x->user = user;
    return stop;
}

/* Ops of the plan, one after the other, are left half done. @return those that were left with items to do */
static int stop_in_each_op(steno_session *s, int plan, int lanes, int prompt, int threads)
{
    const struct plan *p = inside_plan(s->model, plan);
    int cut = 0;
    assert_int_equal(encode(s), 0);
    assert_int_equal(decode(s, lanes, prompt), 0);
    const struct chosen want = chosen_of(s, lanes);
    for (uint16_t at = 0; at < p->n_ops; at++) {
        const struct stopper stop = stop_in(s, plan, at, lanes, prompt);
        if (stop.asked && stop.last > stop.first + threads)
            fail_msg("op %u: %lld items taken after %lld", at, (long long)stop.last, (long long)stop.first);
        cut += stop.asked > 0;
        for (int i = 0; i < 2; i++) { /* the encoder's half is done again, or the decoder's */
            if (plan == PLAN_ENCODER || i) assert_int_equal(encode(s), 0);
            assert_int_equal(decode(s, lanes, prompt), 0);
            const struct chosen got = chosen_of(s, lanes);
            if (memcmp(&got, &want, sizeof want)) fail_msg("plan %d, op %u: what it left shows", plan, at);
        }
    }
    return cut;
}

static void test_a_run_ends_within_any_op_over_many_rows_and_leaves_nothing(void **state)
{
    (void)state;
    steno_model *m = random_model(&dims, DT_F16, 2, NULL);
    for (int threads = SANITIZED && !in_full() ? 3 : 1; threads <= 3; threads += 2) {
        steno_team *team;
        assert_int_equal(steno_team_open(&team, threads, NULL), 0);
        steno_session *s = session_new(m, team, LANES);
        assert_true(stop_in_each_op(s, PLAN_ENCODER, 1, PROMPT, threads) >= 8);
        assert_true(stop_in_each_op(s, PLAN_DECODER, LANES, PROMPT, threads) >= 8); /* many lanes: some logits */
        assert_true(stop_in_each_op(s, PLAN_DECODER, 1, 30, threads) >= 8);          /* one: its keys in parts */
        steno_session_close(s);
        steno_team_close(team);
    }
    steno_model_close(m);
}

static void test_items_of_large_ops_are_left_undone_when_a_run_is_to_end(void **state)
{
    (void)state;
    steno_model *m = random_model(&dims, DT_F16, 2, NULL);
    steno_session *s = session_new(m, NULL, 1);
    const struct plan *p = inside_plan(m, PLAN_ENCODER);
    for (uint16_t at = 0; at < p->n_ops; at++) {
        if (p->op[at].kind != OP_ATTN) continue;
        const struct stopper stop = stop_in(s, PLAN_ENCODER, at, 1, PROMPT);
        assert_true(stop.asked == 1 && stop.first == 1 && stop.last == 1); /* of 14 items */
    }
    steno_session_close(s);
    steno_model_close(m);
}

static void test_a_run_without_room_for_its_rows_is_refused(void **state)
{
    (void)state;
    steno_model *m = random_model(&dims, DT_F16, 2, NULL);
    steno_session *s = session_new(m, NULL, 1);
    const struct plan *p = inside_plan(m, PLAN_DECODER);
    const struct room room = exec_room(inside_exec(s), p);
    assert_int_equal(room.rows, RUN_LANES);
    assert_int_equal(room.out, ROWS_OUT_MIN);
    assert_int_equal(encode(s), 0);
    struct { int rows, out, rc; } c[] = {
        { 50, (int)room.out, STENO_OK }, { 50, (int)room.out + 1, STENO_EARG }, { 50, 50, STENO_EARG },
        { (int)room.rows + 1, 1, STENO_EARG }, { 20 * (int)room.rows, 1, STENO_EARG },
        { 20 * (int)room.rows, 20 * (int)room.rows, STENO_EARG },
        { 50, 1, STENO_OK },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        rows_add(s, 1, 1);
        inside_clear(s);
        for (int k = 0; k < c[i].rows; k++) inside_add(s, k % VOCAB, k % 59, 0, k < c[i].out ? ROW_LOGITS : 0);
        if (inside_replay(s, 1) != c[i].rc) fail_msg("%d rows, %d with logits", c[i].rows, c[i].out);
    }
    assert_int_equal(inside_phases(s, inside_plan(m, PLAN_ENCODER), 0, 1, 0, CTX + 1), STENO_EARG);
    assert_int_equal(inside_phases(s, inside_plan(m, PLAN_ENCODER), 0, 1, 0, UINT32_MAX), STENO_EARG);
    steno_session_close(s);
    steno_model_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_run_ends_within_any_op_over_many_rows_and_leaves_nothing),
        cmocka_unit_test(test_items_of_large_ops_are_left_undone_when_a_run_is_to_end),
        cmocka_unit_test(test_a_run_without_room_for_its_rows_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
