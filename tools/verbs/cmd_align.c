/* steno: the verb align: times of the words of a known text. SPDX-License-Identifier: MIT */
#include "cli/message.h"
#include "cli/option_names.h"
#include "cli/signals.h"
#include "cli/text_file.h"
#include "cmd.h"
#include "file_source.h"
#include "findings.h"
#include "input/sound.h"
#include "input/transcript_lines.h"
#include "models/engine.h"
#include "options/subtitle_opts.h"
#include "utf8.h"
#include "verbs/results.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct opts {
    struct engine_opts engine;
    struct cue_results_opts out;
    struct cue_opts cues;
    const char *language;
    int64_t max_line_width, max_line_count;
    int json;
};

enum { TEXT_MAX = 1 << 24 }; /* bytes: two weeks of speech */

#define AT(field) offsetof(struct opts, field)

static const struct arg rows[] = {
    ENGINE_MODEL_ROW(struct opts),
    ENGINE_VOCAB_ROW(struct opts),
    ENGINE_HEADS_ROW(struct opts),
    ENGINE_DEMO_ROW(struct opts),
    ARG_HEADING("Input"),
    { .name = "language", .letter = 'l', .kind = ARG_TEXT, .at = AT(language), .value = "auto|CODE", .dflt = "auto",
      .help = "language of the text: a code or an English name" },
    ARG_HEADING("Output"),
    { .name = "json", .kind = ARG_FLAG, .at = AT(json), .help = "print an object instead of lines" },
    CUE_RESULTS_ROWS(struct opts, out),
    CUE_ROWS(struct opts, cues),
    { .name = "max-line-width", .kind = ARG_INT, .at = AT(max_line_width), .value = "N", .hi = 1e6,
      .help = "maximum number of characters per subtitle line" },
    { .name = "max-line-count", .kind = ARG_INT, .at = AT(max_line_count), .value = "N", .hi = 1e6,
      .help = "maximum number of lines per cue" },
    ENGINE_MACHINE_ROWS(struct opts),
    ARG_HEADING("Messages"),
    ENGINE_QUIET_ROW(struct opts),
    { 0 },
};

const struct args align_args = { "align", "[OPTION]... FILE TEXT",
                                 "Print START_MS END_MS WORD for each word of TEXT, the known text of FILE, and\n"
                                 "- - WORD for words that are not found in the audio. @NAME reads the text from a\n"
                                 "file, - from standard input: text, subtitles, or another transcript.",
                                 rows };

static int fail(const char *file, int rc, const char *reason)
{
    if (signals_pending()) return EXIT_SIGNAL + signals_pending();
    message_file(strcmp(file, "-") == 0 ? "standard input" : file, reason[0] ? reason : steno_status_text(rc));
    return rc == STENO_ENOMEM ? EXIT_MEMORY : rc == STENO_EARG ? EXIT_USAGE
                                                               : EXIT_INPUT;
}

/* ---- the text ---- */

/* Of subtitles and other transcripts only the text is aligned. @return STENO_OK; or a status, with *reason */
static int words_take(char **text, const char *name, const char **reason)
{
    if (transcript_form_of(name, *text) == TRANSCRIPT_TEXT) return STENO_OK;
    char *spoken = transcript_lines_text(name, *text, reason);
    free(*text);
    *text = spoken;
    if (!spoken && !*reason) return *reason = "out of memory for the text", STENO_ENOMEM;
    return spoken ? STENO_OK : STENO_EIO;
}

/* Read TEXT from the operand, a file or standard input. @return EXIT_OK, or an exit code after a message */
static int text_read(char **text, const char *operand)
{
    const int from_stdin = strcmp(operand, "-") == 0, inline_text = !from_stdin && operand[0] != '@';
    const char *name = inline_text ? "the text" : from_stdin ? "standard input" : operand + 1;
    const char *reason;
    char why[TEXT_FILE_WHY];
    size_t n;
    enum text_file how = TEXT_FILE_READ;
    if (!inline_text) how = text_file_read(text, from_stdin ? operand : operand + 1, from_stdin, TEXT_MAX, why, sizeof why);
    else if (!(*text = strdup(operand))) how = TEXT_FILE_NO_MEMORY;
    if (how == TEXT_FILE_NO_MEMORY) return fail(name, STENO_ENOMEM, "out of memory for the text");
    if (how != TEXT_FILE_READ) return fail(name, STENO_EIO, why);
    const int rc = inline_text ? STENO_OK : words_take(text, from_stdin ? operand : operand + 1, &reason);
    if (rc) return fail(name, rc, reason);
    const int64_t bad = utf8_invalid_at(*text);
    if (bad >= 0) return message_usage("the text is not valid UTF-8 at byte %lld", (long long)bad);
    utf8_strip(*text, &n);
    return n ? EXIT_OK : message_usage("there are no words in %s to align", name);
}

/* ---- the words ---- */

static void time_print(int64_t ms, const char *unknown)
{
    if (ms < 0) fputs(unknown, stdout);
    else printf("%lld", (long long)ms);
}

static void word_print(const steno_word *w, int json, int first)
{
    if (json) {
        printf("%s{\"word\": ", first ? "" : ", ");
        print_json_stripped(stdout, w->text);
        fputs(", \"start_ms\": ", stdout);
        time_print(w->t0_ms, "null");
        fputs(", \"end_ms\": ", stdout);
        time_print(w->t1_ms, "null");
        fputs(", \"probability\": ", stdout);
        print_json_number(stdout, w->probability);
        putchar('}');
        return;
    }
    time_print(w->t0_ms, "-");
    putchar(' ');
    time_print(w->t1_ms, "-");
    putchar(' ');
    print_stripped(stdout, w->text);
    putchar('\n');
}

static void note_heads(struct notes *n, const steno_model *m)
{
    steno_model_info i = { .size = sizeof i };
    steno_model_info_get(m, &i);
    findings_heads(n, &i);
}

/* Words without a time were not found in the sound. */
static void note_words(struct notes *n, const steno_session *s)
{
    steno_word w = { .size = sizeof w };
    int all = 0, lost = 0;
    for (int i = 0; i < steno_segment_count(s); i++)
        for (int k = 0; steno_word_get(s, i, k, &w) == STENO_OK; k++, all++) lost += w.t0_ms < 0;
    if (lost) notes_add(n, NOTE_DOUBTFUL, "%d of %d word%s have no time: they were not found in the audio", lost, all, all == 1 ? "" : "s");
}

static int words_print(const steno_session *s, int json, const struct notes *notes)
{
    steno_word w = { .size = sizeof w };
    int first = 1;
    if (json) {
        fputs("{\"language\": ", stdout);
        print_json(stdout, steno_language(s));
        fputs(", \"words\": [", stdout);
    }
    for (int i = 0; i < steno_segment_count(s); i++)
        for (int k = 0; steno_word_get(s, i, k, &w) == STENO_OK; k++) {
            word_print(&w, json, first);
            first = 0;
        }
    if (json) {
        printf("], \"duration_ms\": %lld", (long long)steno_duration_ms(s));
        sound_notes_json(stdout, notes);
        puts("}");
    }
    return message_flush();
}

/* Write the words as cues, by the rules of a style. */
static int cues_write(struct cue_results *out, const struct write_layout *l, const steno_session *s)
{
    struct transcript_store store = { 0 };
    struct transcript t = { .word_times = 1, .first_timestamp = -1, .layout = l };
    int code;
    if (transcript_take(&t, &store, s)) {
        message("out of memory for the subtitles");
        code = EXIT_MEMORY;
    } else {
        code = cue_results_write(out, &t);
    }
    transcript_free(&store);
    return code;
}

static int align(const struct opts *o, const struct engine *e, struct cue_results *out, const struct write_layout *l, const char *text)
{
    struct sound sound;
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.language = o->language;
    int code = sound_begin(&sound, out->input, NULL, e->session);
    if (code == EXIT_OK) {
        p.offset_ms = file_source_start_ms(sound.media) > 0 ? file_source_start_ms(sound.media) : 0;
        code = sound_end(&sound, steno_align(e->session, &sound.source, text, &p));
        if (code == EXIT_OK) {
            findings_level(&sound.notes, &sound.measured.level);
            if (sound.measured.level.peak <= 0) findings_no_speech(&sound.notes, &sound.measured.level, 1);
            note_words(&sound.notes, e->session);
            note_heads(&sound.notes, e->model);
            if (!o->engine.quiet) sound_notes(out->input, &sound.notes);
            code = out->on ? cues_write(out, l, e->session) : words_print(e->session, o->json, &sound.notes);
        }
    }
    sound_close(&sound);
    return code;
}

/* Cue rules apply to subtitles only; the default is the plain style. */
static int check_cues(struct write_layout *l, const struct opts *o)
{
    const struct args_given *g = o->engine.given;
    const int width = option_was_given(g, "max-line-width"), count = option_was_given(g, "max-line-count");
    *l = (struct write_layout){ 0 };
    const int code = cue_opts_choice(&l->cues, &o->cues, g, width ? o->max_line_width : CUE_UNSET, count ? o->max_line_count : CUE_UNSET);
    if (code == EXIT_OK && !o->out.format && (l->cues.on || width || count || option_was_given(g, "frame-rate")))
        return message_usage("a style or limit of cues is for the output formats srt, vtt and ass");
    l->cues.on = 1;
    return code;
}

int cmd_align(int argc, char **argv)
{
    struct args_given given;
    struct opts o = { .engine = { .given = &given, .measured = 1 } };
    struct engine e;
    struct write_layout layout;
    char *text = NULL;
    int n;
    int code = args_parse(&align_args, &o, &given, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    if (n != 2) return message_usage("align takes a sound file and a text, not %d operand%s", n, n == 1 ? "" : "s");
    if (strcmp(argv[0], "-") == 0 && strcmp(argv[1], "-") == 0)
        return message_usage("standard input cannot be both the sound and the text");
    struct cue_results out = { 0 };
    code = check_cues(&layout, &o);
    if (code == EXIT_OK) code = cue_results_open(&out, &o.out, argv[0], o.json, o.engine.quiet);
    out.input = argv[0];
    if (code == EXIT_OK) code = path_guard_code_read(NULL, "an input", argv[0]);
    if (code == EXIT_OK && argv[1][0] == '@') code = path_guard_code_read(&out.path_guard, "the text", argv[1] + 1);
    if (code == EXIT_OK) code = text_read(&text, argv[1]);
    if (code == EXIT_OK) code = sound_report_missing(engine_open(&e, &o.engine, 1), argv, 1);
    if (code == EXIT_OK) {
        code = align(&o, &e, &out, &layout, text);
        engine_close(&e);
    }
    cue_results_close(&out);
    free(text);
    return code;
}
