/* steno tests: the shipped Whisper model with weights in blocks. SPDX-License-Identifier: MIT */
#include "convert.h"
#include "logits.h"

/* What a record of a whisper.cpp file says before a name of three extents: 0 is f32, 1 f16. */
static int type_of_filter(const struct buf *b, const char *name)
{
    const size_t n = strlen(name), before = 3 * 4 + 4;
    const uint8_t *p = (const uint8_t *)b->p;
    for (size_t at = before; at + n < b->len; at++)
        if (!memcmp(p + at, name, n)) return p[at - before];
    fail_msg("no tensor %s", name);
    return -1;
}

/* On the arithmetic of f32, so that only weights differ. */
static void test_logits_of_blocks_point_where_those_of_f16_do_and_filters_stay_f16(void **state)
{
    static const struct { const char *type; double least; } blocks[] = { { "q8_0", 0.999 }, { "q5_0", 0.99 } };
    const struct audio a = demo_audio(0, 0, 1);
    const struct kept want = logits_of(shipped_open_as(STENO_COMPUTE_F32), &a);
    (void)state;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        struct buf b = { 0 };
        steno_model_params p;
        steno_model *m;
        steno_error e;
        steno_model_params_init(&p);
        p.compute = STENO_COMPUTE_F32;
        if (convert_to_form(&b, shipped_model, "bin", blocks[i].type, &e)) fail_msg("%s", e.text);
        assert_int_equal(type_of_filter(&b, "encoder.conv1.weight"), 1);
        assert_int_equal(type_of_filter(&b, "encoder.conv2.weight"), 1);
        if (steno_model_open_memory(&m, b.p, b.len, &p, &e)) fail_msg("%s", e.text);
        steno_model_info info = { .size = sizeof info };
        assert_int_equal(steno_model_info_get(m, &info), STENO_OK);
        assert_string_equal(info.weight_type, blocks[i].type);
        const struct kept got = logits_of(m, &a);
        logits_are_near(blocks[i].type, &got, &want, blocks[i].least);
        free(got.logits);
        buf_free(&b);
    }
    free(want.logits);
    free(a.pcm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logits_of_blocks_point_where_those_of_f16_do_and_filters_stay_f16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
