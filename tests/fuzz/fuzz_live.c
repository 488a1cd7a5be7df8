/* steno: fuzzing of what agrees between passes. SPDX-License-Identifier: MIT
 *
 * A line is a pass: its units joined are its bytes, and final words are never other ones later, nor fewer. A byte of 1 at the end of a line
 * cuts. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "live_words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static size_t length(const struct words *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++) n += strlen(w->w[i].text);
    return n;
}

/* Times of some words, in order or not. */
static void times_set(struct words *w, const char *line)
{
    const size_t n = strlen(line);
    for (size_t i = 0; i < w->n; i++) {
        const unsigned char c = (unsigned char)line[i % n];
        w->w[i].t0_ms = c & 1 ? -1 : (int64_t)i * 100 + (c & 30);
        w->w[i].t1_ms = w->w[i].t0_ms < 0 ? -1 : w->w[i].t0_ms + 50;
    }
}

static void pass(struct agreement *a, const char *line, int is_last)
{
    struct words w = { 0 };
    size_t first;
    const size_t before = a->known.n, bytes = length(&a->known);
    if (live_words_add_units(&w, line, 0, 100)) abort();
    if (length(&w) != strlen(line)) abort();
    times_set(&w, line);
    if (agreement_add(a, &w, is_last, &first)) abort();
    if (first != before || a->known.n < before || length(&a->known) < bytes || (is_last && a->recent.n)) abort();
    if (*line && line[strlen(line) - 1] == 1) agreement_cut(a, -1);
    if (a->cut > a->known.n) abort();
    live_words_free(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct agreement a = { 0 };
    char *text = malloc(n + 1);
    if (!text) return 0;
    memcpy(text, data, n);
    text[n] = '\0';
    for (char *line = text, *end; line < text + n; line = end + 1) {
        end = memchr(line, '\n', (size_t)(text + n - line));
        if (!end) end = text + n;
        *end = '\0';
        pass(&a, line, end == text + n);
    }
    free(text);
    agreement_free(&a);
    return 0;
}
