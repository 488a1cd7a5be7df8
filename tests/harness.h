/* steno tests: what every cmocka program needs. SPDX-License-Identifier: MIT
 *
 * cmocka with the headers it wants before it, and whether a sanitizer is at work: tests that count allocations or take long under one
 * ask SANITIZED. Where the collection of models and goldens is. */
#ifndef STENO_TESTS_HARNESS_H
#define STENO_TESTS_HARNESS_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* The folder of the collection. Without STENO_SHARED it is a folder that does not exist. */
static inline const char *shared_dir(void)
{
    const char *dir = getenv("STENO_SHARED");
    return dir ? dir : "/none";
}

/* script/test --long: products are tried in full. */
static inline int in_full(void)
{
    const char *say = getenv("STENO_LONG");
    return say && !strcmp(say, "1");
}

/* Everything has an empty text in it, and nothing differs in no bytes: a test that looks for that, or compares that, claims nothing. */
static inline char *needle_in(const char *text, const char *needle)
{
    assert_true(*needle);
    return strstr(text, needle);
}
#define strstr(text, needle) needle_in(text, needle)

#undef assert_memory_equal
#define assert_memory_equal(a, b, size) \
    do { \
        assert_true((size) > 0); \
        _assert_memory_equal((const char *)(a), (const char *)(b), size, __FILE__, __LINE__); \
    } while (0)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif
#endif
