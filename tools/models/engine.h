/* steno: opening of team, model and session. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_ENGINE_H
#define STENO_TOOLS_ENGINE_H
#include "cli/args.h"
#include "cli/message.h"
#include "models/models.h"
#include "path_guard.h"
#include <stdint.h>

enum { ENGINE_AUTO, ENGINE_F32 }; /* among the values of --compute */

struct engine_opts {
    const char *model, *vocab, *heads, *cpu, *llm, *draft, *jieba_dict;
    const char *numa; /* the number of a node; NULL: any */
    int demo, cmvn, device, compute, kv_type, gelu, decoder_type, quiet, verbose;
    int verify;
    int index_only; /* set by verbs that only describe the model */
    int measured;   /* 1: --compute auto may follow the kept figures (auto_compute.h) if the model transcribes */
    int cmvn_apart; /* 1: --cmvn applies to another model */
    const struct args_given *given; /* options as typed; NULL: none */
    int64_t threads, ctx_size; /* ctx_size: context of a language model, 0: default */
    struct path_guard *path_guard; /* registers the files of opened models; NULL: as in path_guard_code_read */
};

struct engine {
    steno_team *team;
    steno_model *model;
    steno_model *draft;   /* --draft, may be NULL */
    steno_batch *batch; /* NULL: the session is not part of a batch */
    steno_session *session;
    char *path;  /* of the model */
    char *vocab; /* path of an external vocabulary; NULL: it is in the model, or --vocab names it */
};

/* Rows for verbs that use these options. */
#define ENGINE_MODEL_ROW(T) \
    ARG_HEADING("Model"), \
    { .name = "model", .letter = 'm', .kind = ARG_TEXT, .at = offsetof(T, engine.model), .value = "PATH|NAME", \
      .help = "model file or folder, or its name in the caches; without it STENO_MODEL, else the best local model that fits " \
              "memory and keeps up with speech" }

#define ENGINE_VOCAB_ROW(T) \
    { .name = "vocab", .kind = ARG_TEXT, .at = offsetof(T, engine.vocab), .value = "PATH", \
      .help = "vocabulary for a model file without one (OpenAI .pt, MLX): tiktoken file, tokenizer folder, or Whisper model" }

#define ENGINE_LLM_ROW(T) \
    { .name = "llm", .kind = ARG_TEXT, .at = offsetof(T, engine.llm), .value = "FILE", \
      .help = "language model of a Fun-ASR-Nano in two GGUF files, if there are several beside the encoder's" }

#define ENGINE_DRAFT_ROW(T) \
    { .name = "draft", .kind = ARG_TEXT, .at = offsetof(T, engine.draft), .value = "PATH|NAME", \
      .help = "small model with the same vocabulary that proposes draft tokens, which are checked several at a time; the text " \
              "does not change (Whisper: that of --beam-size 0)" }

#define ENGINE_HEADS_ROW(T) \
    { .name = "alignment-heads", .kind = ARG_TEXT, .at = offsetof(T, engine.heads), .value = "LIST", \
      .help = "attention heads for word times: LAYER,HEAD ..., top:N layers, half (the upper half), or a model's name (base.en, " \
              "...); without it the model's own" }

#define ENGINE_CMVN_ROW(T) \
    { .name = "cmvn", .kind = ARG_PAIR, .at = offsetof(T, engine.cmvn), .dflt = ARG_OF_PARAM, \
      .help = "shift and scale filter banks by a FunASR model's am.mvn; off is for comparisons" }

#define ENGINE_GELU_ROW(T) \
    { .name = "gelu", .kind = ARG_WORD, .at = offsetof(T, engine.gelu), .value = "erf|tanh", .dflt = ARG_OF_PARAM, \
      .help = "activation of Whisper's layers: erf as in openai-whisper, tanh as in whisper.cpp" }

#define ENGINE_DECODER_ROW(T) \
    { .name = "decoder-type", .kind = ARG_WORD, .at = offsetof(T, engine.decoder_type), .value = "auto|ctc|rnnt|tdt", \
      .dflt = ARG_OF_PARAM, \
      .help = "head that decodes, of a Parakeet hybrid (tdt_ctc); auto: the transducer. \"steno info\" prints the heads of a model" }

#define ENGINE_DEMO_ROW(T) \
    { .name = "demo", .kind = ARG_FLAG, .at = offsetof(T, engine.demo), .help = "use the small built-in model (spoken digits only)" }

/* Models with a choice of the longest clip. */
#define ENGINE_CTX_ROW(T) \
    { .name = "ctx-size", .kind = ARG_INT, .at = offsetof(T, engine.ctx_size), .value = "N", .dflt = ARG_OF_PARAM, \
      .help = "context of an audio language model, clip and text together; Qwen3-ASR: a larger one has longer clips, up to 20 minutes. " \
              "Parakeet: rows of 80 ms of the longest clip, 1500 by default, up to 18000 (24 minutes)" }

/* The group "Model" of verbs that transcribe. */
#define ENGINE_RECOGNISER_ROWS(T) \
    ENGINE_MODEL_ROW(T), ENGINE_VOCAB_ROW(T), ENGINE_LLM_ROW(T), ENGINE_DRAFT_ROW(T), ENGINE_HEADS_ROW(T), ENGINE_CMVN_ROW(T), \
        ENGINE_GELU_ROW(T), ENGINE_DECODER_ROW(T), ENGINE_DEMO_ROW(T)

#define ENGINE_DEVICE_ROW(T) \
    ARG_HEADING("Machine"), \
    { .name = "device", .kind = ARG_WORD, .at = offsetof(T, engine.device), .value = "auto|cpu|gpu", .dflt = "auto", \
      .help = "computing device; this version has no GPU kernels and uses the processor" }

#define ENGINE_COMPUTE_ROW(T) \
    { .name = "compute", .kind = ARG_WORD, .at = offsetof(T, engine.compute), .value = "auto|f32|bf16|int16|int8", \
      .dflt = ARG_OF_PARAM, \
      .help = "arithmetic of encoders; auto: int16 where it is faster than f32, with the same text, until \"steno doctor --measure\" " \
              "selects bf16; bf16 (on processors that have it) and int8 are faster still and change a few texts (\"steno doctor\" " \
              "prints how many, and what auto takes here)" }

#define ENGINE_CPU_ROWS(T) \
    { .name = "cpu", .kind = ARG_TEXT, .at = offsetof(T, engine.cpu), .value = "LEVEL", \
      .help = "highest processor level to use; \"steno doctor\" lists them" }, \
    { .name = "threads", .letter = 't', .kind = ARG_INT, .at = offsetof(T, engine.threads), .value = "N", .dflt = "0", .hi = 256, \
      .help = "number of threads; 0: the physical cores this process may use" }, \
    { .name = "numa", .kind = ARG_TEXT, .at = offsetof(T, engine.numa), .value = "NODE", \
      .help = "keep threads and memory on this NUMA node (Linux): one process for each node of a large machine" }

#define ENGINE_MACHINE_ROWS(T) ENGINE_DEVICE_ROW(T), ENGINE_COMPUTE_ROW(T), ENGINE_CPU_ROWS(T)

#define ENGINE_QUIET_ROW(T) \
    { .name = "quiet", .letter = 'q', .kind = ARG_FLAG, .at = offsetof(T, engine.quiet), \
      .help = "print no notes and no progress bar; failures are still reported" }

/* Open team, model and a session of `lanes` sequences (0: no session). @return EXIT_OK, or the exit code to end with, after a message */
int engine_open(struct engine *e, const struct engine_opts *o, int lanes);
int engine_open_session(struct engine *e, int lanes);
int engine_batch(struct engine *e, const steno_batch_params *p); /* open a batch, before its sessions */
void engine_close(struct engine *e);

/* The value of {model} in names of files. *name receives malloc'd text, or NULL if the model has no path. @return as engine_beside */
int engine_name(char **name, const struct engine *e, const struct engine_opts *o);

/* Open a second model on the team of the first. Options that apply to the first model only are ignored. @return EXIT_OK, or the exit
 * code to end with, after a message */
int engine_beside(steno_model **out, const char *path, const char *what, const struct engine *e, const struct engine_opts *o);

/* Was the model read from the file `path`, or from a file in the folder `path`? A vocabulary file is not read if the model has one
 * inside. */
int engine_was_read(const steno_model *m, const char *path);

/* Register the files of an opened model as read. @return as path_guard_code_read */
int engine_enter(struct path_guard *l, const char *what, const steno_model *m);

/* Check --cpu, fill model parameters. @return EXIT_OK or EXIT_USAGE */
int engine_model_params(steno_model_params *p, const struct engine_opts *o);

/* Open the team only, on the node that --numa names. @return EXIT_OK, or the exit code to end with */
int engine_team(steno_team **team, const struct engine_opts *o);
#endif
