/* steno tests: base64. SPDX-License-Identifier: MIT */
#include "base64.h"
#include "harness.h"

/* RFC 4648, section 10. */
static const struct { const char *bytes, *text; } vectors[] = {
    { "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" }, { "foo", "Zm9v" },
    { "foob", "Zm9vYg==" }, { "fooba", "Zm9vYmE=" }, { "foobar", "Zm9vYmFy" },
};

static void rfc_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        char text[16];
        unsigned char out[16];
        size_t n;
        struct base64 d;
        base64_encode(vectors[i].bytes, strlen(vectors[i].bytes), text);
        assert_string_equal(text, vectors[i].text);
        assert_int_equal(strlen(text), BASE64_ENCODED(strlen(vectors[i].bytes)));
        assert_int_equal(base64_decode(&d, text, strlen(text), out, &n), 0);
        assert_int_equal(n, strlen(vectors[i].bytes));
        if (n) assert_memory_equal(out, vectors[i].bytes, n);
    }
}

/* All byte values, cut into two pieces at each place and into pieces of each length. */
static void pieces(void **state)
{
    unsigned char bytes[256], out[BASE64_DECODED_MAX(BASE64_ENCODED(256)) + 400];
    char text[BASE64_ENCODED(256) + 1];
    (void)state;
    for (int i = 0; i < 256; i++) bytes[i] = (unsigned char)(i * 7);
    for (size_t n = 250; n <= 256; n++) {
        base64_encode(bytes, n, text);
        const size_t n_text = strlen(text);
        for (size_t len = 1; len <= n_text; len++) {
            struct base64 d = { 0 };
            size_t total = 0, got;
            for (size_t at = 0; at < n_text; at += len, total += got)
                assert_int_equal(base64_add(&d, text + at, at + len < n_text ? len : n_text - at, out + total, &got), 0);
            assert_int_equal(base64_end(&d), 0);
            assert_int_equal(total, n);
            assert_memory_equal(out, bytes, n);
        }
    }
}

static const struct { const char *text; size_t at; const char *why; } bad[] = {
    { "Z", 1, "ends within a group" }, { "Zg", 2, "ends within a group" }, { "Zm8", 3, "ends within a group" },
    { "Zg=", 3, "ends within a group" }, { "=", 0, "fewer than two" }, { "Z===", 1, "fewer than two" }, { "Zm9v=", 4, "fewer than two" },
    { "Zh==", 2, "bits after the last byte" }, { "Zm9=", 3, "bits after the last byte" }, { "Zg==Zg==", 4, "after the padding" },
    { "Zg=v", 3, "after the padding" }, { "Zg===", 4, "after the padding" }, { "Zm8=\n", 4, "after the padding" },
    { "Zm9v\nZm9v", 4, "spaces and line ends" }, { " Zm9v", 0, "spaces and line ends" }, { "Zm-v", 2, "base64url" },
    { "Zm_v", 2, "base64url" }, { "Zm9v!", 4, "not one of base64" }, { "Zm\xc3\xa4v", 2, "not one of base64" },
};

static void bad_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        unsigned char out[32];
        size_t n;
        struct base64 d;
        assert_int_equal(base64_decode(&d, bad[i].text, strlen(bad[i].text), out, &n), -1);
        assert_non_null(strstr(d.why, bad[i].why));
        assert_int_equal(d.at, bad[i].at);
        assert_int_equal(base64_add(&d, "Zm9v", 4, out, &n), -1); /* a failure stays */
        assert_int_equal(n, 0);
    }
    struct base64 d;
    unsigned char out[8];
    size_t n;
    assert_int_equal(base64_decode(&d, "Zm\0v", 4, out, &n), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(rfc_vectors), cmocka_unit_test(pieces), cmocka_unit_test(bad_texts) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
