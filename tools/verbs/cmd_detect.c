/* steno: the verb detect: the spoken language. SPDX-License-Identifier: MIT */
#include "cli/message.h"
#include "cli/option_names.h"
#include "cli/signals.h"
#include "cmd.h"
#include "file_source.h"
#include "findings.h"
#include "input/sound.h"
#include "models/engine.h"
#include "sink.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct opts {
    struct engine_opts engine;
    int64_t n;
    int json;
};

static const struct arg rows[] = {
    ENGINE_MODEL_ROW(struct opts),
    ENGINE_VOCAB_ROW(struct opts),
    ENGINE_DEMO_ROW(struct opts),
    ARG_HEADING("Output"),
    { .name = "number", .letter = 'n', .kind = ARG_INT, .at = offsetof(struct opts, n), .value = "N", .dflt = "5", .lo = 1, .hi = 1000,
      .help = "number of languages, most likely first" },
    { .name = "json", .kind = ARG_FLAG, .at = offsetof(struct opts, json), .help = "print an object instead of lines" },
    ENGINE_MACHINE_ROWS(struct opts),
    ARG_HEADING("Messages"),
    ENGINE_QUIET_ROW(struct opts),
    { 0 },
};

const struct args detect_args = { "detect", "[OPTION]... FILE",
                                  "Print CODE PROBABILITY for the languages of the first 30 s of FILE.", rows };

struct language_share {
    const char *code;
    float p;
};

static int by_probability(const void *a, const void *b)
{
    const struct language_share *x = a, *y = b;
    return x->p != y->p ? (x->p < y->p ? 1 : -1) : strcmp(x->code, y->code);
}

static int print_languages(const struct opts *o, const steno_model *m, const float *probs, int n, const struct notes *notes)
{
    char num[NUM_SZ];
    struct language_share *g = calloc((size_t)n, sizeof *g);
    if (!g) {
        message("out of memory for %d languages", n);
        return EXIT_MEMORY;
    }
    for (int i = 0; i < n; i++) g[i] = (struct language_share){ steno_model_language(m, i), probs[i] };
    qsort(g, (size_t)n, sizeof *g, by_probability);
    if (o->json) {
        fputs("{\"language\": ", stdout);
        print_json(stdout, g[0].code);
        fputs(", \"probabilities\": {", stdout);
        for (int i = 0; i < n && i < o->n; i++) {
            if (i) fputs(", ", stdout);
            print_json(stdout, g[i].code);
            printf(": %s", num_repr(num, (double)g[i].p));
        }
        putchar('}');
        sound_notes_json(stdout, notes);
        printf("}\n");
    } else {
        for (int i = 0; i < n && i < o->n; i++) {
            print_stripped(stdout, g[i].code);
            printf(" %.6f\n", (double)g[i].p);
        }
    }
    free(g);
    return message_flush();
}

static int detect(const struct opts *o, const struct engine *e, const char *file)
{
    int n = 0;
    while (steno_model_language(e->model, n)) n++;
    if (n == 0) {
        steno_model_info i = { .size = sizeof i };
        steno_model_info_get(e->model, &i);
        if (option_served(e->model, "without_timestamps")) /* a Whisper model has this parameter */
            return message_usage("this model knows English only; language detection needs a multilingual Whisper model");
        return message_usage("-m: a %s model does not detect a language by itself (a model with tags reports it with the text, as "
                             "\"language\" in -f jsonl); give a multilingual Whisper model", i.family);
    }
    float *probs = calloc((size_t)n, sizeof *probs);
    if (!probs) return sound_failed(file, STENO_ENOMEM, "");
    struct sound sound;
    steno_media_params how;
    sound_params(&how);
    how.unclocked = 1; /* leading silence before a late sound has no language */
    int code = sound_begin(&sound, file, &how, e->session);
    if (code == EXIT_OK) {
        const int language = steno_detect_language(e->session, &sound.source, probs, n);
        code = sound_end(&sound, language);
        if (code == EXIT_OK) {
            if (sound.measured.level.peak <= 0) findings_no_speech(&sound.notes, &sound.measured.level, 1);
            findings_language(&sound.notes, steno_model_language(e->model, language), (double)probs[language]);
            if (!o->engine.quiet) sound_notes(file, &sound.notes);
            code = print_languages(o, e->model, probs, n, &sound.notes);
        }
    }
    sound_close(&sound);
    free(probs);
    return code;
}

int cmd_detect(int argc, char **argv)
{
    struct args_given given;
    struct opts o = { .engine = { .given = &given, .measured = 1 } };
    struct engine e;
    int n;
    int code = args_parse(&detect_args, &o, &given, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    if (n != 1) return message_usage("detect takes one sound file, not %d", n);
    code = path_guard_code_read(NULL, "an input", argv[0]);
    if (code == EXIT_OK) code = sound_report_missing(engine_open(&e, &o.engine, 1), argv, n);
    if (code != EXIT_OK) return code;
    code = detect(&o, &e, argv[0]);
    engine_close(&e);
    return code;
}
