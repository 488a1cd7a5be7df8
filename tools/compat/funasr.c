/* steno: the command lines of FunASR's runtime (llama-funasr-sensevoice and similar). SPDX-License-Identifier: MIT
 *
 * Standard output has the same bytes as theirs, as the tests check: the texts of spans without separators, then a newline; subtitles
 * without a final newline; ids followed by a space each. If a recogniser has no tags, its words are written without spaces. */
#include "cli/message.h"
#include "cli/option_names.h"
#include "cmd.h"
#include "compat/compat.h"
#include "utf8.h"
#include "verbs/transcribe_as.h"
#include "write.h"
#include <stdlib.h>
#include <string.h>

enum { MODEL = 1, SOUND = 2, SPANS = 4, SRT = 8, IDS = 16, TAGS = 32, LLM = 64 };

/* A text has its tags if the model has any. Without tags its words are joined. */
static void spell(struct sink *to, const struct transcript *t, const char *text, unsigned given)
{
    const int has_tags = option_served(t->model, "tags"), has_spaces = has_tags || option_served(t->model, "itn");
    for (const char *p = text; *p; p++) {
        const char *end = has_tags && !(given & TAGS) && strncmp(p, "<|", 2) == 0 ? strstr(p, "|>") : NULL;
        if (end) p = end + 1;
        else if (has_spaces || *p != ' ') sink_char(to, *p);
    }
}

/* The text of segments [begin, end), or of all segments if there are no spans. @return malloc'd text, or NULL if out of memory */
static char *text_of(const struct transcript *t, int begin, int end, unsigned given)
{
    struct sink_memory text = { 0 };
    struct sink to = sink_to_memory(&text);
    size_t n;
    sink_text(&to, given & IDS ? "" : " "); /* makes the text non-NULL */
    if (!(given & (IDS | SPANS))) spell(&to, t, t->text, given);
    for (int i = begin; given & (IDS | SPANS) && i < end; i++) {
        if (!(given & IDS)) spell(&to, t, t->segs[i].text, given);
        for (int k = 0; given & IDS && k < t->segs[i].n_tokens; k++) sink_format(&to, "%d ", (int)t->segs[i].tokens[k]);
    }
    if (to.failed) {
        free(text.p);
        return NULL;
    }
    if (given & IDS) return text.p ? text.p : calloc(1, 1);
    const char *s = utf8_strip(text.p, &n);
    memmove(text.p, s, n);
    text.p[n] = '\0';
    return text.p;
}

static void put_times(struct sink *f, int number, int64_t t0_ms, int64_t t1_ms)
{
    sink_format(f, "%d\n", number);
    write_time(f, t0_ms, 1, ',');
    sink_text(f, " --> ");
    write_time(f, t1_ms, 1, ',');
    sink_char(f, '\n');
}

static void write_result(struct sink *f, const struct transcript *t, unsigned given)
{
    const int spans = (given & SPANS) != 0, srt = (given & SRT) != 0;
    for (int i = 0, number = 0; i < (spans ? t->n : 1); i++) {
        char *text = text_of(t, i, spans ? i + 1 : t->n, given);
        if (!text) f->failed = 1;
        else if (text[0]) {
            if (srt) put_times(f, ++number, spans ? t->segs[i].t0_ms : 0, spans ? t->segs[i].t1_ms : t->duration_ms);
            sink_text(f, text);
            if (srt) sink_text(f, "\n\n");
        }
        free(text);
    }
    if (!srt) sink_char(f, '\n');
}

static int recognise(struct compat_call *c)
{
    const struct transcribe_as as = { .write = write_result, .given = (unsigned)c->given, .program = c->compat->name,
                                      .own = c->own, .as_file_asks = 1, .notes = 1 };
    return compat_code(c, transcribe_as(c->n_words, c->word, &as));
}

static int find_speech(struct compat_call *c)
{
    return compat_code(c, cmd_vad(c->n_words, c->word));
}

/* Convert milliseconds to seconds. The number is read as C's atoi does; a value of 0 or less means 60 s. */
static int put_longest(struct compat_call *c, const char *value)
{
    const long ms = strtol(value, NULL, 10);
    compat_put(c, "--vad-max-speech-s");
    compat_put_format(c, "%.3f", ms > 0 ? (double)ms / 1000 : 60.0);
    return EXIT_OK;
}

/* ---- options ------------------------------------------------------------------------------------------------------------------ */

#define MODEL_ROW { .name = "-m", .to = "-m %", .takes = COMPAT_TEXT, .sets = MODEL }
#define SOUND_ROW { .name = "-a", .to = "-- %", .takes = COMPAT_TEXT, .sets = SOUND } /* the last row: no option follows */
#define SPANS_ROWS \
    { .name = "--vad", .to = "--vad fsmn --vad-model %", .takes = COMPAT_TEXT, .sets = SPANS }, \
    { .to = "--vad-min-speech-ms 0 --vad-speech-pad-ms 0", .needs = SPANS }, \
    { .name = "--vad-maxseg", .put = put_longest, .takes = COMPAT_TEXT, .dflt = "30000", .needs = SPANS }
#define RECOGNISER_ROWS \
    { .to = "-q --guards off" }, \
    MODEL_ROW, \
    SPANS_ROWS, \
    { .name = "--srt", .sets = SRT }, \
    { .name = "--ids", .sets = IDS }

static const struct compat_option with_tags[] = {
    RECOGNISER_ROWS,
    { .name = "--keep-tags", .to = "--keep-tags", .sets = TAGS },
    { .name = "--backend", .takes = COMPAT_TEXT, .taken = "cpu",
      .refused = "cannot be had: this version computes on the processor, --backend cpu" },
    { .name = "-f", .takes = COMPAT_TEXT, .refused = "is not served: features in place of sound are not read; give the sound with -a" },
    SOUND_ROW,
    { 0 },
};

static const struct compat_option without_tags[] = { RECOGNISER_ROWS, SOUND_ROW, { 0 } };

static const struct compat_option of_audio_lm[] = {
    { .name = "--enc", .to = "-m %", .takes = COMPAT_TEXT, .sets = MODEL },
    { .to = "-q --guards off" },
    { .name = "-m", .to = "--llm %", .takes = COMPAT_TEXT, .sets = LLM },
    SPANS_ROWS,
    { .name = "--srt", .sets = SRT },
    { .name = "-n", .to = "--sample-length %", .takes = COMPAT_TEXT },
    { .name = "--chunk", .to = "--chunk-length %", .takes = COMPAT_TEXT },
    { .name = "--rep", .to = "--repetition-penalty %", .takes = COMPAT_TEXT },
    SOUND_ROW,
    { 0 },
};

static const struct compat_option of_speech[] = {
    { .to = "-q" },
    MODEL_ROW,
    { .put = put_longest, .env = "VAD_MAXSEG", .dflt = "30000" },
    SOUND_ROW,
    { 0 },
};

#define SPANS_USAGE "-m MODEL -a SOUND [--vad MODEL [--vad-maxseg MS]] "
#define TAGS_USAGE SPANS_USAGE "[--backend cpu] [--srt] [--ids] [--keep-tags]"
#define AUDIO_LM_USAGE "--enc ENCODER -m LLM -a SOUND [--vad MODEL [--vad-maxseg MS]] [--chunk S] [--srt] [-n N] [--rep X]"
#define STAGE "is not served: it shows a stage of a network by itself; steno transcribe --dump writes what all of them make"

const struct compat compat_funasr[] = {
    { .name = "funasr", .usage = TAGS_USAGE, .options = with_tags, .mistake = 1, .needed = MODEL | SOUND, .run = recognise },
    { .name = "llama-funasr-sensevoice", .usage = TAGS_USAGE, .options = with_tags, .mistake = 1, .needed = MODEL | SOUND,
      .run = recognise },
    { .name = "llama-funasr-paraformer", .usage = SPANS_USAGE "[--srt] [--ids]", .options = without_tags, .mistake = 1,
      .needed = MODEL | SOUND, .run = recognise },
    { .name = "llama-funasr-vad", .usage = "-m MODEL -a SOUND", .options = of_speech, .mistake = 1, .needed = MODEL | SOUND,
      .run = find_speech },
    { .name = "llama-funasr-cli", .usage = AUDIO_LM_USAGE, .options = of_audio_lm, .mistake = 1,
      .needed = MODEL | LLM | SOUND, .run = recognise },
    { .name = "llama-funasr-encoder", .mistake = 1, .refused = STAGE },
    { .name = "llama-funasr-embd", .mistake = 1, .refused = STAGE },
    { .name = NULL },
};
