/* steno-serve: languages as clients write them. SPDX-License-Identifier: MIT */
#include "ask_fields.h"
#include "word_near.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Codes that a vocabulary may have under another one. */
static const struct { const char *code, *is; } same[] = {
    { "nb", "no" }, { "iw", "he" }, { "in", "id" }, { "ji", "yi" }, { "fil", "tl" }, { "cmn", "zh" }, { "jv", "jw" },
};

/* A model without a list knows one language, English, or some that the library checks when the audio is decoded. */
static const char *find_unlisted(const steno_model *m, const char *text)
{
    const char *code = steno_language_code(text);
    const int is_english = ask_served(m, "condition_on_previous_text") && !ask_served(m, "task");
    return code && is_english && strcmp(code, "en") != 0 ? NULL : code;
}

static const char *find(const steno_model *m, const char *text)
{
    return steno_model_language(m, 0) ? steno_model_language(m, steno_language_id(m, text)) : find_unlisted(m, text);
}

/* The nearest of the model's codes and names. */
static void nearest(const steno_model *m, const char *text, char near[64])
{
    int best = -1;
    for (int i = 0;; i++) {
        const char *code = steno_model_language(m, i);
        if (!code) return;
        const char *const words[] = { code, steno_language_name(code) };
        for (int k = 0; k < 2; k++) {
            const int may_be = words[k] && (k || text[0] == code[0]); /* of short words only the rest may be wrong */
            const int d = may_be ? word_near(text, words[k]) : -1;
            if (d < 0 || (best >= 0 && d >= best)) continue;
            best = d;
            snprintf(near, 64, "%s", code);
        }
    }
}

const char *ask_language(const steno_model *m, const char *text, char near[64])
{
    char low[64];
    size_t k = 0;
    near[0] = '\0';
    const char *found = find(m, text);
    if (found) return found;
    const size_t n = strcspn(text, "-_");
    for (size_t i = 0; i < sizeof same / sizeof *same && !found; i++)
        if (strlen(same[i].code) == n && strncasecmp(text, same[i].code, n) == 0) found = find(m, same[i].is);
    if (found) return found;
    for (; text[k] && k + 1 < sizeof low; k++) low[k] = (char)tolower((unsigned char)text[k]);
    low[k] = '\0';
    nearest(m, low, near);
    return NULL;
}
