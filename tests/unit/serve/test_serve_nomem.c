/* steno tests: the models of a server open, or fail cleanly, when an allocation fails. SPDX-License-Identifier: MIT */
#include "engines_rig.h"
#include "api/heap.h"

enum { STEP = 7, N_MAX = 100000 };

static void test_opening_survives_any_failed_allocation(void **state)
{
    (void)state;
    need_counting();
    int n_failed = 0, rc = STENO_ENOMEM;
    for (int n = 0; n < N_MAX && rc != STENO_OK; n += n < 40 ? 1 : STEP) {
        struct rig r;
        steno_error e = { 0 };
        rig_init(&r, 2);
        r.p.parallel = 1;
        r.p.live_max = 1;
        count_begin(n);
        rc = spool_open(&r.spool, NULL, 1000, &e);
        if (rc == STENO_OK) rc = engines_open(&r.es, &r.p, r.spool, &e);
        const int is_reached = heap.calls > n;
        count_end();
        if (rc != STENO_OK && (rc != STENO_ENOMEM || !*e.text)) fail_msg("allocation %d: status %d, '%s'", n, rc, e.text);
        n_failed += rc != STENO_OK;
        if (rc == STENO_OK) engines_close(r.es);
        assert_int_equal(r.n_opened, r.n_closed);
        spool_close(r.spool);
        if (rc == STENO_OK && is_reached) rc = STENO_ENOMEM; /* it was not needed */
    }
    assert_int_equal(rc, STENO_OK);
    assert_true(n_failed > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opening_survives_any_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
