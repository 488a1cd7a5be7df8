/* steno tests: Whisper models with weights in blocks. SPDX-License-Identifier: MIT */
#include "folder.h"
#include "convert.h"
#include "logits.h"

/* The record of a whisper.cpp file before a name, with three extents: 0 is f32, 1 f16. */
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

static uint64_t fnv(const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 1099511628211u;
    return h;
}

/* Random weights with rows of 256, which blocks of every type divide. */
static void test_files_of_every_type_are_those_of_whisper_cpps_quantizer(void **state)
{
    static struct whisper_dims const wide = { 80, 50, 256, 4, 1, SMALL_VOCAB, 40, 256, 4, 1 };
    static const struct { const char *type; size_t n; uint64_t sum; } file[] = {
        { "q8_0", 3178964, 0xf5f54912e80f3ca9u },
        { "q5_1", 2453524, 0x0a66d6284eafc48bu },
        { "q5_0", 2308436, 0x50b9555722349889u },
        { "q4_1", 2163348, 0x0edae8ccd35d49efu },
        { "q4_0", 2018260, 0x3afcdf1cc5be22e2u },
        { "q6_k", 2616748, 0x8e0a799bf26f6a02u },
        { "q5_k", 2308436, 0xcf6f730e5683d955u },
        { "q4_k", 2018260, 0xd878502d803f0009u },
        { "q3_k", 1709948, 0xf12e4b0d7ddcacf5u },
        { "q2_k", 1474180, 0xc292ad327eed4648u },
    };
    const struct folder d = folder_new();
    const struct bytes random = random_bytes(&wide, DT_F16, 5);
    (void)state;
    folder_put(&d, "random.bin", random.p, random.n);
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        struct buf b = { 0 };
        steno_error e;
        if (convert_to_form(&b, folder_at(&d, "random.bin").path, "bin", file[i].type, &e)) fail_msg("%s", e.text);
        if (b.len != file[i].n || fnv(b.p, b.len) != file[i].sum) fail_msg("%s: other bytes", file[i].type);
        buf_free(&b);
    }
    free(random.p);
    folder_remove(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logits_of_blocks_point_where_those_of_f16_do_and_filters_stay_f16),
        cmocka_unit_test(test_files_of_every_type_are_those_of_whisper_cpps_quantizer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
