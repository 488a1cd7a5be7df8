/* steno: options about words, their times and the layout of subtitles. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_SUBTITLE_OPTS_H
#define STENO_TOOLS_SUBTITLE_OPTS_H
#include "args.h"
#include "diarize.h"
#include "ledger.h"
#include "transcript.h"
#include <stdint.h>

struct subtitle_opts {
    int highlight_words, split_on_word, log_scores;
    int64_t max_line_width, max_line_count, max_words_per_line, max_len;
    const char *font;
    struct ledger *ledger; /* a font's file is entered there */
};

#define SUBTITLE_ROWS(T) \
    { NULL, 0, ARG_GROUP, 0, 0, NULL, NULL, 0, 0, "Subtitles" }, \
    { "max-line-width", 0, ARG_INT, 0, offsetof(T, subtitles.max_line_width), "N", "0", 0, 1e6, \
      "most characters of a line (srt, vtt, ass, wts); 0: no limit. Without word times lines break at spaces, and cues that a " \
      "segment is cut into share its time by their lengths" }, \
    { "max-line-count", 0, ARG_INT, 0, offsetof(T, subtitles.max_line_count), "N", "0", 0, 1e6, \
      "most lines of a cue; with word times cues go on over the ends of segments; 0: a cue is a segment" }, \
    { "max-words-per-line", 0, ARG_INT, 0, offsetof(T, subtitles.max_words_per_line), "N", "0", 0, 1e6, \
      "most words of a cue; 0: no limit" }, \
    { "highlight-words", 0, ARG_PAIR, 0, offsetof(T, subtitles.highlight_words), NULL, "off", 0, 0, \
      "underline each word of srt and vtt while it is said" }, \
    { "max-len", 0, ARG_INT, 0, offsetof(T, subtitles.max_len), "N", "0", 0, 1e6, \
      "cut segments, in every format, into pieces of at most N characters, before a token or, with word times, a word; 0: leave them" }, \
    { "split-on-word", 0, ARG_PAIR, 0, offsetof(T, subtitles.split_on_word), NULL, "off", 0, 0, \
      "cut so only where a space is" }, \
    { "font", 0, ARG_TEXT, 0, offsetof(T, subtitles.font), "NAME|FILE", NULL, 0, 0, \
      "of ass and wts: an installed font, or a .ttf or .otf file; without it sans-serif" }, \
    { "log-scores", 0, ARG_FLAG, 0, offsetof(T, subtitles.log_scores), NULL, NULL, 0, 0, \
      "the same as adding score to the output formats" }

/* Refuse what makes no sense, fill the layout and add to the formats what options ask for. @return EXIT_OK or EXIT_USAGE, after a
 * message */
int subtitle_opts_layout(struct write_layout *l, unsigned *formats, const struct subtitle_opts *o);

/* Ask the library for the times that options and formats need. */
void subtitle_opts_params(steno_transcribe_params *p, const struct subtitle_opts *o, unsigned formats);

/* Whether segments are cut, so that none can be shown as it comes. */
int subtitle_opts_cut(const struct subtitle_opts *o);

/* As transcript_take, then cut, also where another of the `speakers` (NULL: nobody asks) goes on; t->speakers are those of the segments
 * then. t->word_times, model and layout are for the caller to fill. @return 0, or -1 in want of memory */
int subtitle_opts_take(struct transcript *t, struct transcript_store *store, const steno_session *s, const struct subtitle_opts *o,
                       const struct diarize *speakers);
#endif
