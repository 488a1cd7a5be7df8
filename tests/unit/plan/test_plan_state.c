/* steno tests: state that outlives a run. SPDX-License-Identifier: MIT
 *
 * Every lane is mirrored by a plain array; after any series of appends, forks and truncations, what a lane's view holds must be what its
 * array holds. Head h of layer l stores the number it was given at that position, so that a mix-up of any two places shows. */
#include "api/random_model.h"
#include "plan/replay.h"

enum { LAYERS = 2, HEADS = 3, D = 4, POSITIONS = 100, LANES = 5 };

static struct state_desc const desc = { "test", STATE_APPEND, LAYERS, HEADS, D, POSITIONS, 0, 0, 0 };

struct rig {
    struct arena arena;
    struct kv_state state;
    struct state_mem mem;
    struct kern kern;
    int len[LANES], value[LANES][POSITIONS];
};

static void rig_open(struct rig *r, enum kv_type type)
{
    memset(r, 0, sizeof *r);
    arena_init(&r->arena);
    kern_init(&r->kern, CPU_C);
    assert_int_equal(state_open(&r->state, &r->arena, &desc, type, LANES, NULL), 0);
    assert_int_equal(state_mem_open(&r->mem, &r->state, NULL), 0);
}

static void rig_close(struct rig *r)
{
    state_mem_close(&r->mem);
    arena_free(&r->arena);
}

static float content(int value, uint32_t layer, uint32_t head, int i)
{
    return (float)(value * 4 + (int)layer * 2) + (float)head * 0.25f + (float)i * 0.0625f;
}

static void append(struct rig *r, uint32_t lane, int n, int *next)
{
    const int from = r->len[lane];
    assert_int_equal(state_prepare(&r->state, lane, (uint32_t)from, (uint32_t)(from + n)), 0);
    state_copy_all(&r->mem, &r->state);
    for (int p = from; p < from + n; p++) {
        r->value[lane][p] = *next = (*next + 1) % 30;
        for (uint32_t l = 0; l < LAYERS; l++)
            for (uint32_t h = 0; h < HEADS; h++) {
                float k[D], v[D];
                for (int i = 0; i < D; i++) k[i] = content(*next, l, h, i), v[i] = -k[i];
                const struct kv_view view = state_view(&r->mem, &r->state, l, h, lane);
                r->kern.kv_put[r->state.type](&view, (uint32_t)p, k, v, D);
            }
    }
    r->len[lane] = from + n;
}

static float stored(const struct kv_view *view, enum kv_type type, int pos, int i, int values)
{
    const char *block = (const char *)view->base + (view->table ? view->table[pos / KV_BLOCK] : pos / KV_BLOCK) * view->block_stride;
    const int p = pos % KV_BLOCK, at = values ? KV_BLOCK * D + p * D + i : i * KV_BLOCK + p;
    if (type == KV_F32) return ((const float *)(const void *)block)[at];
    return f16_to_f32(((const uint16_t *)(const void *)block)[at]);
}

static void assert_lanes_hold_their_values(struct rig *r)
{
    for (uint32_t lane = 0; lane < LANES; lane++)
        for (uint32_t l = 0; l < LAYERS; l++)
            for (uint32_t h = 0; h < HEADS; h++) {
                const struct kv_view view = state_view(&r->mem, &r->state, l, h, lane);
                for (int p = 0; p < r->len[lane]; p++)
                    for (int i = 0; i < D; i++) {
                        const float want = content(r->value[lane][p], l, h, i);
                        const float k = stored(&view, r->state.type, p, i, 0), v = stored(&view, r->state.type, p, i, 1);
                        if (k != want || v != -want)
                            fail_msg("lane %u, layer %u, head %u, position %d: %g, want %g", lane, l, h, p, (double)k, (double)want);
                    }
            }
}

static void do_fork(struct rig *r, uint32_t dst, uint32_t src)
{
    state_fork(&r->state, dst, src);
    memcpy(r->value[dst], r->value[src], sizeof r->value[dst]);
    r->len[dst] = r->len[src];
}

static void truncate_to(struct rig *r, uint32_t lane, int len)
{
    state_truncate(&r->state, lane, (uint32_t)len);
    r->len[lane] = len;
}

static void random_walk(enum kv_type type)
{
    struct rig r;
    rig_open(&r, type);
    uint32_t seed = 11;
    int next = 0;
    for (int round = 0; round < 1500; round++) {
        const uint32_t lane = (uint32_t)((noise(&seed) + 1) * 0.5f * LANES), other = (uint32_t)((noise(&seed) + 1) * 0.5f * LANES);
        const int what = (int)((noise(&seed) + 1) * 4), room = POSITIONS - r.len[lane];
        const int n = (int)((noise(&seed) + 1) * 20);
        if (what < 4) append(&r, lane, n < room ? n : room, &next);
        else if (what < 6) do_fork(&r, lane, other);
        else truncate_to(&r, lane, n < r.len[lane] ? r.len[lane] - n : 0);
        if (round % 50 == 0) assert_lanes_hold_their_values(&r);
    }
    assert_lanes_hold_their_values(&r);
    for (uint32_t i = 0; i < LANES; i++) truncate_to(&r, i, 0);
    assert_int_equal(r.state.n_free, r.state.n_blocks); /* no block was lost on the way */
    rig_close(&r);
}

static void test_forks_and_truncations_never_mix_lanes_up(void **state)
{
    (void)state;
    random_walk(KV_F32);
    random_walk(KV_F16);
}

static void test_a_fork_shares_blocks_until_one_side_writes(void **state)
{
    (void)state;
    struct rig r;
    int next = 0;
    rig_open(&r, KV_F32);
    append(&r, 0, 40, &next);
    const uint32_t before = r.state.n_free;
    for (uint32_t i = 1; i < LANES; i++) do_fork(&r, i, 0);
    assert_int_equal(r.state.n_free, before);
    append(&r, 1, 1, &next); /* copies the block it writes, not the full one before it */
    assert_int_equal(r.state.n_free, before - 1);
    assert_int_equal(state_table(&r.state, 1)[0], state_table(&r.state, 0)[0]);
    assert_int_not_equal(state_table(&r.state, 1)[1], state_table(&r.state, 0)[1]);
    assert_lanes_hold_their_values(&r);
    rig_close(&r);
}

static void test_every_lane_can_be_full_at_once(void **state)
{
    (void)state;
    struct rig r;
    int next = 0;
    rig_open(&r, KV_F32);
    append(&r, 0, POSITIONS - 1, &next);
    for (uint32_t i = 1; i < LANES; i++) do_fork(&r, i, 0);
    for (uint32_t i = 0; i < LANES; i++) append(&r, i, 1, &next);
    assert_lanes_hold_their_values(&r);
    rig_close(&r);
}

static void test_more_positions_than_there_is_room_for_are_refused(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, KV_F32);
    const uint32_t room = r.state.lane_blocks * KV_BLOCK;
    assert_int_equal(state_prepare(&r.state, 0, 0, room), 0);
    assert_int_equal(state_prepare(&r.state, 0, room, room + 1), -1);
    rig_close(&r);
}

static void test_a_head_is_contiguous_within_a_block_of_all_layers(void **state)
{
    (void)state;
    struct rig r;
    int next = 0;
    rig_open(&r, KV_F32);
    append(&r, 0, 64, &next);
    const struct kv_view h0 = state_view(&r.mem, &r.state, 0, 0, 0), h1 = state_view(&r.mem, &r.state, 0, 1, 0);
    const struct kv_view l1 = state_view(&r.mem, &r.state, 1, 0, 0);
    assert_int_equal((char *)h1.base - (char *)h0.base, 2 * KV_BLOCK * D * sizeof(float));
    assert_int_equal((char *)l1.base - (char *)h0.base, HEADS * 2 * KV_BLOCK * D * sizeof(float));
    assert_int_equal(h0.block_stride, (size_t)((char *)l1.base - (char *)h0.base) * desc.layers);
    assert_true(state_memory(&desc, KV_F32, LANES) >= r.mem.sz);
    rig_close(&r);
}

/* All lanes together hold the blocks of one full lane. What one gives back, another one can take. */
static void test_lanes_of_a_pooled_state_share_the_blocks_of_one(void **state)
{
    (void)state;
    struct state_desc pooled = desc;
    struct arena arena;
    struct kv_state s;
    pooled.pooled = 1;
    arena_init(&arena);
    assert_int_equal(state_open(&s, &arena, &pooled, KV_F32, LANES, NULL), 0);
    assert_int_equal(s.n_blocks, kv_blocks(POSITIONS));
    assert_int_equal(state_pool_sz(&pooled, KV_F32, LANES), state_pool_sz(&desc, KV_F32, 1));
    assert_int_equal(state_prepare(&s, 0, 0, POSITIONS - KV_BLOCK), 0);
    assert_int_equal(state_prepare(&s, 1, 0, 1), 0);
    assert_int_equal(state_prepare(&s, 2, 0, 1), -1); /* nothing is left, */
    assert_int_equal(state_prepare(&s, 0, POSITIONS - KV_BLOCK, POSITIONS), -1);
    assert_int_equal(state_prepare(&s, 1, 1, KV_BLOCK), 0); /* except in blocks that lanes have */
    assert_int_equal(s.n_free, 0);
    state_truncate(&s, 0, KV_BLOCK);
    assert_int_equal(state_prepare(&s, 2, 0, KV_BLOCK + 1), 0);
    for (uint32_t l = 0; l < 3; l++) state_truncate(&s, l, 0);
    assert_int_equal(s.n_free, s.n_blocks);
    assert_int_equal(state_prepare(&s, 4, 0, POSITIONS), 0);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forks_and_truncations_never_mix_lanes_up),
        cmocka_unit_test(test_a_fork_shares_blocks_until_one_side_writes),
        cmocka_unit_test(test_every_lane_can_be_full_at_once),
        cmocka_unit_test(test_more_positions_than_there_is_room_for_are_refused),
        cmocka_unit_test(test_a_head_is_contiguous_within_a_block_of_all_layers),
        cmocka_unit_test(test_lanes_of_a_pooled_state_share_the_blocks_of_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
