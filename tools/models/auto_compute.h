/* steno: what --compute auto takes. SPDX-License-Identifier: MIT
 *
 * The library's choice follows from the level alone: int16, or f32 where int16 is no faster. bf16 changes a few texts, so it is taken only
 * where a person had both measured on this machine ("steno doctor --measure") and the level's choice was slower by more than AUTO_MARGIN.
 * The figures are measured once and kept beside those of the choice of a model. Nothing else measures them, the number of threads does not
 * matter, and a run prints a note, so a text does not change from one run to the next without a reason that is printed.
 *
 * Verbs whose results must be the same on several machines, for all clients or in a comparison do not ask: batch, serve, bench, and other
 * programs' command lines. */
#ifndef STENO_TOOLS_AUTO_COMPUTE_H
#define STENO_TOOLS_AUTO_COMPUTE_H
#include <steno/steno.h>
#include <stdint.h>

#define AUTO_MARGIN 1.4 /* times the time of bf16 */

struct auto_figures {
    double level_ms, bf16_ms; /* a window of 30 s through the encoder of base, in the level's choice and in bf16 */
    int threads;              /* of both */
};

/* Rounds of a measurement, in turn. Other load only slows a round down, so the best one counts, once the best three of both are within a
 * tenth: a figure that is alone may be chance. */
enum { AUTO_BEST = 3, AUTO_LEAST = 5, AUTO_MOST = 60 };
struct auto_rounds {
    double level_ms[AUTO_BEST], bf16_ms[AUTO_BEST]; /* the best, ascending; 0: none yet */
    int n;                                          /* rounds taken */
};
int auto_round_add(struct auto_rounds *r, double level_ms, double bf16_ms); /* @return 1: settled, after at least AUTO_LEAST rounds */

int auto_takes_bf16(const struct auto_figures *f); /* level_ms > AUTO_MARGIN * bf16_ms */

/* The kept figures of this version, this processor and a level (NULL: the highest usable one). folder: as models_folder(0), may be NULL.
 * @return 1, or 0: there are none */
int auto_figures_find(struct auto_figures *f, const char *folder, const char *cpu_level);

enum { AUTO_MOST_US = 30000000 };
/* Measure at the highest usable level, on the default number of threads, and keep. Rounds that do not settle end after `most_us`.
 * shape: of the model, "base" (tests measure less).
 * @return 1, or 0 with a reason in e->text: nothing is kept */
int auto_figures_measure(struct auto_figures *f, const char *folder, const char *shape, int64_t most_us, steno_error *e);
#endif
