/* steno: progress of a run. SPDX-License-Identifier: MIT
 *
 * Each running input has a struct progress. A terminal shows one bar for all of them. */
#ifndef STENO_TOOLS_PROGRESS_H
#define STENO_TOOLS_PROGRESS_H
#include <stdint.h>

enum progress_kind { PROGRESS_AUTO, PROGRESS_JSON, PROGRESS_LINES, PROGRESS_NONE }; /* indexes PROGRESS_NAMES */
#define PROGRESS_NAMES "auto|json|lines|none"

struct progress;

struct progress_bar {
    int kind; /* AUTO draws only if standard error is a terminal that can move its cursor */
    int n_files, n_done;
    int64_t begun_us, drawn_us;
    int64_t past_ms;        /* audio length of the inputs that have ended */
    struct progress *first; /* running inputs */
};

struct progress {
    struct progress_bar *bar; /* NULL: not running */
    struct progress *next;
    const char *file;
    int part, n_parts; /* parts of the file, such as channels, are processed in sequence */
    const char *doing; /* phase before text is written, for example "listening"; NULL: text is being written */
    int64_t begun_us, done_ms, total_ms; /* total_ms 0: unknown */
    int percent; /* last printed value; -1: none yet */
};

int progress_can_redraw(void); /* Is standard error a terminal that can move its cursor? */
int64_t progress_now_us(void); /* monotonic clock */

void progress_bar_begin(struct progress_bar *b, int kind, int quiet, int n_files);
void progress_bar_done(struct progress_bar *b, int n); /* count n more files as done */

void progress_begin(struct progress *p, struct progress_bar *b, const char *file, int part, int n_parts);
void progress_reading(struct progress *p, const char *doing, int64_t read_ms, int64_t total_ms); /* shown by the bar only */
void progress_read_all(struct progress *p, int64_t total_ms); /* the audio is read completely; text follows */
void progress_update(struct progress *p, int64_t done_ms, int64_t total_ms);
void progress_end(struct progress *p); /* wipes the bar when no other input is running */

/* Text of the bar in at most `columns` columns (below 256). */
void progress_text(char out[256], const struct progress_bar *b, int columns, int64_t now_us);
#endif
