/* steno: results of an input. SPDX-License-Identifier: MIT */
#include "input.h"
#include "reshape.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int speaker_between(const void *user, int64_t t0_ms, int64_t t1_ms)
{
    return diarize_speaker(user, t0_ms, t1_ms);
}

/* Finds the speaker of each segment. @return a status */
static int get_speakers(struct transcript *t, struct transcript_store *store, const struct job_input *in)
{
    const int n = steno_segment_count(in->session);
    if (!in->job->diarize) return STENO_OK;
    store->speakers = calloc((size_t)n + 1, sizeof *store->speakers);
    if (!store->speakers) return STENO_ENOMEM;
    for (int i = 0; i < n; i++) {
        steno_segment seg = { .size = sizeof seg };
        steno_segment_get(in->session, i, &seg);
        store->speakers[i] = diarize_speaker(&in->diarize, seg.t0_ms, seg.t1_ms);
    }
    t->speakers = store->speakers;
    return STENO_OK;
}

/* Copies the transcript from the session, and splits segments as requested. @return a status */
static int take(struct transcript *t, struct transcript_store *store, const struct job_input *in)
{
    const struct job *j = in->job;
    const struct reshape_rules rules = { .max_len = j->max_len, .by_words = j->by_words,
                                         .speaker = j->diarize && !j->uncut ? speaker_between : NULL, .user = &in->diarize };
    if (get_speakers(t, store, in) || transcript_take(t, store, in->session)) return STENO_ENOMEM;
    if ((rules.max_len || rules.speaker) && reshape(t, store, &rules)) return STENO_ENOMEM;
    if (in->join.n && !in->parts.n) join_transcript(&in->join, t, store);
    if (in->join.n) t->duration_ms = in->audio_ms;
    return STENO_OK;
}

int input_stops(const struct job_input *in)
{
    return in->stop || (in->job->events.stop && in->job->events.stop(in->job->events.user));
}

static int should_abort(void *user)
{
    return input_stops(user);
}

steno_media_state input_sound(const struct job_input *in)
{
    steno_media_state s = { .size = sizeof s };
    if (in->words.sound.size) return in->words.sound;
    return steno_media_state_get(in->media, &s) == STENO_OK ? s : (steno_media_state){ .size = sizeof s };
}

int input_needs_words(const struct job_input *in)
{
    return in->job->aligner && in->job->params.task == STENO_TRANSCRIBE && steno_segment_count(in->session) > 0;
}

enum { NOT_SET = 1 /* no status */ };

/* Prepares the alignment of the session's result with the audio that it was made of. @return 0: its audio cannot be read again */
static int words_begin(struct job_input *in)
{
    struct input_words *w = &in->words;
    *w = (struct input_words){ .src = input_source(in), .done = 1, .sound = input_sound(in) };
    steno_transcribe_params_init(&w->params);
    w->params.user = in;
    w->params.should_abort = should_abort;
    if (!input_detects(&in->params)) w->params.language = in->params.language;
    w->item = (steno_align_item){ .size = sizeof w->item, .status = NOT_SET, .of = in->session, .src = &w->src, .params = &w->params,
                                  .error = &w->error };
    in->reading = JOB_READS_WORDS;
    if (w->src.rewind && w->src.rewind(w->src.user) >= 0) return 1;
    w->item.status = STENO_ESOURCE;
    return 0;
}

void input_align(struct job_input *const *in, steno_align_item **at, int n)
{
    steno_session *s = in[0]->job->aligner;
    int n_ready = 0;
    for (int i = 0; i < n; i++)
        if (words_begin(in[i])) at[n_ready++] = &in[i]->words.item;
    const int rc = n_ready ? steno_align_results(s, at, n_ready) : STENO_OK;
    for (int i = 0; i < n_ready; i++) { /* the call may fail as a whole */
        if (at[i]->status != NOT_SET) continue;
        at[i]->status = rc;
        snprintf(at[i]->error->text, sizeof at[i]->error->text, "%s", steno_last_error(s));
    }
    for (int i = 0; i < n; i++) in[i]->reading = JOB_READS_TEXT;
}

/* Finds the times of the words, if that was not done together with others. @return a status */
static int align(struct job_input *in)
{
    steno_align_item *at[1];
    if (!steno_segment_count(in->session)) return STENO_OK;
    if (!in->words.done) input_align(&in, at, 1);
    in->words.done = 0;
    return in->words.item.status;
}

/* Adds punctuation to the session's result. @return a status */
static int punctuate(struct job_input *in)
{
    steno_punctuate_params p;
    steno_punctuate_params_init(&p);
    p.user = in;
    p.should_abort = should_abort;
    return steno_punctuate_result(in->job->punctuation, in->session, &p);
}

/* A transcript without content. */
static struct transcript empty(const struct job_input *in, int task)
{
    const struct job *j = in->job;
    return (struct transcript){ .text = "", .language = "unknown", .duration_ms = -1, .task = task,
                                .first_timestamp = steno_token_id(j->model, STENO_TOKEN_TIMESTAMP),
                                .word_times = j->params.word_timestamps || j->aligner,
                                .token_times = j->params.token_timestamps, .model = j->model };
}

/* Has it nothing but spaces and tags, such as <|nospeech|>? */
static int is_blank(const char *text)
{
    for (const char *end; text += strspn(text, " \n"), strncmp(text, "<|", 2) == 0 && (end = strstr(text, "|>")) != NULL;) text = end + 2;
    return !*text;
}

/* Notes a language that was detected and that the aligner does not know. */
static void note_aligner(struct notes *n, const struct job_input *in)
{
    steno_transcribe_params p;
    const char *language = steno_language(in->session);
    if (!in->job->aligner || !input_detects(&in->params) || !*language) return;
    steno_transcribe_params_init(&p);
    p.language = language;
    if (steno_align_result(in->job->aligner, NULL, NULL, &p) == STENO_EARG)
        notes_add(n, NOTE_DOUBTFUL, "the aligner was not trained on the language %s: times of words may be wrong", language);
}

/* Does all of what is transcribed lie past the end of the audio? */
static int is_past_end(const struct job_input *in)
{
    const steno_transcribe_params *p = &in->params;
    const int64_t ms = steno_duration_ms(in->session);
    if (ms <= 0 || in->job->speech.session || in->parts.n) return 0;
    if (!p->n_clip_timestamps) return p->offset_ms >= ms;
    for (int32_t i = 0; i < p->n_clip_timestamps; i += 2)
        if (p->clip_timestamps[i] * 1000 < (double)ms) return 0;
    return 1;
}

/* Adds notes on an empty or doubtful result. */
static void note(struct notes *n, const struct job_input *in, const struct transcript *t)
{
    const struct level *l = in->level.n > in->measured.n ? &in->level : &in->measured;
    *n = in->notes;
    if (!in->job->media.unclocked) findings_state(n, input_sound(in));
    findings_level(n, l);
    const int is_unseen_mix = in->channel == JOB_MIX && (in->job->media.unclocked || in->job->media.live);
    if (is_past_end(in)) findings_past_end(n, steno_duration_ms(in->session));
    else if (is_blank(t->text)) findings_no_speech(n, l, is_unseen_mix ? steno_media_channels(in->media) : 1);
    findings_text(n, in->job->model, in->session, &in->params);
    note_aligner(n, in);
}

/* Delivers the session's result. @return 0, or the value that ends the run */
static int put_result(struct job_input *in, int task)
{
    const struct job *j = in->job;
    const struct job_events *events = &j->events;
    steno_model_info info = { .size = sizeof info };
    struct transcript_store store = { 0 };
    struct transcript t = empty(in, task);
    char reason[200];
    t.lost = in->lost;
    t.punctuated = j->punctuation != NULL;
    int rc = j->aligner && task != STENO_TRANSLATE ? align(in) : STENO_OK;
    snprintf(reason, sizeof reason, "%.199s", rc == STENO_ESOURCE ? "its audio cannot be read again, which an aligner needs" :
             rc ? in->words.error.text : "");
    if (rc == STENO_OK && j->punctuation) {
        rc = punctuate(in);
        snprintf(reason, sizeof reason, "%s", rc ? steno_last_error(j->punctuation) : "");
    }
    if (rc == STENO_OK) {
        rc = take(&t, &store, in);
        snprintf(reason, sizeof reason, "out of memory for %d segments", steno_segment_count(in->session));
    }
    steno_model_info_get(j->model, &info);
    if (rc == STENO_OK && in->is_silent) {
        t.duration_ms = in->audio_ms;
        if (input_detects(&j->params) && info.is_multilingual) t.language = "unknown";
    }
    struct notes notes;
    if (rc == STENO_OK) {
        note(&notes, in, &t);
        t.notes = &notes;
    }
    int code = 0;
    if (rc == STENO_OK && !is_blank(t.text)) in->has_text = 1;
    if (rc == STENO_OK) code = events->output ? events->output(events->user, in, &t) : 0;
    else code = events->output_failed ? events->output_failed(events->user, in, rc, reason) : rc;
    transcript_free(&store);
    return code;
}

int input_results(struct job_input *in)
{
    static const int both[] = { STENO_TRANSCRIBE, STENO_TRANSLATE };
    const struct job_events *events = &in->job->events;
    const int task = in->job->params.task;
    if (task != STENO_TRANSCRIBE_AND_TRANSLATE) return put_result(in, task);
    int code = 0;
    for (int i = 0; i < 2 && !code; i++) {
        const int rc = steno_result_select(in->session, both[i]);
        if (rc == STENO_OK) code = put_result(in, both[i]);
        else code = events->output_failed ? events->output_failed(events->user, in, rc, steno_last_error(in->session)) : rc;
    }
    return code;
}
