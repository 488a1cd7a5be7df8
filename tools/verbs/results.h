/* steno: output of results. SPDX-License-Identifier: MIT
 *
 * Results go to files of an output folder (result_files.h), or in a single format to standard output. This code turns refusals and
 * failures into messages and exit codes. */
#ifndef STENO_TOOLS_RESULTS_H
#define STENO_TOOLS_RESULTS_H
#include "cli/args.h"
#include "path_guard.h"
#include "result_files.h"
#include "verbs/transcribe_as.h"

struct results {
    struct result_files files; /* dir NULL: standard output; in results_check, `mark` is one of the later marks */
    char **inputs;        /* [n] */
    int n;
    int marked;           /* 1: inputs have several results */
    const struct transcribe_as *as; /* its `write` replaces a format on standard output; NULL: the format writes */
    struct sink *out;     /* receives results that are not files; NULL: standard output, where the first error ends the run */
    void (*wrote)(void *user, const char *path, int format, const struct stamp_bytes *bytes); /* a file is complete; may be NULL */
    int quiet;            /* 1: do not report written files */
    const char *headed;   /* the last input whose name was written before its text */
    int (*make_room)(void *user); /* called if the disk is full: removes less important data; @return 1 if it did; may be NULL */
    void *user;           /* of both */
    int hold_text;        /* 1: plain text is printed when an input ends, not as segments arrive */
};

/* Enter inputs and outputs in the ledger, check names and create the folder.
 * @return EXIT_OK, or the exit code to end with, after a message */
int results_check(struct results *r);

/* Write the transcript of `input` in the formats of `mask`. A format that cannot be written does not stop the others.
 * @return EXIT_OK, or the first failure's EXIT_OUTPUT, EXIT_MEMORY or EXIT_USAGE, after a message */
int results_write(struct results *r, const char *input, const struct transcript *t, unsigned mask);

/* Print a header such as head's "==> a.wav <==" before the first text of the index-th input. Applies if several inputs write plain text
 * to standard output without --quiet. */
void results_head(struct results *r, struct sink *to, const char *input, int index);

/* Does plain text go to standard output segment by segment, and not through results_write? */
int results_stream_text(const struct results *r);

void results_free(struct results *r);

/* ---- subtitles of verbs that print lines by default -------------------------------------------------------------------------- */

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
    struct path_guard path_guard;
    char *input;
    int on; /* 0: print lines */
};

/* Check the options before work begins. json: another option asks for an object. *c must not be moved until it is closed.
 * @return EXIT_OK, or the exit code to end with, after a message; call cue_results_close in both cases */
int cue_results_open(struct cue_results *c, const struct cue_results_opts *o, char *input, int json, int quiet);
int cue_results_write(struct cue_results *c, const struct transcript *t); /* @return an exit code, after a message */
void cue_results_close(struct cue_results *c);
#endif
