/* steno: a command line from bytes. SPDX-License-Identifier: MIT
 *
 * Each line is an argument. While it is tried, what is printed goes nowhere. */
#ifndef STENO_TESTS_FUZZ_ARGV_INPUT_H
#define STENO_TESTS_FUZZ_ARGV_INPUT_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGV_MAX = 64, ARGV_SPARE = 2 }; /* spare: places behind them for code that adds some */

struct argv_input {
    char *text; /* [n + 1] the words, each with its end */
    char *argv[ARGV_MAX + ARGV_SPARE];
    int argc;
    FILE *out, *err, *nowhere;
};

/* Put streams in place of the standard ones, which a fuzzer needs itself. */
static inline void streams_swap(FILE **out, FILE **err)
{
#ifdef __GLIBC__
    FILE *o = stdout, *e = stderr;
    stdout = *out;
    stderr = *err;
    *out = o;
    *err = e;
#else
    (void)out;
    (void)err;
#endif
}

/* @return 0, or -1 where there is no memory */
static inline int argv_input_open(struct argv_input *in, const uint8_t *data, size_t n)
{
    static FILE *nowhere;
    *in = (struct argv_input){ 0 };
    if (!nowhere) nowhere = fopen("/dev/null", "w");
    if (!nowhere) return -1;
    in->nowhere = nowhere;
    in->text = malloc(n + 1);
    if (!in->text) return -1;
    if (n) memcpy(in->text, data, n);
    in->text[n] = '\n';
    for (char *at = in->text, *end; at < in->text + n + 1 && in->argc < ARGV_MAX; at = end + 1) {
        end = memchr(at, '\n', (size_t)(in->text + n + 1 - at));
        *end = 0;
        in->argv[in->argc++] = at;
    }
    in->text[n] = 0;
    return 0;
}

static inline void argv_input_quiet(struct argv_input *in)
{
    in->out = in->err = in->nowhere;
    streams_swap(&in->out, &in->err);
}

static inline void argv_input_close(struct argv_input *in)
{
    streams_swap(&in->out, &in->err);
    free(in->text);
}
#endif
