/* steno: models that go with another one. SPDX-License-Identifier: MIT
 *
 * A recogniser's users keep others beside it: for voice activity, for punctuation. They are looked for where it lies, in this program's
 * folder, and in the caches of ModelScope and Hugging Face, under the names that they are published under. */
#ifndef STENO_TOOLS_COMPANION_H
#define STENO_TOOLS_COMPANION_H

struct companion_name { const char *name, *alias; }; /* "ORG/NAME" in a hub, and what FunASR calls it */

/* A kind of them. */
struct companion {
    const struct companion_name *name; /* the one that FunASR takes first; {0} behind the last */
};

extern const struct companion companion_punctuation;

/* The first one that is there. beside: path of the recogniser, NULL: none. *no_memory becomes 1 where something may be missing for want of
 * memory. @return malloc'd path, or NULL */
char *companion_find(const struct companion *k, const char *beside, int *no_memory);

/* The one that is called so: "NAME" or "ORG/NAME" of the list, or its alias, in the caches. @return likewise */
char *companion_named(const struct companion *k, const char *name, int *no_memory);
#endif
