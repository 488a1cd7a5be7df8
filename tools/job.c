/* steno: what transcribe and translate do with their inputs. SPDX-License-Identifier: MIT */
#include "job.h"
#include "option_names.h"
#include "print.h"
#include "sha256.h"
#include "past_end.h"
#include "signals.h"
#include "sound.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is heard of a run -------------------------------------------------------------------------------------------------- */

static int speaker_of(const struct job *j, const steno_segment *seg)
{
    return diarize_speaker(&j->diarize, seg->t0_ms, seg->t1_ms);
}

static void show_segment(FILE *f, struct job *j, int styled, const steno_segment *seg)
{
    const int32_t who = j->o->diarize ? speaker_of(j, seg) : DIARIZE_UNKNOWN;
    j->console.speaker = j->o->diarize ? &who : NULL;
    console_text(f, &j->console, styled, seg);
    j->console.speaker = NULL;
    fputc('\n', f);
}

static void on_segment(void *user, const steno_segment *seg)
{
    struct job *j = user;
    const int text_follows = results_stream_text(j->results);
    message_bar(NULL);
    if (j->o->engine.verbose) {
        fputc('[', stderr);
        print_time(stderr, seg->t0_ms);
        fputs(" --> ", stderr);
        print_time(stderr, seg->t1_ms);
        fputs("] ", stderr);
        if (!text_follows || !j->streams_meet) show_segment(stderr, j, j->style_err, seg);
    }
    if (!text_follows) return;
    show_segment(stdout, j, j->style_out, seg);
    if (j->stop_code == EXIT_OK) j->stop_code = message_flush();
}

/* " candidates -0.41 (-0.35) -0.52": what they were ranked by, the chosen one in brackets. */
static void candidates_text(char *out, size_t n, const steno_attempt *a)
{
    size_t at = 0;
    out[0] = '\0';
    for (int i = 0; i < a->n_candidates && a->n_candidates > 1 && at + 32 < n; i++) {
        const int chosen = i == a->chosen;
        at += (size_t)snprintf(out + at, n - at, "%s %s%.2f%s", i ? "" : ", candidates", chosen ? "(" : "", a->score[i], chosen ? ")" : "");
    }
}

static void on_attempt(void *user, const steno_attempt *a)
{
    struct job *j = user;
    char candidates[400];
    if (a->kept && (a->flags & STENO_FLAG_UNFINISHED) && !j->o->engine.quiet)
        message("%s: window at %.2f s: no text, since no sentence of the grammar could be finished (are tokens that it needs suppressed?)",
                sound_name(j->file), (double)a->at_ms / 1000);
    if (!j->o->engine.verbose || (a->kept && !a->index && a->n_candidates < 2)) return;
    candidates_text(candidates, sizeof candidates, a);
    message("%s: window at %.2f s, attempt %d at temperature %g: mean log-probability %.2f, compression ratio %.2f, entropy %.2f, "
        "no speech %.2f%s: %s", sound_name(j->file), (double)a->at_ms / 1000, (int)a->index + 1, a->temperature, a->avg_logprob,
            a->compression_ratio, a->entropy, a->no_speech_prob, candidates, a->kept ? "kept" : "again");
}

static void on_progress(void *user, int64_t done_ms, int64_t total_ms)
{
    struct job *j = user;
    progress_update(&j->progress, done_ms, total_ms);
}

static int should_abort(void *user)
{
    const struct job *j = user;
    return j->stop_code != EXIT_OK || signals_pending();
}

/* ---- results ----------------------------------------------------------------------------------------------------------------- */

/* Who speaks in each segment. @return EXIT_OK or EXIT_MEMORY */
static int get_speakers(struct transcript *t, struct transcript_store *store, const struct job *j, const steno_session *s)
{
    const int n = steno_segment_count(s);
    if (!j->o->diarize) return EXIT_OK;
    store->speakers = calloc((size_t)n + 1, sizeof *store->speakers);
    if (!store->speakers) return EXIT_MEMORY;
    for (int i = 0; i < n; i++) {
        steno_segment seg = { .size = sizeof seg };
        steno_segment_get(s, i, &seg);
        store->speakers[i] = speaker_of(j, &seg);
    }
    t->speakers = store->speakers;
    return EXIT_OK;
}

/* Write what the session holds in every format, or, with a reason, the line that tells the failure in those that have one. */
static int write_results(struct job *j, int task, const char *error)
{
    const steno_session *s = j->engine.session;
    const int has_choice = !j->params.language && j->info.is_multilingual;
    const unsigned mask = error ? 1u << WRITER_JSONL : ~0u;
    char sha256[SHA256_HEX_SZ];
    struct transcript_source source = { .input = j->file, .model = j->engine.path, .error = error, .options = j->options, .opts = j->o };
    struct transcript_store store = { 0 };
    struct transcript t = { .text = "", .language = "unknown", .first_timestamp = j->console.first_timestamp, .duration_ms = -1,
                            .index_offset = (int32_t)j->o->offset_n, .task = task, .word_times = j->params.word_timestamps,
                            .token_times = j->o->decode.token_timestamps,
                            .model = j->engine.model, .layout = &j->layout, .source = &source, .lost = error ? 0 : j->lost };
    if (!(j->results->formats & mask)) return EXIT_OK;
    if (j->results->formats >> WRITER_JSONL & 1 && sha256_file(sha256, j->file, signals_stop, NULL) == 0) source.sha256 = sha256;
    if (signals_pending()) return EXIT_SIGNAL + signals_pending(); /* no line about a file that nobody waits for */
    int code = error ? EXIT_OK : get_speakers(&t, &store, j, s);
    const struct diarize *speakers = j->o->diarize ? &j->diarize : NULL;
    if (!error && code == EXIT_OK && subtitle_opts_take(&t, &store, s, &j->o->subtitles, speakers)) code = EXIT_MEMORY;
    if (code == EXIT_MEMORY) message("out of memory for %d segments", steno_segment_count(s));
    if (!error && j->is_silent) t.duration_ms = steno_duration_ms(j->vad.session);
    if (!error && j->is_silent && has_choice) t.language = "unknown";
    j->results->mark = j->mark[0] ? j->mark : NULL;
    j->results->out = j->out;
    if (code == EXIT_OK) code = results_write(j->results, j->file, &t, mask);
    transcript_free(&store);
    return code;
}

/* An input gives nothing: tell it, go on with the next unless it is no use. @return 0 */
static int fail(struct job *j, int rc, const char *reason)
{
    char told[OPTION_TEXT_SZ];
    if (!reason[0]) reason = steno_status_text(rc);
    if (rc == STENO_EARG) reason = option_reason(told, j->o->engine.given, reason);
    message_file(sound_name(j->file), reason);
    const int code = write_results(j, j->params.task, reason);
    if (code != EXIT_OK) j->stop_code = code;
    if (rc == STENO_EARG) j->stop_code = EXIT_USAGE;
    if (rc == STENO_ENOMEM) j->stop_code = EXIT_MEMORY;
    return 0;
}

/* A file has not the channels that are asked for; others may. @return 0 */
static int refuse(struct job *j)
{
    char reason[160];
    const int n = j->n_channels;
    if (j->o->diarize) snprintf(reason, sizeof reason, "--diarize needs two channels, with a speaker on each, and this has %d", n);
    else snprintf(reason, sizeof reason, "--channels %d: the last channel is %d", j->o->channel - 1, n - 1);
    j->is_refused = 1;
    return fail(j, STENO_EUNSUPPORTED, reason);
}

/* Say which of its results an input has in hand, in the names of files, and, when that goes to standard output, in a line. */
static void set_mark(struct job *j, const char *task, int tell)
{
    char *p = j->mark;
    const char *end = j->mark + sizeof j->mark;
    *p = '\0';
    if (j->o->channel == CHANNELS_SPLIT && j->channel) p += snprintf(p, (size_t)(end - p), ".ch%d", j->channel - 1);
    if (task) snprintf(p, (size_t)(end - p), ".%s", task);
    if (!tell || j->results->dir || j->o->engine.quiet) return;
    if (task) message("%s: %s", sound_name(j->file), task);
    else if (j->mark[0]) message("%s: channel %d, the last is %d", sound_name(j->file), j->channel - 1, j->n_channels - 1);
}

/* Write the one text, or the two of --task both. */
static int write_texts(struct job *j)
{
    if (j->params.task != STENO_TRANSCRIBE_AND_TRANSLATE) return write_results(j, j->params.task, NULL);
    static const struct { int task; const char *name; } both[] = { { STENO_TRANSCRIBE, "transcript" }, { STENO_TRANSLATE, "translation" } };
    int code = EXIT_OK;
    for (int i = 0; i < 2 && code == EXIT_OK; i++) {
        set_mark(j, both[i].name, 1);
        const int rc = steno_result_select(j->engine.session, both[i].task);
        code = rc == STENO_OK ? write_results(j, both[i].task, NULL) : message_model_error(NULL, rc, steno_last_error(j->engine.session));
    }
    return code;
}

/* ---- one input --------------------------------------------------------------------------------------------------------------- */

static int64_t read_nothing(void *user, float *pcm, int64_t n)
{
    (void)user, (void)pcm, (void)n;
    return 0;
}

steno_source job_no_audio(void)
{
    return (steno_source){ read_nothing, NULL, NULL };
}

steno_transcribe_params job_params_of_nothing(const struct job *j)
{
    steno_transcribe_params p = j->params;
    if (!p.language && j->info.is_multilingual) p.language = steno_model_language(j->engine.model, 0);
    p.clip_timestamps = NULL; /* which need audio around them */
    p.n_clip_timestamps = 0;
    p.on_segment = NULL;
    p.on_attempt = NULL;
    p.on_progress = NULL;
    p.should_abort = NULL;
    return p;
}

int job_decode_nothing(struct job *j)
{
    const steno_transcribe_params p = job_params_of_nothing(j);
    const steno_source none = job_no_audio();
    return steno_transcribe_source(j->engine.session, &none, &p);
}

/* What audio is heard for. */
static const char for_speakers[] = "hearing speakers", for_speech[] = "finding speech", for_text[] = "listening";

/* The audio of the input in hand, whoever asks for it. A call to the library says nothing before it has text, and the time until then may
 * be long: what is read moves the bar. */
static int64_t hear(void *user, float *pcm, int64_t n)
{
    struct job *j = user;
    const int64_t got = j->media_src.read(j->media_src.user, pcm, n);
    if (got > 0) j->heard += got;
    if (got == 0 && j->listening == for_text) progress_heard(&j->progress, j->heard / 16);
    else progress_hear(&j->progress, j->listening, j->heard / 16, steno_media_duration_ms(j->media));
    return got;
}

static int hear_again(void *user)
{
    struct job *j = user;
    j->heard = 0;
    return j->media_src.rewind(j->media_src.user);
}

/* Hear the two channels for their loudness. */
static int hear_speakers(struct job *j)
{
    diarize_reset(&j->diarize);
    int rc = STENO_OK;
    for (int c = 0; c < 2 && rc == STENO_OK; c++) {
        rc = steno_media_select(j->media, c + 1);
        j->heard = 0;
        if (rc == STENO_OK) rc = diarize_listen(&j->diarize, c, &j->src);
    }
    return rc == STENO_OK ? steno_media_select(j->media, j->channel) : rc;
}

/* Let voice activity choose the clips. */
static int choose_clips(struct job *j)
{
    const int64_t window_ms = j->params.audio_ctx > 0 && j->params.audio_ctx < 1500 ? 20 * j->params.audio_ctx : 30000;
    const int rc = vad_listen(&j->vad, &j->src, j->o->offset_ms, j->o->duration_ms, window_ms, should_abort, j);
    j->params.clip_timestamps = j->vad.clips;
    j->params.n_clip_timestamps = (int32_t)(2 * j->vad.n_clips);
    j->is_silent = rc == STENO_OK && j->vad.n_clips == 0;
    return rc;
}

int job_begin(struct job *j)
{
    j->failing = NULL;
    j->is_silent = 0;
    set_mark(j, NULL, 1);
    steno_media_source(j->media, &j->media_src);
    j->src = (steno_source){ hear, hear_again, j };
    j->heard = 0;
    const int split = j->o->channel == CHANNELS_SPLIT;
    progress_begin(&j->progress, j->bar, j->file, split ? j->channel - 1 : 0, split ? j->n_channels : 1);
    signals_watch(j->vad.session, j->media);
    int rc = j->channel ? steno_media_select(j->media, j->channel) : STENO_OK;
    j->listening = for_speakers;
    if (rc == STENO_OK && j->o->diarize) rc = hear_speakers(j);
    j->heard = 0;
    if (rc == STENO_OK && j->vad.session) {
        j->listening = for_speech;
        rc = choose_clips(j);
        j->failing = rc == STENO_OK || rc == STENO_ESOURCE ? NULL : j->vad.session;
        if (rc == STENO_OK) rc = j->src.rewind(j->src.user);
    }
    j->listening = for_text;
    if (rc == STENO_OK) j->failing = j->engine.session;
    signals_watch(j->engine.session, j->media);
    return rc;
}

int job_end(struct job *j, int status)
{
    signals_watch(NULL, NULL);
    progress_end(&j->progress);
    if (j->stop_code != EXIT_OK || signals_pending()) return 0;
    if (status == STENO_EFORMAT && j->failing) j->stop_code = EXIT_MODEL;
    if (status != STENO_OK) {
        const char *reason;
        status = sound_status(&reason, j->media, j->failing, status);
        return fail(j, status, reason);
    }
    if (!j->lost) j->lost = sound_lost(j->media, j->file);
    if (!j->o->engine.quiet)
        past_end_tell(sound_name(j->file), steno_duration_ms(j->vad.session ? j->vad.session : j->engine.session), j->o->offset_ms,
                      j->data.clips, j->data.n_clips);
    if (j->o->engine.verbose && j->vad.session) message("%s: speech in %lld clips", sound_name(j->file), (long long)j->vad.n_clips);
    if (j->o->engine.verbose && !j->is_silent) message("%s: language %s", sound_name(j->file), steno_language(j->engine.session));
    const int code = write_texts(j);
    if (code != EXIT_OK) j->stop_code = code;
    return code == EXIT_OK;
}

int job_another(struct job *j)
{
    if (j->o->channel != CHANNELS_SPLIT || j->channel >= j->n_channels) return 0;
    j->channel++;
    return 1;
}

int job_open(struct job *j, const char *file)
{
    steno_error e = { 0 };
    j->file = file;
    j->channel = 0;
    j->is_refused = 0;
    j->lost = 0;
    j->media = NULL;
    set_mark(j, NULL, 0);
    const int rc = sound_open(&j->media, file, &e);
    if (rc != STENO_OK) {
        if (signals_pending()) return 0;
        return fail(j, rc, strncmp(e.text, "-: ", 3) == 0 ? e.text + 3 : e.text);
    }
    j->n_channels = steno_media_channels(j->media);
    j->channel = j->o->channel == CHANNELS_SPLIT ? 1 : j->o->channel;
    if ((!j->o->diarize || j->n_channels == 2) && j->o->channel <= j->n_channels) return 1;
    job_close(j);
    return refuse(j);
}

void job_close(struct job *j)
{
    steno_media_close(j->media);
    j->media = NULL;
}

void job_watch(struct job *j)
{
    j->params.user = j;
    j->params.on_segment = on_segment;
    j->params.on_attempt = on_attempt;
    j->params.on_progress = on_progress;
    j->params.should_abort = should_abort;
}

/* ---- one after the other ----------------------------------------------------------------------------------------------------- */

static int run_file(struct job *j, const char *file)
{
    if (!job_open(j, file)) return 0;
    int ok;
    signals_defer(1); /* from here on there is something in hand */
    do {
        int rc = job_begin(j);
        if (rc == STENO_OK) rc = j->is_silent ? job_decode_nothing(j) : steno_transcribe_source(j->engine.session, &j->src, &j->params);
        ok = job_end(j, rc);
    } while (ok && job_another(j));
    signals_defer(0);
    job_close(j);
    return ok;
}

int job_code(const struct job *j, int n, int n_ok, int n_refused)
{
    if (signals_pending()) return EXIT_SIGNAL + signals_pending();
    if (j->stop_code != EXIT_OK) return j->stop_code;
    if (n_ok == n) return j->o->strict && j->n_lost > 0 ? EXIT_SOME : EXIT_OK;
    return n_ok > 0 ? EXIT_SOME : n_refused == n ? EXIT_USAGE : EXIT_INPUT;
}

int job_run(struct job *j, char **files, int n)
{
    int n_ok = 0, n_refused = 0;
    job_watch(j);
    for (int i = 0; i < n && j->stop_code == EXIT_OK && !signals_pending(); i++) {
        n_ok += run_file(j, files[i]);
        progress_bar_done(j->bar);
        n_refused += j->is_refused;
        j->n_lost += j->lost != 0;
    }
    j->timings.size = sizeof j->timings;
    steno_timings_get(j->engine.session, &j->timings);
    return job_code(j, n, n_ok, n_refused);
}
