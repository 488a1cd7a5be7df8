/* steno-hub: finds models in the caches of both hubs by name. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_MODEL_FIND_H
#define STENO_HUB_MODEL_FIND_H
#include "cached.h"

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
#endif
