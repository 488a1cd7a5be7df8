/* steno tests: common code of all cmocka programs. SPDX-License-Identifier: MIT
 *
 * Includes cmocka and the headers that it needs. SANITIZED is 1 under a sanitizer, for tests that count allocations or that are slow
 * there. shared_dir is the folder of models and goldens. */
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

/* With script/test --long, all combinations are tested. */
static inline int in_full(void)
{
    const char *say = getenv("STENO_LONG");
    return say && !strcmp(say, "1");
}

/* Every text contains the empty text, and zero bytes are always equal. A test that searches or compares them proves nothing, so they are
 * refused. */
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

/* Levels at which a test of plans or of features runs. Under a sanitizer these are plain C and the best: tests/kernels checks the memory
 * accesses of each level. With script/test --long they are all. */
static inline int level_is_checked(int level, int best)
{
    return !SANITIZED || in_full() || level == 0 || level == best;
}
#endif
