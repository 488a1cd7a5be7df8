/* steno tests: spans by two thresholds. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "hysteresis_cases.h"
#include <stdio.h>
#include <string.h>
#include "search/hysteresis.h"

enum { N_CASES = sizeof cases / sizeof *cases, PER_MS = 16 };

struct told { char text[2048]; const struct hysteresis *h; int64_t floor; };

static void put(void *user, const struct stretch *s)
{
    struct told *t = user;
    const size_t n = strlen(t->text);
    if (s->t0 < t->floor) fail_msg("a span begins at %lld, and nothing was to begin before %lld", (long long)s->t0, (long long)t->floor);
    snprintf(t->text + n, sizeof t->text - n, "%s%lld-%lld", n ? " " : "", (long long)s->t0, (long long)s->t1);
}

static void run(struct told *t, const struct hysteresis_case *c, enum hysteresis_rules rules)
{
    const double neg = c->threshold - 0.15;
    const struct hysteresis_params p = { .rules = rules, .frame = 512, .threshold = c->threshold, .neg_threshold = neg > 0.01 ? neg : 0.01,
                                         .min_speech = c->min_speech * PER_MS, .min_silence = c->min_silence * PER_MS,
                                         .max_speech = c->longest < 0 ? INT64_MAX : c->longest * PER_MS - 512 - 2 * c->pad * PER_MS,
                                         .pad = c->pad * PER_MS };
    struct hysteresis h;
    *t = (struct told){ .h = &h };
    hysteresis_begin(&h, &p, (struct hysteresis_listener){ put, NULL, t });
    for (const char *f = c->frames; *f; f++) {
        hysteresis_step(&h, (float)(*f == 'A' ? 1 : (*f - '0') / 10.0) + 1e-6f);
        const int64_t floor = hysteresis_floor(&h);
        if (floor > t->floor) t->floor = floor;
    }
    hysteresis_end(&h, c->samples);
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

static void test_spans_of_the_other_rules_are_in_order_and_apart(void **state)
{
    (void)state;
    for (int i = 0; i < N_CASES; i++) {
        struct told t;
        long long last = 0, t0, t1;
        int used;
        run(&t, &cases[i], HYSTERESIS_LAST_PAUSE);
        for (const char *p = t.text; sscanf(p, "%lld-%lld%n", &t0, &t1, &used) == 2; p += used, last = t1) {
            if (t0 < last || t1 <= t0 || t1 > cases[i].samples) fail_msg("case %d: %s", i, t.text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans_are_those_of_get_speech_timestamps),
        cmocka_unit_test(test_spans_of_the_other_rules_are_in_order_and_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
