/* steno tests: helpers for tests of writers. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_WRITE_HELP_H
#define STENO_TESTS_WRITE_HELP_H
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "writers.h"
#include "write.h"

/* A word with its times in milliseconds; -1: unknown. */
#define WORD(string, from, to) \
    { .text = string, .start = (from) < 0 ? (double)NAN : (from) / 1000.0, .end = (to) < 0 ? (double)NAN : (to) / 1000.0, \
      .t0_ms = from, .t1_ms = to, .probability = 0.5 }

/* The output of a writer for a transcript; freed by the caller. */
static inline char *written(int format, const struct transcript *t)
{
    struct sink_memory text = { 0 };
    struct sink to = sink_to_memory(&text);
    writers[format].write(&to, t);
    assert_false(to.failed);
    return text.p ? text.p : calloc(1, 1);
}

static inline void check_written(int format, const struct transcript *t, const char *want)
{
    char *got = written(format, t);
    assert_string_equal(got, want);
    free(got);
}

static inline void check_holds(int format, const struct transcript *t, const char *part)
{
    char *got = written(format, t);
    if (!strstr(got, part)) fail_msg("\"%s\" is not in %s", part, got);
    free(got);
}

enum { TXT, SRT, VTT, TSV, JSON, VERBOSE_JSON, JSONL, CSV, LRC, WTS, ASS, SCORE };
#endif
