/* steno: what FunASR's AutoModel.generate() returns for a file, on one line: a list with one object. SPDX-License-Identifier: MIT
 *
 * Times are whole milliseconds within the clip, cut and not rounded as there (2.01 s reads 2009), plus the clip's beginning. A text with
 * tags keeps them, and a word that the model begins with a space behind them has U+2581, as its piece has. Words stand beside times but
 * where the text itself is made of them. */
#include "out_name.h"
#include "utf8.h"
#include "write.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The name of the sound without folder and ending. */
static void put_key(struct sink *f, const struct transcript *t)
{
    char *stem = out_stem(t->source ? t->source->input : "-");
    if (stem) utf8_json(f, stem);
    else f->failed = 1;
    free(stem);
}

/* A time of a clip that begins at begin_ms: s seconds, which are `ms` when they are rounded. */
static void put_ms(struct sink *f, double s, int64_t ms, int64_t begin_ms)
{
    if (ms < 0) sink_text(f, "null");
    else sink_format(f, "%" PRId64, begin_ms + (int64_t)((begin_ms ? (double)(ms - begin_ms) / 1000 : s) * 1000));
}

static void put_times(struct sink *f, const struct transcript *t)
{
    const char *sep = "";
    sink_text(f, ", \"timestamp\": [");
    for (int i = 0; i < t->n; i++) {
        const int64_t begin_ms = t->segs[i].seek_frames * 10;
        for (int32_t k = 0; k < t->segs[i].n_words; k++) {
            const steno_word *w = &t->words[t->first_word[i] + k];
            sink_format(f, "%s[", sep);
            put_ms(f, w->start, w->t0_ms, begin_ms);
            sink_text(f, ", ");
            put_ms(f, w->end, w->t1_ms, begin_ms);
            sink_char(f, ']');
            sep = ", ";
        }
    }
    sink_char(f, ']');
}

/* Whether the text begins with a space behind its tags. */
static int has_space(const char *text)
{
    int is_behind = 0;
    while (strncmp(text, "<|", 2) == 0) {
        const char *end = strstr(text, "|>");
        if (!end) return 0;
        text = end + 2;
        is_behind = 1;
    }
    return is_behind && *text == ' ';
}

static void put_word(struct sink *f, const char *text, int with_space)
{
    struct sink_memory word = { 0 };
    struct sink to = sink_to_memory(&word);
    if (with_space) sink_text(&to, "\xe2\x96\x81");
    sink_text(&to, text + (*text == ' '));
    if (to.failed) f->failed = 1;
    else utf8_json(f, word.p ? word.p : "");
    free(word.p);
}

/* Models whose words come with the times alone: there the text is these words, with a space between any two. */
static int is_of_words(const struct transcript *t)
{
    for (int i = 0; i < t->n; i++)
        if (t->segs[i].word_source && strcmp(t->segs[i].word_source, "cif") == 0) return 1;
    return 0;
}

static void put_text_of_words(struct sink *f, const struct transcript *t)
{
    struct sink_memory text = { 0 };
    struct sink to = sink_to_memory(&text);
    for (int i = 0; i < t->n; i++) {
        for (int32_t k = 0; k < t->segs[i].n_words; k++) {
            const char *word = t->words[t->first_word[i] + k].text;
            if (text.n) sink_char(&to, ' ');
            sink_text(&to, word + (*word == ' '));
        }
    }
    if (to.failed) f->failed = 1;
    else utf8_json(f, text.p ? text.p : "");
    free(text.p);
}

static void put_words(struct sink *f, const struct transcript *t)
{
    const char *sep = "";
    sink_text(f, ", \"words\": [");
    for (int i = 0; i < t->n; i++) {
        for (int32_t k = 0; k < t->segs[i].n_words; k++) {
            sink_text(f, sep);
            put_word(f, t->words[t->first_word[i] + k].text, !k && has_space(t->segs[i].text));
            sep = ", ";
        }
    }
    sink_char(f, ']');
}

/* Whether there are times: none is one, where nothing was said at all. */
static int has_times(const struct transcript *t)
{
    for (int i = 0; t->word_times && i < t->n; i++)
        if (t->segs[i].n_words) return 1;
    return t->word_times && !t->n;
}

void write_funasr(struct sink *f, const struct transcript *t)
{
    const int times = has_times(t), of_words = times && is_of_words(t);
    sink_text(f, "[{\"key\": ");
    put_key(f, t);
    sink_text(f, ", \"text\": ");
    if (of_words) put_text_of_words(f, t);
    else write_json_stripped(f, t->text);
    if (times) put_times(f, t);
    if (times && t->n && !of_words) put_words(f, t);
    write_json_lost(f, t, 0);
    sink_text(f, "}]");
}
