/* steno: what transcribe and translate do with their inputs. SPDX-License-Identifier: MIT */
#include "job.h"
#include "sha256.h"
#include "signals.h"
#include <stdlib.h>
#include <string.h>

/* ---- what is heard of a run -------------------------------------------------------------------------------------------------- */

static const char *shown_name(const char *file)
{
    return strcmp(file, "-") == 0 ? "standard input" : file;
}

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
    say_bar(NULL);
    if (j->o->engine.verbose) {
        fputc('[', stderr);
        write_time(stderr, seg->t0_ms, 0, '.');
        fputs(" --> ", stderr);
        write_time(stderr, seg->t1_ms, 0, '.');
        fputs("] ", stderr);
        show_segment(stderr, j, j->style_err, seg);
    }
    if (!results_stream_text(&j->results)) return;
    show_segment(stdout, j, j->style_out, seg);
    if (j->stop_code == EXIT_OK) j->stop_code = say_flush();
}

static void on_attempt(void *user, const steno_attempt *a)
{
    struct job *j = user;
    if (!j->o->engine.verbose || (a->kept && !a->index)) return;
    say("%s: window at %.2f s, attempt %d at temperature %g: mean log-probability %.2f, compression ratio %.2f, entropy %.2f, "
        "no speech %.2f: %s", shown_name(j->file), (double)a->at_ms / 1000, (int)a->index + 1, a->temperature, a->avg_logprob,
        a->compression_ratio, a->entropy, a->no_speech_prob, a->kept ? "kept" : "again");
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
    struct write_record record = { .input = j->file, .model = j->engine.path, .error = error, .options = j->options, .opts = j->o };
    struct transcript_store store = { 0 };
    struct transcript t = { .text = "", .language = "unknown", .first_timestamp = j->console.first_timestamp, .duration_ms = -1,
                            .index_offset = (int32_t)j->o->offset_n, .task = task, .word_times = j->params.word_timestamps,
                            .model = j->engine.model, .layout = &j->layout, .record = &record };
    if (!(j->results.formats & mask)) return EXIT_OK;
    if (j->results.formats >> WRITER_JSONL & 1 && sha256_file(sha256, j->file) == 0) record.sha256 = sha256;
    int code = error ? EXIT_OK : get_speakers(&t, &store, j, s);
    if (!error && code == EXIT_OK && subtitle_opts_take(&t, &store, s, &j->o->subtitles)) code = EXIT_MEMORY;
    if (code == EXIT_MEMORY) say("out of memory for %d segments", steno_segment_count(s));
    if (!error && j->is_silent) t.duration_ms = steno_duration_ms(j->vad.session);
    if (!error && j->is_silent && has_choice) t.language = "unknown";
    if (code == EXIT_OK) code = results_write(&j->results, j->file, &t, mask);
    transcript_free(&store);
    return code;
}

/* An input gives nothing: tell it, go on with the next unless it is no use. @return 0 */
static int fail(struct job *j, int rc, const char *reason)
{
    if (!reason[0]) reason = steno_status_text(rc);
    say_file(shown_name(j->file), reason);
    const int code = write_results(j, j->params.task, reason);
    if (code != EXIT_OK) j->stop_code = code;
    if (rc == STENO_EARG) j->stop_code = EXIT_USAGE;
    if (rc == STENO_ENOMEM) j->stop_code = EXIT_MEMORY;
    return 0;
}

/* A file has not the channels that are asked for; others may. @return 0 */
static int refuse(struct job *j, int n_channels)
{
    char reason[160];
    if (j->o->diarize) snprintf(reason, sizeof reason, "--diarize needs two channels, with a speaker on each, and this has %d", n_channels);
    else snprintf(reason, sizeof reason, "--channels %d: the last channel is %d", j->o->channel, n_channels);
    j->n_refused++;
    return fail(j, STENO_EUNSUPPORTED, reason);
}

/* Say which of its results an input has in hand, in the names of files, and, when that goes to standard output, in a line. */
static void set_mark(struct job *j, const char *task, int n_channels)
{
    char *p = j->mark;
    const char *end = j->mark + sizeof j->mark;
    *p = '\0';
    if (j->o->channel == CHANNELS_SPLIT && j->channel) p += snprintf(p, (size_t)(end - p), ".ch%d", j->channel);
    if (task) snprintf(p, (size_t)(end - p), ".%s", task);
    j->results.mark = j->mark[0] ? j->mark : NULL;
    if (!n_channels || j->results.dir || j->o->engine.quiet) return;
    if (task) say("%s: %s", shown_name(j->file), task);
    else if (j->results.mark) say("%s: channel %d of %d", shown_name(j->file), j->channel, n_channels);
}

/* Write the one text, or the two of --task both. */
static int write_texts(struct job *j, int n_channels)
{
    if (j->params.task != STENO_TRANSCRIBE_AND_TRANSLATE) return write_results(j, j->params.task, NULL);
    static const struct { int task; const char *name; } both[] = { { STENO_TRANSCRIBE, "transcript" }, { STENO_TRANSLATE, "translation" } };
    int code = EXIT_OK;
    for (int i = 0; i < 2 && code == EXIT_OK; i++) {
        set_mark(j, both[i].name, n_channels);
        const int rc = steno_result_select(j->engine.session, both[i].task);
        code = rc == STENO_OK ? write_results(j, both[i].task, NULL) : say_model_error(NULL, rc, steno_last_error(j->engine.session));
    }
    return code;
}

/* ---- one input --------------------------------------------------------------------------------------------------------------- */

int job_decode_nothing(struct job *j)
{
    const float none = 0;
    steno_transcribe_params p = j->params;
    if (!p.language && j->info.is_multilingual) p.language = steno_model_language(j->engine.model, 0);
    p.clip_timestamps = NULL; /* which need audio around them */
    p.n_clip_timestamps = 0;
    p.user = NULL;
    p.on_segment = NULL;
    p.on_attempt = NULL;
    p.on_progress = NULL;
    p.should_abort = NULL;
    return steno_transcribe(j->engine.session, &none, 0, &p);
}

/* Hear the two channels for their loudness. */
static int hear_speakers(struct job *j, steno_media *m)
{
    steno_source src;
    steno_media_source(m, &src);
    diarize_reset(&j->diarize);
    int rc = STENO_OK;
    for (int c = 0; c < 2 && rc == STENO_OK; c++) {
        rc = steno_media_select(m, c + 1);
        if (rc == STENO_OK) rc = diarize_listen(&j->diarize, c, &src);
    }
    return rc == STENO_OK ? steno_media_select(m, j->channel) : rc;
}

/* Let voice activity choose the clips. */
static int choose_clips(struct job *j, const steno_source *src)
{
    const int64_t window_ms = j->params.audio_ctx > 0 && j->params.audio_ctx < 1500 ? 20 * j->params.audio_ctx : 30000;
    const int rc = vad_listen(&j->vad, src, j->o->offset_ms, j->o->duration_ms, window_ms, should_abort, j);
    j->params.clip_timestamps = j->vad.clips;
    j->params.n_clip_timestamps = (int32_t)(2 * j->vad.n_clips);
    j->is_silent = rc == STENO_OK && j->vad.n_clips == 0;
    return rc;
}

/* Transcribe the channel in hand. @return 1 when it produced its output, 0 when it failed and was told */
static int run_channel(struct job *j, steno_media *m, int n_channels)
{
    steno_source src;
    const steno_session *failing = NULL; /* whose error counts; NULL: the source's */
    steno_media_source(m, &src);
    j->is_silent = 0;
    progress_begin(&j->progress, j->o->progress, j->o->engine.quiet, j->file);
    signals_watch(j->vad.session, m);
    int rc = j->channel ? steno_media_select(m, j->channel) : STENO_OK;
    if (rc == STENO_OK && j->o->diarize) rc = hear_speakers(j, m);
    if (rc == STENO_OK && j->vad.session) {
        rc = choose_clips(j, &src);
        failing = rc == STENO_OK || rc == STENO_ESOURCE ? NULL : j->vad.session;
        if (rc == STENO_OK) rc = src.rewind(src.user);
    }
    if (rc == STENO_OK) {
        signals_watch(j->engine.session, m);
        rc = j->is_silent ? job_decode_nothing(j) : steno_transcribe_source(j->engine.session, &src, &j->params);
        failing = rc == STENO_ESOURCE ? NULL : j->engine.session;
    }
    signals_watch(NULL, NULL);
    progress_end(&j->progress);
    if (j->stop_code != EXIT_OK || signals_pending()) return 0;
    if (rc != STENO_OK) return fail(j, rc, failing ? steno_last_error(failing) : steno_media_error(m));
    const int64_t damaged = steno_media_damaged_packets(m);
    if (damaged > 0 && !j->o->engine.quiet) say("%s: %lld damaged packets were skipped", shown_name(j->file), (long long)damaged);
    if (j->o->engine.verbose && j->vad.session) say("%s: speech in %lld clips", shown_name(j->file), (long long)j->vad.n_clips);
    if (j->o->engine.verbose && !j->is_silent) say("%s: language %s", shown_name(j->file), steno_language(j->engine.session));
    j->stop_code = write_texts(j, n_channels);
    return j->stop_code == EXIT_OK;
}

/* The mix, one channel, or each. */
static int run_channels(struct job *j, steno_media *m)
{
    const int n = steno_media_channels(m), is_split = j->o->channel == CHANNELS_SPLIT;
    if ((j->o->diarize && n != 2) || j->o->channel > n) return refuse(j, n);
    int ok = 1;
    for (j->channel = is_split ? 1 : j->o->channel; ok; j->channel++) {
        set_mark(j, NULL, n);
        ok = run_channel(j, m, n);
        if (!is_split || j->channel == n) break;
    }
    return ok;
}

static int run_file(struct job *j, const char *file)
{
    steno_media *m = NULL;
    steno_error e = { 0 };
    j->file = file;
    j->channel = 0;
    set_mark(j, NULL, 0);
    const int rc = steno_media_open(&m, file, signals_stop, NULL, &e);
    if (rc != STENO_OK) {
        if (signals_pending()) return 0;
        return fail(j, rc == STENO_EARG ? STENO_EIO : rc, strncmp(e.text, "-: ", 3) == 0 ? e.text + 3 : e.text);
    }
    signals_defer(1); /* from here on there is something in hand */
    const int ok = run_channels(j, m);
    signals_defer(0);
    steno_media_close(m);
    return ok;
}

int job_run(struct job *j, char **files, int n)
{
    int n_ok = 0;
    j->params.user = j;
    j->params.on_segment = on_segment;
    j->params.on_attempt = on_attempt;
    j->params.on_progress = on_progress;
    j->params.should_abort = should_abort;
    for (int i = 0; i < n && j->stop_code == EXIT_OK && !signals_pending(); i++) n_ok += run_file(j, files[i]);
    if (signals_pending()) return EXIT_SIGNAL + signals_pending();
    if (j->stop_code != EXIT_OK) return j->stop_code;
    return n_ok == n ? EXIT_OK : n_ok > 0 ? EXIT_SOME : j->n_refused == n ? EXIT_USAGE : EXIT_INPUT;
}
