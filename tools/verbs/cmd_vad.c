/* steno: the verb vad: spans of speech. SPDX-License-Identifier: MIT */
#include "cli/message.h"
#include "cli/option_names.h"
#include "cli/signals.h"
#include "cmd.h"
#include "findings.h"
#include "input/sound.h"
#include "models/engine.h"
#include "verbs/results.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct opts {
    struct engine_opts engine;
    struct cue_results_opts out;
    double threshold, neg_threshold, max_speech_s, merge_s;
    int64_t min_silence_ms, min_speech_ms, pad_ms, chunk_ms;
    int json, schedule, rules, streaming;
};

#define AT(field) offsetof(struct opts, field)

static const struct arg rows[] = {
    ENGINE_MODEL_ROW(struct opts),
    ENGINE_CMVN_ROW(struct opts),
    ARG_HEADING("Speech"),
    { .name = "vad-threshold", .kind = ARG_NUM, .none = 1, .at = AT(threshold), .value = "D|none", .dflt = ARG_OF_PARAM,
      .help = "a frame is speech if P(speech) - P(silence) is at least D (Silero: if P(speech) is); none: the model's own (0.5)" },
    { .name = "vad-neg-threshold", .kind = ARG_NUM, .none = 1, .at = AT(neg_threshold), .value = "P|none", .dflt = ARG_OF_PARAM,
      .help = "Silero: a silence begins with a frame below P; none: the threshold less 0.15" },
    { .name = "vad-min-silence-ms", .kind = ARG_MS, .at = AT(min_silence_ms), .value = "MS", .dflt = ARG_OF_PARAM,
      .help = "silence that ends a span, in ms; -1: 2000 at first, shorter in long spans (Silero: 100)" },
    { .name = "vad-max-speech-s", .kind = ARG_S, .none = 1, .at = AT(max_speech_s), .value = "S|none", .dflt = ARG_OF_PARAM,
      .help = "split spans longer than this, in seconds; none: the model's own (60; Silero: not split)" },
    { .name = "vad-min-speech-ms", .kind = ARG_MS, .at = AT(min_speech_ms), .value = "MS", .dflt = ARG_OF_PARAM,
      .help = "drop spans shorter than this, in ms; -1: none (Silero: 250)" },
    { .name = "vad-speech-pad-ms", .kind = ARG_MS, .at = AT(pad_ms), .value = "MS", .dflt = ARG_OF_PARAM,
      .help = "Silero: added to both ends of a span, in ms; -1: 30" },
    { .name = "vad-rules", .kind = ARG_WORD, .at = AT(rules), .value = "own|whisper-cpp", .dflt = ARG_OF_PARAM,
      .help = "Silero: spans of its own get_speech_timestamps, or of whisper.cpp" },
    { .name = "vad-merge-s", .kind = ARG_S, .none = 1, .at = AT(merge_s), .value = "S|none", .dflt = ARG_OF_PARAM,
      .help = "merge spans and pauses into stretches of up to S seconds, as FunASR's merge_vad does; none: do not merge" },
    { .name = "vad-schedule", .kind = ARG_WORD, .at = AT(schedule), .value = "file|live", .dflt = ARG_OF_PARAM,
      .help = "when the silence that ends a span gets shorter: after every chunk without a pause, or with the length of the span" },
    { .name = "vad-chunk-ms", .kind = ARG_MS, .at = AT(chunk_ms), .value = "MS", .dflt = ARG_OF_PARAM,
      .help = "interval of the schedule and of reported openings, in ms; 0: 60000, with --streaming 200, with --vad-schedule live 60" },
    ARG_HEADING("Output"),
    { .name = "streaming", .kind = ARG_FLAG, .at = AT(streaming),
      .help = "print START_MS -1 when a span opens and -1 END_MS when it closes, as FunASR does for streams" },
    { .name = "json", .kind = ARG_FLAG, .at = AT(json), .help = "print an object instead of lines" },
    CUE_RESULTS_ROWS(struct opts, out),
    ENGINE_DEVICE_ROW(struct opts),
    ENGINE_CPU_ROWS(struct opts),
    ARG_HEADING("Messages"),
    ENGINE_QUIET_ROW(struct opts),
    { 0 },
};

const struct args vad_args = { "vad", "[OPTION]... -m MODEL FILE",
                               "Print START_MS END_MS for each span of speech in FILE. MODEL is a voice-activity\n"
                                      "model, such as FunASR's FSMN-VAD folder or Silero VAD.", rows };

struct finding {
    struct cue_results *cues; /* NULL disables them */
    int json, streaming, stop_code;
    struct sink_memory events; /* JSON of the spans, for an object */
    struct sink sink;
    struct sound sound;
};

/* Lines are printed as spans arrive. An object is printed at the end, when it is complete. */
static void print_span(void *user, const steno_span *s)
{
    struct finding *j = user;
    printf("%lld %lld\n", (long long)s->t0_ms, (long long)s->t1_ms);
    if (j->stop_code == EXIT_OK) j->stop_code = message_flush();
}

static void keep_event(void *user, const steno_span *s)
{
    struct finding *j = user;
    char text[64];
    snprintf(text, sizeof text, "%s[%lld, %lld]", j->events.n ? ", " : "", (long long)s->t0_ms, (long long)s->t1_ms);
    sink_text(&j->sink, text);
}

static void print_spans_json(const struct finding *j, const steno_session *s)
{
    if (j->streaming) printf("{\"events\": [%.*s], ", (int)j->events.n, j->events.n ? j->events.p : "");
    printf("%s\"spans\": [", j->streaming ? "" : "{");
    for (int i = 0; i < steno_span_count(s); i++) {
        steno_span span = { .size = sizeof span };
        steno_span_get(s, i, &span);
        printf("%s[%lld, %lld]", i ? ", " : "", (long long)span.t0_ms, (long long)span.t1_ms);
    }
    printf("], \"duration_ms\": %lld", (long long)steno_duration_ms(s));
    sound_notes_json(stdout, &j->sound.notes);
    printf("}\n");
}

/* Write a cue for each span. */
static int write_spans(const struct finding *j, const steno_session *s)
{
    const int n = steno_span_count(s);
    steno_segment *segs = calloc((size_t)n + 1, sizeof *segs);
    int code = EXIT_MEMORY;
    if (segs) {
        for (int i = 0; i < n; i++) {
            steno_span span = { .size = sizeof span };
            steno_span_get(s, i, &span);
            segs[i] = (steno_segment){ .id = i, .t0_ms = span.t0_ms, .t1_ms = span.t1_ms, .text = "[speech]" };
        }
        const struct transcript t = { .segs = segs, .n = n, .text = "", .language = "", .first_timestamp = -1 };
        code = cue_results_write(j->cues, &t);
    } else {
        message("out of memory for the subtitles");
    }
    free(segs);
    return code;
}

static int should_abort(void *user)
{
    const struct finding *j = user;
    return j->stop_code != EXIT_OK || signals_pending();
}

static steno_vad_params params_of(struct finding *j, const struct opts *o)
{
    steno_vad_params p;
    steno_vad_params_init(&p);
    p.threshold = o->threshold;
    p.max_end_silence_ms = o->min_silence_ms;
    if (!isnan(o->max_speech_s)) p.max_segment_ms = (int64_t)(o->max_speech_s * 1000);
    if (!isnan(o->merge_s)) p.merge_ms = (int64_t)(o->merge_s * 1000);
    p.min_speech_ms = o->min_speech_ms;
    p.neg_threshold = o->neg_threshold;
    p.speech_pad_ms = o->pad_ms;
    p.rules = o->rules;
    p.schedule = o->schedule;
    p.chunk_size_ms = (int32_t)o->chunk_ms;
    p.streaming = o->streaming;
    p.user = j;
    if (o->streaming) p.on_event = j->json ? keep_event : print_span;
    else if (!j->json && !j->cues) p.on_span = print_span;
    p.should_abort = should_abort;
    return p;
}

static int find(struct finding *j, const struct opts *o, const struct engine *e, const char *file)
{
    const steno_vad_params p = params_of(j, o);
    steno_model_info info = { .size = sizeof info };
    steno_model_info_get(e->model, &info);
    const int finds = strstr(info.family, "vad") || strstr(info.family, "silero"); /* other families are refused by the call */
    int code = option_check(o->engine.given, finds ? e->model : NULL, STENO_CALL_FIND_SPEECH, &p);
    if (code != EXIT_OK) return code;
    struct sound *s = &j->sound;
    code = sound_begin(s, file, NULL, e->session);
    if (code == EXIT_OK) {
        const int rc = steno_find_speech(e->session, &s->source, &p);
        if (j->stop_code != EXIT_OK) {
            code = j->stop_code;
        } else if (rc == STENO_EARG) {
            char reason[OPTION_TEXT_SZ];
            code = message_usage("%s", option_reason(reason, o->engine.given, steno_last_error(e->session)));
        } else {
            code = sound_end(s, rc);
        }
    }
    if (code == EXIT_OK) {
        findings_level(&s->notes, &s->measured.level);
        if (steno_span_count(e->session) == 0) findings_no_speech(&s->notes, &s->measured.level, 1);
        if (!o->engine.quiet) sound_notes(file, &s->notes);
    }
    sound_close(s);
    if (code == EXIT_OK && j->sink.failed) {
        message("out of memory for the spans of %s", sound_name(file));
        code = EXIT_MEMORY;
    }
    if (code == EXIT_OK && j->json) print_spans_json(j, e->session);
    if (code == EXIT_OK && j->cues) code = write_spans(j, e->session);
    return code != EXIT_OK ? code : message_flush();
}

int cmd_vad(int argc, char **argv)
{
    struct args_given given;
    struct opts o = { .engine.given = &given };
    struct engine e;
    struct finding j;
    int n;
    int code = args_parse(&vad_args, &o, &given, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    if (n != 1) return message_usage("vad takes one sound file, not %d", n);
    if (!o.engine.model)
        return message_usage("vad needs a voice-activity model: -m silero or -m fsmn-vad, or a path; "
                             "\"steno models pull silero\" gets one (1 MB)");
    if (o.streaming && o.out.format) return message_usage("--streaming and --output-format exclude each other");
    struct cue_results out = { 0 };
    code = cue_results_open(&out, &o.out, argv[0], o.json, o.engine.quiet);
    if (code == EXIT_OK) code = path_guard_code_read(NULL, "an input", argv[0]);
    if (code == EXIT_OK) code = sound_report_missing(engine_open(&e, &o.engine, 1), argv, n);
    if (code == EXIT_OK) {
        j = (struct finding){ .cues = out.on ? &out : NULL, .json = o.json, .streaming = o.streaming };
        j.sink = sink_to_memory(&j.events);
        code = find(&j, &o, &e, argv[0]);
        engine_close(&e);
        free(j.events.p);
    }
    cue_results_close(&out);
    return code;
}
