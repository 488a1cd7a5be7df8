/* steno: the rows of the table of parameters, and structs of callers. SPDX-License-Identifier: MIT
 *
 * Callers own structs that grow from version to version. A call copies the fields that its caller's version has over this version's
 * defaults. So later changes do not affect the call. */
#include "engine/params.h"
#include "engine/run_costs.h"
#include "model/parts.h"
#include "search/samplers.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

#define T(field) .name = #field, .at = offsetof(steno_transcribe_params, field)
#define V(field) .name = #field, .at = offsetof(steno_vad_params, field)
#define P(field) .name = #field, .at = offsetof(steno_punctuate_params, field)
#define E(field) .name = #field, .at = offsetof(steno_embed_params, field)
#define G(field) .name = #field, .at = offsetof(steno_generate_params, field)
#define M(field) .name = #field, .at = offsetof(steno_model_params, field)
#define LIST(field) T(field), .count_at = offsetof(steno_transcribe_params, n_##field), .kind = STENO_PARAM_LIST
#define FLAG .kind = STENO_PARAM_FLAG, .max = 1
#define NUMBER(lo, hi) .kind = STENO_PARAM_NUMBER, .min = (lo), .max = (hi)
#define INT32(lo, hi) .kind = STENO_PARAM_INT32, .min = (lo), .max = (hi)
#define INT64(lo, hi) .kind = STENO_PARAM_INT64, .min = (lo), .max = (hi)
#define CHOICE(last) .kind = STENO_PARAM_CHOICE, .max = (last)
#define TEXT .kind = STENO_PARAM_TEXT
#define HOOK .kind = STENO_PARAM_CALL
#define CALL HOOK, .models = MODELS_SPEECH | MODELS_ALIGNED
#define CALL_OF_ALL HOOK, .models = MODELS_SPEECH | MODELS_ALIGNED | MODELS_ALIGNER
#define OR_NONE(v) .has_none = 1, .none = (v)
#define NO_DEFAULT OR_NONE((double)NAN), .value = (double)NAN

/* Ranges and defaults of fields that several structs have. */
#define TEMPERATURE NUMBER(0, 100)
#define SEED .kind = STENO_PARAM_UINT64, .max = 18446744073709551615.0
#define DRAFTS INT32(-1, DRAFT_MAX), .value = -1
#define PENALTY NUMBER(0.01, 100), .value = 1
#define OWN_MS(hi) INT64(-1, hi), .value = -1 /* -1: the model's own */

#define MAX_MS 1e15
#define MAX_S 1e9
#define MAX_CTX (1 << 20) /* upper bound for any model; the model's own is smaller */
#define CTX_MAX (1 << 24) /* for language models */

static const struct param transcribe[] = {
    { T(task), CHOICE(STENO_TRANSCRIBE_AND_TRANSLATE), .models = MODELS_MULTILINGUAL | MODELS_ALIGNED },
    { T(language), TEXT, .models = MODELS_AR | MODELS_CTC | MODELS_AUDIO_LM | MODELS_ALIGNED | MODELS_ALIGNER | MODELS_PROMPTED },
    { T(initial_prompt), TEXT, .models = MODELS_AR | MODELS_AUDIO_LM_CONTEXT },
    { T(suppress_tokens), TEXT, .text = "-1", .models = MODELS_AR },
    { T(condition_on_previous_text), FLAG, .value = 1, .models = MODELS_AR },
    { T(without_timestamps), FLAG, .models = MODELS_AR },
    { T(suppress_blank), FLAG, .value = 1, .models = MODELS_AR },
    { T(sample_len), INT32(0, MAX_CTX), .models = MODELS_AR | MODELS_AUDIO_LM, .limit = LIMIT_TEXT_CTX },
    { T(max_initial_timestamp), NUMBER(0, 30), OR_NONE(0), .value = 1, .models = MODELS_AR },
    { T(temperature), TEMPERATURE, .models = MODELS_AR },
    { T(seed), SEED, .models = MODELS_AR },
    { T(no_speech_threshold), NUMBER(0, 1), OR_NONE((double)NAN), .value = 0.6, .models = MODELS_AR },
    { T(logprob_threshold), NUMBER(-1e9, 0), OR_NONE((double)NAN), .value = -1, .models = MODELS_AR | MODELS_AUDIO_LM },
    { T(offset_ms), INT64(0, MAX_MS), .models = MODELS_SPEECH | MODELS_ALIGNED | MODELS_ALIGNER },
    { T(duration_ms), INT64(0, MAX_MS), .models = MODELS_SPEECH | MODELS_ALIGNED | MODELS_ALIGNER },
    { T(user), CALL_OF_ALL },
    { T(on_segment), CALL_OF_ALL },
    { T(on_progress), CALL_OF_ALL },
    { T(on_window), CALL },
    { T(should_abort), CALL_OF_ALL },
    { T(temperature_increment_on_fallback), NUMBER(0, 100), OR_NONE((double)NAN), .value = 0.2, .models = MODELS_AR },
    { T(compression_ratio_threshold), NUMBER(0, 1e9), OR_NONE((double)NAN), .value = 2.4, .models = MODELS_AR | MODELS_AUDIO_LM },
    { T(entropy_threshold), NUMBER(0, 1e9), NO_DEFAULT, .models = MODELS_AR | MODELS_AUDIO_LM },
    { LIST(prompt_tokens), .models = MODELS_AR },
    { T(carry_initial_prompt), FLAG, .models = MODELS_AR },
    { T(guards), CHOICE(STENO_GUARDS_RETRY), .value = STENO_GUARDS_FLAG, .models = MODELS_SPEECH },
    { T(keep_audio_features), FLAG, .models = MODELS_AR },
    { T(on_attempt), CALL },
    { T(logits_filter), HOOK, .models = MODELS_AR },
    { T(itn), FLAG, .models = MODELS_CTC | MODELS_AUDIO_LM_ITN },
    { T(ban_unknown_emotion), FLAG, .models = MODELS_CTC },
    { T(beam_size), INT32(0, RUN_BEAMS), .models = MODELS_BEAMS },
    { T(best_of), INT32(0, RUN_BEAMS), .models = MODELS_AR },
    { T(n_best), INT32(0, RUN_BEAMS), .models = MODELS_BEAMS },
    { T(patience), NUMBER(0.001, 256), NO_DEFAULT, .models = MODELS_AR },
    { T(length_penalty), NUMBER(0, 1), NO_DEFAULT, .models = MODELS_AR },
    { T(prefix), TEXT, .models = MODELS_AR | MODELS_AUDIO_LM_CONTEXT },
    { LIST(prefix_tokens), .models = MODELS_AR },
    { T(max_context), INT32(-1, MAX_CTX), .value = -1, .models = MODELS_AR, .limit = LIMIT_TEXT_CTX },
    { T(suppress_regex), TEXT, .models = MODELS_AR },
    { T(grammar), TEXT, .models = MODELS_AR },
    { T(grammar_rule), TEXT, .models = MODELS_AR },
    { T(grammar_penalty), NUMBER(0, 1e9), OR_NONE((double)INFINITY), .value = (double)INFINITY, .models = MODELS_AR },
    { T(hotwords), TEXT, .models = MODELS_HOTWORDS },
    { T(hotwords_boost), NUMBER(0, 100), .value = 2, .models = MODELS_BOOSTED },
    { LIST(clip_timestamps), .models = MODELS_AR },
    { T(independent_clips), FLAG, .models = MODELS_AR },
    { T(chunk_ms), INT32(1000, 30000), OR_NONE(0), .models = MODELS_AR | MODELS_AUDIO_LM },
    { T(audio_ctx), INT32(0, MAX_CTX), .models = MODELS_AR, .limit = LIMIT_AUDIO_CTX },
    { T(language_detection_segments), INT32(1, 1 << 20), .value = 1, .models = MODELS_MULTILINGUAL | MODELS_ALIGNED },
    { T(language_detection_threshold), NUMBER(0, 1), .value = 0.5, .models = MODELS_MULTILINGUAL | MODELS_ALIGNED },
    { T(language_per_segment), FLAG, .models = MODELS_MULTILINGUAL },
    { T(word_timestamps), FLAG, .models = MODELS_WORD_TIMES | MODELS_AUDIO_LM_CTC },
    { T(prepend_punctuations), TEXT, .models = MODELS_AR | MODELS_ALIGNED },
    { T(append_punctuations), TEXT, .models = MODELS_AR | MODELS_ALIGNED },
    { T(hallucination_silence_threshold), NUMBER(0, MAX_S), NO_DEFAULT, .models = MODELS_AR },
    { T(token_threshold), NUMBER(0, 1), .value = 0.01, .models = MODELS_AR },
    { T(token_timestamps), FLAG, .models = MODELS_AR, .audio_lm_why = "is for models with word times" },
    { T(tinydiarize), FLAG, .models = MODELS_AR },
    { T(decoding), CHOICE(STENO_DECODING_GGML), .models = MODELS_AR },
    { T(verify_margin), NUMBER(0, VERIFY_EVERY), .value = VERIFY_MARGIN, .models = MODELS_AR },
    { T(tags), CHOICE(STENO_TAGS_RICH), .models = MODELS_CTC },
    { T(chunk_size), TEXT, .text = "0,10,5", .models = MODELS_CIF_STREAM },
    { T(encoder_chunk_look_back), INT32(-1, PARAM_PAST_ROWS), .value = 4, .models = MODELS_CIF_STREAM },
    { T(decoder_chunk_look_back), INT32(-1, PARAM_PAST_ROWS), .value = 1, .models = MODELS_CIF_STREAM },
    { T(lookahead), INT32(STENO_LOOKAHEAD_USUAL, STREAM_ROWS - 1), .value = STENO_LOOKAHEAD_MOST, .models = MODELS_PIECES_STREAM },
    { T(on_rows), HOOK, .models = MODELS_AR | MODELS_CLIPS | MODELS_PIECES_STREAM },
    { T(vad_model), HOOK, .models = MODELS_CLIPS | MODELS_PIECES_STREAM },
    { T(vad), HOOK, .models = MODELS_CLIPS | MODELS_PIECES_STREAM },
    { T(repetition_penalty), PENALTY, .models = MODELS_AR | MODELS_AUDIO_LM },
    { T(draft_max), DRAFTS, .models = MODELS_AR | MODELS_AUDIO_LM },
    { T(on_resume_point), HOOK, .models = MODELS_RESUMED },
    { T(resume), HOOK, .models = MODELS_RESUMED },
    { T(n_resume), INT32(0, 2147483647), .models = MODELS_RESUMED },
    { LIST(fallback_temperatures), .models = MODELS_AR },
    { T(no_repeat_ngram_size), INT32(0, MAX_CTX), .models = MODELS_AR },
    { T(prompt_reset_on_temperature), TEMPERATURE, OR_NONE((double)NAN), .value = 0.5, .models = MODELS_AR },
};

static const struct param find_speech[] = {
    { V(threshold), NUMBER(-1, 1), NO_DEFAULT, .models = MODELS_VAD, .limit = LIMIT_PROBABILITY },
    { V(max_end_silence_ms), OWN_MS(1e9), .models = MODELS_VAD },
    { V(max_segment_ms), INT64(1, 1e9), OR_NONE(-1), .value = -1, .models = MODELS_VAD },
    { V(user), HOOK, .models = MODELS_VAD },
    { V(on_frame), HOOK, .models = MODELS_VAD },
    { V(on_span), HOOK, .models = MODELS_VAD },
    { V(should_abort), HOOK, .models = MODELS_VAD },
    { V(schedule), CHOICE(STENO_VAD_SCHEDULE_LIVE), .models = MODELS_VAD_VOTES },
    { V(streaming), FLAG, .models = MODELS_VAD },
    { V(chunk_size_ms), INT32(0, 3600000), .models = MODELS_VAD_VOTES },
    { V(min_speech_ms), OWN_MS(1e9), .models = MODELS_VAD },
    { V(merge_ms), INT64(1, 1e9), OR_NONE(0), .models = MODELS_VAD },
    { V(on_event), HOOK, .models = MODELS_VAD },
    { V(neg_threshold), NUMBER(0, 1), NO_DEFAULT, .models = MODELS_VAD_THRESHOLDS },
    { V(speech_pad_ms), OWN_MS(1e6), .models = MODELS_VAD_THRESHOLDS },
    { V(rules), CHOICE(STENO_VAD_RULES_CPP), .models = MODELS_VAD_THRESHOLDS },
};

static const struct param punctuate[] = {
    { P(go_on), FLAG, .models = MODELS_PUNCTUATION },
    { P(block_words), INT32(2, 512), .value = 20, .models = MODELS_PUNCTUATION },
    { P(user), HOOK, .models = MODELS_PUNCTUATION },
    { P(should_abort), HOOK, .models = MODELS_PUNCTUATION },
};

static const struct param embed[] = {
    { E(pooling), CHOICE(STENO_POOLING_LAST), .models = MODELS_LM | MODELS_EMBED },
    { E(normalize), FLAG, .value = 1, .models = MODELS_LM | MODELS_EMBED },
    { E(truncate), FLAG, .models = MODELS_LM | MODELS_EMBED },
    { E(user), HOOK, .models = MODELS_LM | MODELS_EMBED },
    { E(should_abort), HOOK, .models = MODELS_LM | MODELS_EMBED },
};

static const struct param generate[] = {
    { G(max_tokens), INT32(0, CTX_MAX), .models = MODELS_GENERATE },
    { G(temperature), TEMPERATURE, .models = MODELS_GENERATE },
    { G(seed), SEED, .models = MODELS_GENERATE },
    { G(top_k), INT32(0, INT32_MAX), .models = MODELS_GENERATE },
    { G(repeat_last_n), INT32(-1, CTX_MAX), .value = 64, .models = MODELS_GENERATE },
    { G(top_p), NUMBER(0, 1), .value = 1, .models = MODELS_GENERATE },
    { G(min_p), NUMBER(0, 1), .models = MODELS_GENERATE },
    { G(repeat_penalty), PENALTY, .models = MODELS_GENERATE },
    { G(frequency_penalty), NUMBER(-100, 100), .models = MODELS_GENERATE },
    { G(presence_penalty), NUMBER(-100, 100), .models = MODELS_GENERATE },
    { G(samplers), TEXT, .text = SAMPLERS_USUAL, .models = MODELS_GENERATE },
    { G(grammar), TEXT, .models = MODELS_GENERATE },
    { G(grammar_rule), TEXT, .models = MODELS_GENERATE },
    { G(json_schema), TEXT, .models = MODELS_GENERATE },
    { G(stop), .count_at = offsetof(steno_generate_params, n_stop), .kind = STENO_PARAM_LIST, .models = MODELS_GENERATE },
    { G(ignore_eos), FLAG, .models = MODELS_GENERATE },
    { G(user), HOOK, .models = MODELS_GENERATE },
    { G(on_token), HOOK, .models = MODELS_GENERATE },
    { G(should_abort), HOOK, .models = MODELS_GENERATE },
    { G(draft_max), DRAFTS, .models = MODELS_GENERATE },
    { G(top_logprobs), INT32(0, TOP_LOGPROBS_MAX), .models = MODELS_GENERATE },
};

static const struct param open_model[] = {
    { M(compute), CHOICE(STENO_COMPUTE_INT16),
      .models = MODELS_RESUMED | MODELS_PIECES_STREAM | MODELS_LM | MODELS_EMBED | MODELS_ALIGNER },
    { M(cpu_level), TEXT, .models = MODELS_ALL },
    { M(team), HOOK, .models = MODELS_ALL },
    { M(vocab), TEXT, .models = MODELS_VOCAB },
    { M(no_cmvn), FLAG, .models = MODELS_FBANK },
    { M(index_only), FLAG, .models = MODELS_ALL },
    { M(alignment_heads), TEXT, .models = MODELS_AR },
    { M(verify), FLAG, .models = MODELS_AR },
    { M(text_ctx), INT32(0, CTX_MAX), .models = MODELS_CONTEXT },
    { M(llm), TEXT, .models = MODELS_AUDIO_LM },
    { M(kv_type), CHOICE(STENO_KV_Q8_0), .models = MODELS_LM | MODELS_AUDIO_LM | MODELS_ALIGNER },
    { M(share_with), HOOK, .models = MODELS_ALL },
    { M(jieba_dict), TEXT, .models = MODELS_ALL },
    { M(gelu), CHOICE(STENO_GELU_TANH), .models = MODELS_AR },
    { M(decoder_type), CHOICE(STENO_DECODER_TDT), .models = MODELS_PIECES | MODELS_PIECES_STREAM },
};

#define N_ROWS(table) (int)(sizeof table / sizeof *table)

const struct param *param_rows(enum steno_call call, int *n)
{
    static const struct { const struct param *row; int n; } table[] = {
        [STENO_CALL_TRANSCRIBE] = { transcribe, N_ROWS(transcribe) }, [STENO_CALL_ALIGN] = { transcribe, N_ROWS(transcribe) },
        [STENO_CALL_FIND_SPEECH] = { find_speech, N_ROWS(find_speech) }, [STENO_CALL_OPEN] = { open_model, N_ROWS(open_model) },
        [STENO_CALL_PUNCTUATE] = { punctuate, N_ROWS(punctuate) }, [STENO_CALL_EMBED] = { embed, N_ROWS(embed) },
        [STENO_CALL_GENERATE] = { generate, N_ROWS(generate) },
    };
    *n = table[call].n;
    return table[call].row;
}

const struct param *param_find(enum steno_call call, const char *name)
{
    int n;
    const struct param *r = param_rows(call, &n);
    for (int i = 0; i < n; i++)
        if (strcmp(r[i].name, name) == 0) return &r[i];
    return NULL;
}

/* ---- structs of callers --------------------------------------------------------------------------------------------------------- */

enum { WORD = 8 }; /* bytes of the widest field, whose offset is a multiple of it: any other size would cut a field */

int params_take(void *own, const void *theirs, size_t n, size_t min)
{
    uint32_t size;
    if (!theirs) return STENO_OK;
    memcpy(&size, theirs, sizeof size);
    if (size < min) return STENO_EARG;
    memcpy(own, theirs, size < n ? size - size % WORD : n);
    size = (uint32_t)n;
    memcpy(own, &size, sizeof size);
    return STENO_OK;
}

void params_give(void *theirs, uint32_t size, const void *own, size_t n)
{
    if (!theirs || size < sizeof size) return;
    memset(theirs, 0, size);
    memcpy(theirs, own, size < n ? size - size % WORD : n);
    memcpy(theirs, &size, sizeof size);
}

/* ---- values ------------------------------------------------------------------------------------------------------------------ */

static void value_set(const struct param *r, char *to)
{
    switch (r->kind) {
    case STENO_PARAM_FLAG:
    case STENO_PARAM_CHOICE:
    case STENO_PARAM_INT32: *(int32_t *)(void *)to = (int32_t)r->value; break;
    case STENO_PARAM_INT64: *(int64_t *)(void *)to = (int64_t)r->value; break;
    case STENO_PARAM_UINT64: *(uint64_t *)(void *)to = (uint64_t)r->value; break;
    case STENO_PARAM_NUMBER: *(double *)(void *)to = r->value; break;
    case STENO_PARAM_TEXT: *(const char **)(void *)to = r->text; break;
    case STENO_PARAM_LIST:
    case STENO_PARAM_CALL: break; /* has no value */
    }
}

void params_default(enum steno_call call, void *p)
{
    int n;
    const struct param *r = param_rows(call, &n);
    for (int i = 0; i < n; i++) value_set(&r[i], (char *)p + r[i].at);
}

double param_number(const struct param *r, const void *p)
{
    const void *at = (const char *)p + r->at;
    switch (r->kind) {
    case STENO_PARAM_INT64: return (double)*(const int64_t *)at;
    case STENO_PARAM_UINT64: return (double)*(const uint64_t *)at;
    case STENO_PARAM_NUMBER: return *(const double *)at;
    default: return *(const int32_t *)at;
    }
}

static int is_default(const struct param *r, const void *p)
{
    const char *at = (const char *)p + r->at, *text;
    static const char nothing[sizeof(void (*)(void))];
    double v;
    switch (r->kind) {
    case STENO_PARAM_TEXT:
        memcpy(&text, at, sizeof text);
        return text == r->text || (r->text ? text && strcmp(text, r->text) == 0 : !*text); /* an empty text equals no text */
    case STENO_PARAM_LIST: return *(const int32_t *)(const void *)((const char *)p + r->count_at) == 0;
    case STENO_PARAM_CALL: return memcmp(at, nothing, sizeof nothing) == 0;
    case STENO_PARAM_FLAG: return !*(const int32_t *)(const void *)at == !(r->value > 0);
    default:
        v = param_number(r, p);
        return v == r->value || (isnan(v) && isnan(r->value));
    }
}

int param_is_explicit(const struct param_check *j, const char *name)
{
    return j->names && j->names->asked && j->names->asked(j->names->user, name);
}

int param_asked(const struct param_check *j, const struct param *r)
{
    return param_is_explicit(j, r->name) || !is_default(r, j->p);
}
