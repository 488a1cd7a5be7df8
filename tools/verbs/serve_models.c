/* steno: the models of a server. SPDX-License-Identifier: MIT */
#include "verbs/serve_models.h"
#include "cli/message.h"
#include "models/default_model.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A name for requests: the path's last part without the ending of a file, or the name that was typed. @return malloc'd, or NULL */
static char *id_of(const char *typed, const char *path)
{
    struct stat st;
    const char *from = stat(typed, &st) == 0 ? path : typed;
    size_t n = strlen(from);
    while (n > 1 && from[n - 1] == '/') n--;
    size_t at = n;
    while (from == path && at > 0 && from[at - 1] != '/') at--;
    char *id = strndup(from + (from == path ? at : 0), n - (from == path ? at : 0));
    static const char *const ends[] = { ".bin", ".gguf", ".pt", ".safetensors", ".onnx" };
    for (size_t i = 0; id && i < sizeof ends / sizeof *ends; i++) {
        const size_t all = strlen(id), end = strlen(ends[i]);
        if (all > end && strcmp(id + all - end, ends[i]) == 0) id[all - end] = '\0';
    }
    return id;
}

/* Which model is used without -m. @return malloc'd path, or NULL after a message */
static char *best_path(struct transcribe_opts *o)
{
    struct engine e;
    struct transcribe_opts own = *o;
    own.engine.index_only = 1;
    if (engine_open(&e, &own.engine, 0) != EXIT_OK) return NULL;
    char *path = e.path ? strdup(e.path) : NULL;
    engine_close(&e);
    return path;
}

/* Names a model before it is opened. @return an exit code, after a message */
static int model_name(struct served *m, const char *typed)
{
    char *best = NULL;
    m->o.engine.model = typed;
    if (!typed && !m->o.engine.demo && !(best = best_path(&m->o))) return EXIT_MODEL;
    if (best) m->o.engine.model = typed = best;
    char *found = typed && !best ? models_find(typed) : NULL;
    m->path = best ? best : found ? found : typed ? strdup(typed) : NULL;
    m->id = typed ? id_of(typed, m->path ? m->path : typed) : strdup("demo");
    if (best) m->o.engine.model = m->path;
    if (m->id && (m->path || !typed)) return EXIT_OK;
    message("out of memory for the name of a model");
    return EXIT_MEMORY;
}

/* @return an exit code, after a message */
static int aligner_take(struct served_models *v, struct served *m)
{
    int code = EXIT_OK;
    if (!m->o.aligner.model) return code;
    if (!v->n_aligned) code = aligner_open(&v->aligner, &m->o.aligner, m->o.language, &m->t.engine, &m->o.engine);
    steno_session_close(v->aligner.session); /* the server opens its own */
    v->aligner.session = NULL;
    m->uses_aligner = code == EXIT_OK;
    v->n_aligned += m->uses_aligner;
    return code;
}

static void aligner_leave(struct served_models *v, struct served *m)
{
    if (m->uses_aligner && !--v->n_aligned) aligner_close(&v->aligner);
    m->uses_aligner = 0;
}

void served_close(void *user, struct serve_engine *g)
{
    struct served *m = g->user;
    aligner_leave(user, m);
    punctuation_close(&m->t.punctuation);
    vad_close(&m->turns);
    vad_close(&m->t.vad);
    engine_close(&m->t.engine);
}

/* Live sessions end their turns at pauses; files use this detector on request only. Without one, or if it cannot be opened, the server
 * works. */
static void open_turns(struct served *m)
{
    struct vad_opts *o = &m->turns_o;
    char *silero = vad_find_silero(m->t.engine.path), *path = silero ? silero : vad_find(m->t.engine.path);
    *o = m->o.vad;
    o->model = path;
    o->kind = silero ? VAD_SILERO : VAD_FSMN;
    if (path && vad_open(&m->turns, o, &m->t.engine, &m->o.engine, 0) == EXIT_OK) {
        if (!m->o.engine.quiet)
            message("turns of live sessions: %s (found automatically; --vad-model selects another, --no-vad turns it off)", path);
        vad_rules(&m->t.job.speech, &m->turns, 0, 0);
        m->t.job.speech.params = m->turns.params;
    }
    o->model = NULL;
    free(path);
}

/* @return an exit code, after a message */
static int open_parts(struct served_models *v, struct served *m)
{
    struct transcribe_opts *o = &m->o;
    m->results = (struct results){ .files.path_guard = v->path_guard };
    m->t = (struct transcription){ .o = o, .results = &m->results, .data = *v->data };
    o->decode = v->o->decode; /* decode_opts_settle changes it */
    int code = engine_open(&m->t.engine, &o->engine, 0);
    /* Language models have no defaults of transcriptions. */
    if (code != EXIT_OK || !steno_serves(m->t.engine.model, STENO_CALL_TRANSCRIBE, NULL)) return code;
    decode_opts_settle(&o->decode, m->t.engine.model);
    code = vad_open(&m->t.vad, &o->vad, &m->t.engine, &o->engine, 1);
    if (code == EXIT_OK) {
        code = punctuation_open(&m->t.punctuation, &o->punctuation, &m->t.engine, &o->engine, transcription_punctuation(o));
    }
    if (code == EXIT_OK) code = aligner_take(v, m);
    if (code == EXIT_OK) code = transcription_params(&m->t, m->t.engine.model);
    if (code == EXIT_OK) transcription_job(&m->t);
    if (code == EXIT_OK && v->needs_turns && !m->t.vad.model) open_turns(m);
    if (code != EXIT_OK) served_close(v, &(struct serve_engine){ .user = m });
    return code;
}

enum { REQUEST_LANES = 8 }; /* beam_size and best_of of a request; more are allowed if the defaults have more */

static int64_t weight_bytes(const steno_model *m)
{
    steno_model_info info = { .size = sizeof info };
    return m && steno_model_info_get(m, &info) == STENO_OK ? info.weight_bytes : 0;
}

int served_open(void *user, int i, struct serve_engine *g, steno_error *e)
{
    struct served_models *v = user;
    struct served *m = &v->model[i];
    const int code = open_parts(v, m);
    if (code != EXIT_OK) {
        v->failed = code;
        e->status = code == EXIT_MEMORY ? STENO_ENOMEM : code == EXIT_USAGE ? STENO_EARG : STENO_EIO;
        snprintf(e->text, sizeof e->text, "the model %s cannot be opened", m->id);
        return e->status;
    }
    *g = (struct serve_engine){ .team = m->t.engine.team, .model = m->t.engine.model, .lanes = REQUEST_LANES,
                                .job = m->t.job, .uses_vad = m->t.vad.session != NULL,
                                .vad = m->turns.model ? m->turns.model : m->t.vad.model, .punctuation = m->t.punctuation.model,
                                .aligner = m->uses_aligner ? v->aligner.model : NULL, .user = m };
    g->memory = weight_bytes(g->model) + weight_bytes(g->vad) + weight_bytes(g->punctuation) + weight_bytes(g->aligner);
    g->job.speech.session = g->job.punctuation = NULL;
    v->n_padded += steno_serves(g->model, STENO_CALL_TRANSCRIBE, "audio_ctx");
    return STENO_OK;
}

int served_begin(struct served_models *v, const struct arg_texts *typed)
{
    v->n = typed->n ? typed->n : 1;
    v->model = calloc((size_t)v->n, sizeof *v->model);
    if (!v->model) {
        message("out of memory for %d models", v->n);
        return EXIT_MEMORY;
    }
    int code = EXIT_OK;
    for (int i = 0; i < v->n && code == EXIT_OK; i++) {
        v->model[i].o = *v->o;
        code = model_name(&v->model[i], typed->n ? typed->text[i] : NULL);
        for (int k = 0; code == EXIT_OK && k < i; k++)
            if (strcmp(v->model[k].id, v->model[i].id) == 0)
                code = message_usage("two models have the name %s: rename one of the files", v->model[i].id);
    }
    return code;
}

int served_alias(struct served_models *v, const char *alias)
{
    const char *is = strchr(alias, '=');
    if (!is || is == alias) return message_usage("--alias: \"%s\" is not NAME=MODEL", alias);
    for (int i = 0; i < v->n; i++) {
        if (strcmp(v->model[i].id, is + 1) != 0) continue;
        char *name = strndup(alias, (size_t)(is - alias));
        int k = 0;
        while (v->model[i].alias[k]) k++;
        v->model[i].alias[k] = name;
        return name ? EXIT_OK : EXIT_MEMORY;
    }
    return message_usage("--alias: no model has the name %s; -m gives the models", is + 1);
}

void served_free(struct served_models *v)
{
    for (int i = 0; i < v->n && v->model; i++) {
        for (int k = 0; v->model[i].alias[k]; k++) free((void *)(uintptr_t)v->model[i].alias[k]);
        free(v->model[i].id);
        free(v->model[i].path);
    }
    free(v->model);
}
