/* steno: the options of a transcription as parameters of the library and of the job. SPDX-License-Identifier: MIT
 *
 * Shared by transcribe, translate, batch and serve, so that a result has the same text in all of them. */
#include "cli/message.h"
#include "cli/option_names.h"
#include "input/sound.h"
#include "verbs/transcribe.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int has_token_times(const steno_model *m)
{
    return option_served(m, "token_timestamps");
}

/* 1: the model's file asks for digits and punctuation; 2: the model writes them unless --no-itn is given. */
static int asks_itn(const steno_model *m)
{
    steno_model_info i = { .size = sizeof i };
    return steno_model_info_get(m, &i) == STENO_OK ? i.itn : 0;
}

/* Callback before a window: do not decode it. */
static int no_window(void *user, int64_t at_ms)
{
    (void)user, (void)at_ms;
    return 0;
}

/* A placeholder that makes the check see a callback for rows; the job sets its own. */
static void no_rows(void *user, const steno_rows *r)
{
    (void)user, (void)r;
}

/* ---- options ----------------------------------------------------------------------------------------------------------------- */

int transcription_channels(struct transcribe_opts *o)
{
    char *end;
    if (strcmp(o->channels, "mix") == 0) o->channel = JOB_MIX;
    else if (strcmp(o->channels, "split") == 0) o->channel = JOB_SPLIT;
    else {
        const long n = strtol(o->channels, &end, 10);
        if (*end || n < 0 || n > 1000 || o->channels[0] < '0')
            return message_usage("--channels: \"%s\" is not mix, split or the number of a channel, from 0", o->channels);
        o->channel = (int)n;
    }
    if (o->diarize && o->channel != JOB_MIX)
        return message_usage("--diarize transcribes the mix: it and --channels %s exclude each other", o->channels);
    return EXIT_OK;
}

int transcription_track(struct transcribe_opts *o)
{
    char *end;
    const long n = strtol(o->audio_track, &end, 10);
    if (strcmp(o->audio_track, "auto") == 0) o->track = JOB_ANY_TRACK;
    else if (strcmp(o->audio_track, "all") == 0) o->track = JOB_ALL_TRACKS;
    else if (*end || n < 1 || n > 1000 || o->audio_track[0] < '0')
        return message_usage("--audio-track: \"%s\" is not auto, all or the number of a track, from 1", o->audio_track);
    else o->track = (int)n;
    return EXIT_OK;
}

int transcription_params(struct transcription *t, const steno_model *m)
{
    const struct transcribe_opts *o = t->o;
    steno_transcribe_params *p = &t->job.params;
    steno_transcribe_params_init(p);
    p->task = o->task;
    p->language = strcasecmp(o->language, "auto") == 0 ? NULL : o->language;
    p->verify_margin = o->verify_margin;
    const int vad_within = m && vad_is_within(m);
    if (o->vad.kind != VAD_OFF && !vad_within && !o->vad.join) p->independent_clips = !o->decode.condition;
    else {
        p->offset_ms = o->offset_ms;
        p->duration_ms = o->duration_ms;
    }
    const int code = decode_opts_fill(p, &t->data, &o->decode, m);
    subtitle_opts_params(p, &o->subtitles, t->results->files.naming.formats, m);
    const int as_file_asks = o->as && o->as->as_file_asks;
    const int wants_tags = as_file_asks || t->results->files.naming.formats >> WRITER_FUNASR & 1;
    const int needs_none = t->punctuation.session && !p->word_timestamps; /* in this case FunASR drops the tags */
    if (m && wants_tags && !needs_none && !o->decode.rich_text && option_served(m, "tags")) p->tags = STENO_TAGS_KEEP;
    if (m && (as_file_asks || (asks_itn(m) == 2 && !option_was_given(o->engine.given, "itn")))) p->itn = asks_itn(m) != 0;
    if (o->aligner.model) p->word_timestamps = 0; /* the aligner finds them */
    if (o->dump) p->on_rows = no_rows;
    if (o->as && o->as->language_only) p->on_window = no_window;
    if (o->diarize && m && has_token_times(m)) p->token_timestamps = 1; /* needed to cut segments between speakers */
    struct args_given given = *o->engine.given;
    option_forget(&given, "vad-model");
    if (!m && !o->engine.draft) { /* the model may draft by itself */
        option_forget(&given, "draft-max");
        p->draft_max = -1;
    }
    if (o->aligner.model) option_forget(&given, "word-timestamps");
    if (m && !option_served(m, "on_resume_point")) option_forget(&given, "resume"); /* inputs that are not finished start again */
    if (vad_within) {
        option_forget(&given, "vad"); /* "vad" is another field in the library's calls */
        if (!option_was_given(&given, "condition-on-previous-text")) p->condition_on_previous_text = 1;
    }
    if (m && !option_served(m, "condition_on_previous_text") && !option_was_given(&given, "condition-on-previous-text"))
        p->condition_on_previous_text = 1; /* the default, so that the check accepts it */
    p->vad_model = vad_within ? t->vad.model : NULL;
    p->vad = p->vad_model ? &t->vad.params : NULL;
    if (!p->token_timestamps) option_forget(&given, "max-len"); /* the word times are used instead */
    return code == EXIT_OK ? option_check(&given, m, STENO_CALL_TRANSCRIBE, p) : code;
}

void transcription_job(struct transcription *t)
{
    const struct transcribe_opts *o = t->o;
    t->job.model = t->engine.model;
    t->job.aligner = t->aligner.session;
    t->job.punctuation = t->punctuation.session;
    if (!t->job.params.vad_model) vad_rules(&t->job.speech, &t->vad, o->offset_ms, o->duration_ms);
    sound_params(&t->job.media);
    t->job.media.unclocked = o->as != NULL; /* other programs count times from the first sample */
    t->url_most = o->url_limit * 1000000;
    if (o->url_limit) t->job.media.user = &t->url_most;
    t->job.media.live = option_reads_chunks(t->engine.model) && !t->aligner.session; /* print text while the pipe is still open */
    t->job.channel = o->channel;
    t->job.track = o->track;
    t->job.diarize = o->diarize;
    t->job.uncut = o->as && o->as->uncut;
    t->job.parts = o->as ? o->as->parts : 0;
    t->job.max_len = (int32_t)o->subtitles.max_len;
    t->job.by_words = o->subtitles.split_on_word;
}

/* Tags, rich text and --itn come from the recogniser, and a punctuation model could destroy them. So a model is then used only for
 * recognisers whose text never has punctuation. */
enum punctuation_find transcription_punctuation(const struct transcribe_opts *o)
{
    if (o->as) return PUNCTUATION_FOR_NONE;
    return o->decode.itn || o->decode.keep_tags || o->decode.rich_text ? PUNCTUATION_FOR_ITN : PUNCTUATION_FOR_SPOKEN;
}
