/* steno: models and dictionaries that accompany another model. SPDX-License-Identifier: MIT
 *
 * A recogniser is often used with models for voice activity and punctuation. They are searched in the recogniser's folder, in this
 * program's folder, and in the caches of ModelScope and Hugging Face, under their published names. */
#ifndef STENO_TOOLS_DEFAULT_MODEL_H
#define STENO_TOOLS_DEFAULT_MODEL_H

struct default_model_name { const char *name, *alias; }; /* "ORG/NAME" in a hub, and FunASR's name for it */

/* A kind of companion model. */
struct default_model {
    const struct default_model_name *name; /* FunASR's default first; ends with {0} */
};

extern const struct default_model default_model_punctuation;

/* Find the first model of the list. beside: path of the recogniser, may be NULL. *no_memory becomes 1 if models may be missing because
 * memory ran out. @return malloc'd path, or NULL */
char *default_model_find(const struct default_model *k, const char *beside, int *no_memory);

/* Find a model by name in the caches: "NAME" or "ORG/NAME" of the list, or its alias. @return malloc'd path, or NULL */
char *default_model_named(const struct default_model *k, const char *name, int *no_memory);

/* ---- voice activity ---------------------------------------------------------------------------------------------------------- */

/* FSMN-VAD (FunASR) belongs to its recognisers: it is beside the model, in the cache of ModelScope or Hugging Face. Silero VAD is a
 * single file: beside the model, in the folders of models, or in the cache of Hugging Face in the repository of whisper.cpp.
 * model: path of the recogniser, may be NULL.
 * @return malloc'd path, or NULL if there is none or errno is ENOMEM */
char *vad_find(const char *model);
char *vad_find_silero(const char *model);

/* Cache `i` of the caches searched. @return malloc'd text, or NULL past the last one, or if the environment names none */
char *vad_place(int i);
enum { N_VAD_PLACES = 2 }; /* ModelScope's, Hugging Face's */

/* ---- jieba's dictionary ------------------------------------------------------------------------------------------------------ */

/* Find the dictionary of the Python package jieba: in the active environment (VIRTUAL_ENV, CONDA_PREFIX), the user's packages, the
 * system's packages; else the dictionary of cppjieba. @return malloc'd path, or NULL if there is none, or if *no_memory = 1 */
char *jieba_find(int *no_memory);
#endif
