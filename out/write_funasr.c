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

static int is_of_words(const steno_segment *s)
{
    return s->word_source && strcmp(s->word_source, "cif") == 0;
}

static void put_words(struct sink *f, const struct transcript *t)
{
    const char *sep = "";
    for (int i = 0; i < t->n; i++)
        if (is_of_words(&t->segs[i])) return;
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

static int has_words(const struct transcript *t)
{
    for (int i = 0; t->word_times && i < t->n; i++)
        if (t->segs[i].n_words) return 1;
    return 0;
}

void write_funasr(struct sink *f, const struct transcript *t)
{
    sink_text(f, "[{\"key\": ");
    put_key(f, t);
    sink_text(f, ", \"text\": ");
    write_json_stripped(f, t->text);
    if (has_words(t)) {
        put_times(f, t);
        put_words(f, t);
    }
    write_json_lost(f, t, 0);
    sink_text(f, "}]");
}
