/* steno: common code of the verbs embed and search. SPDX-License-Identifier: MIT */
#include "options/embed_opts.h"
#include "cli/signals.h"
#include <stdio.h>
#include <string.h>

/* Language models embed one text per decode slot at a time; each slot has memory for a whole context. */
static int open_slots(struct engine *e)
{
    enum { MOST = 16 };
    static const int64_t room = (int64_t)2 << 30; /* bytes of address space; only the parts that texts use are touched */
    steno_model_info i = { .size = sizeof i };
    steno_batch_params bp;
    steno_model_info_get(e->model, &i);
    if (!i.kv_bytes || !steno_serves(e->model, STENO_CALL_EMBED, NULL)) return EXIT_OK;
    const int64_t slots = room / i.kv_bytes;
    steno_batch_params_init(&bp);
    bp.max_windows = slots < 1 ? 1 : slots > MOST ? MOST : (int32_t)slots;
    return engine_batch(e, &bp);
}

int embed_open(struct engine *e, const struct engine_opts *o, const char *verb)
{
    if (!o->model)
        return message_usage("%s needs an embedding model: -m MODEL, such as a BERT of sentence-transformers", verb);
    int code = engine_open(e, o, 0);
    if (code != EXIT_OK) return code;
    code = open_slots(e);
    if (code == EXIT_OK) code = engine_open_session(e, 1);
    if (code == EXIT_OK && steno_embed(e->session, NULL, 0, NULL) != STENO_OK)
        code = message_usage("-m: %s; it takes BERT or a language model", steno_last_error(e->session));
    if (code != EXIT_OK) engine_close(e);
    return code;
}

void embed_params(steno_embed_params *p, const struct embed_opts *o)
{
    steno_embed_params_init(p);
    p->pooling = o->pooling;
    p->normalize = o->normalize;
    p->truncate = o->truncate;
    p->should_abort = signals_stop;
}

/* The number of the text in "text 3 has …", from 0; -1 for other reasons. */
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
