/* steno: which model supports a parameter, and why others do not. SPDX-License-Identifier: MIT */
#include <string.h>
#include "engine/params.h"
#include "engine/task.h"

unsigned param_kinds(const steno_model *m, enum steno_call call)
{
    static const unsigned any[] = { [STENO_CALL_TRANSCRIBE] = MODELS_SPEECH, [STENO_CALL_ALIGN] = MODELS_ALIGNED | MODELS_ALIGNER,
                                    [STENO_CALL_FIND_SPEECH] = MODELS_VAD | MODELS_VAD_VOTES | MODELS_VAD_THRESHOLDS,
                                    [STENO_CALL_OPEN] = MODELS_ALL,
                                    [STENO_CALL_PUNCTUATE] = MODELS_PUNCTUATION, [STENO_CALL_EMBED] = MODELS_LM | MODELS_EMBED,
                                    [STENO_CALL_GENERATE] = MODELS_GENERATE };
    if (!m) return any[call];
    const unsigned by = m->task->serves(m);
    const unsigned kinds = call == STENO_CALL_ALIGN && (by & MODELS_AR) ? MODELS_ALIGNED | by : by;
    return kinds & any[call] ? kinds : 0; /* 0: it does not support the call */
}

int param_served(const struct param *r, const steno_model *m, enum steno_call call)
{
    const unsigned by = param_kinds(m, call);
    if (by & MODELS_ALIGNED) return (r->models & MODELS_ALIGNED) && (!(by & MODELS_ENGLISH) || (r->models & (MODELS_ENGLISH | MODELS_CTC)));
    return (r->models & by) != 0;
}

#define TOKEN_BY_TOKEN "is for models that decode token by token"
#define LANGUAGES "is for models that know several languages"
#define OF_ENCODER "is for encoder-decoder models"
#define OF_ENCODER_OR_ROWS "is for encoder-decoder models, and for those with a CTC head or a transducer"

/* Why other models do not support a parameter of these models. An audio language model also decodes token by token: what it does not
 * support belongs to decoders that attend to an encoder. */
static const struct { unsigned models; const char *why, *audio_lm; } reasons[] = {
    { MODELS_AR, TOKEN_BY_TOKEN, OF_ENCODER }, { MODELS_AR | MODELS_ALIGNED, TOKEN_BY_TOKEN, OF_ENCODER },
    { MODELS_AR | MODELS_AUDIO_LM_CONTEXT, TOKEN_BY_TOKEN, "is for models whose prompt has a free text" },
    { MODELS_MULTILINGUAL, LANGUAGES, "is for multilingual encoder-decoder models" },
    { MODELS_MULTILINGUAL | MODELS_ALIGNED, LANGUAGES, "is for multilingual encoder-decoder models" },
    { MODELS_AR | MODELS_CTC | MODELS_AUDIO_LM | MODELS_ALIGNED | MODELS_ALIGNER | MODELS_PROMPTED, LANGUAGES, NULL },
    { MODELS_BEAMS, "is for models that decode token by token, or clips with a CTC head or a transducer", OF_ENCODER_OR_ROWS },
    { MODELS_BOOSTED, "is for models that decode token by token, or with a CTC head or a transducer", OF_ENCODER_OR_ROWS },
    { MODELS_RESUMED, "is for models that decode windows or clips", NULL },
    { MODELS_HOTWORDS,
      "is for models that decode token by token, with a CTC head or a transducer, or were trained with hot words", NULL },
    { MODELS_WORD_TIMES | MODELS_AUDIO_LM_CTC, "is for models with word times", NULL },
    { MODELS_CTC, "is for models with tags", NULL },
    { MODELS_CTC | MODELS_AUDIO_LM_ITN, "is for models that can write numbers in two ways", NULL },
    { MODELS_AUDIO_LM, "is for audio language models", NULL },
    { MODELS_AR | MODELS_CLIPS | MODELS_PIECES_STREAM, "is for models that decode windows or clips", NULL },
    { MODELS_PIECES_STREAM, "is for models that decode streams with a choice of look-ahead", NULL },
    { MODELS_CLIPS | MODELS_PIECES_STREAM, "is for models that decode clips", NULL },
    { MODELS_CONTEXT, "is for language models, and for models with a choice of the longest clip", NULL },
    { MODELS_PIECES | MODELS_PIECES_STREAM, "is for models with a transducer, a CTC head, or both (Parakeet)", NULL },
    { MODELS_FBANK, "is for models whose filter banks are shifted and scaled", NULL },
    { MODELS_VOCAB, "is for models whose vocabulary may lie elsewhere", NULL },
    { MODELS_VAD, "is for voice-activity models", NULL },
    { MODELS_VAD_VOTES, "is for voice-activity models with a schedule of silences", NULL },
    { MODELS_VAD_THRESHOLDS, "is for voice-activity models with two thresholds", NULL },
    { MODELS_GENERATE, "is for language models", NULL },
    { MODELS_LM | MODELS_EMBED, "is for embedding models", NULL },
    { MODELS_PUNCTUATION, "is for punctuation models", NULL },
};

/* A transducer of streams carries its state from the first sample of a stream to its last. */
static const char *stream_why(const struct param *r)
{
    if (!strcmp(r->name, "clip_timestamps"))
        return "cuts audio into clips, and this model decodes a file, or with vad_model a span of speech, as one stream";
    if (r->models == MODELS_BEAMS) return "is for searches that end with their clip, and this model reports words while the stream goes on";
    if (r->models != MODELS_RESUMED) return NULL;
    return "continues behind a finished clip, and this model decodes a file as one stream, whose state is not stored";
}

const char *param_why_not(const struct param *r, const steno_model *m, enum steno_call call)
{
    if (call == STENO_CALL_ALIGN && !(r->models & MODELS_ALIGNED)) return "is about decoding, and an alignment has a known text";
    if (call == STENO_CALL_ALIGN && m && (param_kinds(m, call) & MODELS_ALIGNER)) return "is for alignments by an encoder-decoder model";
    if (m && (param_kinds(m, call) & MODELS_PIECES_STREAM) && stream_why(r)) return stream_why(r);
    const int audio_lm = m && (param_kinds(m, call) & MODELS_AUDIO_LM);
    if (audio_lm && r->audio_lm_why) return r->audio_lm_why;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].models == r->models) return audio_lm && reasons[i].audio_lm ? reasons[i].audio_lm : reasons[i].why;
    return TOKEN_BY_TOKEN;
}
