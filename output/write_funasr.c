/* steno: the result of FunASR's AutoModel.generate() for a file, on one line: a list with one object. SPDX-License-Identifier: MIT
 *
 * Times are whole milliseconds within the clip, truncated as in FunASR (2.01 s becomes 2009), plus the start of the clip. A text with tags
 * keeps them. If the model begins a word with a space after the tags, the word has U+2581, as its piece has. Words are listed beside times,
 * except where the text itself is made of them. */
#include "out_name.h"
#include "utf8.h"
#include "write.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Writes the name of the audio without folder and extension. */
static void put_key(struct sink *f, const struct transcript *t)
{
    char *stem = out_stem(t->source ? t->source->input : "-");
    if (stem) utf8_json(f, stem);
    else f->failed = 1;
    free(stem);
}

/* How times of a clip are computed: its start, and for integrate-and-fire the seconds of which times are quarters, else 0. */
struct clip_times { int64_t begin_ms; double unit; };

/* Frames of integrate-and-fire are 60 ms, or 20 ms in a model with separate weights for times: are all times quarters of 60? */
static double unit_of(const struct transcript *t)
{
    for (int i = 0; i < t->n; i++) {
        const steno_segment *s = &t->segs[i];
        if (!s->word_source || strcmp(s->word_source, "cif") != 0) return 0;
        for (int32_t k = 0; k < s->n_words; k++) {
            const steno_word *w = &t->words[t->first_word[i] + k];
            if ((w->t0_ms - s->seek_frames * 10) % 15 || (w->t1_ms - s->seek_frames * 10) % 15) return 0.02;
        }
    }
    return 0.06;
}

/* Writes a time of a clip: s seconds, or `ms` rounded. After the first clip, the seconds within the clip are computed as in the reference,
 * because truncation depends on their last bits. */
static void put_ms(struct sink *f, double s, int64_t ms, const struct clip_times *c)
{
    double within = (double)(ms - c->begin_ms) / 1000;
    if (c->unit > 0) within = nearbyint(4 * within / c->unit) / 4 * c->unit;
    if (ms < 0) sink_text(f, "null");
    else sink_format(f, "%" PRId64, c->begin_ms + (int64_t)((c->begin_ms ? within : s) * 1000));
}

static void put_times(struct sink *f, const struct transcript *t)
{
    const char *sep = "";
    const double unit = unit_of(t);
    sink_text(f, ", \"timestamp\": [");
    for (int i = 0; i < t->n; i++) {
        const struct clip_times clip = { t->segs[i].seek_frames * 10, unit };
        for (int32_t k = 0; k < t->segs[i].n_words; k++) {
            const steno_word *w = &t->words[t->first_word[i] + k];
            sink_format(f, "%s[", sep);
            put_ms(f, w->start, w->t0_ms, &clip);
            sink_text(f, ", ");
            put_ms(f, w->end, w->t1_ms, &clip);
            sink_char(f, ']');
            sep = ", ";
        }
    }
    sink_char(f, ']');
}

/* Does the text begin with a space after its tags? */
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

/* For models whose words exist only with times: there the text consists of these words, with a space between any two. */
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

static int is_chinese(const char *s, size_t n)
{
    return n >= 3 && strncmp(s, "\xe3\x90\x80", 3) >= 0 && strncmp(s, "\xe9\xbf\xbf", 3) <= 0;
}

/* Start of the last character before a mark. */
static size_t last_character(const char *s, size_t n)
{
    static const char *const mark[] = { "，", "。", "？", "、" };
    for (size_t i = 0; i < sizeof mark / sizeof *mark; i++)
        if (n > 3 && !strncmp(s + n - 3, mark[i], 3)) return n >= 6 ? n - 6 : 0;
    return n >= 3 ? n - 3 : 0;
}

/* A text with punctuation has no tags, and segments have no space between Chinese characters. */
static void put_untagged(struct sink *f, const struct transcript *t)
{
    struct sink_memory text = { 0 };
    struct sink to = sink_to_memory(&text);
    for (int i = 0; i < t->n; i++) {
        const char *s = t->segs[i].text, *end;
        while (strncmp(s, "<|", 2) == 0 && (end = strstr(s, "|>")) != NULL) s = end + 2;
        size_t n;
        s = utf8_strip(s, &n);
        const size_t last = last_character(text.p, text.n);
        if (n && text.n && !(is_chinese(s, n) && is_chinese(text.p + last, text.n - last))) sink_char(&to, ' ');
        for (size_t k = 0; k < n; k++) sink_char(&to, s[k]);
    }
    if (to.failed) f->failed = 1;
    else utf8_json(f, text.p ? text.p : "");
    free(text.p);
}

/* A rewritten text keeps its leading space. */
static void put_marked_text(struct sink *f, const struct transcript *t)
{
    if (strstr(t->text, "<|")) put_untagged(f, t);
    else utf8_json(f, t->text);
}

/* Punctuation is in the text only. */
static const char *spoken(const steno_word *w) { return w->spoken ? w->spoken : w->text; }

static void put_words(struct sink *f, const struct transcript *t)
{
    const char *sep = "";
    sink_text(f, ", \"words\": [");
    for (int i = 0; i < t->n; i++) {
        for (int32_t k = 0; k < t->segs[i].n_words; k++) {
            sink_text(f, sep);
            put_word(f, spoken(&t->words[t->first_word[i] + k]), !k && has_space(t->segs[i].text));
            sep = ", ";
        }
    }
    sink_char(f, ']');
}

/* times: a list, whose first start and last end are those of the sentence. */
static void put_sentence(struct sink *f, const steno_sentence *s, const char *times, int i)
{
    const char *last = strrchr(times, '[');
    sink_format(f, "%s{\"text\": ", i ? ", " : "");
    utf8_json(f, s->text);
    sink_format(f, ", \"start\": %.*s", (int)strcspn(times + 1, ","), times + 1);
    last = strchr(last, ',');
    sink_format(f, ", \"end\": %.*s", (int)strcspn(last + 2, "]"), last + 2);
    sink_text(f, ", \"timestamp\": [");
    sink_text(f, times);
    sink_text(f, "]}");
}

/* FunASR's sentence_info. Times of the transcript's own words are truncated in the same way. */
static void put_sentences(struct sink *f, const struct transcript *t)
{
    const double unit = unit_of(t);
    int seg = 0;
    sink_text(f, ", \"sentence_info\": [");
    for (int i = 0; i < t->n_sentences; i++) {
        const steno_sentence *s = &t->sentences[i];
        struct sink_memory times = { 0 };
        struct sink to = sink_to_memory(&times);
        for (int32_t k = 0; k < s->n_words; k++) {
            const int64_t at = s->first_word + k;
            while (s->first_word >= 0 && seg + 1 < t->n && at >= t->first_word[seg + 1]) seg++;
            const struct clip_times own_clip = { t->segs[seg].seek_frames * 10, unit }, none = { 0 };
            const struct clip_times clip = s->first_word < 0 ? none : own_clip;
            const steno_word own = { .start = (double)s->times_ms[2 * k] / 1000, .end = (double)s->times_ms[2 * k + 1] / 1000,
                                     .t0_ms = s->times_ms[2 * k], .t1_ms = s->times_ms[2 * k + 1] };
            const steno_word *w = s->first_word < 0 ? &own : &t->words[at];
            sink_text(&to, k ? ", [" : "[");
            put_ms(&to, w->start, w->t0_ms, &clip);
            sink_text(&to, ", ");
            put_ms(&to, w->end, w->t1_ms, &clip);
            sink_char(&to, ']');
        }
        if (to.failed || !times.p) f->failed = 1;
        else put_sentence(f, s, times.p, i);
        free(times.p);
    }
    sink_char(f, ']');
}

/* Are there times? A result without words has none. */
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
    if (t->punctuated) put_marked_text(f, t);
    else if (of_words) put_text_of_words(f, t);
    else write_json_stripped(f, t->text);
    if (times) put_times(f, t);
    if (times && t->n && !of_words) put_words(f, t);
    if (times && t->n_sentences) put_sentences(f, t);
    write_json_lost(f, t, 0);
    sink_text(f, "}]");
}
