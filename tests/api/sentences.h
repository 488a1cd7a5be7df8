/* steno tests: what a result under a grammar must be. SPDX-License-Identifier: MIT
 *
 * The segments of a window, which have its place, make a sentence together or have no text; steno_text is all of them one behind the other;
 * a segment ends with a whole character and no word goes on behind it. The recogniser shares no code with the engine's. */
#ifndef STENO_TESTS_SENTENCES_H
#define STENO_TESTS_SENTENCES_H
#include <stdio.h>
#include <steno/steno.h>
#include "slow_grammar.h"

enum { SENTENCES_TEXT = 4000 };

struct sentences {
    int windows, segments, more; /* windows with text, segments with text, windows with several of them */
    const char *prefix;          /* text that stands before each sentence; NULL: none does */
    char why[6 * SENTENCES_TEXT];
};

/* A letter or digit of English: the tests' grammars have no others at the edge of a word. */
static inline int sentences_letter(char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

/* @return 0, and why */
static inline int sentences_fail(struct sentences *q, const char *what, int64_t at, const char *text)
{
    snprintf(q->why, sizeof q->why, "window at frame %lld: %s: '%s'", (long long)at, what, text);
    return 0;
}

static inline int sentences_window(struct sentences *q, struct slow_grammar *g, const char *rule, int64_t at, const char *text, int parts)
{
    const size_t n = q->prefix ? strlen(q->prefix) : 0;
    q->windows += *text != 0;
    q->more += parts > 1;
    if (*text && n && strncmp(text, q->prefix, n) != 0) return sentences_fail(q, "no prefix", at, text);
    return !*text || slow_sentence(g, rule, text + n) ? 1 : sentences_fail(q, "no sentence", at, text);
}

/* Is the selected result what a grammar allows? 0: q->why has the reason. Counts are added to q's. */
static inline int sentences_hold(const steno_session *s, struct slow_grammar *g, const char *rule, struct sentences *q)
{
    char all[SENTENCES_TEXT] = "", window[SENTENCES_TEXT] = "";
    int64_t at = -1;
    int parts = 0;
    steno_segment seg = { .size = sizeof seg };
    for (int i = 0; !steno_segment_get(s, i, &seg); i++) {
        const size_t n = strlen(seg.text), before = strlen(window);
        if (seg.seek_frames != at) {
            if (!sentences_window(q, g, rule, at, window, parts)) return 0;
            window[0] = 0;
            parts = 0;
            at = seg.seek_frames;
        } else if (before && n && sentences_letter(window[before - 1]) && sentences_letter(seg.text[0])) {
            return sentences_fail(q, "a word is cut before", at, seg.text);
        }
        if (strlen(all) + n >= sizeof all) return sentences_fail(q, "too long a text", at, "");
        if (strstr(seg.text, "\xef\xbf\xbd")) return sentences_fail(q, "half a character", at, seg.text);
        if (n && seg.start > seg.end) return sentences_fail(q, "ends before it begins", at, seg.text);
        strcat(all, seg.text);
        strcat(window, seg.text);
        parts += n > 0;
        q->segments += n > 0;
    }
    if (!sentences_window(q, g, rule, at, window, parts)) return 0;
    return !strcmp(all, steno_text(s)) ? 1 : sentences_fail(q, "the whole text is another", at, steno_text(s));
}
#endif
