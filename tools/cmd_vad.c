/* steno: the verb vad: where somebody speaks. SPDX-License-Identifier: MIT */
#include "cmd.h"
#include "engine.h"
#include "ledger_code.h"
#include "option_names.h"
#include "print.h"
#include "signals.h"
#include "sound.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct opts {
    struct engine_opts engine;
    double threshold, max_speech_s, merge_s;
    int64_t min_silence_ms, min_speech_ms, chunk_ms;
    int json, schedule, streaming;
};

#define AT(field) offsetof(struct opts, field)

static const struct arg rows[] = {
    ENGINE_MODEL_ROW(struct opts),
    ENGINE_CMVN_ROW(struct opts),
    ARG_HEADING("Speech"),
    { .name = "vad-threshold", .kind = ARG_NUM, .none = 1, .at = AT(threshold), .value = "D|none", .dflt = ARG_OF_PARAM,
      .help = "a frame is speech when P(speech) - P(silence) is at least D; none: 0.5, with a fixed silence the model's own (0.6)" },
    { .name = "vad-min-silence-ms", .kind = ARG_INT, .at = AT(min_silence_ms), .value = "MS", .dflt = ARG_OF_PARAM,
      .help = "silence that ends a span; -1: long at first, shorter the longer nobody pauses" },
    { .name = "vad-max-speech-s", .kind = ARG_NUM, .none = 1, .at = AT(max_speech_s), .value = "S|none", .dflt = ARG_OF_PARAM,
      .help = "longer spans are cut; none: the model's own (60)" },
    { .name = "vad-min-speech-ms", .kind = ARG_INT, .at = AT(min_speech_ms), .value = "MS", .dflt = ARG_OF_PARAM,
      .help = "shorter spans are left out" },
    { .name = "vad-merge-s", .kind = ARG_NUM, .none = 1, .at = AT(merge_s), .value = "S|none", .dflt = ARG_OF_PARAM,
      .help = "spans and the pauses between them become stretches of up to S seconds, as by FunASR's merge_vad; none: they do not" },
    { .name = "vad-schedule", .kind = ARG_WORD, .at = AT(schedule), .value = "file|live", .dflt = ARG_OF_PARAM,
      .help = "how the silence that ends a span grows shorter: for every chunk without a pause, or with the length of the span" },
    { .name = "vad-chunk-ms", .kind = ARG_INT, .at = AT(chunk_ms), .value = "MS", .dflt = ARG_OF_PARAM,
      .help = "how often that is looked up, and openings are told; 0: 60000, with --streaming 200, with --vad-schedule live 60" },
    ARG_HEADING("Output"),
    { .name = "streaming", .kind = ARG_FLAG, .at = AT(streaming),
      .help = "print START_MS -1 when a span opens and -1 END_MS when it closes, as FunASR does of streams" },
    { .name = "json", .kind = ARG_FLAG, .at = AT(json), .help = "an object instead of lines" },
    ENGINE_DEVICE_ROW(struct opts),
    ENGINE_CPU_ROWS(struct opts),
    ARG_HEADING("Messages"),
    ENGINE_QUIET_ROW(struct opts),
    { 0 },
};

static const struct args vad_args = { "vad", "[OPTION]... -m MODEL FILE",
                                      "Print START_MS END_MS for each span of speech in FILE. MODEL is a voice-activity\n"
                                      "model, such as FunASR's FSMN-VAD folder.", rows };

struct job {
    int json, streaming, stop_code;
    struct sink_memory events; /* for an object */
    struct sink sink;
};

/* Lines are printed as they come; an object only when it is known to be whole. */
static void print_span(void *user, const steno_span *s)
{
    struct job *j = user;
    printf("%lld %lld\n", (long long)s->t0_ms, (long long)s->t1_ms);
    if (j->stop_code == EXIT_OK) j->stop_code = message_flush();
}

static void keep_event(void *user, const steno_span *s)
{
    struct job *j = user;
    char text[64];
    snprintf(text, sizeof text, "%s[%lld, %lld]", j->events.n ? ", " : "", (long long)s->t0_ms, (long long)s->t1_ms);
    sink_text(&j->sink, text);
}

static void print_spans_json(const struct job *j, const steno_session *s)
{
    if (j->streaming) printf("{\"events\": [%.*s], ", (int)j->events.n, j->events.n ? j->events.p : "");
    printf("%s\"spans\": [", j->streaming ? "" : "{");
    for (int i = 0; i < steno_span_count(s); i++) {
        steno_span span = { .size = sizeof span };
        steno_span_get(s, i, &span);
        printf("%s[%lld, %lld]", i ? ", " : "", (long long)span.t0_ms, (long long)span.t1_ms);
    }
    printf("], \"duration_ms\": %lld}\n", (long long)steno_duration_ms(s));
}

static int should_abort(void *user)
{
    const struct job *j = user;
    return j->stop_code != EXIT_OK || signals_pending();
}

static int find(struct job *j, const struct opts *o, const struct engine *e, const char *file)
{
    steno_media *m = NULL;
    steno_source src;
    steno_error err = { 0 };
    steno_vad_params p;
    steno_vad_params_init(&p);
    p.threshold = o->threshold;
    p.max_end_silence_ms = o->min_silence_ms;
    if (!isnan(o->max_speech_s)) p.max_segment_ms = (int64_t)(o->max_speech_s * 1000);
    if (!isnan(o->merge_s)) p.merge_ms = (int64_t)(o->merge_s * 1000);
    p.min_speech_ms = o->min_speech_ms;
    p.schedule = o->schedule;
    p.chunk_size_ms = (int32_t)o->chunk_ms;
    p.streaming = o->streaming;
    p.user = j;
    if (o->streaming) p.on_event = j->json ? keep_event : print_span;
    else if (!j->json) p.on_span = print_span;
    p.should_abort = should_abort;
    int code = option_check(o->engine.given, NULL, STENO_CALL_FIND_SPEECH, &p);
    if (code != EXIT_OK) return code;
    int rc = sound_open(&m, file, &err);
    if (rc != STENO_OK) {
        code = sound_failed(file, rc, err.text);
        steno_media_close(m);
        return code;
    }
    steno_media_source(m, &src);
    signals_defer(1);
    signals_watch(e->session, m);
    rc = steno_find_speech(e->session, &src, &p);
    signals_watch(NULL, NULL);
    code = j->stop_code != EXIT_OK ? j->stop_code : EXIT_OK;
    if (rc < 0 && code == EXIT_OK) {
        code = sound_call_failed(file, m, e->session, rc);
    } else if (code == EXIT_OK) {
        sound_lost(m, file);
    }
    steno_media_close(m);
    if (code == EXIT_OK && j->sink.failed) {
        message("out of memory for the spans of %s", sound_name(file));
        code = EXIT_MEMORY;
    }
    if (code == EXIT_OK && j->json) print_spans_json(j, e->session);
    return code != EXIT_OK ? code : message_flush();
}

int cmd_vad(int argc, char **argv)
{
    struct args_given given;
    struct opts o = { .engine.given = &given };
    struct engine e;
    struct job j;
    int n;
    int code = args_parse(&vad_args, &o, &given, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    if (n != 1) return message_usage("vad takes one sound file, not %d", n);
    if (!o.engine.model) return message_usage("vad needs a voice-activity model: -m FOLDER, such as FunASR's FSMN-VAD");
    code = ledger_code_read(NULL, "an input", argv[0]);
    if (code == EXIT_OK) code = engine_open(&e, &o.engine, 1);
    if (code != EXIT_OK) return code;
    j = (struct job){ .json = o.json, .streaming = o.streaming };
    j.sink = sink_to_memory(&j.events);
    code = find(&j, &o, &e, argv[0]);
    engine_close(&e);
    free(j.events.p);
    return code;
}
