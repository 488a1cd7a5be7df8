/* steno: errors, arenas and buffers. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"


#include "base/arena.h"
#include "base/buf.h"
#include "base/cpu.h"
#include "base/err.h"
#include "base/os.h"

/* ---- err --------------------------------------------------------------------------------------------------------------------- */

static void test_err_set_records_and_returns_the_status(void **state)
{
    (void)state;
    steno_error e;
    assert_int_equal(err_set(&e, STENO_EFORMAT, "%s: tensor %d", "a.bin", 7), STENO_EFORMAT);
    assert_int_equal(e.status, STENO_EFORMAT);
    assert_string_equal(e.text, "a.bin: tensor 7");
    err_clear(&e);
    assert_int_equal(e.status, STENO_OK);
    assert_string_equal(e.text, "");
}

static void test_err_set_without_a_place_only_returns(void **state)
{
    (void)state;
    assert_int_equal(err_set(NULL, STENO_EIO, "%s", "x"), STENO_EIO);
    assert_int_equal(err_nomem(NULL, 5, "y"), STENO_ENOMEM);
    err_clear(NULL);
}

static void test_err_text_cannot_drive_a_terminal(void **state)
{
    (void)state;
    steno_error e;
    err_set(&e, STENO_EIO, "%s", "a\nb\033[2J\x7f \xc2\x9b!");
    assert_string_equal(e.text, "a?b?[2J? ?\?!");
}

static void test_err_text_is_valid_utf8(void **state)
{
    (void)state;
    steno_error e;
    err_set(&e, STENO_EIO, "%s", "caf\xc3\xa9 \xe4\xbd\xa0 \xf0\x9f\x98\x80");
    assert_string_equal(e.text, "caf\xc3\xa9 \xe4\xbd\xa0 \xf0\x9f\x98\x80");
    err_set(&e, STENO_EIO, "%s", "\xff|\xc0\xaf|\xed\xa0\x80|\xe4\xbd");
    assert_string_equal(e.text, "?|??|???|??");
}

static void test_err_text_is_cut_between_characters(void **state)
{
    (void)state;
    steno_error e;
    char text[2000];
    for (size_t shift = 0; shift < 4; shift++) {
        memset(text, 'x', shift);
        for (size_t i = shift; i + 4 < sizeof text; i += 4) memcpy(text + i, "\xf0\x9f\x98\x80", 5);
        err_set(&e, STENO_EIO, "%s", text);
        const size_t n = strlen(e.text);
        assert_true(n < sizeof e.text && n + 4 >= sizeof e.text - 1);
        assert_int_equal((n - shift) % 4, 0);
        assert_null(strchr(e.text, '?'));
    }
}

static void test_err_may_quote_itself(void **state)
{
    (void)state;
    steno_error e;
    err_set(&e, STENO_EIO, "inner");
    err_set(&e, STENO_EARG, "outer: %s", e.text);
    assert_string_equal(e.text, "outer: inner");
}

/* ---- arena ------------------------------------------------------------------------------------------------------------------- */

static int is_zero(const unsigned char *p, size_t n)
{
    while (n && p[n - 1] == 0) n--;
    return n == 0;
}

static void test_arena_blocks_are_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    unsigned char *block[300];
    size_t size[300];
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < 300; i++) {
            size[i] = i % 50 == 49 ? 300000 + i : i * 37 % 1000;
            block[i] = arena_alloc(&a, size[i]);
            assert_non_null(block[i]);
            assert_int_equal((uintptr_t)block[i] % 64, 0);
            assert_true(is_zero(block[i], size[i]));
            memset(block[i], (int)(i % 255) + 1, size[i]);
        }
        for (size_t i = 0; i < 300; i++)
            for (size_t k = 0; k < size[i]; k++) assert_int_equal(block[i][k], i % 255 + 1);
        arena_rewind(&a);
    }
    arena_free(&a);
    assert_int_equal(a.total, 0);
}

static void test_arena_rewind_gives_memory_back_but_for_one_chunk(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    for (int i = 0; i < 100; i++) assert_non_null(arena_alloc(&a, 1 << 20));
    assert_true(a.total >= (size_t)100 << 20);
    arena_rewind(&a);
    assert_true(a.total <= (size_t)5 << 20);
    arena_rewind(&a);
    arena_free(&a);
    arena_free(&a);
    assert_non_null(arena_alloc(&a, 10));
    arena_free(&a);
}

static void test_arena_refuses_sizes_that_overflow(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    assert_null(arena_alloc(&a, SIZE_MAX));
    assert_null(arena_alloc(&a, SIZE_MAX - 64));
    assert_null(arena_array(&a, SIZE_MAX / 4, 8));
    assert_null(arena_array(&a, (size_t)1 << 33, (size_t)1 << 33));
    assert_null(arena_strdup(&a, "", SIZE_MAX));
    assert_non_null(arena_array(&a, 0, 8));
    assert_non_null(arena_array(&a, 8, 0));
    arena_free(&a);
}

static void test_arena_strdup_ends_with_nul(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    assert_string_equal(arena_strdup(&a, "abcdef", 3), "abc");
    assert_string_equal(arena_strdup(&a, NULL, 0), "");
    arena_free(&a);
}

/* ---- buf --------------------------------------------------------------------------------------------------------------------- */

static void test_buf_holds_what_was_added(void **state)
{
    (void)state;
    struct buf b = {0};
    buf_str(&b, "ab");
    buf_add(&b, "c\0d", 3);
    buf_fmt(&b, "-%05d-", 42);
    assert_int_equal(b.err, 0);
    assert_int_equal(b.len, 12);
    assert_memory_equal(b.p, "abc\0d-00042-", 13);
    buf_clear(&b);
    assert_int_equal(b.len, 0);
    assert_string_equal(b.p, "");
    buf_free(&b);
    assert_null(b.p);
}

static void test_buf_fmt_grows_to_any_length(void **state)
{
    (void)state;
    char text[5000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    for (size_t before = 0; before < 130; before++) {
        struct buf b = {0};
        for (size_t i = 0; i < before; i++) buf_add(&b, "y", 1);
        buf_fmt(&b, "%.*s", (int)(before * 3), text);
        assert_int_equal(b.len, before * 4);
        buf_fmt(&b, "%s", text);
        assert_int_equal(b.len, before * 4 + sizeof text - 1);
        assert_int_equal(b.p[b.len], 0);
        buf_free(&b);
    }
}

static void test_buf_error_sticks_until_cleared(void **state)
{
    (void)state;
    struct buf b = {0};
    buf_str(&b, "kept");
    buf_add(&b, "x", SIZE_MAX / 2); /* refused before anything is read */
    assert_int_equal(b.err, 1);
    buf_str(&b, "lost");
    buf_fmt(&b, "%d", 1);
    assert_string_equal(b.p, "kept");
    buf_clear(&b);
    buf_str(&b, "again");
    assert_int_equal(b.err, 0);
    assert_string_equal(b.p, "again");
    buf_free(&b);
}

/* ---- cpu and os -------------------------------------------------------------------------------------------------------------- */

static void test_cpu_levels_have_names_and_the_best_is_the_last_usable(void **state)
{
    (void)state;
    for (int i = 0; i < CPU_LEVELS; i++) assert_int_equal(cpu_level_from_name(cpu_level_name(i)), i);
    assert_null(cpu_level_name(-1));
    assert_null(cpu_level_name(CPU_LEVELS));
    assert_int_equal(cpu_level_from_name("sse9"), -1);
    assert_int_equal(cpu_level_from_name(NULL), -1);
    assert_true(cpu_level_usable(CPU_C));
    assert_false(cpu_level_usable(-1));
    assert_false(cpu_level_usable(CPU_LEVELS));
    assert_true(cpu_level_usable(cpu_level_best()));
    for (int i = cpu_level_best() + 1; i < CPU_LEVELS; i++) assert_false(cpu_level_usable(i));
#if defined(__x86_64__)
    static const int includes[][2] = {
        { CPU_AMX, CPU_AVX512BF16 },    { CPU_AVX512BF16, CPU_AVX512VNNI }, { CPU_AVX512VNNI, CPU_AVX512 },
        { CPU_AVX512, CPU_AVX2 },       { CPU_AVXVNNI, CPU_AVX2 },       { CPU_AVX2, CPU_SSE41 },
    };
    for (size_t i = 0; i < sizeof includes / sizeof *includes; i++)
        assert_true(!cpu_level_usable(includes[i][0]) || cpu_level_usable(includes[i][1]));
    assert_int_equal(cpu_level_usable(CPU_AMX), cpu_level_usable(CPU_AMX)); /* asking again changes nothing */
#endif
}

static void test_cpu_model_name_fits_any_room(void **state)
{
    (void)state;
    char name[64];
    cpu_model_name(name, sizeof name);
    assert_true(strlen(name) > 0);
    for (unsigned n = 0; n < sizeof name; n++) {
        char part[65];
        memset(part, '#', sizeof part);
        cpu_model_name(part, n);
        assert_int_equal(part[n], '#');
        if (n) assert_true(strlen(part) < n);
    }
}

static void test_fpenv_keeps_subnormals_and_restores_the_callers(void **state)
{
    (void)state;
    volatile float tiny = 1e-39f;
    const cpu_fpenv callers = cpu_fpenv_enter();
    cpu_fpenv_leave(callers ^ 0x8040); /* on x86: flush to zero, subnormals are zero; elsewhere without effect or harmless */
    const cpu_fpenv odd = cpu_fpenv_enter();
    assert_true(tiny * 0.5f > 0);
    cpu_fpenv_leave(odd);
    assert_int_equal(cpu_fpenv_enter(), odd);
    cpu_fpenv_leave(callers);
}

static void test_pages_are_zeroed_and_aligned_to_huge_pages(void **state)
{
    (void)state;
    static const size_t size[] = { 0, 1, 4096, 4097, (2 << 20) - 1, 5 << 20 };
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        unsigned char *p = os_pages_alloc(size[i]);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % (2 << 20), 0);
        assert_true(is_zero(p, size[i]));
        memset(p, 1, size[i]);
        os_pages_free(p, size[i]);
    }
    assert_null(os_pages_alloc(SIZE_MAX));
    os_pages_free(NULL, 0);
}

static void test_cores_are_within_processors(void **state)
{
    (void)state;
    assert_in_range(os_cores(), 1, os_cpus());
}

static void test_the_second_level_cache_is_larger(void **state)
{
    (void)state;
    if (os_cache(1) && os_cache(2)) assert_true(os_cache(2) > os_cache(1)); /* of the third, one core's share may be less */
    assert_int_equal(os_cache(0), 0);
    assert_int_equal(os_cache(9), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_err_set_records_and_returns_the_status),
        cmocka_unit_test(test_err_set_without_a_place_only_returns),
        cmocka_unit_test(test_err_text_cannot_drive_a_terminal),
        cmocka_unit_test(test_err_text_is_valid_utf8),
        cmocka_unit_test(test_err_text_is_cut_between_characters),
        cmocka_unit_test(test_err_may_quote_itself),
        cmocka_unit_test(test_arena_blocks_are_zeroed_aligned_and_apart),
        cmocka_unit_test(test_arena_rewind_gives_memory_back_but_for_one_chunk),
        cmocka_unit_test(test_arena_refuses_sizes_that_overflow),
        cmocka_unit_test(test_arena_strdup_ends_with_nul),
        cmocka_unit_test(test_buf_holds_what_was_added),
        cmocka_unit_test(test_buf_fmt_grows_to_any_length),
        cmocka_unit_test(test_buf_error_sticks_until_cleared),
        cmocka_unit_test(test_cpu_levels_have_names_and_the_best_is_the_last_usable),
        cmocka_unit_test(test_cpu_model_name_fits_any_room),
        cmocka_unit_test(test_fpenv_keeps_subnormals_and_restores_the_callers),
        cmocka_unit_test(test_pages_are_zeroed_and_aligned_to_huge_pages),
        cmocka_unit_test(test_cores_are_within_processors),
        cmocka_unit_test(test_the_second_level_cache_is_larger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
