/* steno: what transcribe and translate show and write of their job. SPDX-License-Identifier: MIT */
#include "verbs/transcribe.h"
#include "cli/message.h"
#include "cli/option_names.h"
#include "cli/signals.h"
#include "digest.h"
#include "input/sound.h"
#include "verbs/opt_rules.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- progress of a run ------------------------------------------------------------------------------------------------------- */

static void show_segment(FILE *f, struct transcription *t, const struct job_input *in, int styled, const steno_segment *seg)
{
    const int32_t who = t->o->diarize ? diarize_speaker(&in->diarize, seg->t0_ms, seg->t1_ms) : DIARIZE_UNKNOWN;
    t->console.session = in->session;
    t->console.speaker = t->o->diarize ? &who : NULL;
    console_text(f, &t->console, styled, seg);
    t->console.speaker = NULL;
    fputc('\n', f);
}

static int on_segment(void *user, const struct job_input *in, const steno_segment *seg)
{
    struct transcription *t = user;
    const struct transcribe_as *as = t->o->as;
    const int text_follows = results_stream_text(t->results);
    message_bar(NULL);
    if (as && as->segment) {
        const int32_t who = t->o->diarize ? diarize_speaker(&in->diarize, seg->t0_ms, seg->t1_ms) : DIARIZE_UNKNOWN;
        as->segment(as->user, in->session, seg, t->o->diarize ? &who : NULL);
        return in->stop ? EXIT_OK : message_flush();
    }
    if (t->o->engine.verbose) {
        fputc('[', stderr);
        print_time(stderr, seg->t0_ms);
        fputs(" --> ", stderr);
        print_time(stderr, seg->t1_ms);
        fputs("] ", stderr);
        if (!text_follows || !t->streams_meet) show_segment(stderr, t, in, t->style_err, seg);
    }
    if (!text_follows) return EXIT_OK;
    struct sink to = sink_to_stream(stdout);
    results_head(t->results, &to, in->file, in->index);
    show_segment(stdout, t, in, t->style_out, seg);
    return in->stop ? EXIT_OK : message_flush();
}

/* " candidates -0.41 (-0.35) -0.52": the ranking scores; the chosen candidate is in parentheses. */
static void candidates_text(char *out, size_t n, const steno_attempt *a)
{
    size_t at = 0;
    out[0] = '\0';
    for (int i = 0; i < a->n_candidates && a->n_candidates > 1 && at + 32 < n; i++) {
        const int chosen = i == a->chosen;
        at += (size_t)snprintf(out + at, n - at, "%s %s%.2f%s", i ? "" : ", candidates", chosen ? "(" : "", a->score[i], chosen ? ")" : "");
    }
}

static void on_attempt(void *user, const struct job_input *in, const steno_attempt *a)
{
    const struct transcription *t = user;
    const char *name = sound_name(in->file);
    char candidates[400];
    if (t->o->as && t->o->as->attempt) t->o->as->attempt(t->o->as->user, in, a);
    if (a->kept && (a->flags & STENO_FLAG_UNFINISHED) && !t->o->engine.quiet)
        message("%s: window at %.2f s: no text, since no sentence of the grammar could be finished (are tokens that it needs suppressed?)",
                name, (double)a->at_ms / 1000);
    if (!t->o->engine.verbose || (a->kept && !a->index && a->n_candidates < 2)) return;
    candidates_text(candidates, sizeof candidates, a);
    message("%s: window at %.2f s, attempt %d at temperature %g: mean log-probability %.2f, compression ratio %.2f, entropy %.2f, "
            "no speech %.2f%s, %s, %s, %s, seek delta %d ms: %s", name, (double)a->at_ms / 1000, (int)a->index + 1, a->temperature,
            a->avg_logprob, a->compression_ratio, a->entropy, a->no_speech_prob, candidates, a->failed ? "failed" : "not failed",
            a->completed ? "completed" : "not completed", a->has_ts ? "with timestamps" : "without timestamps", (int)a->seek_delta_ms,
            a->kept ? "kept" : "again");
}

static void on_rows(void *user, const struct job_input *in, const steno_rows *r)
{
    dump_add(&((struct transcription *)user)->dump, in->slot, r);
}

static void on_reading(void *user, const struct job_input *in, int64_t read_ms, int64_t total_ms, int at_end)
{
    static const char *const doing[] = { "finding speakers", "finding speech", "listening" }; /* indexed by enum job_reading */
    struct progress *p = &((struct transcription *)user)->shown[in->slot].progress;
    if (at_end && in->reading == JOB_READS_TEXT) progress_read_all(p, read_ms);
    else progress_reading(p, doing[in->reading], read_ms, total_ms);
}

static void on_samples(void *user, const struct job_input *in, const float *pcm, int64_t at, int64_t n)
{
    const struct transcribe_as *as = ((struct transcription *)user)->o->as;
    if (as && as->samples) as->samples(as->user, in, pcm, at, n);
}

static void on_progress(void *user, const struct job_input *in, int64_t done_ms, int64_t total_ms)
{
    struct transcription *t = user;
    if (t->resume.slot) t->resume.slot[in->slot].at_ms = done_ms;
    progress_update(&t->shown[in->slot].progress, done_ms, total_ms);
}

void transcription_on_busy(void *user, int on)
{
    (void)user;
    signals_defer(on);
}

void transcription_on_watch(void *user, const struct job_input *in, steno_session *s, steno_media *m)
{
    (void)user, (void)in;
    signals_watch(s, m);
}

/* ---- results ----------------------------------------------------------------------------------------------------------------- */

/* The mark that file names of this result get: track, channel or task. Empty if the input has a single result (task NULL). */
static void mark_text(char mark[OUT_MARK_SZ], const struct transcription *t, const struct job_input *in, const char *task)
{
    const int has_channel = t->o->channel == JOB_SPLIT && in->channel != JOB_MIX;
    out_mark_text(mark, t->o->track == JOB_ALL_TRACKS && in->track > 0 ? in->track : 0, has_channel ? in->channel : -1, task);
}

/* Time spent on the current input, in this run and in the earlier runs that it continues. */
static int64_t spent_us(const struct transcription *t, const struct job_input *in)
{
    const int64_t begun = t->shown[in->slot].begun_us;
    return begun ? progress_now_us() - begun + resume_spent(&t->resume, in) : WRITE_TIME_UNKNOWN;
}

struct of_input { struct resume *resume; const struct job_input *in; };

static int make_room(void *user)
{
    const struct of_input *of = user;
    return resume_make_room(of->resume, of->in);
}

static void wrote(void *user, const char *path, int format, const struct stamp_bytes *bytes)
{
    const struct of_input *of = user;
    resume_wrote(of->resume, of->in, path, format, bytes);
}

/* Write the transcript in every format. A failed input gets an error line in the formats that have one. */
static int write_results(struct transcription *t, const struct job_input *in, struct transcript *what, const char *error, const char *task)
{
    const unsigned mask = error ? 1u << WRITER_JSONL : ~0u;
    char sha256[SHA_HEX_SZ], mark[OUT_MARK_SZ];
    struct transcript_source source = { .input = sound_shown(in->file), .model = t->engine.path, .error = error, .options = t->options,
                                        .opts = t->o };
    source.spent_us = spent_us(t, in);
    struct results *r = t->results;
    if (!(r->files.naming.formats & mask)) return EXIT_OK;
    if (r->files.naming.formats >> WRITER_JSONL & 1 && sha256_file(sha256, in->file, signals_stop, NULL) == 0) source.sha256 = sha256;
    if (signals_pending()) return EXIT_SIGNAL + signals_pending(); /* the run is being stopped: do not print a line for this file */
    what->index_offset = (int32_t)t->o->offset_n;
    what->layout = &t->layout;
    what->token_logprobs = t->o->token_logprobs;
    what->source = &source;
    mark_text(mark, t, in, task);
    r->files.naming.mark = mark[0] ? mark : NULL;
    r->files.naming.index = t->place ? t->place[in->index] : in->index;
    r->out = t->held.text && !r->files.naming.dir ? &t->shown[in->slot].sink : NULL;
    struct of_input of = { &t->resume, in };
    r->wrote = error ? NULL : wrote;
    r->make_room = make_room;
    r->user = &of;
    const int code = results_write(r, in->file, what, mask);
    r->make_room = NULL;
    r->wrote = NULL;
    r->files.naming.mark = NULL;
    return code;
}

/* A result that lacks text gets a note about it. */
static void report_left_out(const struct transcription *t, const struct job_input *in, const struct transcript *what)
{
    int64_t ms = 0;
    for (int i = 0; i < what->n_left_out; i++) ms += what->left_out[i].t1_ms - what->left_out[i].t0_ms;
    if (!what->n_left_out || t->o->engine.quiet) return;
    const int is_one = what->n_left_out == 1;
    message("%s: %d %s (%.1f s) left out, since no speech was found there (listed in JSON; --guards off writes %s)",
            sound_name(in->file), what->n_left_out, is_one ? "text" : "texts", (double)ms / 1000, is_one ? "it" : "them");
}

/* Print the notes on a result. With two texts of one sound, notes on the sound are printed once. Notes on one part of a sound are not
 * printed, because they are not notes on the sound. */
static void show_notes(const struct transcription *t, const struct job_input *in, const struct transcript *what)
{
    struct notes some = { .n = 0 };
    const struct transcribe_as *as = t->o->as;
    const int again = t->o->task == STENO_TRANSCRIBE_AND_TRANSLATE && what->task == STENO_TRANSLATE;
    if ((t->o->engine.quiet && !(as && as->notes)) || !what->notes || in->parts.n > 1) return;
    for (int i = 0; i < what->notes->n; i++)
        if (!again || !note_is_of_sound(what->notes->note[i].kind)) some.note[some.n++] = what->notes->note[i];
    sound_notes(in->file, &some);
}

static int on_output(void *user, const struct job_input *in, struct transcript *what)
{
    struct transcription *t = user;
    report_left_out(t, in, what);
    const char *task = NULL;
    if (t->o->task == STENO_TRANSCRIBE_AND_TRANSLATE) task = what->task == STENO_TRANSLATE ? "translation" : "transcript";
    if (task && !t->results->files.naming.dir && !t->o->engine.quiet) message("%s: %s", sound_name(in->file), task);
    show_notes(t, in, what);
    const struct transcribe_as *as = t->o->as;
    if (as) what->notes = NULL; /* files and standard output have the other program's bytes */
    if (as && as->output) return as->output(as->user, in, what);
    if (as && as->before_writing) as->before_writing(as->user, what);
    char mark[OUT_MARK_SZ];
    mark_text(mark, t, in, NULL);
    int code = dump_write(&t->dump, in->slot, t->engine.model, in->file, mark,
                          in->channel == JOB_MIX && in->track <= 1 && !(task && what->task == STENO_TRANSLATE));
    char *post = NULL;
    if (code == EXIT_OK && t->post.model && *what->text) code = post_make(&post, &t->post, what->text, signals_stop);
    what->post = post;
    int32_t *speakers = NULL;
    if (code == EXIT_OK) code = subtitle_opts_channel(&speakers, what, &t->o->subtitles, in->channel == JOB_MIX ? -1 : in->channel);
    if (code == EXIT_OK) code = write_results(t, in, what, NULL, task);
    if (speakers) what->speakers = NULL;
    free(speakers);
    what->post = NULL;
    free(post);
    return code;
}

static int on_output_failed(void *user, const struct job_input *in, int status, const char *reason)
{
    (void)user, (void)in;
    return message_model_error(NULL, status, reason);
}

/* ---- one input --------------------------------------------------------------------------------------------------------------- */

static void on_begin(void *user, const struct job_input *in)
{
    struct transcription *t = user;
    const int split = t->o->channel == JOB_SPLIT, n = split ? in->n_channels : 1;
    const int tracks = t->o->track == JOB_ALL_TRACKS ? in->n_tracks : 1;
    const int parts = in->job->parts > 1 ? in->job->parts : 1;
    const int at = ((tracks > 1 ? in->track - 1 : 0) * n + (split ? in->channel : 0)) * parts + in->parts.at;
    const struct transcribe_as *as = t->o->as;
    if (as && as->begin) as->begin(as->user, in);
    dump_begin(&t->dump, in->slot);
    if (tracks > 1 && (!split || !in->channel) && !t->results->files.naming.dir && !t->o->engine.quiet)
        message("%s: audio track %d, the last is %d", sound_name(in->file), in->track, in->n_tracks);
    if (split && !t->results->files.naming.dir && !t->o->engine.quiet)
        message("%s: channel %d, the last is %d", sound_name(in->file), in->channel, in->n_channels - 1);
    t->shown[in->slot].begun_us = progress_now_us();
    progress_begin(&t->shown[in->slot].progress, t->bar, in->file, at, tracks * n * parts);
}

static const void *on_resume(void *user, const struct job_input *in, size_t *n)
{
    struct transcription *t = user;
    return resume_data(&t->resume, in, n);
}

static void on_point(void *user, const struct job_input *in, const void *data, size_t n)
{
    struct transcription *t = user;
    resume_point(&t->resume, in, data, n, progress_now_us() - t->shown[in->slot].begun_us);
}

static void on_let_go(void *user, const struct job_input *in)
{
    struct transcription *t = user;
    progress_end(&t->shown[in->slot].progress);
}

/* Report an input that failed. The run continues with the next input unless that cannot succeed either. */
static int report_failed(struct transcription *t, const struct job_input *in, const struct job_end *e)
{
    char reported[OPTION_TEXT_SZ], refused[160];
    struct transcript nothing = { .text = "", .language = "unknown", .first_timestamp = t->console.first_timestamp, .duration_ms = -1,
                                  .task = t->o->task, .model = t->engine.model };
    const char *reason = e->reason[0] ? e->reason : steno_status_text(e->status);
    const int is_other = e->status == STENO_EARG && in->params.n_resume > 0; /* the kept data does not fit this run: remove it */
    resume_failed(&t->resume, in, is_other);
    if (in->is_refused && t->o->diarize)
        snprintf(refused, sizeof refused, "--diarize needs two channels, with a speaker on each, and this has %d", in->n_channels);
    else if (in->is_refused)
        snprintf(refused, sizeof refused, "--channels %d: the last channel is %d", t->o->channel, in->n_channels - 1);
    if (in->is_refused) reason = refused;
    if (e->status == STENO_EARG) reason = option_reason(reported, t->o->engine.given, reason);
    if (is_other) reason = "its journal cannot be continued, and is deleted; the same command starts it again";
    reason = sound_reason(in->file, reason);
    message_file(sound_name(in->file), reason);
    const int code = write_results(t, in, &nothing, reason, NULL);
    if (e->status == STENO_EARG && !is_other) return EXIT_USAGE;
    if (e->status == STENO_ENOMEM) return EXIT_MEMORY;
    return code == EXIT_OK && e->status == STENO_EFORMAT && e->of_model ? EXIT_MODEL : code;
}

static int on_end(void *user, const struct job_input *in, const struct job_end *e)
{
    struct transcription *t = user;
    const char *name = sound_name(in->file);
    if (e->status != STENO_OK) return report_failed(t, in, e);
    if (e->lost) sound_lost(in->media, in->file);
    if (!t->o->engine.quiet) past_end_report(name, in->audio_ms, t->o->offset_ms, t->data.clips, t->data.n_clips);
    if (t->o->engine.verbose && t->job.params.vad_model)
        message("%s: speech in %d segments", name, steno_span_count(in->session));
    if (t->o->engine.verbose && t->vad.session) message("%s: speech in %lld clips", name, (long long)in->n_clips);
    if (t->o->engine.verbose && !in->is_silent) message("%s: language %s", name, steno_language(in->session));
    return EXIT_OK;
}

/* Print the held texts that are next in input order. */
static int report_held(struct held *h)
{
    for (; h->reported < h->n && h->done[h->reported]; h->reported++) {
        if (h->text[h->reported]) fwrite(h->text[h->reported], 1, h->size[h->reported], stdout);
        free(h->text[h->reported]);
        h->text[h->reported] = NULL;
    }
    return message_flush();
}

static int on_done(void *user, const struct job_input *in)
{
    struct transcription *t = user;
    struct shown *s = &t->shown[in->slot];
    struct held *h = &t->held;
    int code = EXIT_OK;
    if (h->text) {
        if (!t->results->files.naming.dir && s->sink.failed) {
            code = EXIT_MEMORY;
            if (!in->job->stop) message("out of memory for the text of %s", sound_name(in->file));
            free(s->text.p);
            s->text = (struct sink_memory){ 0 };
        }
        h->text[in->index] = s->text.p;
        h->size[in->index] = s->text.n;
        h->done[in->index] = 1;
        s->text = (struct sink_memory){ 0 };
        s->sink = sink_to_memory(&s->text);
    }
    s->begun_us = 0;
    if (!in->is_ok) resume_failed(&t->resume, in, 0);
    if (in->is_ok || !signals_pending()) resume_done(&t->resume, in); /* also if a signal came after its results were written */
    progress_bar_done(t->bar, t->n_before + t->job.n_done);
    const int reported = h->text ? report_held(h) : EXIT_OK;
    return code == EXIT_OK ? reported : code;
}

void transcription_watch(struct transcription *t)
{
    t->job.events = (struct job_events){ .user = t, .stop = signals_stop, .busy = transcription_on_busy, .begin = on_begin,
                                       .watch = transcription_on_watch, .reading = on_reading, .samples = on_samples,
                                       .progress = on_progress, .segment = on_segment, .attempt = on_attempt, .rows = on_rows,
                                       .let_go = on_let_go, .end = on_end, .output = on_output,
                                       .output_failed = on_output_failed, .done = on_done };
    if (!t->resume.slot || !option_served(t->engine.model, "on_resume_point")) return;
    t->job.events.resume = on_resume;
    t->job.events.point = on_point;
}

/* ---- the run ----------------------------------------------------------------------------------------------------------------- */

int transcription_code(const struct transcription *t, int n)
{
    const struct job *j = &t->job;
    if (signals_pending()) return EXIT_SIGNAL + signals_pending();
    if (j->stop != EXIT_OK) return j->stop;
    if (j->n_ok == n) return t->o->strict && j->n_lost > 0 ? EXIT_SOME : EXIT_OK;
    return j->n_ok > 0 ? EXIT_SOME : j->n_refused == n ? EXIT_USAGE : EXIT_INPUT;
}

int transcription_run(struct transcription *t, char **files, int n)
{
    struct shown shown = { 0 };
    t->shown = &shown;
    transcription_watch(t);
    job_run(&t->job, t->engine.session, files, n);
    t->shown = NULL;
    return transcription_code(t, n);
}
