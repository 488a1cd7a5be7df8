/* steno: clips from voice activity, and the options for it. SPDX-License-Identifier: MIT */
#include "options/vad_opts.h"
#include "cli/option_names.h"
#include "models/default_model.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int vad_is_within(const steno_model *m)
{
    return option_served(m, "vad_model");
}

static void params_fill(struct vad *v, const struct engine_opts *eo, int vad_within)
{
    const struct vad_opts *o = v->o;
    steno_vad_params *p = &v->params;
    steno_vad_params_init(p);
    p->threshold = o->threshold;
    p->max_end_silence_ms = o->min_silence_ms;
    if (!isnan(o->max_speech_s)) p->max_segment_ms = (int64_t)(o->max_speech_s * 1000);
    p->neg_threshold = o->neg_threshold;
    p->rules = o->rules;
    if (v->is_silero && option_was_given(eo->given, "vad-speech-pad-ms")) p->speech_pad_ms = o->pad_ms;
    if ((vad_within || v->is_silero) && option_was_given(eo->given, "vad-min-speech-ms")) p->min_speech_ms = o->min_speech_ms;
    if (vad_within && !isnan(o->merge_s)) p->merge_ms = (int64_t)(o->merge_s * 1000);
}

static int64_t read_nothing(void *user, float *pcm, int64_t n)
{
    (void)user;
    (void)pcm;
    (void)n;
    return 0;
}

/* Let the library check model and options with empty audio. */
static int try_params(struct vad *v, const struct engine_opts *eo)
{
    char reason[OPTION_TEXT_SZ];
    const steno_source nothing = { .read = read_nothing };
    const int rc = steno_find_speech(v->session, &nothing, &v->params);
    if (rc != STENO_EARG) return rc == STENO_OK ? EXIT_OK : message_model_error(NULL, rc, steno_last_error(v->session));
    return message_usage("--vad-model: %s", option_reason(reason, eo->given, steno_last_error(v->session)));
}

/* Check for options that other detectors do not have. */
static int check_own(const struct engine_opts *eo)
{
    static const char *const own[] = { "vad-neg-threshold", "vad-rules" };
    char name[OPTION_TEXT_SZ];
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (option_was_given(eo->given, own[i]))
            return message_usage("%s is for Silero VAD: it needs --vad silero", option_name(name, eo->given, own[i]));
    return EXIT_OK;
}

/* Without a model these options have no effect. @return EXIT_OK if none was given */
static int check_none_given(const struct engine_opts *eo, const char *need)
{
    static const char *const about[] = { "vad-model", "vad-threshold", "vad-neg-threshold", "vad-min-speech-ms",
                                         "vad-min-silence-ms", "vad-speech-pad-ms", "vad-rules", "vad-join",
                                         "vad-max-speech-s", "vad-merge-s" };
    char name[OPTION_TEXT_SZ];
    for (size_t i = 0; i < sizeof about / sizeof *about; i++)
        if (option_was_given(eo->given, about[i])) return message_usage("%s needs %s", option_name(name, eo->given, about[i]), need);
    return EXIT_OK;
}

/* Check for options that have no effect with this model, or without voice activity. */
static int check_given(const struct vad_opts *o, const struct engine_opts *eo, int vad_within, int is_stream)
{
    const int none = !vad_within || (is_stream && !o->model) || option_was_given(eo->given, "vad");
    const int off = o->none || (o->kind == VAD_OFF && none);
    const int unused = off ? check_none_given(eo, "--vad fsmn or silero") : EXIT_OK;
    if (unused != EXIT_OK) return unused;
    if (vad_within && o->kind != VAD_SILERO && !o->model) {
        if (option_was_given(eo->given, "vad-speech-pad-ms"))
            return message_usage("--vad-speech-pad-ms is for Whisper and Silero VAD: spans of FSMN-VAD have margins already");
        const int code = check_own(eo);
        if (code != EXIT_OK) return code;
    }
    if (vad_within && o->join)
        return message_usage("--vad-join is for Whisper: FunASR's recognisers read span by span");
    if (!o->join && option_was_given(eo->given, "vad-samples-overlap")) return message_usage("--vad-samples-overlap needs --vad-join");
    if (!vad_within && !isnan(o->merge_s))
        return message_usage("--vad-merge-s is for FunASR's recognisers; other models merge neighbouring spans by themselves: leave it "
                             "out");
    return EXIT_OK;
}

/* Find a model if none was named. *path is NULL if there is none */
static int find(char **path, const struct vad_opts *o, const struct engine *e, const struct engine_opts *eo)
{
    const int is_silero = o->kind == VAD_SILERO;
    *path = is_silero ? vad_find_silero(e->path) : vad_find(e->path);
    if (!*path && errno == ENOMEM) {
        message("out of memory while looking for a voice-activity model");
        return EXIT_MEMORY;
    }
    if (!*path && is_silero)
        return message_usage("--vad silero needs --vad-model FILE, such as ggml-silero-v6.2.0.bin; none was found beside the model or in "
                             "the caches (\"steno doctor\" names them). \"steno models pull silero\" gets it");
    if (!*path && o->kind != VAD_OFF)
        return message_usage("--vad fsmn needs --vad-model FOLDER, such as FunASR's FSMN-VAD; none was found beside the model or in the "
                             "caches (\"steno doctor\" names them). \"steno models pull fsmn-vad\" gets it");
    if (*path && !eo->quiet)
        message("voice activity: %s (found automatically; --vad-model selects another, --no-vad turns it off)", *path);
    return EXIT_OK;
}

/* Is it the requested kind of model, and does it have the requested options? */
static int check_kind(struct vad *v, const struct engine_opts *eo, int vad_within)
{
    static const char *const name[] = { "off", "silero", "fsmn" };
    steno_model_info info = { .size = sizeof info };
    steno_model_info_get(v->model, &info);
    v->is_silero = strncmp(info.family, name[VAD_SILERO], strlen(name[VAD_SILERO])) == 0;
    const int requested = v->o->kind, is = v->is_silero ? VAD_SILERO : VAD_FSMN;
    if (requested != VAD_OFF && requested != is)
        return message_usage("--vad %s, but --vad-model is a %s model: use --vad %s", name[requested], info.family, name[is]);
    if (vad_within && !v->is_silero && v->o->pad_ms && option_was_given(eo->given, "vad-speech-pad-ms"))
        return message_usage("--vad-speech-pad-ms is for Whisper and Silero VAD: spans of FSMN-VAD have margins already");
    return v->is_silero ? EXIT_OK : check_own(eo);
}

static int open_model(struct vad *v, const char *path, const struct engine *e, const struct engine_opts *eo, int vad_within)
{
    steno_model_params p;
    struct model_found at = { 0 };
    const struct model_choice choice = { .name = path, .quiet = 1 };
    int code = engine_model_params(&p, eo);
    p.team = e->team;
    p.compute = STENO_COMPUTE_AUTO; /* --compute, --alignment-heads, --verify, --gelu and --decoder-type apply to the recogniser */
    p.verify = p.gelu = p.decoder_type = 0;
    p.alignment_heads = NULL;
    if (vad_within && !eo->cmvn_apart) p.no_cmvn = 0;
    if (code == EXIT_OK) code = models_open(&v->model, &at, &choice, &p);
    if (code == EXIT_OK) code = engine_enter(eo->path_guard, "a file of the voice-activity model", v->model);
    if (code == EXIT_OK) code = check_kind(v, eo, vad_within);
    if (code == EXIT_OK) {
        params_fill(v, eo, vad_within);
        steno_error err = { 0 };
        const int rc = steno_session_open(&v->session, v->model, e->team, NULL, &err);
        code = rc == STENO_OK ? try_params(v, eo) : message_model_error(NULL, rc, err.text);
    }
    free(at.path);
    free(at.vocab);
    return code;
}

int vad_open(struct vad *v, const struct vad_opts *o, const struct engine *e, const struct engine_opts *eo, int may_find)
{
    const int vad_within = vad_is_within(e->model);
    const int is_stream = option_served(e->model, "lookahead"); /* it needs no clips: spans are for those who ask for them */
    const int unasked = vad_within && !is_stream && may_find && !option_was_given(eo->given, "vad");
    char *found = NULL;
    memset(v, 0, sizeof *v);
    v->o = o;
    int code = check_given(o, eo, vad_within, is_stream);
    if (code != EXIT_OK || o->none || (o->kind == VAD_OFF && !unasked && !(vad_within && o->model))) return code;
    if (!o->model) code = find(&found, o, e, eo);
    if (code == EXIT_OK && !o->model && !found)
        code = check_none_given(eo, "a voice-activity model, and none was found beside the model or in the caches (\"steno doctor\" names "
                                    "them): --vad-model names one, and \"steno models pull fsmn-vad\" gets one");
    if (code == EXIT_OK && (o->model || found)) code = open_model(v, o->model ? o->model : found, e, eo, vad_within);
    free(found);
    if (code != EXIT_OK) vad_close(v);
    if (!vad_within) return code;
    steno_session_close(v->session);
    v->session = NULL;
    return code;
}

void vad_close(struct vad *v)
{
    steno_session_close(v->session);
    steno_model_close(v->model);
    memset(v, 0, sizeof *v);
}

void vad_rules(struct speech_rules *r, const struct vad *v, int64_t begin_ms, int64_t duration_ms)
{
    memset(r, 0, sizeof *r);
    if (!v->session) return;
    r->params = v->params;
    r->session = v->session;
    r->min_speech_ms = v->is_silero ? 0 : v->o->min_speech_ms;
    r->pad_ms = v->is_silero ? 0 : v->o->pad_ms;
    r->begin_ms = begin_ms;
    r->duration_ms = duration_ms;
    r->join = v->o->join;
    r->overlap_ms = (int64_t)(v->o->overlap_s * 1000 + 0.5);
}
