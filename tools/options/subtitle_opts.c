/* steno: options for words, their times and the layout of subtitles. SPDX-License-Identifier: MIT */
#include "options/subtitle_opts.h"
#include "cli/message.h"
#include "cli/option_names.h"
#include "utf8.h"
#include "writers.h"
#include <stdlib.h>
#include <string.h>

/* ---- rules of published subtitles -------------------------------------------------------------------------------------------- */

int cue_opts_choice(struct cue_choice *c, const struct cue_opts *o, const struct args_given *g, int64_t line_width, int64_t lines)
{
    *c = (struct cue_choice)CUE_CHOICE_UNSET;
    const struct { const char *name; int64_t value, *to; } given[] = {
        { "min-cue-ms", o->min_ms, &c->min_ms }, { "max-cue-ms", o->max_ms, &c->max_ms },
        { "min-gap-ms", o->gap_ms, &c->gap_ms }, { "close-gap-ms", o->close_ms, &c->close_ms },
    };
    c->line_width = line_width;
    c->lines = lines;
    c->style = o->style;
    c->frame_rate = o->frame_rate;
    c->on = option_was_given(g, "style");
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        if (!option_was_given(g, given[i].name)) continue;
        *given[i].to = given[i].value;
        c->on = 1;
    }
    if (option_was_given(g, "max-cps")) {
        c->cps = o->cps;
        c->on = 1;
    }
    const char *fault = cue_choice_fault(c);
    return fault ? message_usage("%s", fault) : EXIT_OK;
}

/* ---- words, times and layout ------------------------------------------------------------------------------------------------- */

static int set_font(struct write_layout *l, const struct subtitle_opts *o)
{
    const char *font = o->font;
    if (!font) return EXIT_OK;
    if (font_is_file(font)) {
        const char *fault = font_name(l->font, font);
        l->font_file = font;
        return fault ? message_usage("--font %s: %s", font, fault) : path_guard_code_read(o->path_guard, "the file of --font", font);
    }
    const size_t n = strlen(font);
    if (n >= sizeof l->font) return message_usage("--font: the name is longer than %zu bytes", sizeof l->font - 1);
    for (size_t i = 0; i < n; i++)
        if (font[i] == ',' || (unsigned char)font[i] < 0x20) return message_usage("--font: \"%s\" is not the name of a font", font);
    if (utf8_invalid_at(font) >= 0) return message_usage("--font: the name is not valid UTF-8");
    memcpy(l->font, font, n + 1);
    return EXIT_OK;
}

/* Check the names, because they are written into lines and tags. */
static int check_names(const char *names)
{
    enum { NAME_MOST = 100 };
    if (!names) return EXIT_OK;
    if (utf8_invalid_at(names) >= 0) return message_usage("--speaker-names: not valid UTF-8");
    for (size_t n; *names; names += n + (names[n] == ',')) {
        n = strcspn(names, ",");
        if (!n || n > NAME_MOST) return message_usage("--speaker-names: a name has 1 to %d bytes", (int)NAME_MOST);
        for (size_t i = 0; i < n; i++)
            if ((unsigned char)names[i] < 0x20) return message_usage("--speaker-names: a name has a control character");
    }
    return EXIT_OK;
}

enum { CUES = 1u << WRITER_SRT | 1u << WRITER_VTT };

int subtitle_opts_layout(struct write_layout *l, unsigned *formats, struct subtitle_opts *o)
{
    if (o->log_scores) *formats |= 1u << WRITER_SCORE;
    *l = (struct write_layout){ .max_line_width = (int32_t)o->max_line_width, .max_line_count = (int32_t)o->max_line_count,
                                .max_words_per_line = (int32_t)o->max_words_per_line, .highlight_words = o->highlight_words };
    const int width = option_was_given(o->given, "max-line-width"), count = option_was_given(o->given, "max-line-count");
    const int code = cue_opts_choice(&l->cues, &o->cues, o->given, width ? o->max_line_width : CUE_UNSET,
                                     count ? o->max_line_count : CUE_UNSET);
    o->ruled = l->cues.on;
    l->speaker_names = o->speaker_names;
    l->speaker_colors = o->speaker_colors;
    l->vtt_regions = o->vtt_regions;
    const int named = check_names(o->speaker_names);
    return code != EXIT_OK ? code : named != EXIT_OK ? named : set_font(l, o);
}

int subtitle_opts_channel(int32_t **speakers, struct transcript *t, const struct subtitle_opts *o, int channel)
{
    *speakers = NULL;
    if (channel < 0 || t->speakers || !(o->speaker_names || o->speaker_colors)) return EXIT_OK;
    *speakers = malloc(((size_t)t->n + 1) * sizeof **speakers);
    if (!*speakers) {
        message("out of memory for the speakers of channel %d", channel);
        return EXIT_MEMORY;
    }
    for (int i = 0; i < t->n; i++) (*speakers)[i] = channel;
    t->speakers = *speakers;
    return EXIT_OK;
}

void subtitle_opts_params(steno_transcribe_params *p, const struct subtitle_opts *o, unsigned formats, const steno_model *m)
{
    const int before_words = o->max_len > 0 && m && !option_served(m, "token_timestamps") && option_served(m, "word_timestamps");
    p->word_timestamps |= (formats & (1u << WRITER_WTS | 1u << WRITER_ASS)) != 0; /* karaoke formats need words */
    p->word_timestamps |= before_words;
    p->word_timestamps |= o->ruled && (formats & CUES) && m && option_served(m, "word_timestamps"); /* cues are built from words */
    p->token_timestamps |= (o->max_len > 0 && !before_words) || (formats & 1u << WRITER_JSON_FULL) != 0;
}

int subtitle_opts_cut(const struct subtitle_opts *o)
{
    return o->max_len > 0;
}
