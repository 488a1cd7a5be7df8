/* steno tests: structs of callers that were compiled with another header. SPDX-License-Identifier: MIT */
#include "layout_holds.h"
#include "shipped_bytes.h"

static void test_structs_filled_by_an_older_caller_get_only_their_bytes(void **state)
{
    (void)state;
    steno_model *m = bytes_open(file, NULL);
    steno_session *s = session_new(m, NULL, 1);
    union { steno_model_info info; steno_timings timings; uint8_t bytes[sizeof(steno_model_info) + 16]; } u;
    memset(u.bytes, 0xee, sizeof u);
    u.info.size = offsetof(steno_model_info, name);
    assert_int_equal(steno_model_info_get(m, &u.info), 0);
    assert_string_equal(u.info.family, "whisper");
    for (size_t i = offsetof(steno_model_info, name); i < sizeof u; i++) assert_int_equal(u.bytes[i], 0xee);
    u.info.size = sizeof u.bytes; /* a newer one: what we do not know stays */
    assert_int_equal(steno_model_info_get(m, &u.info), 0);
    assert_int_equal(u.info.size, sizeof(steno_model_info));
    assert_int_equal(u.bytes[sizeof(steno_model_info)], 0xee);
    memset(u.bytes, 0xee, sizeof u);
    u.timings.size = 8;
    assert_int_equal(steno_timings_get(s, &u.timings), 0);
    for (size_t i = 8; i < sizeof u; i++) assert_int_equal(u.bytes[i], 0xee);
    u.timings.size = 0;
    assert_int_equal(steno_timings_get(s, &u.timings), STENO_EARG);
    steno_session_close(s);
    steno_model_close(m);
}

/* The same call from programs built against the first header, this one, and one to come. */
static void test_parameters_of_older_and_newer_callers_are_taken_for_what_they_have(void **state)
{
    (void)state;
    steno_error e;
    steno_model *m;
    steno_session *s;
    union { steno_model_params p; uint8_t bytes[sizeof(steno_model_params) + 16]; } mp;
    union { steno_session_params p; uint8_t bytes[sizeof(steno_session_params) + 16]; } sp;
    union { steno_transcribe_params p; uint8_t bytes[sizeof(steno_transcribe_params) + 16]; } tp;
    const float x[4] = { 0 };
    for (int i = 0; i < 3; i++) { /* what lies behind an older caller's struct is not looked at */
        const size_t model_sz = offsetof(steno_model_params, vocab), session_sz = 8;
        const size_t sz = offsetof(steno_transcribe_params, temperature_increment_on_fallback);
        memset(&mp, 0, sizeof mp);
        memset(&sp, 0, sizeof sp);
        memset(&tp, 0, sizeof tp);
        steno_model_params_init(&mp.p);
        steno_session_params_init(&sp.p);
        steno_transcribe_params_init(&tp.p);
        tp.p.language = "en";
        if (i == 0) {
            memset(mp.bytes + model_sz, 0xff, sizeof mp - model_sz);
            memset(sp.bytes + session_sz, 0xff, sizeof sp - session_sz);
            memset(tp.bytes + sz, 0xff, sizeof tp - sz);
        }
        mp.p.size = (uint32_t)(i == 0 ? model_sz : i == 1 ? sizeof mp.p : sizeof mp);
        sp.p.size = (uint32_t)(i == 0 ? session_sz : i == 1 ? sizeof sp.p : sizeof sp);
        tp.p.size = (uint32_t)(i == 0 ? sz : i == 1 ? sizeof tp.p : sizeof tp);
        if (steno_model_open_memory(&m, file.p, file.n, &mp.p, &e)) fail_msg("%s", e.text);
        assert_true(steno_session_memory(m, NULL, &sp.p) > 0);
        assert_int_equal(steno_session_open(&s, m, NULL, &sp.p, NULL), 0);
        if (steno_transcribe(s, x, 4, &tp.p)) fail_msg("%s", steno_last_error(s));
        steno_session_close(s);
        steno_model_close(m);
    }
}

/* ---- every struct of the public headers has the layout that callers were compiled with ------------------------------------------- */

struct place { const char *of, *name; size_t at, want; }; /* name: NULL for the struct itself, whose size it is */

/* clang-format off */
#define OF_STRUCT(type, sz) { #type, NULL, sizeof(type), sz },
#define OF_FIELD(type, field, offset) { #type, #field, offsetof(type, field), offset },
static const struct place places[] = { EACH_PLACE(OF_STRUCT, OF_FIELD) };
/* clang-format on */

static int is_listed(const char *of, const char *name)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (!strcmp(places[i].of, of) && (name ? places[i].name && !strcmp(places[i].name, name) : !places[i].name)) return 1;
    return 0;
}

static void test_structs_and_fields_lie_where_callers_were_compiled_to_find_them(void **state)
{
    (void)state;
    if (sizeof(void *) != 8) skip();
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i].at != places[i].want)
            fail_msg("%s%s%s: %zu, layout.h has %zu", places[i].of, places[i].name ? "." : ": size", places[i].name ? places[i].name : "",
                     places[i].at, places[i].want);
}

/* The size that a struct begins with identifies callers of another header. These have none, and can never grow. */
static void test_structs_begin_with_their_size(void **state)
{
    (void)state;
    static const char *const fixed[] = { "steno_error", "steno_text_part", "steno_message", "steno_source" };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int is_fixed = 0;
        for (size_t k = 0; k < sizeof fixed / sizeof *fixed; k++) is_fixed |= !strcmp(fixed[k], places[i].of);
        if (!places[i].name && is_listed(places[i].of, "size") == is_fixed) fail_msg("%s: has a size: %d", places[i].of, !is_fixed);
        if (places[i].name && !strcmp(places[i].name, "size")) assert_int_equal(places[i].at, 0);
    }
}

/* The text of a header without comments; the caller frees it. */
static char *header_text(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = malloc(1 << 20), *to = text;
    assert_true(f && text);
    const size_t n = fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    assert_true(n > 0 && n < (1 << 20) - 1);
    text[n] = '\0';
    for (const char *at = text; *at;) {
        const char *end = !strncmp(at, "/*", 2) ? strstr(at, "*/") : NULL;
        if (end) at = end + 2;
        else *to++ = *at++;
    }
    *to = '\0';
    return text;
}

/* Names of one declaration, "const char *a, b[3]" or "int (*f)(void *user)". @return how many are not listed */
static int names_missing(const char *of, char *declaration)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
    char *call = strstr(declaration, "(*"), *save = NULL;
    int missing = 0;
    if (call) call[2 + strspn(call + 2, letters)] = '\0';
    for (char *part = strtok_r(call ? call + 2 : declaration, ",", &save); part; part = strtok_r(NULL, ",", &save)) {
        part[strcspn(part, "[")] = '\0';
        size_t end = strlen(part);
        while (end && strchr(" \n", part[end - 1])) part[--end] = '\0';
        size_t begin = end;
        while (begin && strchr(letters, part[begin - 1])) begin--;
        if (begin == end || is_listed(of, part + begin)) continue;
        print_message("%s.%s is not in tests/api/layout.h\n", of, part + begin);
        missing++;
    }
    return missing;
}

/* @return how many structs, or fields of them, are not listed. *n: structs that a header has */
static int structs_missing(const char *path, int *n)
{
    static const char begin[] = "typedef struct ";
    char *text = header_text(path), name[64], *save = NULL;
    int missing = 0;
    for (char *at = text, *body; (at = strstr(at, begin)) != NULL; at = body) {
        body = at + strlen(begin);
        if (sscanf(body, "%63[a-z0-9_] {", name) != 1 || body[strlen(name) + 1] != '{') continue; /* its inside is not public */
        char *end = strchr(body, '}');
        assert_non_null(end);
        *end = '\0';
        missing += !is_listed(name, NULL);
        if (!is_listed(name, NULL)) print_message("%s is not in tests/api/layout.h\n", name);
        for (char *d = strtok_r(strchr(body, '{') + 1, ";", &save); d; d = strtok_r(NULL, ";", &save)) missing += names_missing(name, d);
        body = end + 1;
        ++*n;
    }
    free(text);
    return missing;
}

static void test_every_struct_and_field_of_the_headers_is_listed(void **state)
{
    (void)state;
    int n = 0, listed = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) listed += !places[i].name;
    static const char *const headers[] = { "include/steno/steno.h", "include/steno/media.h", "include/steno/output.h",
                                           "include/steno/live.h" };
    int missing = 0;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) missing += structs_missing(headers[i], &n);
    if (missing) fail_msg("%d are not listed", missing);
    assert_int_equal(n, listed);
    char unlisted[] = " int32_t size, new_number[3]", call[] = "int64_t (*renew)(void *user, float *pcm)";
    assert_int_equal(names_missing("steno_source", unlisted), 2); /* so that this test can fail */
    assert_int_equal(names_missing("steno_source", call), 1);
}

static void test_every_status_and_level_has_a_name(void **state)
{
    (void)state;
    for (int i = STENO_ESOURCE; i <= 0; i++) assert_string_not_equal(steno_status_text(i), "unknown status");
    assert_string_equal(steno_status_text(5), "unknown status");
    assert_string_equal(steno_status_text(-1000), "unknown status");
    assert_string_equal(steno_cpu_level_name(0), "c");
    assert_int_equal(steno_cpu_level_usable(0), 1);
    assert_null(steno_cpu_level_name(-1));
    assert_null(steno_cpu_level_name(99));
    assert_int_equal(steno_cpu_level_usable(99), 0);
    assert_int_equal(steno_cpu_level_usable(-1), 0);
    int major, minor, patch;
    assert_int_equal(sscanf(steno_version(), "%d.%d.%d", &major, &minor, &patch), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_structs_filled_by_an_older_caller_get_only_their_bytes),
        cmocka_unit_test(test_parameters_of_older_and_newer_callers_are_taken_for_what_they_have),
        cmocka_unit_test(test_structs_and_fields_lie_where_callers_were_compiled_to_find_them),
        cmocka_unit_test(test_structs_begin_with_their_size),
        cmocka_unit_test(test_every_struct_and_field_of_the_headers_is_listed),
        cmocka_unit_test(test_every_status_and_level_has_a_name),
    };
    return cmocka_run_group_tests(tests, open_file, close_file);
}
