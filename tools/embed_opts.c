/* steno: what the verbs embed and search have in common. SPDX-License-Identifier: MIT */
#include "embed_opts.h"
#include "signals.h"
#include <stdio.h>
#include <string.h>

int embed_open(struct engine *e, const struct engine_opts *o, const char *verb)
{
    if (!o->model)
        return message_usage("%s needs a model that makes vectors of texts: -m MODEL, such as a BERT of sentence-transformers", verb);
    const int code = engine_open(e, o, 1);
    if (code != EXIT_OK || steno_embed(e->session, NULL, 0, NULL) == STENO_OK) return code;
    message_usage("-m: %s; it takes BERT or a language model", steno_last_error(e->session));
    engine_close(e);
    return EXIT_USAGE;
}

void embed_params(steno_embed_params *p, const struct embed_opts *o)
{
    steno_embed_params_init(p);
    p->pooling = o->pooling;
    p->normalize = o->normalize;
    p->truncate = o->truncate;
    p->should_abort = signals_stop;
}

/* "text 3 has …": its number, from 0; -1: the reason is another one. */
static int number_of(const char *reason)
{
    int n = 0;
    return sscanf(reason, "text %d ", &n) == 1 && n > 0 ? n - 1 : -1;
}

int embed_run(const struct engine *e, const char *const *texts, int n, const steno_embed_params *p, int *bad)
{
    *bad = -1;
    signals_defer(1);
    signals_watch(e->session, NULL);
    const int rc = steno_embed(e->session, texts, n, p);
    signals_watch(NULL, NULL);
    signals_defer(0);
    if (rc == STENO_OK) return EXIT_OK;
    if (signals_pending()) return EXIT_SIGNAL + signals_pending();
    if (rc == STENO_EARG) *bad = number_of(steno_last_error(e->session));
    return rc == STENO_ENOMEM ? EXIT_MEMORY : rc == STENO_EARG ? EXIT_SOME : EXIT_MODEL;
}

const char *embed_reason(const struct engine *e)
{
    const char *reason = steno_last_error(e->session), *rest = strchr(reason, ' ');
    rest = rest && number_of(reason) >= 0 ? strchr(rest + 1, ' ') : NULL;
    return rest ? rest + 1 : reason;
}
