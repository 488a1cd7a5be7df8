/* steno-hub: names of models, as typed or as URLs of web pages, and models in the caches. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_MODEL_NAME_H
#define STENO_HUB_MODEL_NAME_H
#include "cache.h"
#include "hub_env.h"

/* ---- names, and models in the caches ----------------------------------------------------------------------------------------- */

/* The models in a folder: "" for the folder itself, if it has settings and weights, and the paths of single-file models. */
int hub_models_in(struct names *out, const char *folder, struct hub_error *e);

/* A name as typed: ORG/NAME[@REVISION][:FILE]. @return HUB_OK, HUB_EARG */
struct hub_spec {
    char id[HUB_ID_SZ], rev[HUB_REV_SZ]; /* rev "": none */
    char file[1024];                     /* "": none */
};
int hub_spec_read(struct hub_spec *s, const char *name, struct hub_error *e);

/* Path of a model in a cache: a file, or a folder with a model. @return malloc'd text; NULL: none, or e->status is HUB_ENOMEM */
char *hub_model_path(const struct hub_cache *c, const struct hub_spec *s, struct hub_error *e);

/* Has a client recorded that a cached snapshot has no file of that name? */
int hub_model_is_absent(const struct hub_cache *c, const struct hub_spec *s);

/* ---- URLs of a hub's web pages ----------------------------------------------------------------------------------------------- */

/* Parses a URL copied from a browser: the page of a model, a revision of it, or a file. The query is ignored, except for the name of a file
 * (ModelScope). @return NULL, with *s and *hub, or the reason why it is not such a page, which does not contain the URL */
const char *hub_page_read(struct hub_spec *s, int *hub, const struct hub_env *env, const char *url);
#endif
