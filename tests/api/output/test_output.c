/* steno tests: results in the formats of the program, for other programs. SPDX-License-Identifier: MIT */
#include <steno/output.h>
#include "shipped_session.h"

static steno_output_params output_new(void)
{
    steno_output_params p;
    steno_output_params_init(&p);
    return p;
}

static char *text_of(const char *format, const steno_output_params *p)
{
    steno_error e = { 0 };
    char *text;
    size_t n;
    if (steno_output_text(&text, &n, session, format, p, &e)) fail_msg("%s: %s", format, e.text);
    assert_int_equal(n, strlen(text));
    return text;
}

static void transcribe_words(const struct audio *a)
{
    steno_transcribe_params p = params_new();
    p.language = "en";
    p.word_timestamps = 1;
    p.token_timestamps = 1;
    run(a, &p);
}

static void test_every_format_holds_the_text(void **state)
{
    (void)state;
    transcribe_words(&demo);
    steno_output_params p = output_new();
    p.model = model;
    p.input = "digits.wav";
    int n = 0;
    steno_segment g = { .size = sizeof g };
    assert_int_equal(steno_segment_get(session, 0, &g), STENO_OK);
    char first[16] = { 0 };
    sscanf(g.text, " %15[a-z]", first);
    assert_true(*first);
    for (const char *format; (format = steno_output_format(n)); n++) {
        char *text = text_of(format, &p);
        if (!strstr(text, first)) fail_msg("%s has no \"%s\": %s", format, first, text);
        free(text);
    }
    assert_int_equal(n, 14);
    assert_null(steno_output_format(-1));
    assert_null(steno_output_format(n));
}

static int count(const char *text, const char *what)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what)) n++;
    return n;
}

static void test_limits_lay_out_cues(void **state)
{
    (void)state;
    transcribe_words(&many);
    steno_output_params p = output_new();
    char *plain = text_of("srt", NULL), *text;
    p.word_times = 1;
    p.max_words_per_line = 2;
    text = text_of("srt", &p);
    assert_true(count(text, " --> ") > 2 * count(plain, " --> "));
    free(text);
    p.max_words_per_line = 0;
    p.max_line_width = 12;
    p.max_line_count = 1;
    text = text_of("srt", &p);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (!strstr(line, "-->")) assert_true(strlen(line) <= 12);
    free(text);
    p = output_new();
    p.model = model;
    p.max_len = 10;
    p.split_on_word = 1;
    text = text_of("srt", &p);
    assert_true(count(text, " --> ") > count(plain, " --> "));
    free(text);
    p = output_new();
    p.word_times = 1;
    p.style = "netflix";
    text = text_of("vtt", &p);
    assert_true(count(text, " --> ") > 1);
    free(text);
    free(plain);
}

static void refused(const char *format, const steno_output_params *p, const char *what)
{
    steno_error e = { 0 };
    char unset, *text = &unset;
    if (steno_output_text(&text, NULL, session, format, p, &e) != STENO_EARG || !strstr(e.text, what) || e.status != STENO_EARG || text)
        fail_msg("\"%s\" does not say %s", e.text, what);
}

static void test_options_without_effect_are_refused(void **state)
{
    (void)state;
    steno_output_params p = output_new();
    refused("srtt", NULL, "no format is called \"srtt\"");
    p.size = 0;
    refused("srt", &p, "steno_output_params_init");
    static const struct { size_t at; int32_t value; const char *what; } fields[] = {
        { offsetof(steno_output_params, max_len), -1, "max_len is below 0" },
        { offsetof(steno_output_params, max_line_width), -1, "max_line_width is below 0" },
        { offsetof(steno_output_params, max_line_count), INT32_MIN, "max_line_count is below 0" },
        { offsetof(steno_output_params, max_words_per_line), -1, "max_words_per_line is below 0" },
        { offsetof(steno_output_params, split_on_word), 1, "split_on_word needs max_len" },
        { offsetof(steno_output_params, max_len), 10, "max_len needs model or word_times" },
        { offsetof(steno_output_params, max_line_count), 1, "max_line_count needs max_line_width" },
        { offsetof(steno_output_params, max_line_width), 1, "max_line_width needs word_times" },
        { offsetof(steno_output_params, max_words_per_line), 1, "max_words_per_line needs word_times" },
        { offsetof(steno_output_params, highlight_words), 1, "highlight_words needs word_times" },
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        p = output_new();
        memcpy((char *)&p + fields[i].at, &fields[i].value, sizeof fields[i].value);
        refused("srt", &p, fields[i].what);
    }
    p = output_new();
    p.word_times = 1;
    p.style = "netflixx";
    refused("srt", &p, "no style is called \"netflixx\"");
    p.style = "";
    refused("srt", &p, "no style is called \"\"");
    p.style = "bbc";
    p.max_words_per_line = 3;
    refused("srt", &p, "max_words_per_line excludes style");
    steno_error e;
    assert_int_equal(steno_output_text(NULL, NULL, session, "srt", NULL, &e), STENO_EARG);
    assert_int_equal(steno_output_write(session, "srt", NULL, NULL, NULL, &e), STENO_EARG);
    assert_int_equal(steno_output_write(NULL, "srt", NULL, NULL, NULL, NULL), STENO_EARG);
}

static int take_some(void *user, const char *bytes, size_t n)
{
    size_t *left = user;
    (void)bytes;
    if (n > *left) return 1;
    *left -= n;
    return 0;
}

static void test_a_full_receiver_ends_the_call(void **state)
{
    (void)state;
    transcribe_words(&demo);
    char *text = text_of("json", NULL);
    const size_t n = strlen(text);
    free(text);
    steno_error e;
    size_t left = n;
    assert_int_equal(steno_output_write(session, "json", NULL, take_some, &left, &e), STENO_OK);
    assert_int_equal(left, 0);
    for (size_t most = 0; most < n; most += 1 + n / 16) {
        left = most;
        assert_int_equal(steno_output_write(session, "json", NULL, take_some, &left, &e), STENO_EIO);
        assert_int_equal(e.status, STENO_EIO);
    }
}

static void test_a_session_without_a_result_gives_an_empty_one(void **state)
{
    (void)state;
    steno_session *fresh = session_new(model, NULL, 1);
    char *text;
    size_t n;
    steno_error e = { 0 };
    assert_int_equal(steno_output_text(&text, &n, fresh, "srt", NULL, &e), STENO_OK);
    assert_string_equal(text, "");
    assert_int_equal(n, 0);
    free(text);
    steno_session_close(fresh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_format_holds_the_text),
        cmocka_unit_test(test_limits_lay_out_cues),
        cmocka_unit_test(test_options_without_effect_are_refused),
        cmocka_unit_test(test_a_full_receiver_ends_the_call),
        cmocka_unit_test(test_a_session_without_a_result_gives_an_empty_one),
    };
    return cmocka_run_group_tests(tests, shipped_session_open, shipped_session_close);
}
