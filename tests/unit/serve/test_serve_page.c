/* steno: the web page is inside the program. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "page.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_files_are_those_of_the_source(void **state)
{
    (void)state;
    static const struct { const char *path, *type; } row[] = {
        { "/index.html", "text/html; charset=utf-8" }, { "/page.css", "text/css; charset=utf-8" },
        { "/page.js", "text/javascript; charset=utf-8" }, { "/live.js", "text/javascript; charset=utf-8" },
        { "/transcript.js", "text/javascript; charset=utf-8" }, { "/audio.js", "text/javascript; charset=utf-8" },
        { "/icon.svg", "image/svg+xml; charset=utf-8" },
    };
    size_t n_files = 0;
    while (page_files[n_files].path) n_files++;
    assert_int_equal(n_files, sizeof row / sizeof *row);
    for (size_t i = 0; i < n_files; i++) {
        static char bytes[1 << 17];
        char name[128];
        const struct page_file *f = page_find(row[i].path);
        assert_non_null(f);
        assert_string_equal(f->type, row[i].type);
        snprintf(name, sizeof name, "serve/page%s", row[i].path);
        FILE *in = fopen(name, "rb");
        assert_non_null(in);
        const size_t n = fread(bytes, 1, sizeof bytes, in);
        fclose(in);
        assert_int_equal(f->n, n);
        assert_memory_equal(f->bytes, bytes, n);
    }
    assert_ptr_equal(page_find("/"), page_find("/index.html"));
}

static void test_other_paths_are_not_found(void **state)
{
    (void)state;
    static const char *const path[] = { "", "//", "/index", "/index.html/", "/./index.html", "/../page.css", "index.html", "/INDEX.HTML",
                                        "/page.js?x", "/serve/page/page.js", "/page.cs", "/page.css2", "/etc/passwd" };
    for (size_t i = 0; i < sizeof path / sizeof *path; i++) assert_null(page_find(path[i]));
}

static const char *header(const struct http_answer *a, const char *name)
{
    for (int i = 0; i < ANSWER_HEADERS_MAX && a->header[i].name; i++) {
        if (!strcmp(a->header[i].name, name)) return a->header[i].value;
    }
    return NULL;
}

static void test_answers_have_a_policy_and_an_etag(void **state)
{
    (void)state;
    for (const struct page_file *f = page_files; f->path; f++) {
        struct http_answer a;
        assert_int_equal(page_answer(f, NULL, &a), 0);
        assert_int_equal(a.status, 200);
        assert_int_equal(a.n, f->n);
        assert_memory_equal(a.body, f->bytes, f->n);
        free(a.body);
        assert_non_null(strstr(header(&a, "Content-Security-Policy"), "default-src 'self'"));
        assert_null(strstr(header(&a, "Content-Security-Policy"), "unsafe"));
        assert_string_equal(header(&a, "ETag"), f->etag);
        assert_int_equal(strlen(f->etag), 34);
        assert_int_equal(f->etag[0], '"');
        assert_int_equal(f->etag[33], '"');
        for (const struct page_file *g = page_files; g < f; g++) assert_string_not_equal(f->etag, g->etag);
    }
}

static void test_a_client_with_the_file_receives_304(void **state)
{
    (void)state;
    const struct page_file *f = page_find("/");
    static const struct { const char *form; int status; } row[] = { /* %s: the etag */
        { "%s", 304 }, { "W/%s", 304 }, { "*", 304 }, { "\"x\", %s", 304 }, { "%s , \"x\"", 304 }, { ",,%s", 304 }, { "  %s", 304 },
        { "", 200 }, { "\"x\"", 200 }, { "%sx", 200 }, { "x%s", 200 }, { "*x", 200 }, { ",", 200 }, { "\"\"", 200 }, { "W/", 200 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char field[128];
        struct http_answer a;
        const char *at = strstr(row[i].form, "%s");
        const int head = at ? (int)(at - row[i].form) : (int)strlen(row[i].form);
        snprintf(field, sizeof field, "%.*s%s%s", head, row[i].form, at ? f->etag : "", at ? at + 2 : "");
        assert_int_equal(page_answer(f, field, &a), 0);
        if (a.status != row[i].status) fail_msg("If-None-Match: %s: %d", field, a.status);
        assert_true((a.status == 304) == !a.body);
        free(a.body);
    }
}

/* Nothing is loaded from elsewhere, and no markup is made of texts. */
static void test_sources_name_no_other_host_and_no_markup_from_texts(void **state)
{
    (void)state;
    static const char *const bad[] = { "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "localStorage",
                                       "sessionStorage", "document.cookie", "indexedDB", "https://", "style=\"", "onclick=\"" };
    for (const struct page_file *f = page_files; f->path; f++) {
        char *text = malloc(f->n + 1);
        assert_non_null(text);
        memcpy(text, f->bytes, f->n);
        text[f->n] = 0;
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            if (strstr(text, bad[i])) fail_msg("%s has %s", f->path, bad[i]);
        }
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_are_those_of_the_source),
        cmocka_unit_test(test_other_paths_are_not_found),
        cmocka_unit_test(test_answers_have_a_policy_and_an_etag),
        cmocka_unit_test(test_a_client_with_the_file_receives_304),
        cmocka_unit_test(test_sources_name_no_other_host_and_no_markup_from_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
