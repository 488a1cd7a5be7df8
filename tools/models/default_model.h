/* steno: models that accompany another model. SPDX-License-Identifier: MIT
 *
 * A recogniser is often used with models for voice activity and punctuation. They are searched in the recogniser's folder, in this
 * program's folder, and in the caches of ModelScope and Hugging Face, under their published names. */
#ifndef STENO_TOOLS_COMPANION_H
#define STENO_TOOLS_COMPANION_H

struct companion_name { const char *name, *alias; }; /* "ORG/NAME" in a hub, and FunASR's name for it */

/* A kind of companion model. */
struct companion {
    const struct companion_name *name; /* FunASR's default first; ends with {0} */
};

extern const struct companion companion_punctuation;

/* Find the first model of the list. beside: path of the recogniser, may be NULL. *no_memory becomes 1 if models may be missing because
 * memory ran out. @return malloc'd path, or NULL */
char *companion_find(const struct companion *k, const char *beside, int *no_memory);

/* Find a model by name in the caches: "NAME" or "ORG/NAME" of the list, or its alias. @return malloc'd path, or NULL */
char *companion_named(const struct companion *k, const char *name, int *no_memory);
#endif
