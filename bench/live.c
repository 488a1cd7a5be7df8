/* steno: live transcription at real speed. SPDX-License-Identifier: MIT
 *
 *   bench_live [--tsv FILE] STENO OPTIONS SOUND...
 *
 *   bench_live build/steno "-m base -l en" talk.wav
 *
 * Runs `STENO stream --realtime OPTIONS` on each sound, as if it were spoken now. It reports two latencies of a line: the time since its
 * last word was spoken, and the time since the end of the audio that the line is based on. It also reports how stable the text is: the
 * share of partial words that were replaced later, as a viewer sees it (normalized erasure, Arivazhagan et al. 2020), and the number of
 * final words that are missing at the end of their turn, which must be 0. A second run does not wait for the clock: it gives the computing
 * time per second of sound, without the time to open the model. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "live_words.h"
#include "cli/report.h"

enum { KINDS = 3, MOST_WORDS = 64, LINE_SZ = 1 << 20 };

static const char *const kinds[KINDS] = { "partial", "final", "endpoint" };

struct values { double *v; int n, cap; };

struct figures {
    struct values words_ms[KINDS], decoded_ms[KINDS];
    struct words partial, finals, turn; /* the current text; final words since then; final words of the turn */
    int64_t shown, erased, final, changed;
    double sound_s, busy_s, open_s;
};

static void fail(const char *what)
{
    fprintf(stderr, "bench_live: %s\n", what);
    exit(1);
}

static void put(struct values *to, double v)
{
    if (to->n == to->cap) {
        to->cap = to->cap ? 2 * to->cap : 256;
        to->v = realloc(to->v, (size_t)to->cap * sizeof *to->v);
        if (!to->v) fail("out of memory");
    }
    to->v[to->n++] = v;
}

/* ---- lines */

/* A number of the line, NAN if it is absent. */
static double number_of(const char *line, const char *key)
{
    char name[64];
    snprintf(name, sizeof name, "\"%s\":", key);
    const char *p = strstr(line, name);
    char *end = NULL;
    const double v = p ? strtod(p + strlen(name), &end) : NAN;
    return p && end != p + strlen(name) ? v : NAN;
}

static void put_utf8(char **to, unsigned c)
{
    char *p = *to;
    if (c < 0x80) *p++ = (char)c;
    else if (c < 0x800) *p++ = (char)(0xc0 | c >> 6), *p++ = (char)(0x80 | (c & 63));
    else *p++ = (char)(0xe0 | c >> 12), *p++ = (char)(0x80 | (c >> 6 & 63)), *p++ = (char)(0x80 | (c & 63));
    *to = p;
}

/* Words of the line's text; halves of a surrogate pair count as characters. */
static void words_of(struct words *to, const char *line)
{
    static char text[LINE_SZ];
    const char *p = strstr(line, "\"text\":\"");
    char *w = text;
    live_words_clear(to);
    if (!p) fail("a line without text");
    for (p += 8; *p && *p != '"'; p++) {
        unsigned c;
        if (*p == '\\' && p[1] == 'u' && sscanf(p + 2, "%4x", &c) == 1) put_utf8(&w, c), p += 5;
        else if (*p == '\\') *w++ = *++p;
        else *w++ = *p;
    }
    *w = '\0';
    if (live_words_add_units(to, text, -1, -1)) fail("out of memory");
}

static int64_t not_in_front(const struct words *a, const struct words *b)
{
    size_t same = 0;
    while (same < a->n && same < b->n && live_word_same(&a->w[same], &b->w[same])) same++;
    return (int64_t)(a->n - same);
}

static void join(struct words *to, const struct words *w)
{
    if (live_words_add_range(to, w, 0, w->n)) fail("out of memory");
}

static void line_take(struct figures *f, const char *line)
{
    static struct words w;
    int kind = 0;
    char type[32] = "";
    sscanf(line, "{\"type\":\"%31[a-z]", type);
    while (kind < KINDS && strcmp(kinds[kind], type) != 0) kind++;
    if (kind == KINDS) fail("a line of another kind");
    const double late = number_of(line, "latency_ms"), end = number_of(line, "end"), heard = number_of(line, "heard");
    if (!isnan(late)) put(&f->words_ms[kind], late);
    if (!isnan(late)) put(&f->decoded_ms[kind], late - (heard - end) * 1000);
    words_of(&w, line);
    if (kind == 1) {
        join(&f->finals, &w);
        join(&f->turn, &w);
        f->final += (int64_t)w.n;
        return;
    }
    if (kind == 2) f->changed += not_in_front(&f->turn, &w);
    else join(&f->finals, &w);
    f->erased += not_in_front(&f->partial, &f->finals);
    live_words_clear(&f->partial);
    live_words_clear(&f->finals);
    if (kind == 2) live_words_clear(&f->turn);
    else join(&f->partial, &w), f->shown += (int64_t)w.n;
}

/* ---- runs */

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* @return seconds; lines go to f, which may be NULL */
static double play(struct figures *f, char **steno, const char *how, const char *sound)
{
    static char line[LINE_SZ];
    char options[4096], *argv[MOST_WORDS + 8];
    int n = 0, status, to[2];
    snprintf(options, sizeof options, "%s %s", how, steno[1]);
    argv[n++] = steno[0];
    argv[n++] = "stream";
    argv[n++] = "-q";
    for (char *w = strtok(options, " "); w && n < MOST_WORDS; w = strtok(NULL, " ")) argv[n++] = w;
    argv[n++] = (char *)sound;
    argv[n] = NULL;
    if (pipe(to)) fail(strerror(errno));
    const double begin = now_s();
    const pid_t child = fork();
    if (child < 0) fail(strerror(errno));
    if (!child) {
        dup2(to[1], 1);
        close(to[0]);
        close(to[1]);
        execvp(argv[0], argv);
        _exit(127);
    }
    close(to[1]);
    FILE *in = fdopen(to[0], "r");
    double end = 0;
    while (in && fgets(line, sizeof line, in)) {
        if (!f) continue;
        line_take(f, line);
        const double t = number_of(line, "heard");
        if (t > end) end = t;
    }
    if (in) fclose(in);
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) fail("the program failed");
    if (f) f->sound_s += end;
    return now_s() - begin;
}

/* ---- figures */

static double part_of(const struct values *v, double share)
{
    const int i = (int)ceil(share * v->n) - 1;
    return v->v[i < 0 ? 0 : i];
}

static void print_late(struct report *r, struct values *v, const char *kind, const char *of)
{
    static const struct { const char *name; double share; } part[] = { { "p50", 0.5 }, { "p90", 0.9 }, { "max", 1 } };
    if (!v->n) return;
    qsort(v->v, (size_t)v->n, sizeof *v->v, report_by_value);
    printf("%-9s latency of %-6s", kind, of);
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        const double ms = part_of(v, part[i].share);
        printf(" %s %6.0f", part[i].name, ms);
        report_row(r, "ms", (struct timed){ ms, ms, v->n }, 1, "%s_%s_%s", kind, of, part[i].name);
    }
    printf(" ms, %d lines\n", v->n);
}

static void print_all(struct report *r, struct figures *f)
{
    for (int k = 0; k < KINDS; k++) {
        print_late(r, &f->words_ms[k], kinds[k], "words");
        print_late(r, &f->decoded_ms[k], kinds[k], "heard");
    }
    const double erased = f->shown ? 100.0 * (double)f->erased / (double)f->shown : 0;
    const double factor = f->sound_s > 0 ? (f->busy_s - f->open_s) / f->sound_s : 0;
    printf("partial words taken back  %.1f %% of %lld\n", erased, (long long)f->shown);
    printf("final words that changed  %lld of %lld\n", (long long)f->changed, (long long)f->final);
    printf("real-time factor          %.3f of %.1f s\n", factor, f->sound_s);
    report_row(r, "%", counted(erased), 1, "partial_taken_back");
    report_row(r, "words", counted((double)f->changed), 1, "final_changed");
    report_row(r, "s/s of sound", counted(factor), 1, "factor");
}

int main(int argc, char **argv)
{
    static struct figures f;
    struct report r;
    const char *tsv = NULL;
    int at = 1;
    if (argc > 2 && strcmp(argv[1], "--tsv") == 0) tsv = argv[2], at = 3;
    if (argc - at < 3) fail("usage: bench_live [--tsv FILE] STENO OPTIONS SOUND...");
    if (report_open(&r, tsv, "live")) return 1;
    report_fact(&r, "options", argv[at + 1]);
    for (int i = at + 2; i < argc; i++) {
        play(&f, argv + at, "--realtime", argv[i]);
        f.open_s += play(NULL, argv + at, "--raw s16le", "/dev/null");
        f.busy_s += play(NULL, argv + at, "", argv[i]);
    }
    print_all(&r, &f);
    return report_close(&r) ? 1 : 0;
}
