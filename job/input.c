/* steno: one input of a job. SPDX-License-Identifier: MIT */
#include "input.h"
#include "file_source.h"
#include "input_range.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- callbacks of a run ------------------------------------------------------------------------------------------------------ */

int job_stops(const struct job *j)
{
    return j->stop || (j->events.stop && j->events.stop(j->events.user));
}

struct job_file job_file_of(const char *path, int index)
{
    return (struct job_file){ .path = path, .index = index, .channel = JOB_SAME_CHANNEL, .begin_ms = JOB_SAME_RANGE };
}

static int should_abort(void *user)
{
    const struct job_input *in = user;
    const struct job_events *events = &in->job->events;
    return input_stops(in) || (events->expired && events->expired(events->user, in));
}

static void on_segment(void *user, const steno_segment *seg)
{
    struct job_input *in = user;
    const struct job_events *events = &in->job->events;
    const int code = events->segment ? events->segment(events->user, in, seg) : 0;
    if (!in->stop) in->stop = code;
}

/* Converts the times of a segment of joined speech to those of the audio. */
static void on_joined_segment(void *user, const steno_segment *seg)
{
    const struct job_input *in = user;
    steno_segment own = *seg;
    join_segment(&in->join, &own);
    on_segment(user, &own);
}

static void on_attempt(void *user, const steno_attempt *a)
{
    const struct job_input *in = user;
    if (in->job->events.attempt) in->job->events.attempt(in->job->events.user, in, a);
}

static void on_point(void *user, const void *data, size_t n)
{
    const struct job_input *in = user;
    in->job->events.point(in->job->events.user, in, data, n);
}

static void on_rows(void *user, const steno_rows *r)
{
    const struct job_input *in = user;
    if (in->job->events.rows) in->job->events.rows(in->job->events.user, in, r);
}

static void on_progress(void *user, int64_t done_ms, int64_t total_ms)
{
    const struct job_input *in = user;
    if (in->job->events.progress) in->job->events.progress(in->job->events.user, in, done_ms, total_ms);
}

static void watch(const struct job_input *in, steno_session *s, steno_media *m)
{
    if (in->job->events.watch) in->job->events.watch(in->job->events.user, in, s, m);
}

static void report_end(struct job_input *in, const struct job_end *e)
{
    const struct job_events *events = &in->job->events;
    const int code = events->end ? events->end(events->user, in, e) : 0;
    if (code) in->stop = code;
}

/* ---- audio ------------------------------------------------------------------------------------------------------------------- */

steno_transcribe_params input_params_of_nothing(const struct job *j)
{
    steno_model_info info = { .size = sizeof info };
    steno_transcribe_params p = j->params;
    steno_model_info_get(j->model, &info);
    if (input_detects(&p) && info.is_multilingual) p.language = steno_model_language(j->model, 0);
    p.clip_timestamps = NULL; /* it needs audio around the clips */
    p.n_clip_timestamps = 0;
    p.on_segment = NULL;
    p.on_attempt = NULL;
    p.on_progress = NULL;
    p.should_abort = NULL;
    return p;
}

steno_transcribe_params input_params(const struct job_input *in)
{
    return in->is_silent ? input_params_of_nothing(in->job) : in->params;
}

/* Audio that ends more than this before the transcribed range is not decoded. Whisper models still read closer audio, because their
 * spectrogram is clamped against the loudest bin of all audio that is read. */
enum { LISTEN_BEFORE_MS = 300000 };

/* Skips to the start of the range that is read. The compat programs read everything. @return a status */
static int pass_over(struct job_input *in)
{
    const struct job *j = in->job;
    const int64_t begin_ms = j->speech.session ? input_speech_rules(in).begin_ms : input_range_of(in).begin_ms;
    in->n_skipped = 0;
    if (begin_ms <= LISTEN_BEFORE_MS || j->media.unclocked) return STENO_OK;
    const int64_t n = steno_media_skip(in->media, (begin_ms - LISTEN_BEFORE_MS) * 16);
    if (n > 0) in->n_skipped = n;
    return n < 0 ? (int)n : STENO_OK;
}

static int64_t give_silence(float *pcm, int64_t n, int64_t left)
{
    if (n > left) n = left;
    memset(pcm, 0, (size_t)n * sizeof *pcm);
    return n;
}

/* Is the speech joined, and the joined audio divided into parts? */
static int has_joined_parts(const struct job_input *in)
{
    return in->job->parts > 1 && in->job->speech.session && in->job->speech.join;
}

/* May the next samples be read? Every read counts against the limit, whatever reads it. @return a status */
static int may_read(struct job_input *in)
{
    const struct decoded_store *store = in->job->store;
    if (!store) return STENO_OK;
    if (input_stops(in)) return STENO_ESOURCE;
    return in->n_read <= store->max ? STENO_OK : decoded_fail(&in->decoded, DECODED_TOO_LONG);
}

/* Moves to the first sample that is decoded, once. */
static int read_begin(struct job_input *in)
{
    const struct decoded *d = &in->decoded;
    return in->n_read || (d->store && (d->n || d->is_whole)) ? STENO_OK : pass_over(in);
}

/* Reads the audio of the current input, for any reader. A call of the library reports nothing before the first text, which may take long,
 * so progress in reading is reported here. */
static int64_t source_read(void *user, float *pcm, int64_t n)
{
    struct job_input *in = user;
    const struct job_events *events = &in->job->events;
    const int may = may_read(in), passed = may == STENO_OK ? read_begin(in) : may, is_silence = in->n_read < in->n_skipped;
    const int64_t got = passed != STENO_OK ? passed : is_silence ? give_silence(pcm, n, in->n_skipped - in->n_read) :
                        in->media_src.read(in->media_src.user, pcm, n);
    const int is_new = in->reading != JOB_READS_WORDS;
    if (got > 0 && events->samples && is_new && !has_joined_parts(in)) events->samples(events->user, in, pcm, in->n_read, got);
    if (got > 0) in->n_read += got;
    if (got > 0 && is_new && !is_silence) level_add(&in->level, pcm, got);
    if (events->reading && is_new) events->reading(events->user, in, in->n_read / 16, steno_media_duration_ms(in->media), got == 0);
    return got;
}

static void level_keep(struct job_input *in)
{
    if (in->level.n > in->measured.n) in->measured = in->level;
    in->level = (struct level){ 0 };
}

static int source_rewind(void *user)
{
    struct job_input *in = user;
    in->n_read = 0;
    if (in->reading != JOB_READS_WORDS) level_keep(in);
    return in->media_src.rewind(in->media_src.user);
}

/* Reads the two channels for their loudness. */
static int speakers_find(struct job_input *in)
{
    diarize_reset(&in->diarize);
    int rc = STENO_OK;
    for (int c = 0; c < 2 && rc == STENO_OK; c++) {
        rc = steno_media_select(in->media, c);
        in->n_read = 0;
        if (rc == STENO_OK) rc = diarize_listen(&in->diarize, c, &in->src);
    }
    return rc == STENO_OK ? steno_media_select(in->media, in->channel) : rc;
}

/* Selects the requested channel or the mix. If the mix is silent because channels cancel out, one channel is used instead, except in compat
 * modes. */
static int choose_channel(struct job_input *in)
{
    const struct job *j = in->job;
    int channel;
    if (in->channel != JOB_MIX) return steno_media_select(in->media, in->channel);
    return j->diarize || j->media.live || j->media.unclocked ? STENO_OK : findings_channel(&in->notes, in->media, &channel);
}

/* Joins the speech found by voice activity detection to one audio. */
static int join_speech(struct job_input *in)
{
    const struct speech_rules *r = &in->job->speech;
    join_free(&in->join);
    const int rc = speech_join(&in->join, &in->n_clips, r, &in->src, should_abort, in);
    if (rc == STENO_OK) in->params.on_segment = on_joined_segment;
    in->audio_ms = steno_duration_ms(r->session);
    if (!in->job->media.unclocked && in->params.guards != STENO_GUARDS_OFF) in->join.end_ms = in->audio_ms;
    in->is_silent = rc == STENO_OK && in->n_clips == 0;
    return rc;
}

/* Makes clips of the speech found by voice activity detection. */
static int choose_clips(struct job_input *in)
{
    const struct speech_rules own = input_speech_rules(in), *r = &own;
    if (r->join) return join_speech(in);
    const int64_t window_ms = in->params.audio_ctx > 0 && in->params.audio_ctx < 1500 ? 20 * in->params.audio_ctx : 30000;
    free(in->clips);
    const int rc = speech_clips(&in->clips, &in->n_clips, r, &in->src, window_ms, should_abort, in);
    in->params.clip_timestamps = in->clips;
    in->params.n_clip_timestamps = (int32_t)(2 * in->n_clips);
    in->audio_ms = steno_duration_ms(r->session);
    in->is_silent = rc == STENO_OK && in->n_clips == 0;
    return rc;
}

/* ---- audio in parts ------------------------------------------------------------------------------------------------------------ */

/* Measures the length of the audio, and rewinds to its first part. @return a status */
static int cut(struct job_input *in)
{
    const steno_source all = in->join.n ? join_source(&in->join) : in->media_src;
    const int64_t samples = parts_count(&all, should_abort, in);
    if (samples < 0) return (int)samples;
    parts_begin(&in->parts, in->job->parts, samples, in->params.offset_ms * 16, &all, in->join.n || in->job->store ? NULL : in->media);
    if (!in->join.n) in->media_src = parts_source(&in->parts);
    return STENO_OK;
}

/* The offset lies in the first part. */
static void enter_part(struct job_input *in)
{
    parts_enter(&in->parts, in->parts.at);
    if (in->parts.at > 0) in->params.offset_ms = 0;
}

/* ---- from open to done ------------------------------------------------------------------------------------------------------- */

void input_init(struct job_input *in, struct job *j, steno_session *s, int slot)
{
    *in = (struct job_input){ .job = j, .session = s, .slot = slot, .index = -1, .params = j->params };
    in->params.user = in;
    in->params.on_segment = on_segment;
    in->params.on_attempt = on_attempt;
    if (in->params.on_rows) in->params.on_rows = on_rows;
    in->params.on_progress = on_progress;
    in->params.should_abort = should_abort;
    if (j->events.point) in->params.on_resume_point = on_point;
}

void input_free(struct job_input *in)
{
    input_close(in);
    diarize_free(&in->diarize);
    free(in->clips);
    join_free(&in->join);
}

/* Chooses the audio and the ranges of it that are transcribed. @return a status */
static int choose(struct job_input *in)
{
    const struct job *j = in->job;
    int rc = choose_channel(in);
    if (rc == STENO_OK) rc = input_skip_start(in);
    in->reading = JOB_READS_SPEAKERS;
    if (rc == STENO_OK && j->diarize) rc = speakers_find(in);
    in->n_read = 0;
    if (rc == STENO_OK && j->store) {
        decoded_begin(&in->decoded, j->store, &in->media_src);
        in->media_src = decoded_source(&in->decoded);
    }
    if (rc == STENO_OK && j->speech.session) {
        in->reading = JOB_READS_SPEECH;
        rc = choose_clips(in);
        in->failing = rc == STENO_OK || rc == STENO_ESOURCE ? NULL : j->speech.session;
        if (rc == STENO_OK) rc = in->src.rewind(in->src.user);
    }
    if (rc == STENO_OK && j->parts > 1 && !in->is_silent) rc = cut(in);
    return rc;
}

int input_begin(struct job_input *in)
{
    const struct job *j = in->job;
    const int goes_on = in->parts.at > 0;
    if (!goes_on) {
        in->failing = NULL;
        in->is_silent = 0;
        in->parts = (struct parts){ 0 };
        in->decoded = (struct decoded){ 0 };
        steno_media_source(in->media, &in->media_src);
        in->src = (steno_source){ source_read, source_rewind, in };
        in->notes = (struct notes){ 0 };
        in->level = in->measured = (struct level){ 0 };
    }
    in->n_read = 0;
    in->words = (struct input_words){ 0 };
    if (j->events.begin) j->events.begin(j->events.user, in);
    watch(in, j->speech.session, in->media);
    const int rc = goes_on ? STENO_OK : choose(in);
    if (rc == STENO_OK && in->parts.n) enter_part(in);
    in->reading = JOB_READS_TEXT;
    size_t n = 0;
    in->params.resume = rc == STENO_OK && j->events.resume ? j->events.resume(j->events.user, in, &n) : NULL;
    in->params.n_resume = (int32_t)n;
    if (rc == STENO_OK) in->failing = in->session;
    watch(in, in->session, in->media);
    return rc;
}

int input_end(struct job_input *in, int status)
{
    const struct job *j = in->job;
    struct job_end e = { .status = status, .reason = "" };
    watch(in, NULL, NULL);
    if (j->events.let_go) j->events.let_go(j->events.user, in);
    if (input_stops(in)) return 0;
    if (status != STENO_OK) {
        e.of_model = in->failing && status != STENO_ESOURCE;
        e.status = file_source_status(&e.reason, in->media, in->failing, status);
        if (in->decoded.status) e = (struct job_end){ .status = in->decoded.status, .reason = decoded_reason(&in->decoded) };
        report_end(in, &e);
        return 0;
    }
    const steno_media_state sound = input_sound(in);
    if (!in->lost) in->lost = e.lost = file_source_lost(&sound);
    if (!j->speech.session) in->audio_ms = steno_duration_ms(in->session);
    report_end(in, &e);
    const int code = in->stop ? in->stop : input_results(in);
    if (code) in->stop = code;
    else if (!in->parts.at || !j->speech.session) in->job->audio_ms += in->audio_ms;
    return !code;
}

/* The file lacks the requested channels; other files may have them. */
static void refuse(struct job_input *in)
{
    char reason[80];
    if (in->job->diarize) snprintf(reason, sizeof reason, "it needs two channels, a speaker on each, and has %d", in->n_channels);
    else snprintf(reason, sizeof reason, "its last channel is %d", in->n_channels - 1);
    in->is_refused = 1;
    report_end(in, &(struct job_end){ .status = STENO_EUNSUPPORTED, .reason = reason });
}

/* Selects the first channel of an open track. @return 1, or 0: the track lacks the requested channels, which was reported */
static int enter_track(struct job_input *in)
{
    const struct job *j = in->job;
    in->n_channels = steno_media_channels(in->media);
    if (in->n_channels > in->most_channels) in->most_channels = in->n_channels;
    const int channel = in->own.channel == JOB_SAME_CHANNEL ? j->channel : in->own.channel;
    in->is_split = channel == JOB_SPLIT;
    in->channel = in->is_split ? 0 : channel;
    if ((!j->diarize || in->n_channels == 2) && channel < in->n_channels) return 1;
    input_close(in);
    refuse(in);
    return 0;
}

int input_another(struct job_input *in, int *ok)
{
    if (in->parts.at + 1 < in->parts.n) {
        in->parts.at++;
        return 1;
    }
    in->parts.at = 0;
    if (in->is_split && in->channel + 1 < in->n_channels) {
        in->channel++;
        return 1;
    }
    if (in->job->track != JOB_ALL_TRACKS || in->track >= in->n_tracks) return 0;
    const int rc = steno_media_select_track(in->media, ++in->track);
    *ok = rc == STENO_OK && enter_track(in);
    if (rc != STENO_OK && !input_stops(in)) report_end(in, &(struct job_end){ .status = rc, .reason = steno_media_error(in->media) });
    return *ok;
}

int input_open(struct job_input *in, const struct job_file *f)
{
    const struct job *j = in->job;
    steno_error e = { 0 };
    in->own = *f;
    in->file = f->path;
    in->index = f->index;
    in->params.language = f->language ? f->language : j->params.language;
    in->params.initial_prompt = f->initial_prompt ? f->initial_prompt : j->params.initial_prompt;
    in->channel = JOB_MIX;
    in->is_refused = in->has_text = in->is_split = 0;
    in->lost = 0;
    in->media = NULL;
    in->most_channels = 0;
    in->parts = (struct parts){ 0 };
    in->track = j->track == JOB_ALL_TRACKS ? 1 : j->track;
    steno_media_params p = j->media;
    p.track = in->track;
    const int rc = file_source_open(&in->media, f->path, &p, &e);
    if (rc != STENO_OK) {
        const char *reason = strncmp(e.text, "-: ", 3) == 0 ? e.text + 3 : e.text;
        if (!(j->events.stop && j->events.stop(j->events.user))) report_end(in, &(struct job_end){ .status = rc, .reason = reason });
        return 0;
    }
    in->n_tracks = steno_media_tracks(in->media);
    return enter_track(in);
}

void input_close(struct job_input *in)
{
    if (in->media) steno_media_close(in->media);
    in->media = NULL;
}

void input_done(struct job_input *in, int ok)
{
    struct job *j = in->job;
    input_close(in);
    in->is_ok = ok;
    j->n_done++;
    j->n_ok += ok;
    j->n_empty += ok && !in->has_text;
    j->n_refused += in->is_refused;
    j->n_lost += in->lost != 0;
    if (!j->stop) j->stop = in->stop;
    const int code = j->events.done ? j->events.done(j->events.user, in) : 0;
    if (!j->stop) j->stop = code;
    in->index = -1;
}
