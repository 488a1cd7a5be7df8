/* steno-serve: bodies about models and the server itself. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_API_MODELS_H
#define STENO_SERVE_API_MODELS_H
#include "engines.h"

/* What is known of a model. */
struct model_card {
    const char *id;
    int64_t created;              /* Unix time */
    int is_loaded;
    unsigned calls;               /* ENGINE_... */
    const steno_model_info *info; /* NULL: it was never loaded */
    const char *const *aliases;   /* ends with NULL; may be NULL */
    const char *const *languages; /* codes; the same */
};

/* Objects of the API, with more keys. malloc'd, [*n]; NULL: out of memory. */
char *model_json(const struct model_card *c, size_t *n);
char *models_json(const struct model_card *c, int n_cards, size_t *n);

/* The same from the models of a server; p has their aliases. */
char *api_models(struct engines *es, const struct serve_params *p, size_t *n);
char *api_model(const struct serve_params *p, const struct engine *g, size_t *n);

/* Bodies of /version, /livez and /readyz. */
char *version_json(const char *version, size_t *n);
char *live_json(size_t *n);
enum readiness { IS_READY, IS_LOADING, IS_DRAINING, HAS_FULL_SPOOL };
char *ready_json(enum readiness r, size_t *n); /* status 200 for IS_READY, else 503 */
#endif
