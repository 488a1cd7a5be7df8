/* steno tests: what norms add to a variance. SPDX-License-Identifier: MIT
 *
 * FunASR's encoders differ in it, which shows in rows that hardly vary. */
#include <math.h>
#include "funasr_families.h"
#include "internal.h"

static void check_norms(const steno_model *m, const char *name, float eps)
{
    int n = 0;
    for (int k = 0; k < inside_n_plans(m); k++) {
        const struct plan *p = inside_plan(m, k);
        for (int i = 0; i < p->n_ops; i++) {
            if (p->op[i].kind != OP_NORM) continue;
            n++;
            const float is = p->bind[p->op[i].bind].eps;
            if (memcmp(&is, &eps, sizeof eps)) fail_msg("%s, %s: %g", name, p->label[i], (double)is);
        }
    }
    assert_true(n > 4);
}

static void test_every_norm_has_the_eps_of_its_family(void **state)
{
    (void)state;
    check_norms(ctc, "with a CTC head", 1e-5f);
    check_norms(cif, "by integrate-and-fire", 1e-12f);
    check_norms(live, "chunk by chunk", 1e-12f);
}

/* Numbers d and -d: a mean of 0 and a variance of 1e-8. */
static void test_a_row_that_hardly_varies_is_as_it_was_computed_by_hand(void **state)
{
    (void)state;
    enum { N = 64 };
    static struct { double eps, want; } const rows[] = { { 1e-5, 0.0316069770620507 }, { 1e-12, 0.99995000374968753 } };
    const struct kern *kern = inside_kern(ctc);
    float x[N], y[N], one[N], zero[N] = { 0 };
    for (int i = 0; i < N; i++) x[i] = i % 2 ? -1e-4f : 1e-4f, one[i] = 1;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        kern->norm_layer(y, x, one, zero, (float)rows[k].eps, N);
        for (int i = 0; i < N; i++)
            if (fabs((double)y[i] - (i % 2 ? -rows[k].want : rows[k].want)) > 1e-6) fail_msg("eps %g: %.9g", rows[k].eps, (double)y[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_norm_has_the_eps_of_its_family),
        cmocka_unit_test(test_a_row_that_hardly_varies_is_as_it_was_computed_by_hand),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
