/* steno: which phases of a model are timed. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_BENCH_PHASES_H
#define STENO_TOOLS_BENCH_PHASES_H
#include <steno/steno.h>

enum { N_TOKENS = 256, TOTAL_TOKENS = 50, WINDOWS = 8 };
enum window_phase { LOAD, MEL, ENCODE, CROSS, PROMPT, DECODE, BEAM5, BATCH8, TOTAL, N_WINDOW_PHASES };
enum text_phase { TEXT_PROMPT = 1, TEXT_PROMPT_LONG, TEXT_DECODE, TEXT_BATCH8, N_TEXT_PHASES };
enum { TEXT_SHORT = 128, TEXT_LONG = 512, TEXT_STEPS = 32, TEXT_BEFORE = 64 };

struct phase {
    const char *name, *key, *row; /* for steno_bench_phase; for table and JSON; for the rows of figures */
    int n, told;                  /* units of work per run, and what steno_bench_phase is told */
    const char *sum;              /* row to which it adds, NULL: none. Phases of a row stand beside each other */
};

/* What is counted, too: operations and bytes of windows, of texts, or of the encoders of clips. */
enum bench_kind { BENCH_OTHER, BENCH_WINDOWS, BENCH_TEXTS, BENCH_CLIPS };

struct phases { const struct phase *phase; int n; enum bench_kind kind; };
enum { PHASES_MAX = 16 };

struct phases phases_of(const steno_model *m, const steno_model_info *i);
#endif
