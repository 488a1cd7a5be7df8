/* steno: how far a transcription is. SPDX-License-Identifier: MIT
 *
 * On a terminal one line is redrawn at most ten times a second: position, speed factor, time left. Lines, as text or as JSON objects
 * for programs that draw their own bar, come when another five percent are done, so that they do not depend on the length of the file. */
#include "progress.h"
#include "say.h"
#include "u8.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BAR_CELLS = 24, REDRAW_US = 100000, PERCENT_STEP = 5 };

int64_t progress_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int terminal_can_redraw(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && term && term[0] && strcmp(term, "dumb") != 0;
}

void progress_begin(struct progress *p, int kind, int quiet, const char *file)
{
    memset(p, 0, sizeof *p);
    p->kind = kind == PROGRESS_AUTO && (quiet || !terminal_can_redraw()) ? PROGRESS_NONE : kind;
    p->file = file;
    p->percent = -1;
    p->begun_us = progress_now_us();
    p->drawn_us = p->begun_us - REDRAW_US;
}

static void clock_text(char *out, size_t n, int64_t ms)
{
    const int64_t s = ms / 1000;
    if (s >= 3600) snprintf(out, n, "%" PRId64 ":%02d:%02d", s / 3600, (int)(s / 60 % 60), (int)(s % 60));
    else snprintf(out, n, "%02d:%02d", (int)(s / 60), (int)(s % 60));
}

static void draw(const struct progress *p, double speed)
{
    char at[32], all[32], left[32] = "--:--", cells[BAR_CELLS + 1], line[160];
    const int64_t total = p->total_ms > 0 ? p->total_ms : 1;
    const int full = (int)(p->done_ms >= total ? BAR_CELLS : p->done_ms * BAR_CELLS / total);
    memset(cells, '-', BAR_CELLS);
    memset(cells, '#', (size_t)full);
    cells[BAR_CELLS] = '\0';
    clock_text(at, sizeof at, p->done_ms);
    clock_text(all, sizeof all, p->total_ms);
    if (speed > 0) clock_text(left, sizeof left, (int64_t)((double)(p->total_ms - p->done_ms) / speed));
    snprintf(line, sizeof line, "[%s] %s / %s  %.1fx  %s left", cells, at, all, speed, left);
    say_bar(line);
}

/* A line when the progress has reached another multiple of five percent. */
static void tell(struct progress *p, double ran_ms, double speed)
{
    const int percent = p->total_ms > 0 ? (int)(p->done_ms * (100 / PERCENT_STEP) / p->total_ms) * PERCENT_STEP : 100;
    if (percent <= p->percent) return;
    p->percent = percent;
    if (p->kind == PROGRESS_LINES) {
        say("%s: %d %%", strcmp(p->file, "-") == 0 ? "standard input" : p->file, percent);
        return;
    }
    fputs("{\"file\": ", stderr);
    u8_json(stderr, p->file);
    fprintf(stderr, ", \"done_ms\": %" PRId64 ", \"total_ms\": %" PRId64 ", \"percent\": %d, \"elapsed_ms\": %.0f, \"speed\": %.3f}\n",
            p->done_ms, p->total_ms, percent, ran_ms, speed);
}

void progress_update(struct progress *p, int64_t done_ms, int64_t total_ms)
{
    const int64_t now = progress_now_us();
    const double ran_ms = (double)(now - p->begun_us) / 1000.0;
    const double speed = ran_ms > 0 ? (double)done_ms / ran_ms : 0;
    p->done_ms = done_ms;
    p->total_ms = total_ms;
    if (p->kind == PROGRESS_JSON || p->kind == PROGRESS_LINES) {
        tell(p, ran_ms, speed);
    } else if (p->kind == PROGRESS_AUTO && now - p->drawn_us >= REDRAW_US) {
        p->drawn_us = now;
        draw(p, speed);
    }
}

void progress_end(struct progress *p)
{
    if (p->kind == PROGRESS_AUTO) say_bar(NULL);
}
