/* steno tests: what hubs answer, and names that lead nowhere else. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "http.h"
#include "hub_name.h"
#include "json_scan.h"
#include "known.h"
#include "listing.h"
#include "model_name.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct http_fields fields_of(const char *const *lines)
{
    struct http_fields f;
    http_fields_begin(&f);
    for (; *lines; lines++) http_fields_push(&f, *lines, strlen(*lines));
    return f;
}
#define FIELDS(...) fields_of((const char *const[]) { __VA_ARGS__, NULL })

static void test_content_range_counts_when_all_of_it_is_right(void **state)
{
    static const char *const wrong[] = {
        "Content-Range: bytes 5-9", "Content-Range: bytes -9/10", "Content-Range: bytes 9-5/10", "Content-Range: bytes 5-10/10",
        "Content-Range: items 5-9/10", "Content-Range: bytes 5-9/ten", "Content-Range: bytes 5-9/99999999999999999999",
        "Content-Range: bytes 5 -9/10", "Content-Range: bytes x-9/10", "Content-Range:", "Content-Range: bytes",
    };
    (void)state;
    struct http_fields f = FIELDS("Content-Range: bytes 5-9/10\r\n");
    assert_true(f.range_begin == 5 && f.range_total == 10);
    f = FIELDS("content-range: bytes 0-0/*");
    assert_true(f.range_begin == 0 && f.range_total == -1);
    f = FIELDS("Content-Range: bytes 4-9/*", "Content-Range: bytes */3"); /* the last one counts, whole */
    assert_true(f.range_begin == -1 && f.range_total == 3);
    f = FIELDS("Content-Range: bytes */77");
    assert_true(f.range_begin == -1 && f.range_total == 77);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        f = FIELDS(wrong[i]);
        if (f.range_begin != -1 || f.range_total != -1) fail_msg("%s is taken", wrong[i]);
    }
}

static void test_fields_are_those_of_the_last_answer(void **state)
{
    (void)state;
    struct http_fields f = FIELDS("HTTP/1.1 302 Found", "ETag: \"a\"", "Content-Length: 7", "", "HTTP/2 200", "etag: W/\"b\"");
    assert_string_equal(f.etag, "b");
    assert_true(f.length == -1);
    f = FIELDS("Link: <https://h/x?cursor=1>; rel=\"prev\", <https://h/x?cursor=2>; rel=\"next\"");
    assert_string_equal(f.next, "https://h/x?cursor=2");
    f = FIELDS("Link: <https://h/x>; rel=\"last\"", "Retry-After: 7", "RateLimit: \"api\";r=0;t=55", "Content-Encoding: identity");
    assert_string_equal(f.next, "");
    assert_true(f.retry_s == 7 && !f.is_encoded);
    f = FIELDS("RateLimit: \"api\";r=0;t=55", "Content-Encoding: gzip", "Content-Length: -5");
    assert_true(f.retry_s == 56 && f.is_encoded && f.length == -1);
    f = FIELDS("RateLimit: \"api\";r=10;t=55");
    assert_true(f.retry_s == -1);
}

static void test_a_pause_is_seconds_or_a_date(void **state)
{
    static const struct { const char *retry; double s; } is[] = {
        { "0", 0 }, { "310", 310 }, { "999999999999999999", 999999999999999999.0 }, { "1000000000000000000", 1e18 },
        { "99999999999999999999999999999999999999", 1e18 }, { "Sun, 06 Nov 1994 08:49:37 GMT", 7 }, { "Sun, 06 Nov 1994 08:49:29 GMT", 0 },
        { "Tue, 06 Nov 2035 08:49:30 GMT", 1293840000 }, { "-1", -1 }, { "-99999999999999999999", -1 },
        { "1.5", -1 }, { "5 s", -1 }, { "", -1 },
        { "nan", -1 }, { "Sun, 06 Nov 1994", -1 }, { "Sun, 06 Abc 1994 08:49:37 GMT", -1 }, { "Sun, 06 anF 1994 08:49:37 GMT", -1 },
        { "Sun, 06 Nov 1994 08:49:37 CET", -1 }, { "soon", -1 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        char line[128];
        snprintf(line, sizeof line, "Retry-After: %s", is[i].retry);
        const struct http_fields before = FIELDS("Date: Sun, 06 Nov 1994 08:49:30 GMT", line);
        const struct http_fields behind = FIELDS(line, "Date: Sun, 06 Nov 1994 08:49:30 GMT");
        if (before.retry_s != is[i].s || behind.retry_s != is[i].s) fail_msg("%s: %g, %g", is[i].retry, before.retry_s, behind.retry_s);
    }
    const struct http_fields f = FIELDS("Retry-After: Sun, 06 Nov 1994 08:49:37 GMT"); /* it has passed by our clock */
    assert_true(f.retry_s == 0);
}

static void test_an_origin_is_scheme_host_and_port(void **state)
{
    static const struct { const char *url, *origin; } is[] = {
        { "https://Hub.Example/a?b", "https://hub.example:443" }, { "http://h:80/", "http://h:80" }, { "HTTP://h", "http://h:80" },
        { "https://h:8443", "https://h:8443" }, { "http://[::1]:5/", "http://[::1]:5" }, { "http://h#x", "http://h:80" },
        { "ftp://h/", NULL }, { "file:///etc/passwd", NULL }, { "https://", NULL }, { "https://u@h/", NULL }, { "https://u:p@h/", NULL },
        { "https://h:0/", NULL }, { "https://h:99999/", NULL }, { "https://h:x/", NULL }, { "https://h\\@x/", NULL },
        { "https://h/ x", NULL }, { "https://h/\n", NULL }, { "h", NULL }, { "", NULL },
    };
    (void)state;
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        char origin[HUB_ORIGIN_SZ] = "";
        const int rc = hub_origin(origin, is[i].url);
        if ((rc == 0) != (is[i].origin != NULL)) fail_msg("%s: %d", is[i].url, rc);
        if (rc == 0) assert_string_equal(origin, is[i].origin);
    }
    assert_true(hub_is_loopback("http://127.0.0.1:80") && hub_is_loopback("http://localhost:1") && !hub_is_loopback("http://h:80"));
    static const char *const other[] = { "localhost.evil", "127.example.com", "127.0.0.1.evil.com", "127.1", "0x7f.1", "127.0.0.1.",
                                         "128.0.0.1", "[::2]", "[::1", "::1", "localhost6", "127.0.0.1%2eevil.com", "[::ffff:8.8.8.8]",
                                         "127.0.0.256" };
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        char origin[HUB_ORIGIN_SZ];
        snprintf(origin, sizeof origin, "http://%s:80", other[i]);
        if (hub_is_loopback(origin)) fail_msg("%s is taken for this machine", origin);
    }
    assert_true(hub_is_loopback("http://[::1]:80") && hub_is_loopback("http://127.255.0.9:8080"));
    assert_true(hub_is_loopback("http://[0:0:0:0:0:0:0:1]:80"));
}

static void test_an_origin_of_the_longest_host_is_its_own_origin(void **state)
{
    enum { LONGEST = 250 };
    (void)state;
    for (int n = LONGEST - 1; n <= LONGEST + 1; n++)
        for (int k = 0; k < 3; k++) {
            static const char *const port[] = { "", ":", ":65535" };
            char url[400], origin[HUB_ORIGIN_SZ], again[HUB_ORIGIN_SZ];
            memset(url, 'h', sizeof url);
            memcpy(url, "https://", 8);
            snprintf(url + 8 + n, sizeof url - 8 - (size_t)n, "%s/x", port[k]);
            assert_int_equal(hub_origin(origin, url), n > LONGEST ? -1 : 0);
            if (n > LONGEST) continue;
            assert_int_equal(hub_origin(again, origin), 0);
            assert_string_equal(again, origin);
        }
}

static void test_paths_that_lead_out_are_faults(void **state)
{
    static const char *const bad[] = {
        "", "/a", "..", "../a", "a/..", "a/../b", "a//b", "a/", "./a", "a/./b", "C:a", "a\\b", "a\nb", "a\x7f",
    };
    static const char *const good[] = { "a", "a.b", "..a", "a..", "a/b c", "...", "\xc3\xa9" };
    char longest[4200];
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) if (!hub_path_fault(bad[i])) fail_msg("\"%s\" is taken", bad[i]);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) if (hub_path_fault(good[i])) fail_msg("\"%s\" is refused", good[i]);
    memset(longest, 'a', sizeof longest);
    longest[256] = '\0';
    assert_non_null(hub_path_fault(longest));
    longest[256] = 'a';
    for (size_t i = 100; i < sizeof longest; i += 100) longest[i] = '/';
    longest[4098] = '\0';
    assert_non_null(hub_path_fault(longest));
    assert_non_null(hub_id_fault("a/b.git"));
    assert_null(hub_id_fault("a/b.c-d_e"));
}

static void test_json_reports_the_places_of_values(void **state)
{
    char text[] = "{\"a\": {\"b\": [1, {\"c\": \"x\"}, [2]]}, \"d\": null}";
    static const char *const at[] = {
        "", "a", "a.b", "a.b[]", "a.b[]", "a.b[].c", "a.b[]", "a.b[]", "a.b[][]", "a.b[]", "a.b", "a", "d", "",
    };
    struct json_path j;
    size_t n = 0;
    (void)state;
    json_path_begin(&j, text);
    for (; json_path_next(&j); n++) {
        assert_true(n < sizeof at / sizeof *at);
        assert_string_equal(j.at, at[n]);
    }
    assert_int_equal(n, sizeof at / sizeof *at);
    assert_int_equal(j.piece, JSON_PIECE_END);
    char deep[61] = "";
    memset(deep, '[', 60);
    json_path_begin(&j, deep);
    while (json_path_next(&j)) {}
    assert_int_equal(j.piece, JSON_PIECE_BAD);
    char wide[600];
    snprintf(wide, sizeof wide, "{\"%0300d\": {\"path\": 1}}", 0);
    json_path_begin(&j, wide);
    while (json_path_next(&j)) assert_false(json_path_is(&j, "path"));
}

#define SHA "0123456789abcdef0123456789abcdef01234567"
static int list(const char *json, struct hub_error *e)
{
    struct hub_listing l = { 0 };
    char text[1024];
    snprintf(text, sizeof text, "%s", json);
    const int rc = hub_listing_hf(&l, text, "a/b", e);
    const int n = (int)l.n;
    hub_listing_free(&l);
    return rc == HUB_OK ? n : -rc;
}

static void test_a_listing_is_taken_whole_or_refused(void **state)
{
    struct hub_error e;
    (void)state;
    assert_int_equal(list("[]", &e), 0);
    assert_int_equal(list("[{\"type\":\"file\",\"path\":\"a\",\"size\":1,\"oid\":\"" SHA "\"}, {\"type\":\"directory\","
                          "\"path\":\"..\"}]", &e), 1);
    assert_int_equal(list("{}", &e), -HUB_ENET);
    assert_int_equal(list("[{\"type\":\"file\"", &e), -HUB_ENET);
    assert_int_equal(list("<html>", &e), -HUB_ENET);
    assert_int_equal(list("[{\"type\":\"file\",\"path\":\"../a\",\"size\":1,\"oid\":\"" SHA "\"}]", &e), -HUB_EABSENT);
    assert_int_equal(list("[{\"type\":\"file\",\"path\":\"a\",\"size\":-1,\"oid\":\"" SHA "\"}]", &e), -HUB_EABSENT);
    assert_int_equal(list("[{\"type\":\"file\",\"path\":\"a\",\"size\":1.5,\"oid\":\"" SHA "\"}]", &e), -HUB_EABSENT);
    assert_int_equal(list("[{\"type\":\"file\",\"path\":\"a\",\"size\":1e300,\"oid\":\"" SHA "\"}]", &e), -HUB_EABSENT);
    assert_int_equal(list("[{\"type\":\"file\",\"path\":\"a\",\"size\":1,\"oid\":\"short\"}]", &e), -HUB_EABSENT);
}

static void test_names_are_read_in_parts(void **state)
{
    struct hub_spec s;
    struct hub_error e;
    (void)state;
    assert_int_equal(hub_spec_read(&s, "a/b@v1:c/d@e", &e), HUB_OK);
    assert_string_equal(s.id, "a/b");
    assert_string_equal(s.rev, "v1");
    assert_string_equal(s.file, "c/d@e");
    assert_int_equal(hub_spec_read(&s, "a/b@", &e), HUB_EARG);
    assert_int_equal(hub_spec_read(&s, "a/b:", &e), HUB_EARG);
    assert_int_equal(hub_spec_read(&s, "a", &e), HUB_EARG);
}

static void test_the_table_is_read_back(void **state)
{
    struct hub_known k;
    struct hub_listing l;
    struct hub_error e;
    (void)state;
    assert_true(hub_known_find(&k, "Turbo") && strcmp(k.name, "large-v3-turbo") == 0 && k.size == 1624555275 && k.memory_mb > 1000);
    assert_int_equal(hub_known_files(&l, &k, &e), 1);
    assert_int_equal(l.n, 1);
    hub_listing_free(&l);
    assert_true(hub_known_find(&k, "sensevoice-small"));
    assert_int_equal(hub_known_files(&l, &k, &e), 1);
    assert_int_equal(l.n, 5);
    hub_listing_free(&l);
    assert_true(hub_known_find(&k, "paraformer-zh"));
    assert_int_equal(hub_known_files(&l, &k, &e), 0);
    assert_false(hub_known_find(&k, "larg"));
    assert_false(hub_known_find(&k, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_content_range_counts_when_all_of_it_is_right),
        cmocka_unit_test(test_fields_are_those_of_the_last_answer),
        cmocka_unit_test(test_a_pause_is_seconds_or_a_date),
        cmocka_unit_test(test_an_origin_is_scheme_host_and_port),
        cmocka_unit_test(test_an_origin_of_the_longest_host_is_its_own_origin),
        cmocka_unit_test(test_paths_that_lead_out_are_faults),
        cmocka_unit_test(test_json_reports_the_places_of_values),
        cmocka_unit_test(test_a_listing_is_taken_whole_or_refused),
        cmocka_unit_test(test_names_are_read_in_parts),
        cmocka_unit_test(test_the_table_is_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
