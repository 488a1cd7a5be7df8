/* steno tests: spans by two thresholds. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "hysteresis_cases.h"
#include <stdio.h>
#include <string.h>
#include "search/hysteresis.h"

enum { N_CASES = sizeof cases / sizeof *cases, PER_MS = 16 };

struct told { char text[2048]; int64_t floor; int in_cs; };

/* whisper.cpp's rounding. */
static long long cs_of(int64_t samples)
{
    return (long long)((double)samples / 160 + 0.5);
}

static void put(void *user, const struct stretch *s)
{
    struct told *t = user;
    const size_t n = strlen(t->text);
    if (s->t0 < t->floor) fail_msg("a span begins at %lld, and nothing was to begin before %lld", (long long)s->t0, (long long)t->floor);
    const long long t0 = t->in_cs ? cs_of(s->t0) : s->t0, t1 = t->in_cs ? cs_of(s->t1) : s->t1;
    snprintf(t->text + n, sizeof t->text - n, "%s%lld-%lld", n ? " " : "", t0, t1);
}

static void run(struct told *t, const struct hysteresis_case *c, enum hysteresis_rules rules)
{
    const double neg = c->threshold - 0.15;
    const struct hysteresis_params p = { .rules = rules, .frame = 512, .threshold = c->threshold, .neg_threshold = neg > 0.01 ? neg : 0.01,
                                         .min_speech = c->min_speech * PER_MS, .min_silence = c->min_silence * PER_MS,
                                         .max_speech = c->longest < 0 ? INT64_MAX : c->longest * PER_MS - 512 - 2 * c->pad * PER_MS,
                                         .pad = c->pad * PER_MS };
    struct hysteresis h;
    *t = (struct told){ .in_cs = rules == HYSTERESIS_LAST_PAUSE };
    hysteresis_begin(&h, &p, (struct hysteresis_listener){ put, NULL, t });
    for (const char *f = c->frames; *f; f++) {
        hysteresis_step(&h, (float)(*f == 'A' ? 1 : (*f - '0') / 10.0) + 1e-6f);
        const int64_t floor = hysteresis_floor(&h);
        if (floor > t->floor) t->floor = floor;
    }
    hysteresis_end(&h, rules == HYSTERESIS_LAST_PAUSE ? (int64_t)strlen(c->frames) * p.frame : c->samples);
}

static void test_spans_are_those_of_get_speech_timestamps(void **state)
{
    (void)state;
    for (int i = 0; i < N_CASES; i++) {
        struct told t;
        run(&t, &cases[i], HYSTERESIS_LONGEST_PAUSE);
        if (strcmp(t.text, cases[i].spans) != 0) fail_msg("case %d: %s, want %s", i, t.text, cases[i].spans);
    }
}

static void test_spans_of_the_other_rules_are_whisper_cpps(void **state)
{
    (void)state;
    for (int i = 0; i < N_CASES; i++) {
        struct told t;
        run(&t, &cases[i], HYSTERESIS_LAST_PAUSE);
        if (strcmp(t.text, cases[i].cpp_spans) != 0) fail_msg("case %d: %s, want %s", i, t.text, cases[i].cpp_spans);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans_are_those_of_get_speech_timestamps),
        cmocka_unit_test(test_spans_of_the_other_rules_are_whisper_cpps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
