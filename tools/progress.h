/* steno: how far a run is. SPDX-License-Identifier: MIT
 *
 * Of each input in hand a struct progress; what a terminal shows is one bar over all of them. */
#ifndef STENO_TOOLS_PROGRESS_H
#define STENO_TOOLS_PROGRESS_H
#include <stdint.h>

enum progress_kind { PROGRESS_AUTO, PROGRESS_JSON, PROGRESS_LINES, PROGRESS_NONE }; /* in the order of PROGRESS_NAMES */
#define PROGRESS_NAMES "auto|json|lines|none"

struct progress;

struct progress_bar {
    int kind; /* AUTO only while standard error is a terminal that can move its cursor */
    int n_files, n_done;
    int64_t begun_us, drawn_us;
    int64_t past_ms;        /* audio of what is not in hand any more */
    struct progress *first; /* those in hand */
};

struct progress {
    struct progress_bar *bar; /* NULL: not in hand */
    struct progress *next;
    const char *file;
    int part, n_parts; /* of the file, such as channels, one after the other */
    const char *doing; /* what goes on before text is written: "listening"; NULL: text is */
    int64_t begun_us, done_ms, total_ms; /* total_ms 0: not known */
    int percent; /* told last; -1: none yet */
};

int progress_can_redraw(void); /* is standard error a terminal that can move its cursor? */
int64_t progress_now_us(void); /* a clock that only goes forward */

void progress_bar_begin(struct progress_bar *b, int kind, int quiet, int n_files);
void progress_bar_done(struct progress_bar *b, int n); /* n files are over, and are shown so from now on */

void progress_begin(struct progress *p, struct progress_bar *b, const char *file, int part, int n_parts);
void progress_hear(struct progress *p, const char *doing, int64_t heard_ms, int64_t total_ms); /* only the bar shows it */
void progress_heard(struct progress *p, int64_t total_ms); /* all of it: what comes now is text */
void progress_update(struct progress *p, int64_t done_ms, int64_t total_ms);
void progress_end(struct progress *p); /* wipes the bar when nothing else is in hand */

/* The bar's text in at most `columns` columns (below 256). */
void progress_text(char out[256], const struct progress_bar *b, int columns, int64_t now_us);
#endif
