/* steno: subtitle output of verbs that print lines by default. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_CUE_RESULTS_H
#define STENO_TOOLS_CUE_RESULTS_H
#include "cli/args.h"
#include "ledger.h"
#include "verbs/results.h"

struct cue_results_opts {
    int format; /* 0: lines */
    const char *dir;
};

#define CUE_RESULTS_ROWS(T, field) \
    { .name = "output-format", .letter = 'f', .kind = ARG_WORD, .at = offsetof(T, field.format), .value = "lines|srt|vtt|ass", \
      .dflt = "lines", .help = "lines as above, or subtitles" }, \
    { .name = "output-dir", .letter = 'o', .kind = ARG_TEXT, .at = offsetof(T, field.dir), .value = "DIR", \
      .help = "write subtitles as DIR/NAME.FORMAT (made if missing); @ is the input's own folder; without it they go to standard " \
              "output" }

struct cue_results {
    struct results results;
    struct ledger ledger;
    char *input;
    int on; /* 0: print lines */
};

/* Check the options before work begins. json: another option asks for an object. *c must not be moved until it is closed.
 * @return EXIT_OK, or the exit code to end with, after a message; call cue_results_close in both cases */
int cue_results_open(struct cue_results *c, const struct cue_results_opts *o, char *input, int json, int quiet);
int cue_results_write(struct cue_results *c, const struct transcript *t); /* @return an exit code, after a message */
void cue_results_close(struct cue_results *c);
#endif
