/* steno: progress of a run. SPDX-License-Identifier: MIT
 *
 * On a terminal one line is redrawn at most ten times a second. It shows the position in a single input, or the number of finished
 * inputs, with the speed factor and the remaining time. Parts that do not fit the width are left out, because a wrapped line cannot be
 * wiped. Programs that draw their own bar read text lines or JSON lines. A line is written every five percent, so the number of lines
 * does not depend on the length of the file. */
#include "cli/progress.h"
#include "address.h"
#include "cli/message.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CELLS = 24, FEWEST_CELLS = 8, REDRAW_US = 100000, PERCENT_STEP = 5, TEXT_SZ = 256 };

int64_t progress_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int progress_can_redraw(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && term && term[0] && strcmp(term, "dumb") != 0;
}

static int terminal_columns(void)
{
    struct winsize w = { 0 };
    const int known = ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0;
    return !known ? 80 : w.ws_col < TEXT_SZ ? w.ws_col : TEXT_SZ - 1;
}

void progress_bar_begin(struct progress_bar *b, int kind, int quiet, int n_files)
{
    const int hidden = kind == PROGRESS_AUTO && (quiet || !progress_can_redraw());
    *b = (struct progress_bar){ .kind = hidden ? PROGRESS_NONE : kind, .n_files = n_files, .begun_us = progress_now_us() };
    b->drawn_us = b->begun_us - REDRAW_US;
}

void progress_bar_done(struct progress_bar *b, int n)
{
    b->n_done = n;
}

/* ---- the bar ----------------------------------------------------------------------------------------------------------------- */

static void clock_text(char *out, size_t n, int64_t ms)
{
    const int64_t s = ms / 1000;
    if (s >= 3600) snprintf(out, n, "%" PRId64 ":%02d:%02d", s / 3600, (int)(s / 60 % 60), (int)(s % 60));
    else snprintf(out, n, "%02d:%02d", (int)(s / 60), (int)(s % 60));
}

static double share_of(const struct progress *p)
{
    double share = p->doing || p->total_ms <= 0 ? 0 : (double)p->done_ms / (double)p->total_ms;
    if (share > 1) share = 1;
    return p->n_parts > 1 ? (p->part + share) / p->n_parts : share;
}

/* The completed share of the whole run, and the audio processed so far. */
static double share_of_all(const struct progress_bar *b, int64_t *done_ms)
{
    double share = b->n_done;
    *done_ms = b->past_ms;
    for (const struct progress *p = b->first; p; p = p->next) {
        share += share_of(p);
        if (!p->doing) *done_ms += p->done_ms;
    }
    return b->n_files > 0 ? share / b->n_files : 0;
}

/* Combine the bar with the first text that leaves room for it. If none does, use the first text that fits, without a bar. */
static void put_together(char out[TEXT_SZ], char text[][TEXT_SZ], int n, int room, double share)
{
    const int frame = 3; /* brackets and a space */
    int i = 0, k = 0, at = 0;
    while (i < n - 1 && (int)strlen(text[i]) + frame + FEWEST_CELLS > room) i++;
    while (k < n - 1 && (int)strlen(text[k]) > room) k++;
    int cells = room - frame - (int)strlen(text[i]);
    if (cells > MOST_CELLS) cells = MOST_CELLS;
    if (cells < FEWEST_CELLS) {
        snprintf(out, (size_t)room + 1, "%s", text[k]);
        return;
    }
    const int full = (int)(share * cells);
    out[at++] = '[';
    for (int c = 0; c < cells; c++) out[at++] = c < full ? '#' : '-';
    snprintf(out + at, (size_t)(TEXT_SZ - at), "] %s", text[i]);
}

void progress_text(char out[256], const struct progress_bar *b, int columns, int64_t now_us)
{
    char text[4][TEXT_SZ], at[32], all[32], left[32] = "--:--", files[32] = "";
    const struct progress *p = b->first, *alone = p && !p->next ? p : NULL;
    int64_t done_ms;
    double share = share_of_all(b, &done_ms);
    const double ran_ms = (double)(now_us - (b->n_files == 1 && p ? p->begun_us : b->begun_us)) / 1000.0;
    const double speed = ran_ms > 0 ? (double)done_ms / ran_ms : 0;
    const int room = columns > TEXT_SZ ? TEXT_SZ - 1 : columns > 1 ? columns - 1 : 0; /* the last column is kept for the cursor */
    if (b->n_files > 1) snprintf(files, sizeof files, "%d/%d files", b->n_done, b->n_files);
    if (alone) {
        clock_text(at, sizeof at, alone->done_ms);
        clock_text(all, sizeof all, alone->total_ms > 0 ? alone->total_ms : alone->done_ms);
    }
    if (alone && alone->doing) {
        const char *gap = files[0] ? "  " : "";
        const int known = alone->total_ms > 0;
        if (known && b->n_files == 1) share = (double)alone->done_ms / (double)alone->total_ms;
        snprintf(text[0], TEXT_SZ, "%s%s%s %s%s%s", files, gap, alone->doing, at, known ? " / " : "", known ? all : "");
        snprintf(text[1], TEXT_SZ, "%s%s%s %s", files, gap, alone->doing, at);
        snprintf(text[2], TEXT_SZ, "%s %s", alone->doing, at);
    } else {
        char what[80];
        if (files[0]) snprintf(what, sizeof what, "%s", files);
        else snprintf(what, sizeof what, "%s / %s", alone ? at : "", alone ? all : "");
        if (share > 0) clock_text(left, sizeof left, (int64_t)(ran_ms * (1 - share) / share));
        snprintf(text[0], TEXT_SZ, "%s  %.1fx  %s left", what, speed, left);
        snprintf(text[1], TEXT_SZ, "%s  %s left", what, left);
        snprintf(text[2], TEXT_SZ, "%s", what);
    }
    if (share > 1) share = 1;
    snprintf(text[3], TEXT_SZ, "%d %%", (int)(share * 100));
    put_together(out, text, 4, room, share);
}

static void draw(struct progress_bar *b)
{
    char line[TEXT_SZ];
    const int64_t now = progress_now_us();
    if (b->kind != PROGRESS_AUTO || now - b->drawn_us < REDRAW_US) return;
    b->drawn_us = now;
    progress_text(line, b, terminal_columns(), now);
    message_bar(line);
}

/* ---- lines ------------------------------------------------------------------------------------------------------------------- */

/* Print a line when the progress reaches another multiple of five percent. */
static void report(struct progress *p, double ran_ms)
{
    const int known = p->total_ms > 0 ? (int)(p->done_ms * (100 / PERCENT_STEP) / p->total_ms) * PERCENT_STEP : 100;
    /* the length of a source that is read once is only known at its end */
    const int percent = p->total_ms <= 0 && p->done_ms > 0 ? 0 : known;
    if (percent <= p->percent) return;
    p->percent = percent;
    char cut[2048];
    const char *shown = p->file;
    if (address_is(p->file)) address_shown(cut, sizeof cut, p->file), shown = cut; /* hide the parts that may be secret */
    if (p->bar->kind == PROGRESS_LINES) {
        message("%s: %d %%", strcmp(p->file, "-") == 0 ? "standard input" : shown, percent);
        return;
    }
    fputs("{\"file\": ", stderr);
    print_json(stderr, shown);
    fprintf(stderr, ", \"done_ms\": %" PRId64 ", \"total_ms\": %" PRId64 ", \"percent\": %d, \"elapsed_ms\": %.0f, \"speed\": %.3f}\n",
            p->done_ms, p->total_ms, percent, ran_ms, ran_ms > 0 ? (double)p->done_ms / ran_ms : 0);
}

/* ---- an input ---------------------------------------------------------------------------------------------------------------- */

void progress_begin(struct progress *p, struct progress_bar *b, const char *file, int part, int n_parts)
{
    *p = (struct progress){ .bar = b, .next = b->first, .file = file, .part = part, .n_parts = n_parts, .doing = "listening",
                            .begun_us = progress_now_us(), .percent = -1 };
    b->first = p;
}

void progress_reading(struct progress *p, const char *doing, int64_t read_ms, int64_t total_ms)
{
    if (!p->bar || !p->doing) return;
    p->doing = doing;
    p->done_ms = read_ms;
    p->total_ms = total_ms > 0 ? total_ms : 0;
    draw(p->bar);
}

void progress_read_all(struct progress *p, int64_t total_ms)
{
    if (!p->bar || !p->doing) return;
    p->doing = NULL;
    p->done_ms = 0;
    p->total_ms = total_ms;
    draw(p->bar);
}

void progress_update(struct progress *p, int64_t done_ms, int64_t total_ms)
{
    if (!p->bar) return;
    p->doing = NULL;
    p->done_ms = done_ms;
    p->total_ms = total_ms;
    if (p->bar->kind == PROGRESS_JSON || p->bar->kind == PROGRESS_LINES) report(p, (double)(progress_now_us() - p->begun_us) / 1000.0);
    else draw(p->bar);
}

void progress_end(struct progress *p)
{
    struct progress_bar *b = p->bar;
    if (!b) return;
    struct progress **at = &b->first;
    while (*at && *at != p) at = &(*at)->next;
    if (*at) *at = p->next;
    if (!p->doing) b->past_ms += p->done_ms;
    p->bar = NULL;
    if (b->kind == PROGRESS_AUTO && !b->first) message_bar(NULL);
}
