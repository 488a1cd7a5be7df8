/* steno example: an addon for Node.js, by N-API. SPDX-License-Identifier: MIT
 *
 *   cc -shared -fPIC -I"$(dirname "$(dirname "$(realpath "$(command -v node)")")")/include/node" steno.c \
 *       $(pkg-config --cflags --libs steno steno-media) -o steno.node
 *   node transcribe.js MODEL.bin SOUND
 *
 * transcribe(model, sound) returns a promise of the text. The work is done on a thread of Node's pool, which has a session of its own. */
#include <node_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <steno/steno.h>
#include <steno/media.h>

struct job {
    napi_async_work work;
    napi_deferred promise;
    char *path[2]; /* model, sound */
    char *text;    /* NULL: failed, and e has the reason */
    steno_error e;
};

static void run(napi_env env, void *data)
{
    struct job *j = data;
    steno_team *team = NULL;
    steno_model *model = NULL;
    steno_session *session = NULL;
    steno_media *media = NULL;
    steno_source source;
    (void)env;
    int rc = steno_team_open(&team, 0, &j->e);
    if (!rc) rc = steno_model_open(&model, j->path[0], NULL, &j->e);
    if (!rc) rc = steno_session_open(&session, model, team, NULL, &j->e);
    if (!rc) rc = steno_media_open(&media, j->path[1], NULL, NULL, &j->e);
    if (!rc) {
        steno_media_source(media, &source);
        rc = steno_transcribe_source(session, &source, NULL);
        if (rc) snprintf(j->e.text, sizeof j->e.text, "%.500s %.500s", steno_last_error(session), steno_media_error(media));
    }
    if (!rc && !(j->text = strdup(steno_text(session)))) snprintf(j->e.text, sizeof j->e.text, "out of memory");
    steno_media_close(media);
    steno_session_close(session);
    steno_model_close(model);
    steno_team_close(team);
}

static void settle(napi_env env, napi_status status, void *data)
{
    struct job *j = data;
    napi_value value, message;
    (void)status;
    napi_create_string_utf8(env, j->text ? j->text : j->e.text, NAPI_AUTO_LENGTH, &message);
    if (j->text) {
        napi_resolve_deferred(env, j->promise, message);
    } else {
        napi_create_error(env, NULL, message, &value);
        napi_reject_deferred(env, j->promise, value);
    }
    napi_delete_async_work(env, j->work);
    free(j->path[0]);
    free(j->path[1]);
    free(j->text);
    free(j);
}

static char *string_of(napi_env env, napi_value v)
{
    size_t n = 0;
    if (napi_get_value_string_utf8(env, v, NULL, 0, &n) != napi_ok) return NULL;
    char *s = malloc(n + 1);
    if (s) napi_get_value_string_utf8(env, v, s, n + 1, &n);
    return s;
}

static napi_value transcribe(napi_env env, napi_callback_info info)
{
    napi_value args[2], promise, name;
    size_t n = 2;
    struct job *j = calloc(1, sizeof *j);
    napi_get_cb_info(env, info, &n, args, NULL, NULL);
    if (j && n == 2) {
        for (int i = 0; i < 2; i++) j->path[i] = string_of(env, args[i]);
    }
    if (!j || !j->path[0] || !j->path[1]) {
        napi_throw_type_error(env, NULL, "transcribe(model, sound) needs two paths");
        if (j) free(j->path[0]);
        if (j) free(j->path[1]);
        free(j);
        return NULL;
    }
    napi_create_promise(env, &j->promise, &promise);
    napi_create_string_utf8(env, "steno.transcribe", NAPI_AUTO_LENGTH, &name);
    napi_create_async_work(env, NULL, name, run, settle, j, &j->work);
    napi_queue_async_work(env, j->work);
    return promise;
}

NAPI_MODULE_INIT()
{
    napi_value f;
    napi_create_function(env, "transcribe", NAPI_AUTO_LENGTH, transcribe, NULL, &f);
    napi_set_named_property(env, exports, "transcribe", f);
    return exports;
}
