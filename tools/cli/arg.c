/* steno: a row of a table of options. SPDX-License-Identifier: MIT */
#include "cli/args.h"
#include <math.h>
#include <steno/steno.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MAX_LEN = ARG_WORD_SZ };

int arg_word(char *out, const char *words, int i)
{
    const char *p = words;
    while (i-- > 0) {
        p = strchr(p, '|');
        if (!p) return 0;
        p++;
    }
    const size_t n = strcspn(p, "|");
    snprintf(out, NAME_MAX_LEN, "%.*s", (int)n, p);
    return 1;
}

int args_takes_value(const struct arg *r)
{
    return r->kind != ARG_FLAG && r->kind != ARG_PAIR;
}

/* ---- the library's table ----------------------------------------------------------------------------------------------------- */

void arg_param(char *out, size_t n, const char *name, double *unit)
{
    static const struct { const char *option, *param; double unit; } others[] = {
        { "sample-length", "sample_len", 1 }, { "word-threshold", "token_threshold", 1 }, { "chunk-length", "chunk_ms", 1000 },
        { "max-len", "token_timestamps", 1 }, { "suppress-non-speech", "suppress_tokens", 1 }, { "vad", "clip_timestamps", 1 },
        { "vad-threshold", "threshold", 1 }, { "vad-min-silence-ms", "max_end_silence_ms", 1 },
        { "vad-max-speech-s", "max_segment_ms", 1000 }, { "vad-merge-s", "merge_ms", 1000 }, { "vad-schedule", "schedule", 1 },
        { "vad-chunk-ms", "chunk_size_ms", 1 }, { "vad-neg-threshold", "neg_threshold", 1 },
        { "vad-speech-pad-ms", "speech_pad_ms", 1 }, { "vad-rules", "rules", 1 }, { "vad-min-speech-ms", "min_speech_ms", 1 },
        { "cpu", "cpu_level", 1 }, { "cmvn", "no_cmvn", 1 }, { "ctx-size", "text_ctx", 1 },
        { "batch-size", "max_windows", 1 }, { "dump", "on_rows", 1 }, { "keep-tags", "tags", 1 }, { "rich-text", "tags", 1 },
        { "greedy", "best_of", 1 },
    };
    *unit = 1;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(others[i].option, name) != 0) continue;
        *unit = others[i].unit;
        snprintf(out, n, "%s", others[i].param);
        return;
    }
    snprintf(out, n, "%s", name);
    for (char *p = out; *p; p++)
        if (*p == '-') *p = '_';
}

/* @return 1, or 0 if no call has such a field */
static int param_of(steno_param *p, const char *name)
{
    static const enum steno_call calls[] = { STENO_CALL_TRANSCRIBE, STENO_CALL_FIND_SPEECH, STENO_CALL_OPEN, STENO_CALL_GENERATE,
                                             STENO_CALL_EMBED };
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++)
        for (int i = 0; p->size = sizeof *p, steno_param_get(NULL, calls[c], i, p) == STENO_OK; i++)
            if (strcmp(p->name, name) == 0) return 1;
    return 0;
}

static void dflt_write(char *out, const struct arg *r, const steno_param *p, double unit)
{
    char word[NAME_MAX_LEN];
    const int is_none = p->has_none && (p->value == p->none || (isnan(p->value) && isnan(p->none)));
    const int inverse = strncmp(p->name, "no_", 3) == 0;
    if (r->kind == ARG_PAIR || r->kind == ARG_FLAG) strcpy(out, (p->value > 0) != inverse ? "on" : "off");
    else if (r->kind == ARG_WORD) snprintf(out, ARG_DFLT_SZ, "%s", arg_word(word, r->value, (int)p->value) ? word : "");
    else if (is_none && r->none) strcpy(out, "none");
    else snprintf(out, ARG_DFLT_SZ, "%.10g", p->value / unit);
}

struct arg arg_full(const struct arg *r, char dflt[ARG_DFLT_SZ])
{
    struct arg full = *r;
    steno_param p;
    char param[NAME_MAX_LEN];
    double unit;
    if (!r->dflt || strcmp(r->dflt, ARG_OF_PARAM) != 0) return full;
    arg_param(param, sizeof param, r->name, &unit);
    full.dflt = NULL;
    if (!param_of(&p, param)) return full;
    full.lo = p.min / unit;
    full.hi = p.max / unit;
    if (r->kind != ARG_TEXT) dflt_write(dflt, r, &p, unit);
    full.dflt = r->kind == ARG_TEXT ? p.text : dflt;
    return full;
}
