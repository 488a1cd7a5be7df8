/* steno: languages and special tokens of a model. SPDX-License-Identifier: MIT */
#include "model/family.h"

int steno_language_id(const steno_model *m, const char *name)
{
    return m && name && m->family->language ? m->family->language(m, name) : -1;
}

const char *steno_language_name(const char *code)
{
    return code ? language_name(language_find(code)) : NULL;
}

int32_t steno_token_id(const steno_model *m, enum steno_special which)
{
    if (!m) return -1;
    const struct token_roles *t = &m->tokens;
    switch (which) {
    case STENO_TOKEN_END: return t->eot;
    case STENO_TOKEN_START: return t->sot;
    case STENO_TOKEN_LANGUAGE: return t->n_languages ? t->first_language : -1;
    case STENO_TOKEN_TRANSLATE: return t->translate;
    case STENO_TOKEN_TRANSCRIBE: return t->transcribe;
    case STENO_TOKEN_START_LM: return t->turn;
    case STENO_TOKEN_PREVIOUS: return t->previous;
    case STENO_TOKEN_NO_SPEECH: return t->no_speech;
    case STENO_TOKEN_NO_TIMESTAMPS: return t->no_timestamps;
    case STENO_TOKEN_TIMESTAMP: return t->timestamp_begin;
    }
    return -1;
}
