/* steno tests: which heads follow the words. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include "harness.h"
#include "model/align_heads.h"
#include "model/whisper_dims.h"

/* Dimensions of a model with this many decoder layers and heads. */
static struct whisper_dims dims_of(int32_t layers, int32_t heads)
{
    return (struct whisper_dims){ 80, 1500, 4 * heads, heads, layers, 51865, 448, 4 * heads, heads, layers };
}

struct scene {
    struct arena mem;
    struct meta settings;
    struct align_heads got;
    steno_error e;
    int rc;
};

static void find(struct scene *s, const char *shape, int32_t layers, int32_t heads, const char *wanted)
{
    const struct whisper_dims d = dims_of(layers, heads);
    s->rc = align_heads_find(&s->got, &s->mem, &d, shape, wanted, &s->settings, &s->e);
}

static void scene_open(struct scene *s)
{
    arena_init(&s->mem);
    meta_init(&s->settings, &s->mem);
}

/* A generation_config.json whose text lies between braces. */
static void settings_read(struct scene *s, const char *json)
{
    struct file f;
    meta_init(&s->settings, &s->mem);
    file_from_memory(&f, "generation_config.json", json, strlen(json));
    if (meta_read_json(&s->settings, "generation", &f, &s->e)) fail_msg("%s", s->e.text);
}

static void finds(struct scene *s, const char *shape, int32_t layers, int32_t heads, const char *wanted, const char *text)
{
    find(s, shape, layers, heads, wanted);
    if (s->rc) fail_msg("%s, '%s': %s", shape, wanted ? wanted : "", s->e.text);
    assert_string_equal(s->got.text, text);
    size_t n = 0; /* the list equals its text */
    char again[512] = "";
    for (uint32_t i = 0; i < s->got.n; i++)
        n += (size_t)snprintf(again + n, sizeof again - n, "%s%u,%u", i ? " " : "", s->got.head[i].layer, s->got.head[i].head);
    assert_string_equal(again, text);
}

static void test_official_models_have_their_own_heads(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s);
    finds(&s, "base.en", 6, 8, NULL, "3,3 4,7 5,1 5,5 5,7");
    finds(&s, "tiny", 4, 6, NULL, "2,2 3,0 3,2 3,3 3,4 3,5");
    finds(&s, "turbo", 4, 20, NULL, "2,4 2,11 3,3 3,6 3,11 3,14");
    finds(&s, "large-v2", 32, 20, "large-v1", "9,19 11,2 11,4 11,17 22,7 22,11 22,17 23,2 23,15");
    finds(&s, "custom", 6, 8, "base", "3,1 4,2 4,3 4,7 5,1 5,2 5,4 5,6");
    static const struct { const char *name; int32_t layers, heads; uint32_t n; } all[] = {
        { "tiny.en", 4, 6, 8 }, { "tiny", 4, 6, 6 }, { "base.en", 6, 8, 5 }, { "base", 6, 8, 8 },
        { "small.en", 12, 12, 19 }, { "small", 12, 12, 10 }, { "medium.en", 24, 16, 18 }, { "medium", 24, 16, 6 },
        { "large-v1", 32, 20, 9 }, { "large-v2", 32, 20, 23 }, { "large-v3", 32, 20, 10 }, { "turbo", 4, 20, 6 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        find(&s, "custom", all[i].layers, all[i].heads, all[i].name);
        if (s.rc || s.got.n != all[i].n) fail_msg("%s: %u heads, want %u", all[i].name, s.got.n, all[i].n);
    }
    arena_free(&s.mem);
}

static void test_other_models_use_the_upper_half_of_their_layers(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s);
    finds(&s, "custom", 3, 2, NULL, "1,0 1,1 2,0 2,1");
    finds(&s, "custom", 1, 3, NULL, "0,0 0,1 0,2");
    finds(&s, "distil-large-v3", 2, 4, NULL, "1,0 1,1 1,2 1,3");
    finds(&s, "base", 6, 1, NULL, "3,0 4,0 5,0"); /* named so by its size, but of other heads */
    find(&s, "custom", 256, 64, NULL);           /* more than a plan takes: the uppermost */
    assert_int_equal(s.got.n, HEADS_MAX);
    assert_int_equal(s.got.head[0].layer, 256 - HEADS_MAX / 64);
    arena_free(&s.mem);
}

/* One shape, two lists: the path decides, or neither is taken. */
static void test_the_path_distinguishes_large_v1_and_v2(void **state)
{
    (void)state;
    static const struct { const char *path, *name; } c[] = {
        { "large-v1.pt", "large-v1" }, { "/m/ggml-large-v1.bin", "large-v1" }, { "/large-v2/large-v1.pt", "large-v1" },
        { "m/ggml-large-v2-q5_0.bin", "large-v2" }, { "models--openai--whisper-large-v2/snapshots/0/model.safetensors", "large-v2" },
        { "Large_V1.pt", "large-v1" }, { "largev2.pt", "large-v2" }, { "large.v2.pt", "large-v2" }, { "large.pt", "custom" },
        { "large-v3.pt", "custom" }, { "large-v10.pt", "custom" }, { "large-v", "custom" }, { "large--v1", "custom" }, { "larg", "custom" },
        { "", "custom" }, { NULL, "custom" },
    };
    struct whisper_dims d;
    steno_error e;
    assert_int_equal(whisper_shape("large-v2", &d, &e), 0);
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        if (strcmp(whisper_official_name(&d, c[i].path), c[i].name) != 0)
            fail_msg("%s is %s", c[i].path, whisper_official_name(&d, c[i].path));
    assert_int_equal(whisper_shape("large-v3", &d, &e), 0);
    assert_string_equal(whisper_official_name(&d, "large-v1.pt"), "large-v3");
    assert_int_equal(whisper_shape("base", &d, &e), 0);
    assert_string_equal(whisper_official_name(&d, "large-v2.pt"), "base");
    struct scene s;
    scene_open(&s);
    find(&s, "custom", 32, 20, NULL);
    assert_int_equal(s.got.n, 16 * 20);
    assert_int_equal(s.got.head[0].layer, 16);
    arena_free(&s.mem);
}

/* Heads of a model of these dimensions, as for a file at `path`. @return 1: unsure */
static int unsure(const char *shape, const char *path, const char *wanted, const char *json)
{
    struct scene s;
    struct whisper_dims d;
    scene_open(&s);
    if (json) settings_read(&s, json);
    assert_int_equal(whisper_shape(shape, &d, &s.e), 0);
    s.rc = align_heads_find(&s.got, &s.mem, &d, whisper_official_name(&d, path), wanted, &s.settings, &s.e);
    assert_int_equal(s.rc, 0);
    const int is = s.got.unsure;
    arena_free(&s.mem);
    return is;
}

static void test_a_guess_between_large_v1_and_v2_is_marked(void **state)
{
    (void)state;
    assert_int_equal(unsure("large-v2", "model.bin", NULL, NULL), 1);
    assert_int_equal(unsure("large-v2", NULL, NULL, NULL), 1);
    assert_int_equal(unsure("large-v2", "large.pt", NULL, "{\"alignment_heads\": [[40, 0]]}"), 1);
    assert_int_equal(unsure("large-v2", "large-v2.bin", NULL, NULL), 0);
    assert_int_equal(unsure("large-v2", "large-v1/model.bin", NULL, NULL), 0);
    assert_int_equal(unsure("large-v2", "model.bin", "half", NULL), 0);
    assert_int_equal(unsure("large-v2", "model.bin", "large-v1", NULL), 0);
    assert_int_equal(unsure("large-v2", "model.bin", NULL, "{\"alignment_heads\": [[10, 12]]}"), 0);
    assert_int_equal(unsure("large-v3", "model.bin", NULL, NULL), 0);
    assert_int_equal(unsure("base", "model.bin", NULL, NULL), 0);
    assert_int_equal(unsure("distil-large-v2", "model.bin", NULL, NULL), 0);
}

static void test_lists_and_top_layers_can_be_asked_for(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s);
    finds(&s, "base", 6, 8, "5,7 0,0  5,7\t2,3 ", "0,0 2,3 5,7"); /* in order, and none twice */
    finds(&s, "base", 3, 2, "top:1", "2,0 2,1");
    finds(&s, "base", 6, 8, "half", "3,0 3,1 3,2 3,3 3,4 3,5 3,6 3,7 4,0 4,1 4,2 4,3 4,4 4,5 4,6 4,7 5,0 5,1 5,2 5,3 5,4 5,5 5,6 5,7");
    find(&s, "custom", 256, 64, "half");
    assert_int_equal(s.got.n, HEADS_MAX);
    finds(&s, "base", 3, 1, "top:3", "0,0 1,0 2,0");
    arena_free(&s.mem);
}

static void test_invalid_alignment_heads_are_refused_with_the_choices(void **state)
{
    (void)state;
    static const struct { const char *wanted, *says; } c[] = {
        { "bass",
          "alignment_heads is 'bass', want \"LAYER,HEAD ...\", \"half\", \"top:N\" with N up to 4, or one of tiny.en, tiny, base.en" },
        { "top:0", "'top:0', want" }, { "top:5", "'top:5', want" }, { "top:", "'top:', want" }, { "top:1x", "'top:1x', want" },
        { "1", "'1', want" }, { "1,", "'1,', want" }, { "1,2,3", "'1,2,3', want" }, { "1,2;3,4", "want" }, { "-1,2", "want" },
        { " ", "want" }, { "1, 2", "want" },
        { "1,2 4,0", "'1,2 4,0', but layer 4, head 0 is not one of this model's: layers 0..3, heads 0..5" },
        { "1,6", "layer 1, head 6" }, { "99999999999999999999,0", "layer 65535, head 0" }, { "4294967296,0", "layer 65535, head 0" },
        { "large-v3", "'large-v3', but layer 7, head 0" },
    };
    struct scene s;
    scene_open(&s);
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        find(&s, "tiny", 4, 6, c[i].wanted);
        assert_int_equal(s.rc, STENO_EARG);
        if (!strstr(s.e.text, c[i].says)) fail_msg("'%s' does not say \"%s\"", s.e.text, c[i].says);
    }
    find(&s, "custom", 256, 64, "top:17");
    assert_int_equal(s.rc, STENO_EARG);
    assert_non_null(strstr(s.e.text, "1088 heads, want at most 1024"));
    arena_free(&s.mem);
}

static void test_a_models_own_list_goes_before_the_official_one(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s);
    settings_read(&s, "{\"a\": [[0, 1]], \"alignment_heads\": [[5, 2], [3, 0], [3, 0]], \"z\": 1}");
    finds(&s, "base", 6, 8, NULL, "3,0 5,2");
    finds(&s, "base", 6, 8, "0,0", "0,0"); /* what is asked for goes before both */
    arena_free(&s.mem);
}

/* The upper half, the official list and a file's own list are three lists: each is taken in its own case, and is neither of the others. */
static void test_half_official_and_own_lists_are_not_taken_for_each_other(void **state)
{
    (void)state;
    static const struct { const char *name; int32_t layers, heads; } all[] = {
        { "tiny.en", 4, 6 }, { "tiny", 4, 6 }, { "base.en", 6, 8 }, { "base", 6, 8 }, { "small.en", 12, 12 }, { "small", 12, 12 },
        { "medium.en", 24, 16 }, { "medium", 24, 16 }, { "large-v1", 32, 20 }, { "large-v2", 32, 20 }, { "large-v3", 32, 20 },
        { "turbo", 4, 20 },
    };
    struct scene s;
    scene_open(&s);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const int32_t layers = all[i].layers, heads = all[i].heads;
        char official[512], half[16384];
        settings_read(&s, "{}");
        find(&s, all[i].name, layers, heads, NULL);
        assert_int_equal(s.rc, 0);
        snprintf(official, sizeof official, "%s", s.got.text);
        find(&s, "custom", layers, heads, NULL); /* a shape whose list is not known */
        assert_int_equal(s.got.n, layers / 2 * heads);
        snprintf(half, sizeof half, "%s", s.got.text);
        assert_string_not_equal(half, official);
        find(&s, all[i].name, layers, heads, "half");
        assert_string_equal(s.got.text, half);
        settings_read(&s, "{\"alignment_heads\": [[0, 0.0], [1.0, 2]]}"); /* floats, too */
        static const char *const shapes[] = { "custom", NULL };
        for (size_t k = 0; k < 2; k++) {
            finds(&s, shapes[k] ? shapes[k] : all[i].name, layers, heads, NULL, "0,0 1,2");
            find(&s, shapes[k] ? shapes[k] : all[i].name, layers, heads, "half"); /* what is asked for goes before a file's own */
            assert_string_equal(s.got.text, half);
            find(&s, shapes[k] ? shapes[k] : all[i].name, layers, heads, all[i].name);
            assert_string_equal(s.got.text, official);
        }
    }
    arena_free(&s.mem);
}

static void test_a_list_of_another_model_is_passed_over(void **state)
{
    (void)state;
    static const char *const json[] = {
        "{\"alignment_heads\": [[1, 0], [25, 5]]}", "{\"alignment_heads\": [[1, 2]]}",        "{\"alignment_heads\": [[0, 0], [-1, 0]]}",
        "{\"alignment_heads\": []}",                "{\"alignment_heads\": null}",            "{\"alignment_heads\": [1, 0]}",
        "{\"alignment_heads\": [[1, 0, 1]]}",       "{\"alignment_heads\": [[1]]}",           "{\"alignment_heads\": [[1, 0], [0]]}",
        "{\"alignment_heads\": [[0, 0.5]]}",        "{\"alignment_heads\": \"1,0\"}",         "{\"alignment_heads\": {\"a\": {\"b\": 1}}}",
        "{\"alignment_heads\": [[1, [0]]]}",        "{\"alignment_heads\": [[4294967297, 0]]}",
    };
    struct scene s;
    scene_open(&s);
    for (size_t i = 0; i < sizeof json / sizeof *json; i++) {
        settings_read(&s, json[i]);
        finds(&s, "distil-large-v2", 2, 2, NULL, "1,0 1,1");
    }
    arena_free(&s.mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_official_models_have_their_own_heads),
        cmocka_unit_test(test_other_models_use_the_upper_half_of_their_layers),
        cmocka_unit_test(test_the_path_distinguishes_large_v1_and_v2),
        cmocka_unit_test(test_a_guess_between_large_v1_and_v2_is_marked),
        cmocka_unit_test(test_lists_and_top_layers_can_be_asked_for),
        cmocka_unit_test(test_invalid_alignment_heads_are_refused_with_the_choices),
        cmocka_unit_test(test_a_models_own_list_goes_before_the_official_one),
        cmocka_unit_test(test_half_official_and_own_lists_are_not_taken_for_each_other),
        cmocka_unit_test(test_a_list_of_another_model_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
