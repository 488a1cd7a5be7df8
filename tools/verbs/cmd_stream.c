/* steno: the verb stream: text while audio arrives. SPDX-License-Identifier: MIT */
#include "cli/message.h"
#include "cli/option_names.h"
#include "cli/signals.h"
#include "cmd.h"
#include "input/sound.h"
#include "input/stream_sound.h"
#include "live.h"
#include "live_line.h"
#include "live_words.h"
#include "models/default_model.h"
#include "models/engine.h"
#include "options/decode_opts.h"
#include "options/vad_opts.h"
#include "text_rules.h"
#include "verbs/stream_pass.h"
#include "writers.h"
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ---- output ------------------------------------------------------------------------------------------------------------------ */

/* jsonl: one line per event. txt: final words on arrival, one line per turn. srt, vtt: the cues of a turn at its end. */

enum stream_form { STREAM_JSONL, STREAM_TXT, STREAM_SRT, STREAM_VTT }; /* in the order of the values of --output-format */
#define STREAM_FORMS "jsonl|txt|srt|vtt"

struct stream_text {
    int form;                   /* enum stream_form */
    int code;                   /* EXIT_OK, or the code to end with, after a message */
    const struct stream_sound *sound;
    int has_text, n_cues, in_line;
    struct stream_passes *passes;
};

static void put_jsonl(struct stream_text *t, struct sink *s, const struct live_event *e)
{
    static const char *const kind[] = { "partial", "final", "endpoint" };
    const int64_t latency = e->t1_ms < 0 ? 0 : stream_sound_latency_ms(t->sound, e->t1_ms, e->now_ms);
    const struct live_line l = { .type = kind[e->kind], .turn = e->turn, .t0_ms = e->t0_ms, .t1_ms = e->t1_ms, .text = e->text,
                                 .spaces = e->spaces, .decoded_ms = e->decoded_ms, .language = e->language, .latency_ms = latency };
    live_line_put(s, &l);
}

/* Words are printed one after another, with their own spaces. */
static void put_txt(struct stream_text *t, struct sink *s, const struct live_event *e)
{
    for (size_t i = 0; e->kind == LIVE_FINAL && i < e->n_words; i++) {
        const char *word = e->words[i].text;
        if (!t->in_line) word += strspn(word, " ");
        text_put(s, TEXT_LINE, word, strlen(word));
        t->in_line |= *word != '\0';
    }
    if (e->kind != LIVE_ENDPOINT || !t->in_line) return;
    sink_char(s, '\n');
    t->in_line = 0;
}

/* ---- cues */

/* A word without a time is placed between its neighbours. */
static void words_time(steno_word *to, const struct live_event *e)
{
    int64_t at = e->t0_ms;
    for (size_t i = 0; i < e->n_words; i++) {
        const struct word *w = &e->words[i];
        to[i] = (steno_word){ .size = sizeof *to, .text = w->text, .t0_ms = w->t0_ms < at ? at : w->t0_ms, .t1_ms = w->t1_ms };
        if (to[i].t1_ms >= to[i].t0_ms) at = to[i].t1_ms;
    }
    at = e->t1_ms;
    for (size_t i = e->n_words; i-- > 0;) {
        if (to[i].t1_ms < to[i].t0_ms || to[i].t1_ms > at) to[i].t1_ms = at > to[i].t0_ms ? at : to[i].t0_ms;
        at = to[i].t0_ms;
    }
}

static int count_of(const char *text, const char *what)
{
    int n = 0;
    for (const char *p = text; (p = strstr(p, what)) != NULL; p += strlen(what)) n++;
    return n;
}

static void put_turn(struct stream_text *t, struct sink *s, const struct live_event *e, const steno_word *words)
{
    const steno_segment seg = { .size = sizeof seg, .text = e->text, .t0_ms = e->t0_ms, .t1_ms = e->t1_ms, .n_words = (int32_t)e->n_words };
    const int32_t first = 0;
    struct write_layout layout = { .cues = CUE_CHOICE_UNSET };
    layout.cues.on = 1;
    const struct transcript all = { .segs = &seg, .n = 1, .text = e->text, .language = e->language ? e->language : "",
                                    .first_timestamp = -1, .index_offset = t->n_cues, .word_times = 1, .duration_ms = e->t1_ms,
                                    .words = words, .first_word = &first, .layout = &layout };
    struct sink_memory m = { 0 };
    struct sink to = sink_to_memory(&m);
    const int is_vtt = t->form == STREAM_VTT;
    writers[is_vtt ? WRITER_VTT : WRITER_SRT].write(&to, &all);
    const size_t head = is_vtt ? strlen("WEBVTT\n\n") : 0; /* it precedes the first turn */
    s->failed |= to.failed;
    if (!to.failed && m.n > head) {
        sink_bytes(s, m.p + head, m.n - head);
        t->n_cues += count_of(m.p + head, " --> ");
    }
    free(m.p);
}

static void put_cues(struct stream_text *t, struct sink *s, const struct live_event *e)
{
    if (e->kind != LIVE_ENDPOINT || !e->n_words) return;
    steno_word *words = calloc(e->n_words, sizeof *words);
    if (words) {
        words_time(words, e);
        put_turn(t, s, e, words);
    }
    s->failed |= !words;
    free(words);
}

/* ---- events */

/* The output is complete or absent. */
static void print_all(struct stream_text *t, const struct sink *s, const struct sink_memory *m)
{
    if (s->failed) {
        message("out of memory for a line");
        t->code = EXIT_MEMORY;
        return;
    }
    fwrite(m->p ? m->p : "", 1, m->n, stdout);
    t->code = message_flush();
}

static void stream_text_begin(struct stream_text *t)
{
    if (t->form != STREAM_VTT) return;
    fputs("WEBVTT\n\n", stdout);
    t->code = message_flush();
}

/* user: struct stream_text */
static void stream_text_event(void *user, const struct live_event *e)
{
    struct stream_text *t = user;
    struct sink_memory m = { 0 };
    struct sink s = sink_to_memory(&m);
    if (t->code != EXIT_OK) return;
    t->has_text |= e->text[0] != '\0';
    if (t->form == STREAM_JSONL) put_jsonl(t, &s, e);
    else if (t->form == STREAM_TXT) put_txt(t, &s, e);
    else put_cues(t, &s, e);
    print_all(t, &s, &m);
    free(m.p);
}

/* ---- options ----------------------------------------------------------------------------------------------------------------- */

struct opts {
    struct engine_opts engine;
    struct stream_sound_opts sound;
    struct decode_opts decode; /* set by the rows below */
    struct vad_opts vad;       /* set by the rows below */
    const char *language;
    int form, task;
    double step_s, turn_s, padding_s;
    int last_pass; /* enum live_last, in the order of the values of --last-pass */
};

#define AT(field) offsetof(struct opts, field)

static const struct arg rows[] = {
    ENGINE_MODEL_ROW(struct opts),
    ENGINE_VOCAB_ROW(struct opts),
    ENGINE_DECODER_ROW(struct opts),
    ENGINE_DEMO_ROW(struct opts),
    STREAM_SOUND_ROWS(struct opts),
    { .name = "language", .letter = 'l', .kind = ARG_TEXT, .at = AT(language), .value = "auto|CODE", .dflt = "auto",
      .help = "language spoken; auto: detected; several, such as de,en: detected among them (Whisper)" },
    { .name = "output-format", .letter = 'f', .kind = ARG_WORD, .at = AT(form), .value = STREAM_FORMS, .dflt = "jsonl",
      .help = "jsonl: a line for each event; txt: final words, one line per turn; srt, vtt: the cues of a turn when it ends" },
    ARG_HEADING("Text"),
    { .name = "task", .kind = ARG_WORD, .at = AT(task), .value = "transcribe|translate", .dflt = ARG_OF_PARAM,
      .help = "print the transcript, or its English translation" },
    DECODE_PROMPT_ROW(struct opts),
    DECODE_HOTWORD_ROWS(struct opts),
    { .name = "beam-size", .kind = ARG_INT, .at = AT(decode.beam_size), .value = "N", .dflt = "0", .hi = 32,
      .help = "number of beams in each update, up to 32; 0: greedy search" },
    DECODE_GUARDS_ROW(struct opts),
    ARG_HEADING("Turns"),
    { .name = "vad", .kind = ARG_WORD, .at = AT(vad.kind), .value = "off|silero|fsmn", .dflt = "off",
      .help = "voice-activity model that opens and closes turns; off: one turn" },
    { .name = "vad-model", .kind = ARG_TEXT, .at = AT(vad.model), .value = "PATH",
      .help = "its file or folder; without it one beside the model, or in the caches" },
    VAD_THRESHOLD_ROW(struct opts),
    VAD_SILENCE_ROW(struct opts),
    { .name = "step", .kind = ARG_S, .at = AT(step_s), .value = "S", .dflt = "1", .lo = 0.2, .hi = 10,
      .help = "seconds of audio between updates" },
    { .name = "max-turn", .kind = ARG_S, .at = AT(turn_s), .value = "S", .dflt = "30", .lo = 2, .hi = 30,
      .help = "maximum length of a turn, in seconds; then the next begins" },
    { .name = "audio-padding", .kind = ARG_S, .at = AT(padding_s), .value = "S", .dflt = "3", .lo = 0.5, .hi = 30,
      .help = "silence that an update encodes after the turn; 30: the whole window, as the last pass of a turn (Whisper)" },
    { .name = "last-pass", .kind = ARG_WORD, .at = AT(last_pass), .value = "window|turn", .dflt = "window",
      .help = "what the last pass of a turn encodes: the whole window, or as an update, unless its text is doubtful (Whisper)" },
    ARG_HEADING("Chunks"),
    DECODE_CHUNK_ROWS(struct opts, decode.chunk_size, decode.encoder_look_back, decode.decoder_look_back),
    { .name = "lookahead", .kind = ARG_INT, .at = AT(decode.lookahead), .value = "N", .dflt = "-2", .lo = -2, .hi = 63,
      .help = "rows of 80 ms read after a row before it is decoded; -2: the model's default, -1: the largest (streaming FastConformer)" },
    ENGINE_MACHINE_ROWS(struct opts),
    ARG_HEADING("Messages"),
    ENGINE_QUIET_ROW(struct opts),
    { 0 },
};

const struct args stream_args = { "stream", "[OPTION]... [FILE]",
                                  "Transcribe FILE, by default standard input, while audio arrives. Each line is a\n"
                                  "JSON object: words that may still change (partial), words that stay (final), or\n"
                                  "the end of a turn (endpoint). Or print final words as text or subtitles.", rows };

/* ---- sound */

static int audio_push(struct live *l, const struct stream_text *p, struct stream_sound *sound, steno_error *e)
{
    float pcm[STREAM_PIECE];
    int64_t got;
    while (p->code == EXIT_OK && (got = stream_sound_read(sound, pcm, e)) != 0) {
        if (got < 0) return (int)got;
        const int rc = live_push(l, pcm, got, stream_sound_late_ms(sound), e);
        if (rc) return rc;
    }
    return p->code == EXIT_OK ? live_end(l, e) : STENO_OK;
}

/* Read FILE until its end or a signal. All words up to there become final. */
static int file_stream(struct live *l, struct stream_text *p, const struct opts *o, const char *file)
{
    steno_error e = { 0 };
    struct stream_sound *sound;
    int rc = stream_sound_open(&sound, &o->sound, file, &e);
    p->sound = sound;
    if (!rc) {
        signals_defer(1);
        stream_text_begin(p);
        rc = audio_push(l, p, sound, &e);
    }
    const int n_lost = rc ? 0 : stream_sound_lost(sound);
    if (!rc && !o->engine.quiet) stream_sound_notes(sound, file, p->has_text);
    stream_sound_close(sound);
    if (n_lost) message("audio of the microphone was lost, %d times: the machine does not keep up", n_lost);
    if (!file) file = o->sound.mic ? "default" : "-";
    if (p->code != EXIT_OK) return p->code;
    if (rc == STENO_ENOMEM) {
        message("%s", e.text[0] ? e.text : steno_status_text(rc));
        return EXIT_MEMORY;
    }
    const int code = rc ? sound_failed(file, rc, e.text) : EXIT_OK;
    if (rc == STENO_EUNSUPPORTED && strcmp(file, "-") == 0) message("raw samples, without a file's header, need --raw s16le or another "
                                                                    "type");
    if (rc) return code;
    return signals_pending() ? EXIT_SIGNAL + signals_pending() : EXIT_OK;
}

/* ---- models */

/* Without voice activity, refuse its options. */
static int check_no_vad(const struct args_given *given)
{
    static const char *const names[] = { "vad-model", "vad-threshold", "vad-min-silence-ms" };
    char name[OPTION_TEXT_SZ];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (option_was_given(given, names[i]))
            return message_usage("%s needs --vad silero or fsmn", option_name(name, given, names[i]));
    return EXIT_OK;
}

static int find_vad(steno_model **vad, const struct opts *o, const struct engine *e)
{
    if (o->vad.kind == VAD_OFF) return check_no_vad(o->engine.given);
    const int is_silero = o->vad.kind == VAD_SILERO;
    char *found = o->vad.model ? NULL : is_silero ? vad_find_silero(e->path) : vad_find(e->path);
    const char *path = o->vad.model ? o->vad.model : found;
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

/* Refuse options about windows for models that have none. */
static int check_no_windows(const struct args_given *given)
{
    static const char *const names[] = { "audio-padding", "last-pass" };
    char name[OPTION_TEXT_SZ];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (option_was_given(given, names[i]))
            return message_usage("%s is for Whisper: passes of this model encode only the turn", option_name(name, given, names[i]));
    return EXIT_OK;
}

/* Refuse options about updates for models that need none. */
static int check_chunks(const struct args_given *given)
{
    static const char *const names[] = { "step", "max-turn", "audio-padding", "last-pass" };
    char name[OPTION_TEXT_SZ];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (option_was_given(given, names[i]))
            return message_usage("%s is not for this model, which reads chunk by chunk and never changes a word",
                                 option_name(name, given, names[i]));
    return EXIT_OK;
}

/* Fill the parameters from the options. @return EXIT_OK or EXIT_USAGE, after a message */
static int params_fill(struct live_params *lp, steno_vad_params *find, const struct opts *o, const struct decode_data *d,
                       const steno_model *m)
{
    steno_transcribe_params *p = &lp->text;
    struct args_given given = *o->engine.given;
    steno_transcribe_params_init(p);
    if (strcasecmp(o->language, "auto") != 0) p->language = o->language;
    p->task = o->task;
    p->initial_prompt = o->decode.initial_prompt;
    p->hotwords = d->hotwords;
    p->hotwords_boost = o->decode.hotwords_boost;
    p->beam_size = (int32_t)o->decode.beam_size;
    p->guards = o->decode.guards;
    p->chunk_size = o->decode.chunk_size;
    p->encoder_chunk_look_back = (int32_t)o->decode.encoder_look_back;
    p->decoder_chunk_look_back = (int32_t)o->decode.decoder_look_back;
    if (option_was_given(o->engine.given, "lookahead")) p->lookahead = (int32_t)o->decode.lookahead;
    steno_vad_params_init(find);
    find->threshold = o->vad.threshold;
    find->max_end_silence_ms = o->vad.min_silence_ms;
    lp->find = find;
    option_forget(&given, "vad"); /* "vad" is another field in the library's calls */
    option_forget(&given, "vad-model");
    return option_check(&given, m, STENO_CALL_TRANSCRIBE, p);
}

static int pass_run(void *user, steno_session *s, const steno_source *src, const steno_transcribe_params *p, int is_last)
{
    return stream_pass(((struct stream_text *)user)->passes, s, src, p, is_last);
}

static int stream(const struct opts *o, const struct engine *e, struct stream_passes *passes, const struct decode_data *d,
                  const steno_model *vad, const char *file)
{
    struct stream_text p = { .code = EXIT_OK, .form = o->form, .passes = passes };
    struct live_params lp = { .session = e->session, .vad = vad, .team = e->team, .step_ms = (int64_t)(o->step_s * 1000),
                              .turn_most_ms = (int64_t)(o->turn_s * 1000),
                              .audio_padding_ms = (int64_t)(o->padding_s * 1000),
                              .last_pass = (enum live_last)o->last_pass, .report = stream_text_event, .user = &p,
                              .transcribe = passes->batch ? pass_run : NULL };
    struct live *l;
    steno_vad_params find;
    steno_error err = { 0 };
    char reason[OPTION_TEXT_SZ];
    live_params_of(&lp, e->model);
    int code = lp.audio_ctx ? EXIT_OK : check_no_windows(o->engine.given);
    if (code == EXIT_OK) code = params_fill(&lp, &find, o, d, e->model);
    if (code != EXIT_OK) return code;
    const int rc = live_open(&l, &lp, &err);
    if (rc == STENO_EARG && err.text[0]) return message_usage("%s", option_reason(reason, o->engine.given, err.text));
    if (rc) {
        message("%s", err.text[0] ? err.text : steno_status_text(rc));
        return rc == STENO_ENOMEM ? EXIT_MEMORY : EXIT_MODEL;
    }
    code = file_stream(l, &p, o, file);
    live_close(l);
    return code;
}

int cmd_stream(int argc, char **argv)
{
    struct args_given given;
    struct opts o = { .engine = { .given = &given, .measured = 1 }, .decode = { .suppress_tokens = "" } };
    struct decode_data d = { 0 };
    struct engine e;
    struct stream_passes passes = { NULL, STENO_OK };
    steno_model *vad = NULL;
    int n;
    int code = args_parse(&stream_args, &o, &given, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    if (n > 1) return message_usage("stream takes one sound file, not %d", n);
    code = stream_sound_check(&o.sound);
    if (code == EXIT_OK && !o.sound.mic && (!n || strcmp(argv[0], "-") == 0) && isatty(STDIN_FILENO))
        return message_usage("standard input is the terminal: give a file, --mic for a microphone, or pipe audio in, as \"arecord -f "
                             "S16_LE -r 16000 | steno stream\" does");
    if (code == EXIT_OK) code = decode_opts_check(&d, &o.decode, 0);
    if (code == EXIT_OK) code = sound_report_missing(engine_open(&e, &o.engine, 0), argv, n);
    if (code != EXIT_OK) {
        decode_data_free(&d);
        return code;
    }
    code = option_reads_chunks(e.model) ? check_chunks(&given) : stream_passes_open(&passes, &e, decode_opts_lanes(&o.decode));
    if (code == EXIT_OK) code = find_vad(&vad, &o, &e);
    if (code == EXIT_OK) code = stream(&o, &e, &passes, &d, vad, n ? argv[0] : NULL);
    engine_close(&e);
    decode_data_free(&d);
    steno_model_close(vad);
    return code;
}
