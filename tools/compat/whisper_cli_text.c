/* steno: text of tokens and speakers in whisper.cpp's whisper-cli. SPDX-License-Identifier: MIT */
#include "compat/whisper_cli_write.h"
#include <inttypes.h>
#include <stdio.h>

const char *whisper_cli_token(char out[WCLI_TOKEN_SZ], const steno_model *m, int32_t id)
{
    static const struct { enum steno_special which; const char *name; } named[] = {
        { STENO_TOKEN_END, "EOT" },       { STENO_TOKEN_START, "SOT" },        { STENO_TOKEN_TRANSLATE, "TRANSLATE" },
        { STENO_TOKEN_TRANSCRIBE, "TRANSCRIBE" }, { STENO_TOKEN_START_LM, "SOLM" }, { STENO_TOKEN_PREVIOUS, "PREV" },
        { STENO_TOKEN_NO_SPEECH, "NOSP" }, { STENO_TOKEN_NO_TIMESTAMPS, "NOT" }, { STENO_TOKEN_TIMESTAMP, "BEG" },
    };
    const int32_t end = steno_token_id(m, STENO_TOKEN_END), time = steno_token_id(m, STENO_TOKEN_TIMESTAMP);
    const int32_t language = id - steno_token_id(m, STENO_TOKEN_LANGUAGE);
    out[0] = '\0';
    if (end < 0 || id < end) {
        const int64_t n = steno_token_bytes(m, id, out, WCLI_TOKEN_SZ - 1);
        out[n > 0 && n < WCLI_TOKEN_SZ ? n : 0] = '\0';
        return out;
    }
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (steno_token_id(m, named[i].which) == id) snprintf(out, WCLI_TOKEN_SZ, "[_%s_]", named[i].name);
    if (!out[0] && time >= 0 && id > time) snprintf(out, WCLI_TOKEN_SZ, "[_TT_%" PRId32 "]", id - time);
    else if (!out[0] && language >= 0 && steno_model_language(m, language))
        snprintf(out, WCLI_TOKEN_SZ, "[_LANG_%s]", steno_model_language(m, language));
    else if (!out[0]) snprintf(out, WCLI_TOKEN_SZ, "[_extra_token_%" PRId32 "]", id);
    return out;
}

const char *whisper_cli_speaker(const int32_t *who)
{
    static const char *const name[] = { "(speaker ?)", "(speaker 0)", "(speaker 1)" };
    return who ? name[*who == 0 ? 1 : *who == 1 ? 2 : 0] : "";
}

char whisper_cli_speaker_letter(const struct transcript *t, int i)
{
    return whisper_cli_speaker(&t->speakers[i])[9];
}
