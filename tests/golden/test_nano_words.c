/* steno tests: times of words of Fun-ASR-Nano. SPDX-License-Identifier: MIT
 *
 * The small model of the collection with a CTC branch of our own (make_nano_ctc.py): FunASR's times of that text, from a folder and from
 * one file; where a weight or the vocabulary is missing there are none, and a call for them is refused. */
#define COUNT_LIBRARIES
#include <sys/stat.h>
#include "../api/convert.h"
#include "../api/heap.h"
#include "batch.h"
#include "folder.h"
#include "funasr.h"
#include "internal.h"

#define DATA "tests/data/nano_ctc/"

static struct golden_path data_file(const char *name)
{
    struct golden_path p = { "" };
    char here[200], *where = getcwd(here, sizeof here);
    snprintf(p.s, sizeof p.s, "%s/" DATA "%s", where ? where : ".", name);
    return p;
}

static void link_to(const struct folder *d, const char *from, const char *name)
{
    assert_int_equal(symlink(from, folder_at(d, name).path), 0);
}

/* The branch; a tensor of it has another name in the file and in the index. */
static void put_branch(const struct folder *d, const char *tensor)
{
    json_t *index = json_open(data_file("model.safetensors.index.json").s), *map = json_object_get(index, "weight_map");
    const struct golden_path from = data_file("ctc.safetensors");
    char other[100], quoted[104];
    struct file f;
    steno_error e;
    snprintf(other, sizeof other, "%s", tensor ? tensor : "");
    snprintf(quoted, sizeof quoted, "\"%s\"", other);
    if (tensor) other[strlen(other) - 1] = 'X';
    if (file_open(&f, from.s, &e)) fail_msg("%s", e.text);
    char *bytes = malloc((size_t)f.size);
    assert_int_equal(file_read(&f, 0, bytes, (size_t)f.size, &e), 0);
    for (size_t i = 0, n = strlen(quoted); tensor && i + n < (size_t)f.size; i++)
        if (!memcmp(bytes + i, quoted, n)) memcpy(bytes + i + 1, other, n - 2);
    if (tensor) {
        assert_int_equal(json_object_set(map, other, json_object_get(map, tensor)), 0);
        assert_int_equal(json_object_del(map, tensor), 0);
    }
    folder_put(d, "model-00002-of-00002.safetensors", bytes, (size_t)f.size);
    char *text = json_dumps(index, JSON_COMPACT);
    folder_text(d, "model.safetensors.index.json", text);
    free(text);
    json_decref(index);
    free(bytes);
    file_close(&f);
}

/* without: a file that is left out, or a tensor; NULL: nothing is */
static struct folder make_folder(const char *without)
{
    static const char *const own[] = { "config.json", "multilingual.tiktoken" };
    const struct folder d = folder_new();
    for (int i = 0; i < 2; i++)
        if (!without || strcmp(without, own[i]) != 0) link_to(&d, data_file(own[i]).s, own[i]);
    link_to(&d, funasr_file("%s", "models/nano/safetensors/model.safetensors").s, "model-00001-of-00002.safetensors");
    link_to(&d, funasr_file("%s", "models/nano/pt/Qwen3-0.6B").s, "Qwen3-0.6B");
    put_branch(&d, without && strstr(without, "ctc") ? without : NULL);
    return d;
}

static steno_model *open_at(const char *path)
{
    steno_model *m;
    steno_error e;
    if (model_open_f32(&m, path, &e)) fail_msg("%s: %s", path, e.text);
    return m;
}

static steno_transcribe_params params_of(int words)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.itn = 1;
    p.word_timestamps = words;
    return p;
}

static int hear(steno_session *s, const char *name, const steno_transcribe_params *p)
{
    struct sound a = { 0 };
    assert_int_equal(sound_read(&a, funasr_file("audio/%s.wav", name).s), 0);
    const int rc = steno_transcribe(s, a.pcm, a.n, p);
    sound_free(&a);
    return rc;
}

static double number_at(json_t *times, size_t token, size_t i)
{
    return json_number_value(json_array_get(json_array_get(times, token), i));
}

/* A word is one or more of the reference's tokens. */
static void compare(steno_session *s, const char *name, json_t *want)
{
    steno_segment g = { .size = sizeof g };
    json_t *times = json_object_get(want, "timestamps");
    size_t at = 0;
    assert_int_equal(steno_segment_count(s), 1);
    assert_int_equal(steno_segment_get(s, 0, &g), 0);
    assert_true(g.n_words > 0);
    assert_string_equal(g.word_source, "ctc");
    char text[1000] = "";
    for (int k = 0; k < g.n_words; k++) {
        steno_word w = { .size = sizeof w };
        double score = 0;
        assert_int_equal(steno_word_get(s, 0, k, &w), 0);
        assert_true(w.n_tokens > 0 && at + (size_t)w.n_tokens <= json_array_size(times));
        const double begin = number_at(times, at, 1), end = number_at(times, at + (size_t)w.n_tokens - 1, 2);
        for (int i = 0; i < w.n_tokens; i++) score += number_at(times, at + (size_t)i, 3) / w.n_tokens;
        if (fabs(w.start - begin) > 1e-6 || fabs(w.end - end) > 1e-6 || fabs(w.probability - score) > 2e-3)
            fail_msg("%s, word %d \"%s\": %g to %g, %g, want %g to %g, %g", name, k, w.text, w.start, w.end, w.probability, begin, end,
                     score);
        at += (size_t)w.n_tokens;
        strncat(text, w.text, sizeof text - strlen(text) - 1);
    }
    assert_int_equal(at, json_array_size(times));
    assert_string_equal(text, g.text);
    steno_word first = { .size = sizeof first };
    steno_word_get(s, 0, 0, &first);
    assert_true(g.start == first.start);
}

static void compare_all(const steno_model *m)
{
    json_t *golden_words = json_open(data_file("golden.json").s), *file;
    const steno_transcribe_params p = params_of(1);
    const char *name;
    steno_session *s;
    int n = 0;
    assert_int_equal(steno_session_open(&s, (steno_model *)(uintptr_t)m, NULL, NULL, NULL), 0);
    json_object_foreach(json_object_get(golden_words, "files"), name, file) {
        const char *text = json_string_value(json_object_get(file, "text"));
        if (text[0] == ' ' || !json_array_size(json_object_get(file, "timestamps"))) continue; /* a space before it is aligned there */
        if (hear(s, name, &p)) fail_msg("%s", steno_last_error(s));
        if (!text[0]) continue;
        compare(s, name, file);
        n++;
    }
    print_message("%d files\n", n);
    assert_true(n >= 10);
    steno_session_close(s);
    json_decref(golden_words);
}

static void test_times_of_words_are_the_references(void **state)
{
    (void)state;
    const struct folder d = make_folder(NULL);
    steno_model *m = open_at(d.path);
    compare_all(m);
    steno_model_close(m);
    folder_remove(&d);
}

static void test_one_file_has_the_branch_and_its_vocabulary(void **state)
{
    (void)state;
    const struct folder d = make_folder(NULL), other = folder_new();
    char path[2][200];
    for (int i = 0; i < 2; i++) snprintf(path[i], sizeof path[i], "%s", i ? folder_at(&other, "one.gguf").path : d.path);
    for (int i = 0; i < 2; i++) {
        struct buf b = { 0 };
        steno_error e;
        if (convert_to(&b, path[i], "f32", &e)) fail_msg("%s", e.text);
        folder_put(&other, "one.gguf", b.p, b.len);
        buf_free(&b);
        steno_model *m = open_at(path[1]);
        compare_all(m);
        steno_model_close(m);
    }
    folder_remove(&other);
    folder_remove(&d);
}

/* The text of a clip; words: are they refused? */
static void without(const char *what)
{
    const struct folder d = make_folder(what);
    steno_model *m = open_at(d.path);
    steno_session *s;
    steno_transcribe_params p = params_of(1);
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    assert_int_equal(hear(s, "zh_synth", &p), STENO_EARG);
    if (!strstr(steno_last_error(s), "word_timestamps is for models with word times"))
        fail_msg("%s: %s", what, steno_last_error(s));
    p = params_of(0);
    if (hear(s, "zh_synth", &p)) fail_msg("%s: %s", what, steno_last_error(s));
    steno_segment g = { .size = sizeof g };
    assert_int_equal(steno_segment_get(s, 0, &g), 0);
    assert_int_equal(g.n_words, 0);
    assert_null(g.word_source);
    steno_session_close(s);
    steno_model_close(m);
    folder_remove(&d);
}

static void test_nothing_is_timed_by_weights_that_are_missing(void **state)
{
    (void)state;
    static const char *const what[] = { "multilingual.tiktoken", "ctc.ctc_lo.bias", "ctc_decoder.linear2.weight",
                                        "ctc_decoder.blocks.1.norm2.bias", "ctc_decoder.blocks.0.self_attn.linear_out.weight" };
    for (size_t i = 0; i < sizeof what / sizeof *what; i++) without(what[i]);
}

/* Windows in a batch have the words of each alone, and windows without words beside them change nothing. */
static void test_words_do_not_depend_on_who_is_beside(void **state)
{
    (void)state;
    const struct folder d = make_folder(NULL);
    steno_model *m = open_at(d.path);
    struct sound a = { 0 };
    steno_session *alone, *s[3];
    steno_batch *b = batch_with(m, 8);
    struct pcm memory[3];
    assert_int_equal(sound_read(&a, funasr_file("audio/%s.wav", "zh_synth_long").s), 0);
    steno_transcribe_params p[3] = { params_of(1), params_of(0), params_of(1) };
    p[0].chunk_ms = p[2].chunk_ms = 1500;
    assert_int_equal(steno_session_open(&alone, m, NULL, NULL, NULL), 0);
    assert_int_equal(steno_transcribe(alone, a.pcm, a.n, &p[0]), 0);
    for (int i = 0; i < 3; i++) {
        s[i] = member_new(m, b);
        memory[i] = (struct pcm){ a.pcm, a.n, 0, 0 };
        const steno_source src = pcm_source(&memory[i]);
        assert_int_equal(steno_batch_add(b, s[i], &src, &p[i]), 0);
    }
    assert_int_equal(steno_batch_run(b), 0);
    int n = 0;
    for (int i = 0; i < 3; i += 2)
        for (int k = 0; k < steno_segment_count(alone); k++) {
            steno_segment x = { .size = sizeof x };
            assert_int_equal(steno_segment_get(alone, k, &x), 0);
            for (int j = 0; j < x.n_words; j++, n++) {
                steno_word v = { .size = sizeof v }, w = { .size = sizeof w };
                assert_int_equal(steno_word_get(alone, k, j, &v), 0);
                assert_int_equal(steno_word_get(s[i], k, j, &w), 0);
                assert_string_equal(v.text, w.text);
                assert_true(v.start == w.start && v.end == w.end && v.probability == w.probability);
                assert_true(v.start >= x.start && v.end <= x.end);
            }
        }
    assert_true(n > 4);
    for (int i = 0; i < 3; i++) steno_session_close(s[i]);
    steno_session_close(alone);
    steno_batch_close(b);
    steno_model_close(m);
    sound_free(&a);
    folder_remove(&d);
}

/* Every n-th allocation fails, and the words are whole, or the call has an error. */
static void test_words_survive_each_failed_allocation(void **state)
{
    (void)state;
    need_counting();
    const struct folder d = make_folder(NULL);
    const steno_transcribe_params p = params_of(1);
    struct sound a = { 0 };
    int64_t calls = 1, n = 0;
    assert_int_equal(sound_read(&a, funasr_file("audio/%s.wav", "zh_synth").s), 0);
    for (int64_t i = -2; i < calls; i += i < 0 ? 1 : 5) { /* first what is made once only, then how many there are */
        steno_model *m = NULL;
        steno_session *s = NULL;
        steno_error e = { 0 };
        int words = 0;
        count_begin(i < 0 ? -1 : i);
        int rc = steno_model_open(&m, d.path, NULL, &e);
        if (!rc) rc = steno_session_open(&s, m, NULL, NULL, &e);
        if (!rc) {
            steno_segment g = { .size = sizeof g };
            rc = steno_transcribe(s, a.pcm, a.n, &p);
            if (!rc) rc = steno_segment_get(s, 0, &g);
            words = g.n_words;
        }
        steno_session_close(s);
        steno_model_close(m);
        const struct heap h = count_end();
        if (i == -1) calls = h.calls;
        if (i != -2) assert_int_equal(h.bytes, 0);
        if (rc ? rc != STENO_ENOMEM : !words) fail_msg("allocation %d: status %d, %d words", (int)i, rc, words);
        n += rc != 0;
    }
    print_message("%d allocations\n", (int)calls);
    assert_true(n > 20);
    sound_free(&a);
    folder_remove(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times_of_words_are_the_references),
        cmocka_unit_test(test_one_file_has_the_branch_and_its_vocabulary),
        cmocka_unit_test(test_nothing_is_timed_by_weights_that_are_missing),
        cmocka_unit_test(test_words_do_not_depend_on_who_is_beside),
        cmocka_unit_test(test_words_survive_each_failed_allocation),
    };
    const int missing = funasr_missing();
    return missing ? missing : cmocka_run_group_tests(tests, NULL, NULL);
}
