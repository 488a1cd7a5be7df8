/* steno: keys, origins and hosts decide who may send requests. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "access.h"
#include "http_state.h"
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const listed[] = { "https://app.example", "chrome-extension://abcdef" };
static const char *const names[] = { "stt.example" };

/* A request with these fields: "Name: value" lines. @return the code of access_check */
static int check(struct access *a, const char *client, const char *fields, struct api_error *e)
{
    struct exchange x = { 0 };
    char text[1024], *rest = text, *line;
    snprintf(text, sizeof text, "%s", fields);
    snprintf(x.client, sizeof x.client, "%s", client);
    while ((line = strsep(&rest, "\n"))) {
        char *value = strstr(line, ": ");
        if (value) assert_int_equal(exchange_add_field(&x, line, (size_t)(value - line), value + 2, strlen(value + 2)), 0);
    }
    *e = (struct api_error){ 0 };
    const int rc = access_check(a, &x, 0, e);
    struct api_error unused = { 0 };
    assert_int_equal(access_check(a, &x, 1, &unused), API_OK);
    for (int i = 0; i < x.n_fields; i++) free((void *)(uintptr_t)x.field[i].name);
    free(x.field);
    assert_int_equal(rc, e->code);
    return rc;
}

static void file_write(const char *path, const char *text, mode_t mode)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_int_equal(chmod(path, mode), 0);
}

static char path[64];

static int with_keys(struct access **a, const char *text, mode_t mode, steno_error *e)
{
    const struct access_params p = { .key_file = path, .host = "0.0.0.0", .origins = listed, .n_origins = 2 };
    file_write(path, text, mode);
    return access_open(a, &p, e);
}

static void test_a_key_is_needed_wherever_clients_write_it(void **state)
{
    (void)state;
    static const struct { const char *fields; int code; } cases[] = {
        { "Host: x", API_invalid_api_key },
        { "Host: x\nAuthorization: Bearer sk-one", API_OK },
        { "Host: x\nauthorization: bearer   sk-two", API_OK },
        { "Host: x\nAuthorization: Token sk-one", API_OK },
        { "Host: x\nX-API-Key: sk-two", API_OK },
        { "Host: x\nAuthorization: Bearer wrong\nX-API-Key: sk-two", API_OK },
        { "Host: x\nAuthorization: Bearer sk-on", API_invalid_api_key },
        { "Host: x\nAuthorization: Bearer sk-onee", API_invalid_api_key },
        { "Host: x\nAuthorization: Bearer SK-ONE", API_invalid_api_key },
        { "Host: x\nAuthorization: Bearer", API_invalid_api_key },
        { "Host: x\nAuthorization: Bearer ", API_invalid_api_key },
        { "Host: x\nAuthorization: Bearersk-one", API_invalid_api_key },
        { "Host: x\nAuthorization: Basic sk-one", API_invalid_api_key },
        { "Host: x\nAuthorization: sk-one", API_invalid_api_key },
        { "Host: x\nAuthorization: Bearer # comment", API_invalid_api_key },
        { "Host: x\nX-API-Key: ", API_invalid_api_key },
        { "Host: x\nUpgrade: websocket\nSec-WebSocket-Protocol: realtime, openai-insecure-api-key.sk-one", API_OK },
        { "Host: x\nUpgrade: websocket\nSec-WebSocket-Protocol: token, sk-two", API_OK },
        { "Host: x\nUpgrade: websocket\nSec-WebSocket-Protocol: token,sk-none", API_invalid_api_key },
        { "Host: x\nUpgrade: websocket\nSec-WebSocket-Protocol: sk-one", API_invalid_api_key },
        { "Host: x\nUpgrade: websocket\nSec-WebSocket-Protocol: openai-insecure-api-key., token,", API_invalid_api_key },
        { "Host: x\nSec-WebSocket-Protocol: token, sk-two", API_invalid_api_key },
    };
    struct access *a = NULL;
    struct api_error e;
    steno_error error = { 0 };
    assert_int_equal(with_keys(&a, "# comment\n\n  sk-one \r\nsk-two", 0600, &error), STENO_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int rc = check(a, "9.9.9.9", cases[i].fields, &e);
        if (rc != cases[i].code) fail_msg("%s: %s", cases[i].fields, api_code_name((enum api_code)rc));
        if (rc != API_OK) assert_null(strstr(e.message, "sk-"));
    }
    char longer[300];
    memset(longer, 'k', sizeof longer);
    assert_int_equal(access_key_is_valid(a, longer, sizeof longer), 0);
    assert_int_equal(access_key_is_valid(a, "", 0), 0);
    access_close(a);
    remove(path);
}

static void test_keys_are_read_again(void **state)
{
    (void)state;
    struct access *a = NULL;
    steno_error e = { 0 };
    assert_int_equal(with_keys(&a, "one\n", 0600, &e), STENO_OK);
    file_write(path, "two\nthree\n", 0400);
    assert_int_equal(access_reload(a, &e), STENO_OK);
    assert_int_equal(access_key_is_valid(a, "one", 3), 0);
    assert_int_equal(access_key_is_valid(a, "three", 5), 1);
    remove(path);
    assert_int_equal(access_reload(a, &e), STENO_EARG); /* the former ones stay */
    assert_int_equal(access_key_is_valid(a, "three", 5), 1);
    file_write(path, "four\n", 0644);
    assert_int_equal(access_reload(a, &e), STENO_EARG);
    assert_int_equal(access_key_is_valid(a, "four", 4), 0);
    access_close(a);
    remove(path);
}

static void test_bad_files_of_keys_are_errors(void **state)
{
    (void)state;
    static const struct { const char *text; mode_t mode; const char *why; } cases[] = {
        { "one\n", 0620, "chmod 600" }, { "one\n", 0604, "chmod 600" }, { "one\n", 0610, "chmod 600" }, { "one\n", 0602, "chmod 600" },
        { "one\n", 0660, "chmod 600" }, { "one\n", 0444, "chmod 600" },
        { "", 0600, "has no key" }, { "# only\n\n", 0600, "has no key" },
        { "ok\nsecret with spaces\n", 0600, ":2: a key has printable" }, { "k\303\244y\n", 0600, ":1: a key has printable" },
        { "a\tb\n", 0600, ":1: a key has printable" },
    };
    struct access *a = NULL;
    steno_error e;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(with_keys(&a, cases[i].text, cases[i].mode, &e), STENO_EARG);
        if (!strstr(e.text, cases[i].why)) fail_msg("case %zu: %s", i, e.text);
        assert_null(strstr(e.text, "secret"));
        assert_null(a);
    }
    static char text[ACCESS_KEYS_MAX * 4 + 400];
    memset(text, 'k', ACCESS_KEY_MAX);
    assert_int_equal(with_keys(&a, text, 0600, &e), STENO_OK);
    assert_int_equal(access_key_is_valid(a, text, ACCESS_KEY_MAX), 1);
    assert_int_equal(access_key_is_valid(a, text, ACCESS_KEY_MAX - 1), 0);
    access_close(a);
    text[ACCESS_KEY_MAX] = 'k';
    assert_int_equal(with_keys(&a, text, 0600, &e), STENO_EARG);
    for (int i = 0; i <= ACCESS_KEYS_MAX; i++) memcpy(text + 3 * i, "kk\n", 4);
    assert_int_equal(with_keys(&a, text, 0600, &e), STENO_EARG);
    text[3 * ACCESS_KEYS_MAX] = '\0';
    assert_int_equal(with_keys(&a, text, 0600, &e), STENO_OK);
    access_close(a);
    remove(path);
    const struct access_params folder = { .key_file = "tests", .host = "127.0.0.1" };
    assert_int_equal(access_open(&a, &folder, &e), STENO_EARG);
    const struct access_params none = { .key_file = "tests/none", .host = "127.0.0.1" };
    assert_int_equal(access_open(&a, &none, &e), STENO_EARG);
}

/* As systemd and Kubernetes pass secrets. */
static void test_the_group_of_a_file_of_root_may_read_it(void **state)
{
    (void)state;
    static const mode_t modes[] = { 0440, 0640 };
    const int is_root = geteuid() == 0;
    struct access *a = NULL;
    steno_error e;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(with_keys(&a, "one\n", modes[i], &e), is_root ? STENO_OK : STENO_EARG);
        access_close(a);
        a = NULL;
        if (!is_root) continue;
        assert_int_equal(chown(path, 12345, (gid_t)-1), 0);
        assert_int_equal(access_open(&a, &(struct access_params){ .key_file = path, .host = "0.0.0.0" }, &e), STENO_EARG);
        assert_non_null(strstr(e.text, "chmod 600"));
        assert_null(a);
        remove(path);
    }
    remove(path);
}

static void test_pages_are_the_servers_own_or_listed(void **state)
{
    (void)state;
    static const struct { const char *fields; int code; } cases[] = {
        { "Host: 127.0.0.1:8090", API_OK },
        { "Host: 127.0.0.1:8090\nOrigin: http://127.0.0.1:8090", API_OK },
        { "Host: 127.0.0.1:8090\nOrigin: http://127.0.0.1:9000", API_origin_not_allowed },
        { "Host: 127.0.0.1:8090\nOrigin: http://localhost:8090", API_origin_not_allowed },
        { "Host: localhost\nOrigin: http://localhost", API_OK },
        { "Host: localhost:80\nOrigin: http://localhost", API_OK },
        { "Host: localhost\nOrigin: https://localhost:443", API_OK },
        { "Host: localhost\nOrigin: https://localhost:444", API_origin_not_allowed },
        { "Host: localhost\nOrigin: https://app.example", API_OK },
        { "Host: localhost\nOrigin: https://app.example.", API_origin_not_allowed },
        { "Host: localhost\nOrigin: https://app.example.evil", API_origin_not_allowed },
        { "Host: localhost\nOrigin: http://app.example", API_origin_not_allowed },
        { "Host: localhost\nOrigin: chrome-extension://abcdef", API_OK },
        { "Host: localhost\nOrigin: null", API_origin_not_allowed },
        { "Host: localhost\nOrigin: ", API_origin_not_allowed },
        { "Host: localhost\nOrigin: http://localhost/", API_origin_not_allowed },
        { "Host: localhost\nOrigin: http://evil@localhost", API_origin_not_allowed },
        { "Host: [::1]:8090\nOrigin: http://[::1]:8090", API_OK },
    };
    const struct access_params p = { .host = "127.0.0.1", .origins = listed, .n_origins = 2, .hosts = names, .n_hosts = 1 };
    struct access *a = NULL;
    struct api_error e;
    assert_int_equal(access_open(&a, &p, NULL), STENO_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int rc = check(a, "127.0.0.1", cases[i].fields, &e);
        if (rc != cases[i].code) fail_msg("%s: %s", cases[i].fields, api_code_name((enum api_code)rc));
    }
    access_close(a);
}

static void test_without_keys_a_name_that_resolves_to_loopback_is_refused(void **state)
{
    (void)state;
    static const struct { const char *host; int is_ok; } cases[] = {
        { "localhost", 1 }, { "LOCALHOST:1", 1 }, { "127.0.0.1", 1 }, { "127.255.0.9:8090", 1 }, { "[::1]", 1 }, { "[::1]:8090", 1 },
        { "[0:0:0:0:0:0:0:1]", 1 }, { "[::ffff:127.0.0.1]", 1 }, { "stt.example", 1 }, { "STT.example:8090", 1 },
        { "evil.example", 0 }, { "localhost.evil.example", 0 }, { "127.0.0.1.evil.example", 0 }, { "0.0.0.0", 0 }, { "128.0.0.1", 0 },
        { "127.1", 0 }, { "2130706433", 0 }, { "0x7f.0.0.1", 0 }, { "::1", 0 }, { "[::2]", 0 }, { "[::1", 0 }, { "[::1]x", 0 },
        { "[127.0.0.1]", 0 }, { "[127.0.0.1:80]", 0 },
        { "localhost:", 0 }, { "localhost:0", 0 }, { "localhost:65536", 0 }, { "localhost:123456", 0 },
        { "localhost:80:80", 0 }, { "localhost/", 0 }, { "a@localhost", 0 }, { "", 0 }, { "localhost,evil", 0 }, { "[[::1]]", 0 },
    };
    const struct access_params p = { .host = "localhost", .hosts = names, .n_hosts = 1 };
    struct access *a = NULL;
    struct api_error e;
    char fields[100];
    assert_int_equal(access_open(&a, &p, NULL), STENO_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(fields, sizeof fields, "Host: %s", cases[i].host);
        const int rc = check(a, "127.0.0.1", fields, &e);
        if (rc != (cases[i].is_ok ? API_OK : API_host_not_allowed)) fail_msg("%s: %d", cases[i].host, rc);
        assert_int_equal(check(a, "unix", fields, &e), API_OK);
    }
    access_close(a);
}

static void test_addresses_that_others_reach_need_keys(void **state)
{
    (void)state;
    static const struct { const char *host; int is_local; } cases[] = {
        { "127.0.0.1", 1 }, { "127.9.9.9", 1 }, { "localhost", 1 }, { "::1", 1 }, { "[::1]", 1 }, { NULL, 1 },
        { "0.0.0.0", 0 }, { "::", 0 }, { "10.0.0.1", 0 }, { "example.org", 0 }, { "", 0 }, { "127.1", 0 },
    };
    struct access *a = NULL;
    struct api_error e;
    steno_error error;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct access_params p = { .host = cases[i].host };
        assert_int_equal(access_open(&a, &p, &error), cases[i].is_local ? STENO_OK : STENO_EARG);
        access_close(a);
        p.no_auth = 1;
        assert_int_equal(access_open(&a, &p, &error), STENO_OK);
        if (!cases[i].is_local) assert_int_equal(check(a, "9.9.9.9", "Host: any.example", &e), API_OK);
        access_close(a);
    }
}

static void test_bad_origins_are_errors(void **state)
{
    (void)state;
    static const char *const bad[] = { "app.example", "https://", "https://a/", "https://a:0", "ftp://", "", "https://a b", "null",
                                       "http:///a", "httpx://a/b" };
    struct access *a = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct access_params p = { .host = "127.0.0.1", .origins = &bad[i], .n_origins = 1 };
        if (access_open(&a, &p, NULL) != STENO_EARG) fail_msg("\"%s\" is accepted", bad[i]);
    }
    const char *const all[] = { "*" };
    struct access_params p = { .host = "127.0.0.1", .origins = all, .n_origins = 1 };
    struct api_error e;
    assert_int_equal(access_open(&a, &p, NULL), STENO_OK);
    assert_int_equal(check(a, "127.0.0.1", "Host: localhost\nOrigin: https://any.example", &e), API_OK);
    access_close(a);
    file_write(path, "key\n", 0600);
    p.key_file = path;
    assert_int_equal(access_open(&a, &p, NULL), STENO_EARG); /* with keys every origin is listed */
    remove(path);
}

static void test_a_preflight_is_answered_for_listed_origins(void **state)
{
    (void)state;
    static const char *const origins[] = { "https://app.example", "https://evil.example", NULL };
    const struct access_params p = { .host = "127.0.0.1", .origins = listed, .n_origins = 2 };
    struct access *a = NULL;
    assert_int_equal(access_open(&a, &p, NULL), STENO_OK);
    for (int i = 0; i < 3; i++) {
        struct http_header fields[] = { { "Host", "localhost" }, { "Origin", origins[i] } };
        struct exchange x = { .field = fields, .n_fields = origins[i] ? 2 : 1 };
        struct http_answer answer = { 0 };
        struct api_error e = { 0 };
        assert_int_equal(access_preflight(a, &x, &answer, &e), i ? API_origin_not_allowed : API_OK);
        assert_int_equal(answer.status, i ? 0 : 204);
        if (i == 0) assert_non_null(strstr(answer.header[1].value, "Authorization"));
    }
    access_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_key_is_needed_wherever_clients_write_it),
        cmocka_unit_test(test_keys_are_read_again),
        cmocka_unit_test(test_bad_files_of_keys_are_errors),
        cmocka_unit_test(test_the_group_of_a_file_of_root_may_read_it),
        cmocka_unit_test(test_pages_are_the_servers_own_or_listed),
        cmocka_unit_test(test_without_keys_a_name_that_resolves_to_loopback_is_refused),
        cmocka_unit_test(test_addresses_that_others_reach_need_keys),
        cmocka_unit_test(test_bad_origins_are_errors),
        cmocka_unit_test(test_a_preflight_is_answered_for_listed_origins),
    };
    snprintf(path, sizeof path, "/tmp/steno-keys-%d", (int)getpid());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
