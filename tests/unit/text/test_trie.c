/* steno tests: a vocabulary as a tree of bytes. SPDX-License-Identifier: MIT */
#include "api/heap.h"
#include "real_vocab.h"
#include "text/trie.h"
#include "toy_vocab.h"

static const struct trie_node *find(const struct trie *t, const void *s, size_t n)
{
    const struct trie_node *at = &t->node[0];
    for (size_t i = 0; i < n; i++) {
        const struct trie_node *child = t->node + at->child, *end = child + at->n;
        while (child < end && child->byte != ((const uint8_t *)s)[i]) child++;
        if (child == end) return NULL;
        at = child;
    }
    return at;
}

/* Every id is found at the end of its bytes; nodes, children and chains are in order, and none is more than asked for. */
static void expect_tree(const struct trie *t, const struct vocab *v, int32_t n_ids)
{
    int32_t n = 0, chained = 0;
    uint32_t longest = 0, n_children = 0;
    for (int32_t id = 0; id < n_ids; id++) {
        if (!v->len[id]) continue;
        n++;
        if (v->len[id] > longest) longest = v->len[id];
        const struct trie_node *at = find(t, v->bytes[id], v->len[id]);
        assert_non_null(at);
        int32_t k = at->id;
        while (k >= 0 && k != id) k = t->same[k];
        assert_int_equal(k, id);
    }
    for (uint32_t i = 0; i < t->n_nodes; i++) {
        const struct trie_node *node = &t->node[i];
        n_children += node->n;
        assert_true(node->n ? node->child > i && node->child + node->n <= t->n_nodes : node->child == 0 && (node->id >= 0 || !i));
        for (uint32_t k = 1; k < node->n; k++) assert_true(t->node[node->child + k - 1].byte < t->node[node->child + k].byte);
        for (int32_t id = node->id; id >= 0; id = t->same[id], chained++) assert_true(t->same[id] < 0 || t->same[id] > id);
    }
    assert_int_equal(chained, n);
    assert_int_equal(n_children, t->n_nodes - 1);
    assert_int_equal(t->depth, longest);
}

static void test_every_id_stands_at_the_end_of_its_bytes(void **state)
{
    (void)state;
    struct toy toy = TOY("a", "ab", "", "abc", "abd", "\xe4\xb8\x80", "ab", "b");
    struct trie t;
    assert_int_equal(trie_open(&t, &toy.v, toy.n_text, NULL), 0);
    expect_tree(&t, &toy.v, toy.n_text);
    assert_int_equal(t.depth, 3);
    const struct trie_node *ab = find(&t, "ab", 2);
    assert_int_equal(ab->id, 257);
    assert_int_equal(t.same[257], 262);
    assert_int_equal(t.same[262], -1);
    assert_int_equal(ab->n, 2);
    assert_int_equal(find(&t, "\xe4\xb8", 2)->id, -1);
    assert_null(find(&t, "ac", 2));
    trie_close(&t);
    toy_free(&toy);
}

static void test_ids_from_the_limit_on_are_left_out(void **state)
{
    (void)state;
    struct toy toy = TOY("xy", "xyz");
    struct trie t;
    assert_int_equal(trie_open(&t, &toy.v, 257, NULL), 0);
    expect_tree(&t, &toy.v, 257);
    assert_int_equal(find(&t, "xy", 2)->n, 0);
    trie_close(&t);
    assert_int_equal(trie_open(&t, &toy.v, 0, NULL), 0);
    assert_int_equal(t.n_nodes, 1);
    assert_int_equal(t.node[0].id, -1);
    trie_close(&t);
    steno_error e;
    assert_int_equal(trie_open(&t, &toy.v, toy.v.n + 1, &e), STENO_EARG);
    assert_null(t.node);
    trie_close(&t);
    toy_free(&toy);
}

static void test_strings_of_3000_bytes_and_300_equal_ones_are_found(void **state)
{
    (void)state;
    enum { N = 300, LEN = 3000 };
    struct arena a;
    struct vocab v;
    arena_init(&a);
    assert_int_equal(vocab_init(&v, &a, N, N, NULL), 0);
    uint8_t *s = arena_alloc(&a, LEN);
    memset(s, 'x', LEN);
    for (int32_t id = 0; id < N; id++) vocab_set(&v, id, s, id % 3 ? (uint32_t)(10 * id) : 7);
    struct trie t;
    assert_int_equal(trie_open(&t, &v, N, NULL), 0);
    expect_tree(&t, &v, N);
    trie_close(&t);
    arena_free(&a);
}

static void test_a_real_vocabulary(void **state)
{
    (void)state;
    struct real_vocab *r = real_vocab_open();
    if (!r) skip();
    struct trie t;
    assert_int_equal(trie_open(&t, &r->v, 50257, NULL), 0);
    expect_tree(&t, &r->v, 50257);
    trie_close(&t);
    real_vocab_close(r);
}

static void test_without_memory_nothing_stays_behind(void **state)
{
    (void)state;
    need_counting();
    struct toy toy = TOY("a", "ab", "abc");
    for (int64_t fail_at = 0;; fail_at++) {
        struct trie t;
        steno_error e = { 0 };
        count_begin(fail_at);
        const int rc = trie_open(&t, &toy.v, toy.n_text, &e);
        if (!rc) trie_close(&t);
        const struct heap h = count_end();
        assert_int_equal(h.bytes, 0);
        if (!rc) break;
        assert_int_equal(rc, STENO_ENOMEM);
        assert_true(e.text[0] && !t.node && !t.same);
        assert_true(fail_at < 100);
    }
    toy_free(&toy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_id_stands_at_the_end_of_its_bytes),
        cmocka_unit_test(test_ids_from_the_limit_on_are_left_out),
        cmocka_unit_test(test_strings_of_3000_bytes_and_300_equal_ones_are_found),
        cmocka_unit_test(test_a_real_vocabulary),
        cmocka_unit_test(test_without_memory_nothing_stays_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
