/* steno: word times by a forced aligner, and its option. SPDX-License-Identifier: MIT */
#include "options/aligner_opts.h"
#include "input.h"
#include <string.h>

static int open_at(struct aligner *k, const struct aligner_opts *o, const char *language, const struct engine *e,
                   const struct engine_opts *eo)
{
    steno_error err = { 0 };
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.language = language;
    if (input_detects(&p)) p.language = NULL;
    const int code = engine_beside(&k->model, o->model, "a file of the aligner", e, eo);
    if (code != EXIT_OK) return code;
    const int rc = steno_session_open(&k->session, k->model, e->team, NULL, &err);
    if (rc != STENO_OK) return message_model_error(NULL, rc, err.text);
    if (steno_align_result(k->session, NULL, NULL, &p) == STENO_OK) return EXIT_OK;
    return message_usage("--align-model: %s: %s", o->model, steno_last_error(k->session));
}

int aligner_open(struct aligner *k, const struct aligner_opts *o, const char *language, const struct engine *e,
                 const struct engine_opts *eo)
{
    memset(k, 0, sizeof *k);
    if (!o->model) return EXIT_OK;
    const int code = open_at(k, o, language, e, eo);
    if (code != EXIT_OK) aligner_close(k);
    return code;
}

void aligner_close(struct aligner *k)
{
    steno_session_close(k->session);
    steno_model_close(k->model);
    memset(k, 0, sizeof *k);
}
