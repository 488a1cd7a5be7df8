/* steno-serve: the handshake of WebSocket. SPDX-License-Identifier: MIT */
#include "api_error.h"
#include "harness.h"
#include "ws.h"

static void test_accept_value(void **state)
{
    (void)state;
    char out[WS_ACCEPT_SZ];
    assert_int_equal(ws_accept_value(out, "dGhlIHNhbXBsZSBub25jZQ=="), 0); /* RFC 6455, section 1.3 */
    assert_string_equal(out, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assert_int_equal(ws_accept_value(out, "x3JJHMbDL1EzLkh9GBhXDw=="), 0);
    assert_string_equal(out, "HSmrc0sMlYUkAGmm5OPpG2HaGWk=");
    static const char *const bad[] = { "", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25jZQ===", "dGhlIHNhbXBsZSBub25jZQAA",
                                       "dGhl IHNhbXBsZSBub25jZ==", "dGhlIHNhbXBsZSBub25j=Q==" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_int_equal(ws_accept_value(out, bad[i]), -1);
}

static void test_check(void **state)
{
    (void)state;
    const char *key = "dGhlIHNhbXBsZSBub25jZQ==";
    static const struct { int get; const char *upgrade, *connection, *version; int has_key; enum api_code code; } c[] = {
        { 1, "websocket", "Upgrade", "13", 1, API_OK }, { 1, "WebSocket", "keep-alive, Upgrade", "13", 1, API_OK },
        { 1, "h2c, websocket", "upgrade ,x", "13", 1, API_OK }, { 0, "websocket", "Upgrade", "13", 1, API_method_not_allowed },
        { 1, NULL, "Upgrade", "13", 1, API_upgrade_required }, { 1, "websocket", NULL, "13", 1, API_upgrade_required },
        { 1, "websocket", "keep-alive", "13", 1, API_upgrade_required }, { 1, "websockets", "Upgrade", "13", 1, API_upgrade_required },
        { 1, "websocket", "Upgrade", NULL, 1, API_upgrade_required }, { 1, "websocket", "Upgrade", "8", 1, API_upgrade_required },
        { 1, "websocket", "Upgrade", "13", 0, API_bad_request },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct api_error e = { 0 };
        assert_int_equal(ws_check(c[i].get, c[i].upgrade, c[i].connection, c[i].version, c[i].has_key ? key : NULL, &e), c[i].code);
        assert_int_equal(e.code, c[i].code);
    }
    const char *list = " realtime ,,openai-insecure-api-key.K, \tx\t";
    static const char *const want[] = { "realtime", "openai-insecure-api-key.K", "x" };
    size_t n;
    for (size_t i = 0; i < 3; i++) {
        const char *p = ws_protocol_next(&list, &n);
        assert_non_null(p);
        assert_int_equal(n, strlen(want[i]));
        assert_int_equal(strncmp(p, want[i], n), 0);
    }
    assert_null(ws_protocol_next(&list, &n));
    list = NULL;
    assert_null(ws_protocol_next(&list, &n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accept_value),
        cmocka_unit_test(test_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
