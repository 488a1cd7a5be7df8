/* steno: the verb vad: where somebody speaks. SPDX-License-Identifier: MIT */
#include "cmd.h"
#include "engine.h"
#include "ledger_code.h"
#include "print.h"
#include "signals.h"
#include "sound.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

struct opts {
    struct engine_opts engine;
    double threshold, max_speech_s;
    int64_t min_silence_ms;
    int json;
};

#define AT(field) offsetof(struct opts, field)

static const struct arg rows[] = {
    ENGINE_MODEL_ROW(struct opts),
    ENGINE_CMVN_ROW(struct opts),
    ARG_HEADING("Speech"),
    { .name = "vad-threshold", .kind = ARG_NUM, .none = 1, .at = AT(threshold), .value = "D|none", .dflt = ARG_OF_PARAM,
      .help = "a frame is speech when P(speech) - P(silence) is at least D; none: the model's own" },
    { .name = "vad-min-silence-ms", .kind = ARG_INT, .at = AT(min_silence_ms), .value = "MS", .dflt = ARG_OF_PARAM,
      .help = "silence that ends a span; -1: long at first, shorter the longer nobody pauses" },
    { .name = "vad-max-speech-s", .kind = ARG_NUM, .none = 1, .at = AT(max_speech_s), .value = "S|none", .dflt = ARG_OF_PARAM,
      .help = "longer spans are cut; none: the model's own (60)" },
    ARG_HEADING("Output"),
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

struct job { int json, stop_code; };

/* Lines are printed as they come; an object only when it is known to be whole. */
static void on_span(void *user, const steno_span *s)
{
    struct job *j = user;
    printf("%lld %lld\n", (long long)s->t0_ms, (long long)s->t1_ms);
    if (j->stop_code == EXIT_OK) j->stop_code = message_flush();
}

static void print_spans_json(const steno_session *s)
{
    printf("{\"spans\": [");
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
    p.user = j;
    if (!j->json) p.on_span = on_span;
    p.should_abort = should_abort;
    int rc = sound_open(&m, file, &err);
    if (rc != STENO_OK) {
        const int code = sound_failed(file, rc, err.text);
        steno_media_close(m);
        return code;
    }
    steno_media_source(m, &src);
    signals_defer(1);
    signals_watch(e->session, m);
    rc = steno_find_speech(e->session, &src, &p);
    signals_watch(NULL, NULL);
    int code = j->stop_code != EXIT_OK ? j->stop_code : EXIT_OK;
    if (rc < 0 && code == EXIT_OK) {
        code = sound_call_failed(file, m, e->session, rc);
    } else if (code == EXIT_OK) {
        sound_lost(m, file);
    }
    steno_media_close(m);
    if (code == EXIT_OK && j->json) print_spans_json(e->session);
    return code != EXIT_OK ? code : message_flush();
}

int cmd_vad(int argc, char **argv)
{
    struct args_given given;
    struct opts o = { .engine.given = &given };
    struct engine e;
    struct job j = { 0 };
    int n;
    int code = args_parse(&vad_args, &o, &given, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    if (n != 1) return message_usage("vad takes one sound file, not %d", n);
    if (!o.engine.model) return message_usage("vad needs a voice-activity model: -m FOLDER, such as FunASR's FSMN-VAD");
    code = ledger_code_read(NULL, "an input", argv[0]);
    if (code == EXIT_OK) code = engine_open(&e, &o.engine, 1);
    if (code != EXIT_OK) return code;
    j.json = o.json;
    code = find(&j, &o, &e, argv[0]);
    engine_close(&e);
    return code;
}
