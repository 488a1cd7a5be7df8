/* steno: measurements as table rows. SPDX-License-Identifier: MIT
 *
 * All measuring programs write the same table, so runs can be stored, compared and checked against goals:
 *
 * # key: value                               conditions: program, machine, level, threads, compiler, date
 * PROGRAM.WHAT  unit  best  median  n        separated by tabs; n: number of rounds
 *
 * Units that end in /s or /ns are rates: higher is better. Other units are times: lower is better. */
#ifndef STENO_TOOLS_REPORT_H
#define STENO_TOOLS_REPORT_H
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct report {
    FILE *file;          /* NULL: no rows are written */
    const char *program; /* part of the name before the dot */
    char suffix[32];     /* appended to every name: "@avx2" if the level is not the best one */
};

/* Results of one measurement; in its unit lower is better. */
struct timed { double best, median; int n; };

static inline int report_by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts v[n]; n >= 1. */
static inline struct timed timed_of(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, report_by_value);
    return (struct timed){ v[0], n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2, n };
}

/* path may be NULL: no rows are written. @return 0, or -1 after a message */
static inline int report_open(struct report *r, const char *path, const char *program)
{
    *r = (struct report){ .program = program, .file = path ? fopen(path, "w") : NULL };
    if (!path || r->file) return 0;
    perror(path);
    return -1;
}

/* @return 0, or -1 after a message: rows were lost */
static inline int report_close(struct report *r)
{
    const int bad = r->file && (ferror(r->file) | fclose(r->file));
    if (bad) perror(r->program);
    r->file = NULL;
    return bad ? -1 : 0;
}

static inline void report_fact(const struct report *r, const char *key, const char *value)
{
    if (r->file) fprintf(r->file, "# %s: %s\n", key, value);
}

static inline void report_head(const struct report *r, const char *machine, const char *level, int threads)
{
    char text[64];
    const time_t now = time(NULL);
    struct tm utc;
    report_fact(r, "program", r->program);
    report_fact(r, "machine", machine);
    report_fact(r, "level", level);
    snprintf(text, sizeof text, "%d", threads);
    report_fact(r, "threads", text);
#if defined(__clang__)
    report_fact(r, "compiler", __VERSION__);
#else
    report_fact(r, "compiler", "gcc " __VERSION__);
#endif
    if (gmtime_r(&now, &utc) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc)) report_fact(r, "date", text);
}

static inline void report_row_v(const struct report *r, const char *unit, struct timed t, const char *name, va_list args)
{
    if (!r->file) return;
    fprintf(r->file, "%s.", r->program);
    vfprintf(r->file, name, args);
    fprintf(r->file, "%s\t%s\t%.6g\t%.6g\t%d\n", r->suffix, unit, t.best, t.median, t.n);
}

/* scale: factor that converts a figure to `unit`. */
__attribute__((format(printf, 5, 6))) static inline void report_row(const struct report *r, const char *unit, struct timed t, double scale,
                                                                    const char *name, ...)
{
    va_list args;
    va_start(args, name);
    report_row_v(r, unit, (struct timed){ t.best * scale, t.median * scale, t.n }, name, args);
    va_end(args);
}

/* work: amount of work done in the measured time. Operations and ns give "GOP/s". */
__attribute__((format(printf, 5, 6))) static inline void report_rate(const struct report *r, const char *unit, struct timed t, double work,
                                                                     const char *name, ...)
{
    va_list args;
    va_start(args, name);
    report_row_v(r, unit, (struct timed){ work / t.best, work / t.median, t.n }, name, args);
    va_end(args);
}

/* A count instead of a time. */
static inline struct timed counted(double v)
{
    return (struct timed){ v, v, 1 };
}
#endif
