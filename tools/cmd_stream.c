/* steno: the verb stream: text while somebody speaks. SPDX-License-Identifier: MIT */
#include "cmd.h"
#include "decode_opts.h"
#include "engine.h"
#include "live.h"
#include "option_names.h"
#include "print.h"
#include "signals.h"
#include "sink.h"
#include "sound.h"
#include "stream_sound.h"
#include "utf8.h"
#include "vad_find.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum which { VAD_NONE, VAD_IS_SILERO, VAD_IS_FSMN };

struct opts {
    struct engine_opts engine;
    struct stream_sound_opts sound;
    const char *language, *vad_model;
    int vad;
    double step_s, turn_s;
    const char *chunk_size;
    int64_t encoder_look_back, decoder_look_back;
};

#define AT(field) offsetof(struct opts, field)

static const struct arg rows[] = {
    ENGINE_MODEL_ROW(struct opts),
    ENGINE_VOCAB_ROW(struct opts),
    ENGINE_DEMO_ROW(struct opts),
    STREAM_SOUND_ROWS(struct opts),
    { .name = "language", .letter = 'l', .kind = ARG_TEXT, .at = AT(language), .value = "auto|CODE", .dflt = "auto",
      .help = "the language spoken" },
    ARG_HEADING("Turns"),
    { .name = "vad", .kind = ARG_WORD, .at = AT(vad), .value = "off|silero|fsmn", .dflt = "off",
      .help = "a voice-activity model opens and closes turns; off: all is one" },
    { .name = "vad-model", .kind = ARG_TEXT, .at = AT(vad_model), .value = "PATH",
      .help = "its model; without it one beside the model, or in the caches" },
    { .name = "step", .kind = ARG_S, .at = AT(step_s), .value = "S", .dflt = "1", .lo = 0.2, .hi = 10,
      .help = "seconds of sound between updates" },
    { .name = "max-turn", .kind = ARG_S, .at = AT(turn_s), .value = "S", .dflt = "30", .lo = 2, .hi = 30,
      .help = "a turn is closed after so many seconds, and the next begins" },
    ARG_HEADING("Chunks"),
    DECODE_CHUNK_ROWS(struct opts, chunk_size, encoder_look_back, decoder_look_back),
    ENGINE_MACHINE_ROWS(struct opts),
    ARG_HEADING("Messages"),
    ENGINE_QUIET_ROW(struct opts),
    { 0 },
};

const struct args stream_args = { "stream", "[OPTION]... [FILE]",
                                  "Print what is said in FILE, by default standard input, while it comes: a line\n"
                                  "of JSON for words that may change (partial), words that stay (final), and the\n"
                                  "end of a turn (endpoint).", rows };

struct printer { int code; struct stream_sound *sound; int has_text; };

static void time_put(struct sink *s, const char *name, int64_t ms)
{
    if (ms < 0) sink_format(s, ",\"%s\":null", name);
    else sink_format(s, ",\"%s\":%lld.%03d", name, (long long)(ms / 1000), (int)(ms % 1000));
}

/* A line is whole or not there. */
static void print_event(void *user, const struct live_event *e)
{
    static const char *const kind[] = { "partial", "final", "endpoint" };
    struct printer *p = user;
    struct sink_memory m = { 0 };
    struct sink s = sink_to_memory(&m);
    const int64_t now = stream_sound_now_ms(p->sound), late = (now < 0 ? e->now_ms : now) - e->t1_ms;
    if (p->code != EXIT_OK) return;
    p->has_text |= e->text[0] != '\0';
    sink_format(&s, "{\"type\":\"%s\",\"turn\":%d", kind[e->kind], e->turn);
    time_put(&s, "start", e->t0_ms);
    time_put(&s, "end", e->t1_ms);
    sink_text(&s, ",\"text\":");
    utf8_json(&s, e->text);
    time_put(&s, "heard", e->heard_ms);
    if (e->language && e->language[0]) {
        sink_text(&s, ",\"language\":");
        utf8_json(&s, e->language);
    }
    if (e->t1_ms < 0) sink_text(&s, ",\"latency_ms\":null}\n");
    else sink_format(&s, ",\"latency_ms\":%lld}\n", (long long)late);
    if (s.failed) {
        message("out of memory for a line");
        p->code = EXIT_MEMORY;
    } else {
        fwrite(m.p, 1, m.n, stdout);
        p->code = message_flush();
    }
    free(m.p);
}

/* ---- sound */

static int hear_all(struct live *l, const struct printer *p, steno_error *e)
{
    float pcm[STREAM_PIECE];
    int64_t got;
    while (p->code == EXIT_OK && (got = stream_sound_read(p->sound, pcm, e)) != 0) {
        if (got < 0) return (int)got;
        const int rc = live_push(l, pcm, got, stream_sound_late_ms(p->sound), e);
        if (rc) return rc;
    }
    return p->code == EXIT_OK ? live_end(l, e) : STENO_OK;
}

/* Hear FILE to its end, or until somebody ends it; what was heard is final. */
static int hear(struct live *l, struct printer *p, const struct opts *o, const char *file)
{
    steno_error e = { 0 };
    int rc = stream_sound_open(&p->sound, &o->sound, file, &e);
    if (!rc) {
        signals_defer(1);
        rc = hear_all(l, p, &e);
    }
    const int n_lost = rc ? 0 : stream_sound_lost(p->sound);
    if (!rc && !o->engine.quiet) stream_sound_notes(p->sound, file, p->has_text);
    stream_sound_close(p->sound);
    if (n_lost) message("some sound of the microphone was lost, %d times: the machine does not keep up", n_lost);
    if (!file) file = o->sound.mic ? "default" : "-";
    if (p->code != EXIT_OK) return p->code;
    if (rc == STENO_ENOMEM) {
        message("%s", e.text[0] ? e.text : steno_status_text(rc));
        return EXIT_MEMORY;
    }
    const int code = rc ? sound_failed(file, rc, e.text) : EXIT_OK;
    if (rc == STENO_EUNSUPPORTED && strcmp(file, "-") == 0) message("samples alone, without a file's head, need --raw s16le or the like");
    if (rc) return code;
    return signals_pending() ? EXIT_SIGNAL + signals_pending() : EXIT_OK;
}

/* ---- models */

static int find_vad(steno_model **vad, const struct opts *o, const struct engine *e)
{
    if (o->vad == VAD_NONE) return o->vad_model ? message_usage("--vad-model needs --vad silero or fsmn") : EXIT_OK;
    const int is_silero = o->vad == VAD_IS_SILERO;
    char *found = o->vad_model ? NULL : is_silero ? vad_find_silero(e->path) : vad_find(e->path);
    const char *path = o->vad_model ? o->vad_model : found;
    int code = path ? engine_beside(vad, path, "the voice-activity model", e, &o->engine)
                    : message_usage("--vad %s needs --vad-model PATH; none was found beside the model or in the caches. \"steno models "
                                    "pull %s\" gets it", is_silero ? "silero" : "fsmn", is_silero ? "silero" : "fsmn-vad");
    if (code == EXIT_OK) {
        steno_model_info info = { .size = sizeof info };
        steno_model_info_get(*vad, &info);
        if (!strstr(info.family, is_silero ? "silero" : "vad"))
            code = message_usage("--vad %s, but --vad-model is a %s model", is_silero ? "silero" : "fsmn", info.family);
    }
    free(found);
    return code;
}

/* What is about updates is not for models that need none. */
static int check_chunks(const struct args_given *given)
{
    static const char *const names[] = { "step", "max-turn" };
    char name[OPTION_TEXT_SZ];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (option_was_given(given, names[i]))
            return message_usage("%s is not for this model, which hears chunk by chunk (--chunk-size) and takes nothing back",
                                 option_name(name, given, names[i]));
    return EXIT_OK;
}

static int stream(const struct opts *o, const struct engine *e, const steno_model *vad, const char *file)
{
    struct printer p = { .code = EXIT_OK };
    struct live_params lp = { .session = e->session, .vad = vad, .team = e->team, .step_ms = (int64_t)(o->step_s * 1000),
                              .turn_most_ms = (int64_t)(o->turn_s * 1000), .tell = print_event, .user = &p };
    struct live *l;
    steno_error err = { 0 };
    if (option_served(e->model, "chunk_size")) lp.chunks = e->model;
    lp.has_words = option_served(e->model, "word_timestamps");
    lp.has_prompt = option_served(e->model, "initial_prompt");
    steno_transcribe_params_init(&lp.text);
    if (strcasecmp(o->language, "auto") != 0) lp.text.language = o->language;
    lp.text.chunk_size = o->chunk_size;
    lp.text.encoder_chunk_look_back = (int32_t)o->encoder_look_back;
    lp.text.decoder_chunk_look_back = (int32_t)o->decoder_look_back;
    struct args_given given = *o->engine.given;
    option_forget(&given, "vad"); /* which names fields of others */
    option_forget(&given, "vad-model");
    int code = option_check(&given, e->model, STENO_CALL_TRANSCRIBE, &lp.text);
    if (code != EXIT_OK) return code;
    const int rc = live_open(&l, &lp, &err);
    if (rc) {
        message("%s", err.text[0] ? err.text : steno_status_text(rc));
        return rc == STENO_ENOMEM ? EXIT_MEMORY : EXIT_MODEL;
    }
    code = hear(l, &p, o, file);
    live_close(l);
    return code;
}

int cmd_stream(int argc, char **argv)
{
    struct args_given given;
    struct opts o = { .engine.given = &given };
    struct engine e;
    steno_model *vad = NULL;
    int n;
    int code = args_parse(&stream_args, &o, &given, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    if (n > 1) return message_usage("stream takes one sound, not %d", n);
    code = stream_sound_check(&o.sound);
    if (code == EXIT_OK && !o.sound.mic && (!n || strcmp(argv[0], "-") == 0) && isatty(STDIN_FILENO))
        return message_usage("standard input is the terminal: give a file, --mic for a microphone, or send sound through a pipe, as "
                             "\"arecord -f S16_LE -r 16000 | steno stream\" does");
    if (code == EXIT_OK) code = sound_tell_missing(engine_open(&e, &o.engine, 0), argv, n);
    if (code != EXIT_OK) return code;
    code = option_served(e.model, "chunk_size") ? check_chunks(&given) : engine_session(&e, 1);
    if (code == EXIT_OK) code = find_vad(&vad, &o, &e);
    if (code == EXIT_OK) code = stream(&o, &e, vad, n ? argv[0] : NULL);
    engine_close(&e);
    steno_model_close(vad);
    return code;
}
