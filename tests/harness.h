/* steno tests: what every cmocka program needs. SPDX-License-Identifier: MIT
 *
 * cmocka with the headers it wants before it, and whether a sanitizer is at work: tests that count allocations or take long under one
 * ask SANITIZED. */
#ifndef STENO_TESTS_HARNESS_H
#define STENO_TESTS_HARNESS_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

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
