/* steno: what every verb that computes opens first. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_ENGINE_H
#define STENO_TOOLS_ENGINE_H
#include "args.h"
#include "ledger.h"
#include "models.h"
#include "say.h"
#include <stdint.h>

enum { ENGINE_F32 = 1 }; /* its place among the words of --compute */

struct engine_opts {
    const char *model, *vocab, *heads, *cpu;
    int demo, cmvn, device, compute, quiet, verbose;
    int verify;
    int index_only; /* set by a verb that only describes the model */
    int cmvn_apart; /* 1: --cmvn is about another model */
    const struct args_given *given; /* NULL: nothing was typed */
    int64_t threads;
    struct ledger *ledger; /* models that are opened are entered there; NULL: as ledger_read takes it */
};

struct engine {
    steno_team *team;
    steno_model *model;
    steno_batch *batch; /* NULL: the session has its own */
    steno_session *session;
    char *path;  /* of the model */
    char *vocab; /* where a vocabulary was found for it, NULL: with the model, or where --vocab says */
};

/* Rows that a verb has when they mean something to it. */
#define ENGINE_MODEL_ROW(T) \
    { NULL, 0, ARG_GROUP, 0, 0, NULL, NULL, 0, 0, "Model" }, \
    { "model", 'm', ARG_TEXT, 0, offsetof(T, engine.model), "PATH|NAME", NULL, 0, 0, \
      "a model file or folder, or its name in the caches; without it STENO_MODEL, then the largest one found" }

#define ENGINE_VOCAB_ROW(T) \
    { "vocab", 0, ARG_TEXT, 0, offsetof(T, engine.vocab), "PATH", NULL, 0, 0, \
      "vocabulary of a model that carries none (an OpenAI .pt): tiktoken file, tokenizer folder, or Whisper model" }

#define ENGINE_HEADS_ROW(T) \
    { "alignment-heads", 0, ARG_TEXT, 0, offsetof(T, engine.heads), "LIST", NULL, 0, 0, \
      "attention heads that follow the words, for word times: LAYER,HEAD ..., top:N layers, or a model's name (base.en, ...); without " \
      "it the model's own" }

#define ENGINE_CMVN_ROW(T) \
    { "cmvn", 0, ARG_PAIR, 0, offsetof(T, engine.cmvn), NULL, "on", 0, 0, \
      "shift and scale filter banks by the am.mvn of a FunASR model; off is for comparisons" }

#define ENGINE_DEMO_ROW(T) \
    { "demo", 0, ARG_FLAG, 0, offsetof(T, engine.demo), NULL, NULL, 0, 0, "the small built-in model (spoken digits only)" }

#define ENGINE_DEVICE_ROW(T) \
    { NULL, 0, ARG_GROUP, 0, 0, NULL, NULL, 0, 0, "Machine" }, \
    { "device", 0, ARG_WORD, 0, offsetof(T, engine.device), "auto|cpu|gpu", "auto", 0, 0, \
      "where to compute; this version does on the processor, and goes on there when gpu is asked for" }

#define ENGINE_COMPUTE_ROW(T) \
    { "compute", 0, ARG_WORD, 0, offsetof(T, engine.compute), "auto|f32|bf16|int16|int8", "auto", 0, 0, \
      "arithmetic of Whisper; auto: bf16 where the processor has it, else int16 or f32, with weights of the decoder in int8 " \
      "(\"steno doctor\" tells which, and how many texts change)" }

#define ENGINE_CPU_ROWS(T) \
    { "cpu", 0, ARG_TEXT, 0, offsetof(T, engine.cpu), "LEVEL", NULL, 0, 0, \
      "highest processor level to use; \"steno doctor\" lists them" }, \
    { "threads", 't', ARG_INT, 0, offsetof(T, engine.threads), "N", "0", 0, 256, \
      "threads that compute; 0: the physical cores this process may use" }

#define ENGINE_MACHINE_ROWS(T) ENGINE_DEVICE_ROW(T), ENGINE_COMPUTE_ROW(T), ENGINE_CPU_ROWS(T)

#define ENGINE_QUIET_ROW(T) \
    { "quiet", 'q', ARG_FLAG, 0, offsetof(T, engine.quiet), NULL, NULL, 0, 0, "no notes and no progress bar; failures are still told" }

/* Open team, model and a session of `lanes` sequences (0: no session). @return EXIT_OK, or the exit code to end with, after a message */
int engine_open(struct engine *e, const struct engine_opts *o, int lanes);
int engine_session(struct engine *e, int lanes);
int engine_batch(struct engine *e, const steno_batch_params *p); /* a batch, before its sessions */
void engine_close(struct engine *e);

/* Say that the files of an opened model are read. @return as ledger_read */
int engine_enter(struct ledger *l, const char *what, const steno_model *m);

/* Check --cpu and --compute, fill model parameters. @return EXIT_OK or EXIT_USAGE */
int engine_model_params(steno_model_params *p, const struct engine_opts *o);

/* Team alone. @return EXIT_OK, or the exit code to end with */
int engine_team(steno_team **team, int64_t threads);
#endif
