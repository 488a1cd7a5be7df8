/* steno tests: keys and values of layers that look back a window. SPDX-License-Identifier: MIT
 *
 * What lanes of a ring hold is held to plain arrays, as in test_plan_state.c, as far as a row to come may see it. A network of such layers
 * makes the same bits as one whose lanes hold all of a text, at every level, however the rows come, from wherever a text goes on. */
#include "api/random_model.h"
#include "executor/net.h"
#include "plan/replay.h"
#include "plan/sub.h"

/* ---- what lanes hold */

enum { LAYERS = 2, LANES = 4, POSITIONS = 700, HEADS_N = 2, WIDE = 4, ROUNDS = 1500 };

static const struct { uint32_t window, ahead; } rings[] = {
    { 1, 1 }, { 20, 24 }, { 32, 32 }, { 33, 1 }, { 100, 64 }, { 300, 90 }, { 650, 90 },
};

struct rig {
    struct arena arena;
    struct kv_state state;
    struct state_mem mem;
    struct kern kern;
    int len[LANES], value[LANES][POSITIONS];
};

static void rig_open(struct rig *r, uint32_t window, uint32_t ahead)
{
    const struct state_desc desc = { .name = "ring", .kind = STATE_APPEND, .layers = LAYERS, .heads = HEADS_N, .d_head = WIDE,
                                     .positions = POSITIONS, .window = window, .ahead = ahead };
    memset(r, 0, sizeof *r);
    arena_init(&r->arena);
    kern_init(&r->kern, CPU_C);
    assert_int_equal(state_open(&r->state, &r->arena, &desc, KV_F32, LANES, NULL), 0);
    assert_int_equal(state_mem_open(&r->mem, &r->state, NULL), 0);
    assert_true(r->state.held_blocks * KV_BLOCK <= window + ahead + 2 * KV_BLOCK);
    assert_true(r->state.n_blocks * KV_BLOCK <= LANES * (2 * window + ahead + 4 * KV_BLOCK));
}

static void rig_close(struct rig *r)
{
    state_mem_close(&r->mem);
    arena_free(&r->arena);
}

static float content(int value, uint32_t layer, uint32_t head)
{
    return (float)(value * 4 + (int)layer * 2) + (float)head * 0.25f;
}

static void put(struct rig *r, uint32_t lane, int pos, int value)
{
    r->value[lane][pos] = value;
    for (uint32_t l = 0; l < LAYERS; l++)
        for (uint32_t h = 0; h < HEADS_N; h++) {
            const float k[WIDE] = { content(value, l, h) }, v[WIDE] = { -content(value, l, h) };
            const struct kv_view view = state_view(&r->mem, &r->state, l, h, lane);
            r->kern.kv_put[KV_F32](&view, (uint32_t)pos, k, v, WIDE);
        }
}

/* What a row at `pos` sees, and of one that is there that what attention reads beside it is the lane's own. */
static void check_row(const struct rig *r, uint32_t lane, int pos)
{
    const int window = (int)r->state.desc.window, first = pos + 1 > window ? pos + 1 - window : 0;
    const uint16_t *t = state_table(&r->state, lane);
    for (uint32_t l = 0; l < LAYERS; l++)
        for (uint32_t h = 0; h < HEADS_N; h++) {
            const struct kv_view view = state_view(&r->mem, &r->state, l, h, lane);
            for (int p = first; p < pos && p < r->len[lane]; p++) {
                float k[WIDE], v[WIDE];
                kv_get_f32(k, v, &view, (uint32_t)p, WIDE);
                if (k[0] != content(r->value[lane][p], l, h) || v[0] != -k[0])
                    fail_msg("window %d, lane %u, position %d of %d, layer %u, head %u: %g", window, lane, p, pos, l, h, (double)k[0]);
            }
        }
    const int mark = (int)r->state.mark[lane], marked_at = mark / KV_BLOCK - window / KV_BLOCK - 1, end = (mark + KV_BLOCK - 1) / KV_BLOCK;
    for (int i = first / ATTN_KEYS * (ATTN_KEYS / KV_BLOCK); i < (int)r->state.used[lane] && pos < r->len[lane]; i++) {
        int own = i >= marked_at && i < end;
        for (int j = r->state.gone[lane]; j < (int)r->state.used[lane]; j++) own |= t[j] == t[i];
        assert_true(own);
        assert_true(r->state.refs[t[i]] > 0);
    }
}

/* Rows of one run: all that they see is there until the last of them is done. */
static void append(struct rig *r, uint32_t lane, int n, int at_once, int *next)
{
    const int from = r->len[lane];
    for (int p = from; p < from + n && !at_once; p++)
        assert_int_equal(state_prepare(&r->state, lane, (uint32_t)p, (uint32_t)p + 1), 0);
    if (at_once && n) assert_int_equal(state_prepare(&r->state, lane, (uint32_t)from, (uint32_t)(from + n)), 0);
    state_copy_all(&r->mem, &r->state);
    for (int p = from; p < from + n; p++) put(r, lane, p, *next = (*next + 1) % 500);
    r->len[lane] = from + n;
    for (int p = from; p < from + n; p++) check_row(r, lane, p);
}

static void cut(struct rig *r, uint32_t lane, int len)
{
    const int there = (int)state_reach(&r->state, lane, (uint32_t)len), mark = (int)r->state.mark[lane];
    assert_true(there == len || there == (mark <= len ? mark : 0));
    state_truncate(&r->state, lane, (uint32_t)there);
    r->len[lane] = there;
    check_row(r, lane, there);
}

static void do_fork(struct rig *r, uint32_t dst, uint32_t src)
{
    state_fork(&r->state, dst, src);
    memcpy(r->value[dst], r->value[src], sizeof r->value[dst]);
    r->len[dst] = r->len[src];
}

static void walk(uint32_t window, uint32_t ahead)
{
    struct rig r;
    uint32_t seed = window;
    int next = 0, went_back = 0, began = 0, marks = 0;
    rig_open(&r, window, ahead);
    for (int round = 0; round < ROUNDS; round++) {
        const uint32_t lane = (uint32_t)((noise(&seed) + 1) * 0.5f * LANES), other = (uint32_t)((noise(&seed) + 1) * 0.5f * LANES);
        const int what = (int)((noise(&seed) + 1) * 8), room = POSITIONS - r.len[lane];
        int n = 1 + (int)((noise(&seed) + 1) * 0.5f * (float)ahead);
        if (n > (int)ahead) n = (int)ahead;
        if (what < 11) {
            append(&r, lane, n < room ? n : room, what & 1, &next);
        } else if (what < 13) {
            do_fork(&r, lane, other);
        } else if (what < 14) {
            state_mark(&r.state, lane, (uint32_t)(r.len[lane] + n - (int)ahead / 2 > 0 ? r.len[lane] + n - (int)ahead / 2 : 0));
        } else {
            const int mark = (int)r.state.mark[lane], back = what == 15 ? n * 8 : n - 1, had = r.len[lane];
            cut(&r, lane, round % 3 == 0 && mark && mark < had ? mark + n % 3 : back < had ? had - back : 0);
            marks += mark && r.len[lane] == mark && mark < had;
            went_back += r.len[lane] > 0 && r.len[lane] < had;
            began += !r.len[lane];
        }
    }
    assert_true((went_back > 10 || ahead == 1) && began > 0 && (marks > 5 || ahead == 1));
    for (uint32_t i = 0; i < LANES; i++) state_truncate(&r.state, i, 0);
    assert_int_equal(r.state.n_free, r.state.n_blocks); /* no block was lost on the way */
    rig_close(&r);
}

static void test_lanes_hold_what_their_rows_see(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++) walk(rings[i].window, rings[i].ahead);
}

static void test_positions_outside_the_ring_are_refused(void **state)
{
    (void)state;
    enum { WINDOW = 40, AHEAD = 32 };
    struct rig r;
    int next = 0;
    rig_open(&r, WINDOW, AHEAD);
    while (r.len[0] < 640) append(&r, 0, AHEAD, 1, &next);
    for (uint32_t back = 0; back <= AHEAD; back++) assert_int_equal(state_reach(&r.state, 0, 640 - back), 640 - back);
    assert_int_equal(state_reach(&r.state, 0, 300), 0);
    assert_int_equal(state_reach(&r.state, 0, 1), 0);
    assert_int_equal(state_prepare(&r.state, 0, 300, 301), -1);   /* before what is there */
    state_truncate(&r.state, 0, 300);                             /* nothing of it is left */
    assert_int_equal(state_reach(&r.state, 0, 300), 0);
    assert_int_equal(state_prepare(&r.state, 0, 300, 301), -1);
    assert_int_equal(r.state.n_free, r.state.n_blocks);
    state_truncate(&r.state, 0, 0);
    r.len[0] = 0;
    append(&r, 0, AHEAD, 1, &next);
    rig_close(&r);
}

/* One place is marked, before it is come to or soon after; a fork has the mark, too. */
static void test_a_text_goes_back_to_its_mark(void **state)
{
    (void)state;
    enum { WINDOW = 40, AHEAD = 32 };
    static const int marks[] = { 1, 31, 39, 40, 64, 101, 288, 300 };
    struct rig r;
    int next = 0;
    rig_open(&r, WINDOW, AHEAD);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const uint32_t mark = (uint32_t)marks[i];
        state_truncate(&r.state, 0, 0);
        for (r.len[0] = 0; r.len[0] < 640;) {
            if (r.len[0] == (i % 2 ? 0 : (int)mark / AHEAD * AHEAD + AHEAD)) state_mark(&r.state, 0, mark);
            append(&r, 0, AHEAD, i % 2, &next);
        }
        assert_int_equal(state_reach(&r.state, 0, mark - 1), 0);
        assert_int_equal(state_reach(&r.state, 0, 500), mark);
        do_fork(&r, 1, 0);
        cut(&r, 1, 500);
        assert_int_equal(r.len[1], mark);
        append(&r, 1, AHEAD, 1, &next); /* what others share is theirs no less */
        append(&r, 0, AHEAD, 1, &next);
        cut(&r, 0, (int)mark);
        assert_int_equal(r.len[0], mark);
        while (r.len[0] < 500) append(&r, 0, AHEAD, 1, &next);
        assert_int_equal(state_reach(&r.state, 0, 400), mark);
        state_mark(&r.state, 0, 490);
        assert_int_equal(state_reach(&r.state, 0, 400), 0);
        state_mark(&r.state, 0, 100); /* too late */
        assert_int_equal(state_reach(&r.state, 0, 400), 0);
    }
    for (uint32_t i = 0; i < LANES; i++) state_truncate(&r.state, i, 0);
    assert_int_equal(r.state.n_free, r.state.n_blocks);
    rig_close(&r);
}

/* A lane of a window holds the same however long its text may become. */
static void test_memory_does_not_depend_on_the_context(void **state)
{
    (void)state;
    struct state_desc d = { .name = "ring", .kind = STATE_APPEND, .layers = 3, .heads = 2, .d_head = 32, .window = 512, .ahead = 512 };
    size_t sz[3];
    for (uint32_t i = 0; i < 3; i++) {
        d.positions = 4096u << (2 * i);
        sz[i] = state_pool_sz(&d, KV_F16, 4);
    }
    assert_true(sz[0] == sz[1] && sz[1] == sz[2]);
    assert_int_equal(sz[0] / 4, kv_block_sz(KV_F16, 32) * 6 * (33 + 17));
    d.positions = 600;
    assert_int_equal(state_pool_sz(&d, KV_F16, 1), kv_block_sz(KV_F16, 32) * 6 * 19);
    d.positions = 4096;
    d.window = 0;
    assert_int_equal(state_pool_sz(&d, KV_F16, 1), kv_block_sz(KV_F16, 32) * 6 * 128);
}

/* ---- what is computed */

enum { D = 40, HEADS = 4, KV_HEADS = 2, D_HEAD = 32, Q = HEADS * D_HEAD, KV = KV_HEADS * D_HEAD, IDS = 30, N = 610, MAX_ROWS = 40 };

static struct net_shape const shapes[] = {
    { "embed.weight", { IDS, D } },
    { "0.norm.weight", { D } }, { "0.a.q_proj.weight", { Q, D } }, { "0.a.k_proj.weight", { KV, D } }, { "0.a.v_proj.weight", { KV, D } },
    { "0.a.o_proj.weight", { D, Q } },
    { "1.norm.weight", { D } }, { "1.a.q_proj.weight", { Q, D } }, { "1.a.k_proj.weight", { KV, D } }, { "1.a.v_proj.weight", { KV, D } },
    { "1.a.o_proj.weight", { D, Q } },
};

static uint32_t window;

/* A layer that sees all, and one that looks back: each with a state of its own. */
static void fill(struct build *b)
{
    static const struct sub table[] = { { sub_attn_rope, "norm", "a", NULL, 0 }, { 0 } };
    double frequency[D_HEAD / 2];
    for (int j = 0; j < D_HEAD / 2; j++) frequency[j] = pow(1e4, -2.0 * j / D_HEAD);
    const struct rope rope = { .frequency = frequency, .n = D_HEAD, .positions = N };
    struct sub_dims dims = { .d = D, .n_heads = HEADS, .n_kv_heads = KV_HEADS, .d_head = D_HEAD, .norm = NORM_RMS, .eps = 1e-6f,
                             .rope = bind_rope(b, &rope, HEADS + KV_HEADS, D_HEAD) };
    const struct linear_part part = { "embed.weight", NULL, IDS };
    b->plan.self_state = 0;
    b->plan.output = build_slot(b, D);
    emit(b, OP_EMBED, "embed", b->plan.output, NO_SLOT, bind_matrix(b, &part, D, LINEAR_OTHER, NO_BIND));
    for (uint32_t i = 0; i < 2; i++) {
        dims.window = i ? window : 0;
        dims.kv_state = (uint16_t)(1 + i);
        dims.kv_layer = 0;
        char name[4];
        snprintf(name, sizeof name, "%u", i);
        b->prefix = name;
        for (const struct sub *s = table; s->fn; s++) s->fn(b, &dims, s, b->plan.output, (uint16_t)i);
    }
    b->prefix = "";
}

static void check_network(int level, int threads)
{
    static int const at_once[] = { MAX_ROWS, 7 };
    static float want[N * D], got[N * D];
    for (int ring = 0; ring < 2; ring++) {
        const struct state_desc keys[] = {
            { .name = "all", .kind = STATE_APPEND, .layers = 1, .heads = KV_HEADS, .d_head = D_HEAD, .positions = N },
            { .name = "windows", .kind = STATE_APPEND, .layers = 1, .heads = KV_HEADS, .d_head = D_HEAD, .positions = N,
              .window = ring ? window : 0, .ahead = MAX_ROWS },
        };
        const struct net_desc d = { .shape = shapes, .n_shapes = sizeof shapes / sizeof *shapes, .fill = fill, .max_rows = MAX_ROWS,
                                    .state = keys, .n_states = 2, .scale = 0.5f };
        struct net r;
        net_open(&r, &d, level, threads);
        for (int k = ring ? 0 : 1; k < 2; k++) {
            for (int s = 0; s < 2; s++) state_truncate(&r.state[s], 0, 0);
            for (int from = 0, n, step = 0; from < N; from += n) {
                n = N - from < at_once[k] ? N - from : at_once[k];
                if (++step % 5 == 0 && at_once[k] > 1 && from) from -= n / 2; /* as where drafts were wrong */
                r.run.n_rows = 0;
                for (int at = from; at < from + n; at++) run_add(&r.run, at * 11 % IDS, at, 0, 0);
                for (int s = 0; s < 2; s++) {
                    assert_int_equal(state_reach(&r.state[s], 0, (uint32_t)from), from);
                    state_truncate(&r.state[s], 0, (uint32_t)from);
                    assert_int_equal(state_prepare(&r.state[s], 0, (uint32_t)from, (uint32_t)(from + n)), 0);
                }
                run_prepare(&r.run);
                net_phases(&r, &(struct phases){ .end = 1, .n_rows = (uint32_t)n, .run = &r.run }, NULL);
                net_output(&r, r.plan.output, (ring ? got : want) + from * D, (uint32_t)n, 1e-4f);
            }
            if (ring) assert_memory_equal(want, got, sizeof want);
        }
        net_close(&r);
    }
}

static void test_a_network_of_windows_makes_the_same_bits(void **state)
{
    (void)state;
    static const uint32_t windows[] = { 24, 257 };
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        window = windows[i];
        net_each_level(check_network);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lanes_hold_what_their_rows_see),
        cmocka_unit_test(test_positions_outside_the_ring_are_refused),
        cmocka_unit_test(test_a_text_goes_back_to_its_mark),
        cmocka_unit_test(test_memory_does_not_depend_on_the_context),
        cmocka_unit_test(test_a_network_of_windows_makes_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
