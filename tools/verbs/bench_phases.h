/* steno: which phases of a model are timed. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_BENCH_PHASES_H
#define STENO_TOOLS_BENCH_PHASES_H
#include <steno/steno.h>

enum { N_TOKENS = 256, TOTAL_TOKENS = 50, WINDOWS = 8 };
enum window_phase { LOAD, MEL, ENCODE, CROSS, PROMPT, DECODE, BEAM5, BATCH8, TOTAL, N_WINDOW_PHASES };
enum text_phase { TEXT_PROMPT = 1, TEXT_PROMPT_LONG, TEXT_DECODE, TEXT_BATCH8, N_TEXT_PHASES };
enum { TEXT_SHORT = 128, TEXT_LONG = 512, TEXT_STEPS = 32, TEXT_BEFORE = 64 };

struct phase {
    const char *name, *key, *row; /* name in steno_bench_phase; in table and JSON; in measurement rows */
    int n, reported;                  /* units of work per run, and the argument of steno_bench_phase */
    const char *sum;              /* row that also includes this phase's time, may be NULL. Phases of one row are adjacent */
    int audio_ms;                 /* audio of a unit, whose speed is printed; 0: none */
};

/* Which operations and bytes are also counted: those of windows, of texts, of clip encoders (SAN-M, FastConformer), or of streams. */
enum bench_kind { BENCH_OTHER, BENCH_WINDOWS, BENCH_TEXTS, BENCH_CLIPS, BENCH_CONFORMER, BENCH_STREAMS };

struct phases { const struct phase *phase; int n; enum bench_kind kind; };
enum { PHASES_MAX = 16 };

struct phases phases_of(const steno_model *m, const steno_model_info *i);
#endif
