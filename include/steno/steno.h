/* steno: speech recognition on the CPU. SPDX-License-Identifier: MIT
 *
 * The library compiles a model once into a fixed list of operations, and replays that list on the fastest kernels of the processor.
 * Four opaque objects hold all state:
 *
 *   steno_model    weights, vocabulary and plans; immutable after open; any number of threads may share it
 *   steno_team     worker threads; any number of sessions can use a team, one run at a time
 *   steno_session  scratch, key/value state and results; it runs one request at a time, for one thread at a time
 *   steno_batch    several sessions whose windows decode together; one thread runs it, any thread submits requests
 *
 * Each object is closed by its `_close` function. It may be closed while others still use it, and is freed with the last of them.
 *
 * Status: calls return 0 (STENO_OK) or a negative enum steno_status. A call without a session stores the text of an error in the caller's
 * steno_error; after a call with one, steno_last_error(session) returns it. The library never prints, exits, reads the environment, uses
 * the network or keeps global state. Results do not depend on the number of threads, or on what else a batch runs.
 *
 * Parameters: a parameter struct begins with `uint32_t size`. Its `_init` function fills it with defaults and passes its size in the
 * caller's header, so structs can grow without breaking callers. Languages that do not use this header call `_fill`. The size is rounded
 * down to a multiple of 8, and fields that are not wholly inside it are ignored.
 *
 * Units: times are int64_t milliseconds, -1 means "not known". Text is UTF-8, NUL-terminated and owned by the library. In text of
 * results U+0000 becomes U+FFFD. Text of results is valid until the next call that changes the session's results.
 *
 * Callbacks run during the call they belong to, on its thread. Callbacks of a steno_reader may run on any thread of the team. Every
 * callback, including a source's read and rewind and logits_filter, may:
 *   - call steno_cancel and all functions that read results (steno_segment_get, steno_text, steno_timings_get, steno_last_error, ...).
 *     Finished results remain valid until the callback returns;
 *   - open, use and close other sessions, except those of the same batch. Sessions of the same team then compute on this thread alone;
 *   - submit requests on other sessions of the batch. They run in the steno_batch_run, or in the call, that is running.
 * A callback cannot change the running call:
 *   - STENO_EARG, and no effect: another call on its session or on a session of the same batch, steno_batch_run, and
 *     steno_result_select on a session with a request;
 *   - no effect: steno_session_close on a session that is running or queued, steno_batch_close, steno_timings_reset,
 *     steno_profile_enable.
 * on_done may do more: see steno_batch_params. A callback must not wait for another thread that uses the same team.
 *
 * Stack: a thread that calls the library needs 64 KiB, plus what its callbacks and source use. The tests run every call on that much.
 * Worker threads have stacks of their own. */
#ifndef STENO_STENO_H
#define STENO_STENO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) && defined(STENO_SHARED)
#define STENO_API __declspec(dllimport)
#elif defined(__GNUC__)
#define STENO_API __attribute__((visibility("default")))
#else
#define STENO_API
#endif

#if defined(__cplusplus)
#define STENO_INLINE inline
#elif defined(__GNUC__)
#define STENO_INLINE static inline __attribute__((unused))
#else
#define STENO_INLINE static inline
#endif

/* ---- status and errors ------------------------------------------------------------------------------------------------------- */

enum steno_status {
    STENO_OK = 0,
    STENO_EARG = -1,         /* an argument or option is out of range, unknown, or does not fit the model */
    STENO_ENOMEM = -2,       /* out of memory */
    STENO_EIO = -3,          /* a file could not be opened or read */
    STENO_EFORMAT = -4,      /* a model file is damaged or inconsistent */
    STENO_EUNSUPPORTED = -5, /* a valid audio file, model or request that this version does not support */
    STENO_ECANCELED = -6,    /* steno_cancel or a callback ended the call; finished segments can be read */
    STENO_ESOURCE = -7,      /* the audio source reported a failure */
    STENO_ENOVOCAB = -8      /* the model file has no vocabulary: give one in steno_model_params.vocab */
};

/** Receives the error of a failed call. Owned by the caller; `text` is always NUL-terminated. */
typedef struct steno_error {
    int32_t status;  /* enum steno_status of the failing call */
    char text[1020]; /* what, where, and what to do; one line without a newline */
} steno_error;

/** @return the short name of a status: "no error" for 0, "unknown status" for unknown values; static */
STENO_API const char *steno_status_text(int status);

/** @return the library's version, "MAJOR.MINOR.PATCH"; static. */
STENO_API const char *steno_version(void);

/* ---- processor levels -------------------------------------------------------------------------------------------------------- */

/** Name of processor level `i`, in rising order. x86: "c", "sse41", "avx2", "avxvnni", "avx512", "avx512vnni", "avx512bf16", "amx".
 * ARM: "c", "neon", "dotprod", "i8mm", "neonbf16".
 * @return static text, or NULL when i is past the last level */
STENO_API const char *steno_cpu_level_name(int i);

/** @return 1 when this machine and its operating system can run level `i`, else 0. */
STENO_API int steno_cpu_level_usable(int i);

/* ---- teams ------------------------------------------------------------------------------------------------------------------- */

typedef struct steno_team steno_team;

/** Start worker threads.
 *
 * @param out        receives the team; NULL on failure
 * @param n_threads  number of computing threads including the caller's (1..256). 0 selects the number of physical cores that the affinity
 *                   mask and the cgroup's quota allow
 * @param e          receives the reason of a failure; may be NULL
 * @return STENO_OK, STENO_EARG, STENO_ENOMEM (also: a thread could not be started)
 *
 * Results never depend on the number of threads. Idle worker threads sleep. Several threads may use sessions of one team: their runs take
 * turns. */
STENO_API int steno_team_open(steno_team **out, int n_threads, steno_error *e);
STENO_API int steno_team_threads(const steno_team *team); /**< @return number of threads, including the caller's */
/** Closes a team; NULL is allowed. It is freed when the last session or batch that uses it is closed. */
STENO_API void steno_team_close(steno_team *team);

/* ---- models ------------------------------------------------------------------------------------------------------------------ */

typedef struct steno_model steno_model;

/** Arithmetic of a model. Measured with 328 texts without near-ties: 28 recordings of spoken digits under many sets of options. bf16
 * changes 5, int16 0 and int8 12 (level amx: 17), all in recordings of more than one window. With the reference's usual options (greedy,
 * five beams) only int8 differs: 3 of 56 (level amx: 4). With verify (steno_model_params) none changes. Recordings of meetings contain
 * more near-ties: doc/performance.md has their figures. */
enum steno_compute {
    STENO_COMPUTE_AUTO = 0, /* the fastest arithmetic that changes none of the 328 texts: see steno_compute_auto */
    STENO_COMPUTE_F32 = 1,  /* all products and sums in f32 */
    /* Whisper's encoder: most products, keys and values in bf16, sums in f32. The decoder uses matrices as stored. Float types are
     * multiplied with f32 activations, q4_0 with 8-bit ones, other blocks with 16-bit ones. Keys and values are f16. At
     * avx2 and levels that multiply bytes (avxvnni, avx512vnni and above, dotprod and above) the cross keys of a window have 12 bits, its
     * values 8.
     * The most probable tokens and their logits are exactly those of the stored matrix. If only these tokens are needed, the denominator
     * of their probabilities is a sum over int8 logits (error at most 1e-3 in the tested recordings). */
    STENO_COMPUTE_BF16 = 2,
    /* As STENO_COMPUTE_BF16, but the encoder's feed-forward matrices are int8, with one scale per row and per output and int32 sums. A
     * matrix with outliers is not. The decoder's matrices are int8 in blocks of 32 (q8_0). Changes a few words per thousand, more on
     * noisy speech. steno_plan_dump shows the type of each matrix. */
    STENO_COMPUTE_INT8 = 3,
    /* As STENO_COMPUTE_BF16, but the encoder's matrices are int16, with one scale per output and per 128 values of a row. Its attention
     * is int16 in layers with a small range of scores, else f32. The error is a tenth of bf16's. */
    STENO_COMPUTE_INT16 = 4
};

/** @return the arithmetic that STENO_COMPUTE_AUTO selects for the encoder at a processor level: STENO_COMPUTE_INT16 where int16 products
 *          are faster than f32, else STENO_COMPUTE_F32. FunASR's recognisers use that arithmetic in their encoders, and in decoders
 *          that receive all tokens at once. Of their 135 texts int8 changes two, the other types none. FSMN-VAD and streaming models
 *          compute in f32; another explicit type is refused with STENO_EARG. */
STENO_API int steno_compute_auto(int level);

/** Type of the keys and values in sessions of a language model. */
enum steno_kv_type {
    STENO_KV_AUTO = 0, /* f16, also with STENO_COMPUTE_BF16; f32 with STENO_COMPUTE_F32, and with STENO_COMPUTE_AUTO at levels c and neon */
    STENO_KV_F32 = 1,
    STENO_KV_F16 = 2,
    STENO_KV_Q8_0 = 3  /* int8 with one scale per 32 values: a little more than half of f16. STENO_EUNSUPPORTED when the width of a head is
                          not a multiple of 32 */
};

/** Activation in Whisper's convolutions and feed-forward networks. Its value at 1 is 0.841345 (erf) or 0.841192 (tanh). */
enum steno_gelu {
    STENO_GELU_ERF = 0, /* x times the normal distribution function, as in training */
    STENO_GELU_TANH = 1 /* approximation by tanh, error at most 5e-4, as in whisper.cpp (which computes it in f16) */
};

/** Head of a Parakeet model that decodes, as NeMo's decoder_type. A hybrid (tdt_ctc) has a transducer and a CTC head. */
enum steno_decoder_type {
    STENO_DECODER_AUTO = 0, /* the transducer if the model has one */
    STENO_DECODER_CTC = 1,
    STENO_DECODER_RNNT = 2,
    STENO_DECODER_TDT = 3
};

typedef struct steno_model_params {
    uint32_t size;         /* set by steno_model_params_init */
    int32_t compute;       /* enum steno_compute */
    const char *cpu_level; /* highest processor level to use, a name from steno_cpu_level_name; NULL selects the best usable one */
    steno_team *team;      /* team that packs the weights while loading; NULL: the calling thread only. Not kept */
    const char *vocab;     /* vocabulary for a model file that has none (OpenAI .pt, MLX). A tiktoken file, a Hugging Face tokenizer folder,
                              its tokenizer.json or vocab.json, or a Whisper model that has one. NULL: look beside the model */
    int32_t no_cmvn;       /* 1: do not shift and scale filter banks by the model's am.mvn (for comparisons) */
    int32_t index_only;    /* 1: read headers and check shapes, not weights. The model can be described but has no sessions */
    /* Cross-attention heads for word times: "LAYER,HEAD ..."; "half", all heads of the upper half of the layers; "top:N", all heads of
     * the last N layers; or the name of a model with an official list ("base.en"). NULL or "" selects the first of these that exists: the
     * model's own list (generation_config.json), the official list for its shape, "half". large-v1 and large-v2 share a shape and have a
     * list only if the path names one of them. */
    const char *alignment_heads;
    /* 1: keep a second copy of the weights, as stored, beside the fast ones. A window with near-ties (see verify_margin) is encoded again
     * in f32 and its tokens are checked in one run. Decoding restarts at the first token that f32 would not choose. Refused with
     * STENO_COMPUTE_F32 and by families that compute in f32. */
    int32_t verify;
    int32_t text_ctx;      /* context of a language model's sessions in positions, prompt and answer together. 0: 4096 (of an audio language
                              model: 1024 per window, Qwen3-ASR 1536), or the trained length if that is less. More than the trained length
                              is refused. Qwen3-ASR has longer clips in a larger context: two thirds are rows, up to 20 minutes.
                              Parakeet: rows of 80 ms of the longest clip, 25 to 18000 (24 minutes). 0: 1500 (120 s). Longer audio is cut
                              in quiet places */
    const char *llm;       /* Fun-ASR-Nano in two GGUF files: path of the language model's. NULL: the only other one beside the encoder's */
    int32_t kv_type;       /* enum steno_kv_type, for sessions of a language model */
    int32_t pad;           /* 0 */
    /* An open model to share weights with; may be NULL. Matrices that are identical in both exist once. That model stays open until this
     * one is closed. A draft model that was distilled from another may have its encoder. If both are opened with the same compute, the
     * encoder runs once for both (steno_session_params.draft_model). Weights need not be shared for that. */
    const steno_model *share_with;
    /* Dictionary of jieba (its dict.txt, cppjieba's jieba.dict.utf8; lines of word, count, kind). For punctuation models that split
     * Chinese into words: those with a file jieba_usr_dict, such as FunASR's large ct-punc. NULL: jieba.c.dict or dict.txt in the model's
     * folder. Without a dictionary each character is a word (steno_model_info.jieba) and punctuation can differ from FunASR's. Other
     * models ignore it. */
    const char *jieba_dict;
    int32_t gelu;          /* enum steno_gelu, for Whisper models */
    int32_t decoder_type;  /* enum steno_decoder_type, for Parakeet models. STENO_EARG for a head that the model does not have */
} steno_model_params;

/** Write defaults into the first `size` bytes of the struct. */
STENO_API void steno_model_params_fill(steno_model_params *p, uint32_t size);
STENO_INLINE void steno_model_params_init(steno_model_params *p) { steno_model_params_fill(p, (uint32_t)sizeof *p); }

/** Open a model. Its format is detected by content, not by name.
 *
 * @param out   receives the model; NULL on failure
 * @param path  UTF-8, one of: a whisper.cpp .bin file (f32, f16, all quantised types); an OpenAI .pt file; a Hugging Face folder
 *              (config.json and safetensors, single or sharded, or pytorch_model.bin) or the .safetensors file in it; an MLX folder
 *              (config.json and weights.safetensors or weights.npz); a CTranslate2 folder of faster-whisper (model.bin, vocabulary.json or
 *              vocabulary.txt) or its model.bin; a FunASR folder (config.yaml, model.pt); a GGUF file, of a split
 *              model the first one
 * @param p     parameters, or NULL for the defaults
 * @param e     receives the reason of a failure; may be NULL
 * @return STENO_OK; STENO_EARG (p), STENO_EIO (path cannot be read), STENO_EFORMAT (damaged), STENO_EUNSUPPORTED, STENO_ENOVOCAB,
 *         STENO_ENOMEM
 *
 * Weights are read directly into the packed form of the kernels: once in f32. Fast arithmetic reads some of them twice, the embedding most
 * of all. All files are closed before the call returns. */
STENO_API int steno_model_open(steno_model **out, const char *path, const steno_model_params *p, steno_error *e);

/** As steno_model_open, from a whole file in memory. Not for models that consist of several files.
 * @param data  [n] bytes; read during the call only */
STENO_API int steno_model_open_memory(steno_model **out, const void *data, size_t n, const steno_model_params *p, steno_error *e);

/** A model file that the caller reads. */
typedef struct steno_reader {
    uint64_t size; /* of the file, bytes */
    /** Fill dst with bytes [off, off + n), which are inside the file. All threads of the team may call it at once.
     * @return 0, or < 0 on failure */
    int (*read)(void *user, uint64_t off, void *dst, size_t n);
    void (*close)(void *user); /* called once before steno_model_open_reader returns, on success and failure; may be NULL */
    void *user;
} steno_reader;

/** As steno_model_open_memory, through callbacks. */
STENO_API int steno_model_open_reader(steno_model **out, const steno_reader *r, const steno_model_params *p, steno_error *e);

/** Make a model of a named shape with random weights, to measure speed and memory. Its text is meaningless.
 *
 * @param shape  "tiny", "base", "small" or "medium", each also with ".en"; "large-v2", "large-v3", "turbo"; "distil-small.en",
 *               "distil-medium.en", "distil-large-v2", "distil-large-v3"; "sensevoice", "paraformer"; "qwen3-0.6b", "llama-3.2-1b",
 *               "gemma-3-1b", which have no tokenizer
 * @param type   storage of the matrices: "f32", "f16", "q8_0", "q5_0", "q5_1", "q4_0", "q4_1"; if rows divide into blocks of 256
 *               also "q2_k", "q3_k", "q4_k", "q5_k", "q6_k", "iq4_xs"
 * @param seed   same seed, same weights
 * @return as steno_model_open; STENO_EARG names an unknown shape or type */
STENO_API int steno_model_open_random(steno_model **out, const char *shape, const char *type, uint64_t seed,
                                      const steno_model_params *p, steno_error *e);

/** A tensor that is about to be written. */
typedef struct steno_convert_tensor {
    uint32_t size;
    int32_t i, n;                 /* index from 0, and number of tensors */
    const char *name, *from, *to; /* name in the file; type in the source and in the file */
    const char *wanted;           /* the requested type, if rows are not whole blocks of it and `to` is another one; NULL: it is `to` */
    int64_t from_bytes, to_bytes;
} steno_convert_tensor;

/** Output and types of steno_model_convert. */
typedef struct steno_convert_params {
    uint32_t size;     /* set by steno_convert_params_init */
    int32_t pad;
    /** Append n bytes to the file. @return 0; any other value ends the call with STENO_ECANCELED */
    int (*write)(void *user, const void *data, size_t n);
    void *user;
    /* Type of the multiplied matrices. NULL: "f32" in a GGUF file, the stored type in other forms. All families: "f32", "f16", "bf16",
     * "q8_0", "q5_1", "q5_0", "q4_1", "q4_0". Language models also: "q6_k", "q5_k_m", "q5_k_s", "q4_k_m", "q4_k_s", "iq4_nl", "iq4_xs",
     * "q3_k_l", "q3_k_m", "q3_k_s", "q2_k", which are llama-quantize's mixtures. For the form "bin" see `form`. Other tensors (biases,
     * norms, filters, language query rows, mean and variance) are f32, or unchanged in a GGUF file of a language model. If a row is not a
     * whole number of blocks, a language model's matrix gets llama.cpp's fallback type, others get f32. */
    const char *type;
    const char *vocab; /* as in steno_model_params */
    const char *llm;   /* as in steno_model_params */
    const char *imatrix;      /* importance of columns: a file of llama-imatrix, of either format; NULL: uniform. Language models only */
    int32_t allow_requantize; /* 1: quantise weights that are quantised already; loses more than quantising once */
    int32_t n_threads;        /* threads that quantise; 0: the default of steno_team_open. Does not change the bytes */
    int (*tensor)(void *user, const steno_convert_tensor *t); /* called for each tensor of a language model; as write; may be NULL */
    int32_t pure;             /* 1: no mixture: all matrices of a language model get the same type, including sensitive ones */
    int32_t pad_pure;
    /* Format of the output. NULL: "gguf", not for Whisper models. Whisper models have three forms. "bin" is whisper.cpp's file: all
     * matrices have one type of "f32", "f16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0" and, if rows are multiples of 256, "q6_k", "q5_k",
     * "q4_k", "q3_k", "q2_k". Blocks are quantised from f16, as its own quantizer does. "pt" is OpenAI's file (weights and sizes). "hf"
     * is a folder of Hugging Face transformers, see `file`. The types of "pt" and "hf" are "f32", "f16" and "bf16", for matrices and
     * filters. */
    const char *form;
    int (*file)(void *user, const char *name); /* for a form that is a folder: the bytes that `write` receives next belong to this file in
                                                  it; returns as write. Weights come last */
} steno_convert_params;

/** Write defaults into the first `size` bytes of the struct. */
STENO_API void steno_convert_params_fill(steno_convert_params *p, uint32_t size);
STENO_INLINE void steno_convert_params_init(steno_convert_params *p) { steno_convert_params_fill(p, (uint32_t)sizeof *p); }

/** Write a model in another form.
 *
 * GGUF files are complete. SenseVoiceSmall, Paraformer, CT-Transformer and FSMN-VAD (f32 only) are written in the form of FunASR's runtime,
 * Fun-ASR-Nano with encoder and language model together. Language models and BERT are written in the form of llama.cpp. The source may be
 * any form that steno_model_open reads. A GGUF file of a language model keeps its keys. From a folder, names, keys, tokenizer and row order
 * are converted to llama.cpp's. For Whisper models see `form`.
 *
 * The model is opened and checked before the first byte is written. Weights pass through a small buffer, so memory use does not depend on
 * the size of the model. The same source and parameters always give the same bytes.
 *
 * @param path  as of steno_model_open
 * @param p     filled by steno_convert_params_init, with `write`
 * @return STENO_OK; STENO_EARG (p; a type that is not supported; quantised weights without allow_requantize; importance of another model),
 *         STENO_EUNSUPPORTED (another family; a value is too large for the type), STENO_ECANCELED (`write` did not return 0), else as
 *         steno_model_open. After a failure, discard the bytes written so far */
STENO_API int steno_model_convert(const char *path, const steno_convert_params *p, steno_error *e);

/** Free a model; NULL is allowed. Its sessions and batches keep it until the last of them is closed. */
STENO_API void steno_model_close(steno_model *m);

/** Kind of a file or a folder, detected by content. */
typedef struct steno_kind {
    uint32_t size;    /* set by the caller to sizeof(steno_kind) */
    int32_t readable; /* 1: a form that steno_model_open reads; the file may still be damaged, or of an unknown family */
    char what[160];   /* "whisper.cpp .bin", "a GGUF file of the architecture llama", "a web page", … */
    char advice[320]; /* what to get instead; "" if readable */
    char file[208];   /* of a folder: the file in it that `what` and `advice` describe; "": the whole folder */
} steno_kind;

/** Look at the first bytes of a file, or the names in a folder, as steno_model_open does before it reads.
 *
 * @return STENO_OK, also if it is not a model; STENO_EARG, STENO_EIO (path cannot be read), STENO_ENOMEM */
STENO_API int steno_kind_get(const char *path, steno_kind *kind, steno_error *e);

typedef struct steno_model_info {
    uint32_t size;          /* set by the caller to sizeof(steno_model_info) */
    char family[16];        /* "whisper" */
    char name[24];          /* "tiny", "base", …, "large-v3", "turbo", or "custom" */
    char weight_type[8];    /* stored type of the matrices: "f16", "q8_0", … */
    char compute[8];        /* arithmetic of the encoder: "f32", "bf16", "int8", "int16" */
    char cpu_level[16];     /* level of the kernels: "avx512" */
    int32_t n_mels, n_audio_ctx, n_audio_state, n_audio_head, n_audio_layer;
    int32_t n_vocab, n_text_ctx, n_text_state, n_text_head, n_text_layer;
    int32_t n_languages;    /* 0 for English-only models */
    int32_t is_multilingual;
    int64_t weight_bytes;   /* memory held by packed weights, vocabulary and plans */
    int64_t session_bytes;  /* steno_session_memory with a team of one thread and the defaults */
    int64_t parameters;     /* number of weights */
    char format[24];        /* of the file: "whisper.cpp .bin", "PyTorch .pt", … */
    const char *alignment_heads; /* heads for word times, "3,1 4,2 …" (LAYER,HEAD); lives as long as the model; NULL: none */
    char device[8];         /* computing device: "cpu" */
    char attention[8];      /* arithmetic of the encoder's attention: "f32", "bf16", "int16" or "int8"; layers with large scores use f32 */
    char decoder_weights[8]; /* "stored": as in the file, or "int8" */
    int32_t verify;         /* 1: near-ties are checked in f32 */
    int32_t itn;            /* digits and punctuation in FunASR. 1: a GGUF file that makes FunASR's runtime write them; the runtime has no
                               option for it. 2: FunASR writes them by default. Calls of this library follow their parameter itn */
    int32_t bare_text;      /* 1: text has no punctuation; 2: only with itn. steno_punctuate_result adds it */
    int32_t jieba;          /* punctuation models trained on Chinese words: 1: jieba's dictionary splits them, 2: no dictionary, each
                               character is a word; 0: another model */
    int64_t token_bytes;    /* keys and values of one token in all layers, of models that decode token by token; else 0 */
    int64_t kv_bytes;       /* keys and values of a text of n_text_ctx tokens. A sliding-window layer holds only its window and the rows of
                               one run */
    char chat[16];          /* chat template: "chatml", "llama2", "llama3", "gemma", "mistral"; "unknown": a template of another form; "":
                               none */
    int32_t alignment_unsure; /* 1: the model may be large-v1 or large-v2, which have the same dimensions, so alignment_heads are all heads
                                 of the upper half of the layers. steno_model_params.alignment_heads names the right ones */
    char durations[36];     /* TDT: numbers of rows that a token may last, "0 1 2 3 4"; "N up to M" if there are many; "": another model */
    int32_t attention_before, attention_after; /* rows of the encoder before and after a row that it attends to; -1: all */
    char decoder_types[16]; /* heads of a Parakeet model, "tdt ctc"; the first one is used by default. "": another model */
    int32_t draft_sources;  /* of draft tokens for its transcripts, or texts of a language model: enum steno_draft_source, added; 0: none */
    int32_t pad;
} steno_model_info;

enum steno_draft_source {
    STENO_DRAFTS_OF_MODEL = 1, /* a draft model */
    STENO_DRAFTS_OF_TEXT = 2   /* repetitions of earlier text, without a draft model; live requests of Whisper do so without it */
};

/** Fill `info` up to info->size bytes. @return STENO_OK, STENO_EARG */
STENO_API int steno_model_info_get(const steno_model *m, steno_model_info *info);

/** Code of language `i` in token order ("en", "zh", …). @return static text, or NULL past the last one or for English-only models */
STENO_API const char *steno_model_language(const steno_model *m, int i);

/** Path of file `i` that was read when the model was opened: weights, settings and vocabulary, in reading order. A path may occur more than
 * once. Programs use it to avoid overwriting a model.
 * @return text that belongs to the model; NULL past the last one, and for models that were not opened by path */
STENO_API const char *steno_model_file(const steno_model *m, int i);

/** @return index of a language given by code ("de"; ISO 639-2 and -3: "ger", "deu"), BCP 47 tag ("de-AT", "zh_Hant": only the language is
 *          used) or English name ("German"), in any case; -1: the model does not have it */
STENO_API int steno_language_id(const steno_model *m, const char *name);

/** @return English name of a language given by code ("de": "german"); static text, NULL for an unknown code */
STENO_API const char *steno_language_name(const char *code);

/** @return code of a language given as for steno_language_id ("German", "de-AT": "de"), whatever the model; static text, NULL for an
 * unknown one */
STENO_API const char *steno_language_code(const char *name);

/** Write the command lists of a model, one line per command: number, operation, shapes, slots, weights, flops and bytes.
 *
 * @param write  called with each line, NUL-terminated, without newline
 * @return STENO_OK, STENO_EARG */
STENO_API int steno_plan_dump(const steno_model *m, void (*write)(void *user, const char *line), void *user);

/** A tensor of a model's files. */
typedef struct steno_tensor {
    uint32_t size;   /* sizeof(steno_tensor) */
    int32_t n_dims;  /* 1..4 */
    const char *name; /* as in the file */
    const char *type; /* storage type: "f16", "q5_0", "mlx4" */
    const char *file; /* the file that contains it */
    uint64_t dim[4]; /* slowest first, as PyTorch prints a shape; 1 past n_dims */
    uint64_t offset; /* of its bytes in the file; of the first ones, if they are in several places */
    uint64_t bytes;
} steno_tensor;

/** List the tensors of a model's file or folder, in file order. The network may be one that steno does not run.
 *
 * @param take  called with each tensor; its pointers are valid during the call
 * @return as steno_model_open */
STENO_API int steno_tensors_list(const char *path, void (*take)(void *user, const steno_tensor *t), void *user, steno_error *e);

/* ---- text -------------------------------------------------------------------------------------------------------------------- */

/** Encode text as token ids, as in the model's training (byte-level BPE). Special tokens in the text are not recognised.
 *
 * @param ids    [n] receives the ids; may be NULL when n is 0
 * @return number of ids, which may exceed n (only n are written then), or a negative status */
STENO_API int steno_tokenize(const steno_model *m, const char *text, int32_t *ids, int n);

/** How markers in a text are treated. */
enum steno_tokenize_flags {
    STENO_TOKENIZE_SPECIAL = 1, /* special tokens written in the text become their ids. For prompts that the program writes, never for text
                                   from a user */
    STENO_TOKENIZE_WHOLE = 2    /* add the tokens that the model expects before and after a whole text */
};

/** Encode text of any bytes as token ids. Only language models accept flags. A model opened with index_only has its tokenizer.
 *
 * @param text   [n_text] need not be UTF-8: invalid bytes have tokens of their own
 * @param flags  enum steno_tokenize_flags
 * @return as steno_tokenize; STENO_EUNSUPPORTED: the model has no tokenizer, or does not accept the flags */
STENO_API int steno_tokenize_text(const steno_model *m, const char *text, size_t n_text, uint32_t flags, int32_t *ids, int n);

/** A part of a text. flags is 0 for text from a user, STENO_TOKENIZE_SPECIAL for text from the program. */
typedef struct steno_text_part {
    const char *text;      /* [n] need not be UTF-8 */
    size_t n;
    uint32_t flags;
} steno_text_part;

/** Encode a text given in parts, such as a prompt, as one text. Text between special tokens is encoded together, across parts. A part
 * inside of it does not get a leading space of its own, as it would with steno_tokenize_text.
 *
 * @param flags  0 or STENO_TOKENIZE_WHOLE
 * @return as steno_tokenize; STENO_EUNSUPPORTED: the model has no tokenizer of a language model */
STENO_API int steno_tokenize_parts(const steno_model *m, const steno_text_part *parts, int n_parts, uint32_t flags, int32_t *ids, int n);

/** A turn of a conversation. */
typedef struct steno_message {
    /* "system", "user" or "assistant". Models whose chat template has tools in the form of Qwen, with <tool_call>, also have
     * "tool_definition" (a JSON object; these come before all other messages), "tool_call" (the object with "name" and "arguments" that the
     * model wrote; it belongs to the assistant's message before it, if there is one) and "tool" (the result of a call). */
    const char *role;
    const char *content;   /* UTF-8 */
} steno_message;

enum steno_chat_flags {
    STENO_CHAT_ANSWER = 1,      /* end with the beginning of the assistant's turn, for the model to continue */
    STENO_CHAT_NO_THINKING = 2, /* and with an empty thinking block, if the format has one */
    /* Force a format, whatever the model's file has; at most one of these. */
    STENO_CHAT_AS_CHATML = 0x100,
    STENO_CHAT_AS_LLAMA2 = 0x200,
    STENO_CHAT_AS_LLAMA3 = 0x300,
    STENO_CHAT_AS_GEMMA = 0x400
};

/** Encode a conversation in the model's chat format. The chat template in the model's file (Jinja) is recognised, not run: ChatML, Llama 2
 * and 3, Gemma, Mistral (steno_model_info.chat). If the template adds a default system message, so does this call, and thoughts of earlier
 * answers are left out where it leaves them out. Markers inside messages stay text.
 *
 * @return as steno_tokenize; STENO_EUNSUPPORTED: the model has no template, or one that is not recognised; STENO_EARG: invalid messages,
 *         *e has the reason */
STENO_API int steno_chat_tokenize(const steno_model *m, const steno_message *messages, int n_messages, uint32_t flags, int32_t *ids, int n,
                                  steno_error *e);

/** The bytes of a token, which may be a part of a character; of a special token its text.
 *
 * @param buf    [n] receives the first n bytes
 * @return number of bytes of the token, or STENO_EARG */
STENO_API int64_t steno_token_bytes(const steno_model *m, int32_t id, char *buf, size_t n);

/** @return 1 if the token ends a text, else 0. Chat models have several such tokens. */
STENO_API int steno_token_ends(const steno_model *m, int32_t id);

/** Decode token ids to text. Ids of timestamps are dropped; other special ids give their literal text.
 *
 * @param buf    [n] receives the text, always NUL-terminated when n > 0; invalid UTF-8 becomes U+FFFD
 * @return length of the whole text in bytes without the NUL, which may exceed n - 1, or a negative status (STENO_EARG: bad id) */
STENO_API int64_t steno_detokenize(const steno_model *m, const int32_t *ids, int n_ids, char *buf, size_t n);

/** Decodes ids one at a time to whole characters. Bytes of an incomplete character wait for the next id. */
typedef struct steno_detokenizer steno_detokenizer;
/** @param special  1: print control tokens as text
 * @return STENO_OK, STENO_EARG, STENO_ENOMEM. The model stays open until steno_detokenizer_close */
STENO_API int steno_detokenizer_open(steno_detokenizer **out, const steno_model *m, int special, steno_error *e);
/** @param n  receives the length in bytes; may be NULL
 * @return the characters that this id completes, NUL-terminated, "" for none; valid until the next call. NULL: unknown id, or out of
 *         memory */
STENO_API const char *steno_detokenizer_push(steno_detokenizer *d, int32_t id, size_t *n);
/** End the text. Bytes of an incomplete character become U+FFFD. The next id begins a new text. @return as steno_detokenizer_push */
STENO_API const char *steno_detokenizer_end(steno_detokenizer *d, size_t *n);
STENO_API void steno_detokenizer_close(steno_detokenizer *d); /**< NULL is allowed */

/** Special tokens of speech models. The token of a language is steno_token_id(m, STENO_TOKEN_LANGUAGE) + its index. */
enum steno_special {
    STENO_TOKEN_END,           /* end of text */
    STENO_TOKEN_START,         /* start of transcript */
    STENO_TOKEN_LANGUAGE,      /* the first language */
    STENO_TOKEN_TRANSLATE,
    STENO_TOKEN_TRANSCRIBE,
    STENO_TOKEN_START_LM,
    STENO_TOKEN_PREVIOUS,      /* start of previous text */
    STENO_TOKEN_NO_SPEECH,
    STENO_TOKEN_NO_TIMESTAMPS,
    STENO_TOKEN_TIMESTAMP      /* 0.00 s; each following id is 0.02 s later */
};

/** @return id of a special token, -1: the model does not have it */
STENO_API int32_t steno_token_id(const steno_model *m, enum steno_special which);

/** Spectrogram from the model's front end, 100 frames per second. Whisper: the log-mel input of the encoder, scaled against the loudest bin
 * of pcm[n]. FunASR's models: logarithms of filter banks, before stacking and normalisation.
 *
 * @param pcm       [n] mono samples at 16 kHz
 * @param out       [n_frames, n_mels] receives the first n_frames frames; may be NULL when n_frames is 0
 * @return number of frames (n / 160; of filter banks whole frames of 400 samples), which may exceed n_frames, or a negative status */
STENO_API int64_t steno_mel(const steno_model *m, const float *pcm, int64_t n, float *out, int64_t n_frames);

/* ---- sessions ---------------------------------------------------------------------------------------------------------------- */

typedef struct steno_session steno_session;
typedef struct steno_batch steno_batch;

typedef struct steno_session_params {
    uint32_t size;      /* set by steno_session_params_init */
    int32_t max_lanes;  /* maximum number of sequences per window that decode together (beams, candidates of best_of), 1..32; default 1 */
    steno_batch *batch; /* batch that runs the session's calls, with its scratch and its max_lanes; NULL: a batch of its own */
    /* A small draft model with the same vocabulary; may be NULL. It proposes tokens, the session's model checks several of them in one run.
     * Texts, times and probabilities do not change by a bit. It saves time if its weights are much smaller than the model's (see draft_max
     * of steno_transcribe_params and steno_generate_params). Whisper: the draft model needs the same number of mel bands and encodes each
     * window itself. Greedy searches are drafted, beams and sampling are not. Audio language models: one of the same family. Language
     * models: steno_generate, and texts of a batch. One vocabulary may be longer; its extra entries are never proposed. The session keeps
     * the draft model until it is closed. A session in a batch uses the batch's. */
    const steno_model *draft_model;
} steno_session_params;

/** Write defaults into the first `size` bytes of the struct. */
STENO_API void steno_session_params_fill(steno_session_params *p, uint32_t size);
STENO_INLINE void steno_session_params_init(steno_session_params *p) { steno_session_params_fill(p, (uint32_t)sizeof *p); }

/** Memory of a session in bytes, without results, for a model, a team (NULL: one thread) and parameters (NULL: defaults).
 *
 * It counts the pages that are resident when all sequences fill the text context and a stream's chunks have their largest size. Memory of
 * the team's threads counts from the start, for any number of threads; their stacks do not count. A stream that looks back further than the
 * default takes more. */
STENO_API int64_t steno_session_memory(const steno_model *m, const steno_team *team, const steno_session_params *p);

/** Make a session.
 *
 * @param out   receives the session; NULL on failure
 * @param m     model; must outlive the session
 * @param team  worker threads, or NULL to compute on the calling thread; must outlive the session
 * @param p     parameters, or NULL for the defaults
 * @return STENO_OK, STENO_EARG, STENO_ENOMEM
 *
 * Scratch and state are allocated here. Calls allocate more for results, for parameters (prompts, patterns, grammars) and for checking an
 * attempt. Repeated calls of one kind take no more than the first, and no step of a window allocates. */
STENO_API int steno_session_open(steno_session **out, const steno_model *m, steno_team *team, const steno_session_params *p,
                                 steno_error *e);
/** Free; NULL is allowed. From a callback of a call that the session is running or queued in it does nothing; on_done is an exception. */
STENO_API void steno_session_close(steno_session *s);

/** @return the reason of the last failing call on this session, "" for none; valid until the next call on it */
STENO_API const char *steno_last_error(const steno_session *s);

/** End the running call of this session within one decoder step. May be called from any thread or a signal handler. The next call on the
 * session clears it. */
STENO_API void steno_cancel(steno_session *s);

/* ---- speech ------------------------------------------------------------------------------------------------------------------ */

/** Return value of a source's read that has no samples yet. Its request waits without a decode slot while others continue. It is read again
 * when windows of others have ended, and after steno_batch_wake. Only for requests submitted to a batch; every other call treats it as a
 * failure. */
#define STENO_SOURCE_WAIT ((int64_t)-1000000)

/** Audio that the library reads in pieces and never holds as a whole. */
typedef struct steno_source {
    /** Fill pcm[n] with mono samples at 16 kHz, nominally in [-1, 1]. @return number of samples (1..n); 0 at the end; STENO_SOURCE_WAIT;
     * any other number < 0 on failure */
    int64_t (*read)(void *user, float *pcm, int64_t n);
    /** Go back to the first sample. @return 0, or < 0 if that is impossible. May be NULL for audio of at most 30 s.
     *
     * Whisper clamps log-mel against the loudest bin of the whole file, so longer audio is read twice. */
    int (*rewind)(void *user);
    void *user;
} steno_source;

enum steno_task {
    STENO_TRANSCRIBE = 0,
    STENO_TRANSLATE = 1,
    STENO_TRANSCRIBE_AND_TRANSLATE = 2 /* both; windows at the same place are encoded once; see steno_result_select */
};

/** The frames of steno_mel for audio of any length, piece by piece. Memory does not depend on the length, except for models that normalise
 * a clip as a whole (Parakeet, Qwen3-ASR), which hold it.
 *
 * @param src     read to its end; by Whisper twice, so that audio of more than 30 s needs `rewind`
 * @param frames  called with each piece [n, n_mels] in order, valid during the call; not 0 ends the call
 * @return number of frames, or STENO_EARG, STENO_ENOMEM, STENO_ESOURCE (a read or rewind failed), STENO_ECANCELED (`frames` ended it) */
STENO_API int64_t steno_mel_read(const steno_model *m, const steno_source *src, int (*frames)(void *user, const float *frames, int64_t n),
                                 void *user);

/** A finished segment of text. */
typedef struct steno_segment {
    uint32_t size;            /* set by the caller to sizeof(steno_segment); callbacks receive it set */
    int32_t id;               /* 0, 1, … over the whole file */
    int32_t n_tokens;
    int64_t seek_frames;      /* start of its window, in frames of 10 ms */
    int64_t t0_ms, t1_ms;     /* start and end in the file; never past the end of the audio, except with STENO_GUARDS_OFF */
    const char *text;         /* UTF-8, usually begins with a space */
    const int32_t *tokens;    /* [n_tokens] ids, including timestamps */
    double temperature;       /* of the attempt that was kept */
    double avg_logprob;       /* sum of log-probabilities / (tokens + 1), over the window */
    double compression_ratio; /* bytes of the window's text / bytes deflated */
    double no_speech_prob;    /* of the window */
    uint32_t flags;           /* enum steno_flag: doubts about the text */
    int32_t attempt;          /* number of the attempt that was kept, from 0 */
    /* Tags from a model that has them; static text, NULL if absent. Whisper sets language, too: with language_per_segment to the
     * window's language, else only where a doubtful window seems to be in another language. */
    const char *language, *emotion, *event, *itn; /* "zh", "HAPPY", "BGM", "withitn" */
    double start, end;        /* t0_ms and t1_ms in seconds, unrounded: the reference's own numbers; NAN: not known */
    int32_t n_words;          /* with word_timestamps; see steno_word_get */
    int32_t speaker_turn;     /* 1: another speaker follows (tinydiarize) */
    const char *word_source;  /* method of its word times: "dtw" (time warping over attention), "ctc" (rows of a CTC head), "aligner";
                                 static, NULL if it has none */
} steno_segment;

/** A word of a segment: text between spaces, or one character in a language without spaces, with the punctuation that belongs to it. */
typedef struct steno_word {
    uint32_t size;            /* set by the caller to sizeof(steno_word) */
    int32_t n_tokens;
    double start, end;        /* seconds */
    int64_t t0_ms, t1_ms;     /* the same, rounded */
    const char *text;         /* UTF-8, begins with a space if the language has them */
    double probability;       /* mean over its tokens */
    const char *spoken;       /* the recogniser's text, before steno_punctuate_result added punctuation */
} steno_word;

/** Doubts about a text. A threshold that is switched off counts with its default value here. */
enum steno_flag {
    STENO_FLAG_REPETITION = 1,     /* compression ratio above its threshold; entropy below its threshold (if set); or one to eight text
                                      tokens repeated at least four times in a row, over eight tokens or more */
    STENO_FLAG_NO_SPEECH = 2,      /* no-speech probability above its threshold; or a steady level, within 4 dB from half a second before
                                      the segment to half a second after it: silence, tones, steady noise. Of text that was left out
                                      also: stationary spectra, as in music; or the guards of its model found no
                                      speech */
    STENO_FLAG_LOW_CONFIDENCE = 4, /* avg_logprob below its threshold */
    STENO_FLAG_RETRIED = 8,        /* the text is not from the first attempt */
    STENO_FLAG_UNFINISHED = 16     /* of an attempt: it has no complete sentence of the grammar, so it gives no text */
};

/** What to do about doubtful text. */
enum steno_guards {
    STENO_GUARDS_OFF = 0,  /* follow the reference; no flags */
    /* The default: the reference's text with flags, with these exceptions. Whisper:
     *   - A segment with a steady level is left out (steno_left_out).
     *   - If every attempt fails, the best is kept, not the last. Order: an attempt that ended by itself before a loop that was cut off;
     *     avg_logprob at or above its threshold before one below; no repetition before repetition; then the higher avg_logprob.
     *   - The first attempt decides whether a window is silence, not a sample at a higher temperature; if the level is not steady, another
     *     attempt without previous text decides. A window is also silence if its no-speech probability is above the threshold and every
     *     attempt fails. There must be at least two samples, none of which reaches the avg_logprob threshold. The same holds if two or
     *     more samples miss it and the best attempt does, too. On audio without speech the text varies in this way. Half the no-speech
     *     threshold is enough if the best attempt repeats itself and none of at least five samples reaches the avg_logprob threshold.
     *   - A window is not speech if its first text has a flag and its spectra are stationary, as of notes, chords and hum. For more than
     *     half of the time they change by less than 3 dB in 60 ms. In no half second do half of the frames change by more than 5 dB.
     * Of the other models: the text of a clip is left out if no part of the clip has speech. A part has none if nothing from a second
     * before it to a second after it is louder than the last of 16 bits, or if those two seconds are steady: means over 50 ms vary by less
     * than 1.4 dB, and the loudest bands by less than 6.5 dB. Speech with peaks of three steps of 16 bits is kept. A clip with speech keeps
     * all of its text, also that of its pauses. Models of streams leave out each token that lies in such a part (Nemotron: with its word).
     * They know the audio up to the end of a chunk only, so steady sound in the first two seconds keeps its text. Music and sounds that
     * change keep their text. */
    STENO_GUARDS_FLAG = 1,
    /* As STENO_GUARDS_FLAG; of Whisper, windows flagged for repetition or low confidence are decoded again: without previous text, then at
     * rising temperatures. If every attempt is flagged the best is kept, by the same order. Windows with a steady level are not decoded,
     * such segments are left out. Fun-ASR-Nano: a window that repeats itself is stopped and decoded again with 1.1 times the repetition
     * penalty (at least 1.1), then 1.3 times; other windows are not. */
    STENO_GUARDS_RETRY = 2
};

/** What to do with the tags that a model writes into its text (SenseVoice). */
enum steno_tags {
    STENO_TAGS_APART = 0, /* fields of the segment only (the default) */
    STENO_TAGS_KEEP = 1,  /* also keep them in the text, as the model wrote them: "<|en|><|HAPPY|><|Speech|><|woitn|>good morning" */
    STENO_TAGS_RICH = 2   /* write signs for emotions and events, as FunASR's rich_transcription_postprocess does. A segment's text uses its
                             own tags, steno_text all of them: there a sign is not repeated from segment to segment */
};

/** Values of `lookahead` beside a number of rows. */
enum steno_lookahead {
    STENO_LOOKAHEAD_MOST = -1, /* the most that the model permits (the default). A segment is a sentence */
    STENO_LOOKAHEAD_USUAL = -2 /* the model's default. With this and with a number, each chunk of `lookahead` + 1 rows gives a segment: the
                                  words that are complete. They are not changed later */
};

/** Decoding rules of a window. whisper.cpp's rules differ from openai-whisper's as follows.
 *   - Input: the last window is padded with silence, not with the middle of the scale. The audio has 1 + (samples - 200) / 160 frames; no
 *     window begins in its last ten, and windows that begin in its last 500 have no previous text.
 *   - Tokens: the first token may be text, a timestamp may repeat, and probabilities are not normalised where only timestamps are allowed.
 *     Prompts are tokenized by the longest match.
 *   - Segments begin at the first chosen timestamp, and nothing is kept after the last one.
 *   - Beams sample at any temperature, from generators that start alike in every request; patience and seed have no effect.
 *   - A text that ends without a timestamp fails. So does an improbable text in a window that may contain speech. From temperature 0.5 on
 *     there is no previous text. */
enum steno_decoding {
    STENO_DECODING_OPENAI = 0,
    STENO_DECODING_GGML = 1    /* whisper.cpp's */
};

/** One decoding of a window, with its figures. */
typedef struct steno_attempt {
    uint32_t size;            /* set by the library */
    int32_t index;            /* 0, 1, … */
    int64_t at_ms;            /* start of the window */
    double temperature, avg_logprob, compression_ratio, no_speech_prob;
    double entropy;           /* nats, of the ids among the last 32 tokens */
    int32_t n_tokens;
    uint32_t flags;           /* enum steno_flag that apply, whatever params.guards is */
    int32_t with_previous;    /* 1: the text of earlier windows was its prompt */
    int32_t kept;             /* 1: it is the window's result */
    const double *score;      /* [n_candidates] ranking scores of its candidates or finished beams; valid during the callback */
    int32_t n_candidates;
    int32_t chosen;           /* index of the highest score, the first of equals */
    /* Of a model opened with verify: the smallest lead of a choice over the next best one, in the fast arithmetic. INFINITY: there was no
     * other choice, or nothing is verified. */
    double margin;            /* in logits, where the text depends on it; with beams in sums of log-probabilities */
    double margin_timestamps; /* in logits, of one timestamp over another */
    int32_t verified;         /* 1: checked in f32; all other fields are f32's */
    int32_t corrected;        /* 1: f32 chose other tokens */
    /* whisper.cpp's record of the chosen sequence. Its result_len is n_tokens, its sum of log-probabilities avg_logprob * (n_tokens + 1),
     * because the end of text counts. */
    int32_t failed;           /* 1: an active threshold or guard asks for another attempt. With kept: no attempt was better */
    int32_t completed;        /* 1: it ended by itself; 0: it was cut at sample_len, or at the end of the text context */
    int32_t has_ts;           /* 1: it has a timestamp other than <|0.00|> */
    int32_t seek_delta_ms;    /* where its tokens place the next window, after at_ms; words and a grammar may move that */
} steno_attempt;

/** Position in a decoding, for a logits filter. */
typedef struct steno_step {
    uint32_t size;            /* set by the library */
    int32_t lane;             /* index among the sequences that decode together */
    int64_t at_ms;            /* start of the window */
    double temperature;
    int32_t attempt;          /* of the window */
    int32_t n_vocab;
} steno_step;

/** Intermediate rows of a network for one clip or window, for comparison with another implementation. */
typedef struct steno_rows {
    uint32_t size;            /* set by the library */
    int32_t first;            /* index of the first row in the clip; some arrive in pieces, in order */
    int32_t n_rows, width;
    /* Whisper, per window: "features": log-mel, the encoder's input with its zeros at the end, [2 audio_ctx, n_mels], a frame of 10 ms
     * per row (transpose of openai-whisper's pad_or_trim); "encoder": the encoder's output, [audio_ctx, width] (openai-whisper's
     * audio_features). FunASR, per clip:
     * "features": input of the encoder, stacked and normalised; "encoder": its output, including the query rows for language and numbers;
     * "adaptor": input of the language model (Fun-ASR-Nano, Qwen3-ASR); "logits" (not of these): per row of a CTC head, or per token unless
     * hot words use attention; "cif_alphas": weights of frames, with one of silence at the end; "cif_fine_alphas": the weights for times.
     * Static. */
    const char *name;
    int64_t at_ms;            /* start of the clip or window */
    const float *rows;        /* [n_rows, width], rows `stride` floats apart; valid during the callback */
    int64_t stride;
} steno_rows;

/** One token of the result. */
typedef struct steno_token {
    uint32_t size;         /* set by the caller to sizeof(steno_token) */
    int32_t id;
    int32_t ts_id;         /* most probable timestamp at this position */
    float p, logprob;      /* probability and log-probability among the tokens that the logit rules allow; p = exp(logprob) */
    float ts_prob, ts_prob_sum; /* share of `ts_id` among timestamps; summed probability of all timestamps */
    int64_t t0_ms, t1_ms;  /* -1: not known */
    int64_t t_dtw_ms;      /* start by the alignment of word_timestamps, within its segment; -1: not known */
    float vlen;            /* voice length, 0: not known */
} steno_token;

typedef struct steno_transcribe_params {
    uint32_t size;                 /* set by steno_transcribe_params_init */
    int32_t task;                  /* enum steno_task */
    const char *language;          /* as for steno_language_id; NULL or "auto": detect from the first 30 s. Whisper: several, separated by
                                      commas: detect, but choose one of them. English-only models accept English only */
    const char *initial_prompt;    /* text before the first window; Qwen3-ASR: context of all clips; NULL: none */
    const char *suppress_tokens;   /* ids separated by commas, spaces allowed; "-1": the non-speech set, "": no suppression */
    int32_t condition_on_previous_text; /* 1: the text of earlier windows is the prompt of the next */
    int32_t without_timestamps;    /* 1: text only; one segment per window */
    int32_t suppress_blank;        /* 1: no space and no end of text at the first position */
    int32_t sample_len;            /* maximum number of tokens per window; 0: half the text context (224) */
    double max_initial_timestamp;  /* seconds, default 1.0; 0: no limit */
    double temperature;            /* 0: most probable token; 1e-6 to 100: sampling */
    uint64_t seed;                 /* of sampling; default 0. The same seed gives the same text, with any other load. Refused if no attempt
                                      has a temperature above 0 */
    double no_speech_threshold;    /* 0.6; NAN: none */
    double logprob_threshold;      /* -1.0; NAN: none */
    int64_t offset_ms;             /* start in the audio */
    int64_t duration_ms;           /* length to transcribe; 0: to the end */
    /* Callbacks run on the calling thread; any may be NULL. */
    void *user;
    void (*on_segment)(void *user, const steno_segment *seg);       /* once per segment, in order */
    void (*on_progress)(void *user, int64_t done_ms, int64_t total_ms); /* non-decreasing; the last call has done_ms == total_ms. total_ms
                                                                            is 0 until the end of a source that is read once */
    int (*on_window)(void *user, int64_t at_ms);                    /* before a window is encoded; 0 ends cleanly, others continue */
    int (*should_abort)(void *user);                                /* called at least once per decoder step; non-zero cancels */

    /* Later additions start here. A caller whose struct ends earlier (see size) gets their defaults. */

    /* Temperature fallback. A window is decoded at `temperature`, then at that plus one, two, … increments up to 1.0, until an attempt
     * passes. It passes with a compression ratio of at most its threshold, and avg_logprob and entropy of at least theirs. Silence
     * (no_speech_prob above and avg_logprob below their thresholds) always passes. If no attempt passes, the guards select one
     * (STENO_GUARDS_OFF: the last). */
    double temperature_increment_on_fallback; /* 0.2; 0 or NAN: one attempt */
    double compression_ratio_threshold;       /* 2.4; NAN: none */
    double entropy_threshold;      /* nats over the last 32 of more than 32 tokens; NAN, the default: none */
    const int32_t *prompt_tokens;  /* [n_prompt_tokens] ids in place of initial_prompt; the last half context minus one (223) are used */
    int32_t n_prompt_tokens;       /* 0: none */
    int32_t carry_initial_prompt;  /* 1: the initial prompt (or prompt_tokens) precedes every window, and earlier text gets the remaining
                                      room; 0, the default: earlier text gradually replaces it */
    int32_t guards;                /* enum steno_guards */
    int32_t keep_audio_features;   /* 1: for steno_audio_features */
    void (*on_attempt)(void *user, const steno_attempt *a); /* after each decoding of a window */
    /* Called before each choice. It may change logits[n_vocab]; -INFINITY forbids an id. tokens[n] are the earlier tokens of this attempt.
     * The logit rules run afterwards. It may be called many times per second. */
    void (*logits_filter)(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n);
    /* Models with tags. */
    int32_t itn;                   /* 1: inverse text normalisation: digits and punctuation instead of words. The program steno sets it for
                                      Fun-ASR-Nano, as FunASR does */
    int32_t ban_unknown_emotion;   /* 1: forbid the tag "emotion unknown" */

    /* Search. At temperature 0: greedy, or a beam search with beam_size. Above 0: one sample, or the best of `best_of`. Fallback uses each
     * at its temperatures. Defaults are those of the reference's function transcribe(): greedy, one sample. The program's defaults are
     * those of the reference's command line: beam_size 5 and best_of 5 with Whisper, which need a session with max_lanes 5. */
    int32_t beam_size;             /* 0: greedy; 1..32, at most the session's max_lanes. CTC heads and transducers: width of a search over
                                      texts, each with all its alignments; max_lanes does not limit it, 0 and 1 are the same */
    int32_t best_of;               /* 0: one; 1..32, at most max_lanes; refused if no attempt has a temperature above 0 */
    double patience;               /* a beam search ends with round(beam_size * patience) finished sequences; NAN, the default: 1 */
    double length_penalty;         /* rank by sum of log-probabilities / ((5 + n) / 6) ^ this, 0..1; NAN, the default: / n */

    /* Text that is given. */
    const char *prefix;            /* first words of every window's or clip's text; NULL: none. The text contains them, as they are. Their
                                    * tokens count in no figure. Qwen3-ASR: needs language, and a segment's tokens are those of the rest.
                                    * Whisper: their tokens have probability 1. The timestamp 0.00 precedes them. With STENO_GUARDS_OFF,
                                    * as in the reference, a timestamp must follow them, where most models end the text. The result then
                                    * has only the text after them */
    const int32_t *prefix_tokens;  /* [n_prefix_tokens] the same as ids */
    int32_t n_prefix_tokens;
    int32_t max_context;           /* maximum number of tokens of earlier text before a window; -1: what fits (223); 0: none */

    /* Preferred and forbidden text, in addition to suppress_tokens. */
    const char *suppress_regex;    /* forbid ids whose whole text matches this Perl-compatible pattern (at most 32 nested brackets);
                                    * NULL: none. With STENO_DECODING_GGML it also matches the names that whisper.cpp gives to special
                                    * ids: [_EOT_], [_BEG_], [_TT_1] to [_TT_1500], [_LANG_en], ... */
    /* A grammar in GBNF, the notation of llama.cpp and whisper.cpp; NULL: any text. The text of each window is one sentence of it, or
     * empty. A window's segments share seek_frames; their texts in a row are the sentence. steno_text is all sentences in a row.
     * Timestamps stand between characters and words where the sentence may go on or end. A window is cut only at the end of a sentence.
     * A window may be too short for a sentence (sample_len, the context), or suppress_tokens may forbid its tokens (brackets and other
     * signs). It is then decoded again up to the last temperature, and has no text if that fails: on_attempt gets STENO_FLAG_UNFINISHED.
     * A prefix precedes the sentence and is not part of it. A grammar that is empty or accepts only the empty text is refused. */
    const char *grammar;
    const char *grammar_rule;      /* its start rule; NULL: "root" */
    double grammar_penalty;        /* subtracted from the logits of all other ids, and of timestamps and ends in other places. INFINITY, the
                                      default, forbids them. A finite value is a preference: any text is possible, and windows are cut by
                                      timestamps only (whisper.cpp: 100) */
    const char *hotwords;          /* words or phrases to favour, one per line; NULL: none. Timestamps do not interrupt a phrase. SeACo and
                                      Contextual Paraformer were trained with hot words: they accept up to 999, without a boost */
    double hotwords_boost;         /* added to the logits of ids that continue a hot word; half of it to those that start one. The default 2
                                      multiplies odds by 7.4 and 2.7. 0 to 100; needs hotwords. With a CTC head hot words need a search,
                                      which has width 1 unless beam_size is larger. In a transducer the probability of blank stays */

    /* Selection of audio. */
    const double *clip_timestamps; /* [n_clip_timestamps] seconds: start, end, start, end, …; an odd last one ends with the audio */
    int32_t n_clip_timestamps;
    int32_t independent_clips;     /* 1: no text passes from clip to clip, so clips decode together in a batch; a clip is split at each
                                      window's length. Needs condition_on_previous_text 0 */
    int32_t chunk_ms;              /* 1000..30000: split the audio at its quietest places into independent clips of at most this length; 0:
                                      do not split. Fun-ASR-Nano: 1000..15000, clips of exactly this length, as in its runtime; 0: at most
                                      15 s, split at quiet places */
    int32_t audio_ctx;             /* encoder positions of 20 ms each; 0: the model's (1500). A window has this length */

    /* Language detection if `language` does not name one. Windows of 30 s are tried in order, at most this number, until a language reaches
     * the threshold. Otherwise the most frequent result counts; on ties, the more probable one. */
    int32_t language_detection_segments;    /* 1 or more, default 1 */
    double language_detection_threshold;    /* 0 to 1, default 0.5; needs 2 segments or more */

    /* Word times, by dynamic time warping over the cross-attention of some heads (Radford et al. 2022; openai-whisper, timing.py), or by
     * the rows of a CTC head. Segments then begin and end with their words; with cross-attention the next window begins where the last
     * word ended. */
    int32_t word_timestamps;
    const char *prepend_punctuations;       /* belongs to the word after it; NULL, the default: "'“¿([{- */
    const char *append_punctuations;        /* belongs to the word before it; NULL, the default: "'.。,，!！?？:：”)]}、 */
    double hallucination_silence_threshold; /* seconds: leave out words that look invented beside a silence of this length; NAN: none */
    double token_threshold;        /* a timestamp counts if its share and the share of all timestamps are above; 0.01 */
    int32_t token_timestamps;      /* 1: estimate token times without alignment, as whisper.cpp: from probable timestamps, and between them
                                      from text lengths */
    int32_t tinydiarize;           /* 1: allow the token "start of LM", which marks a change of speaker */
    /* For a model opened with verify. A window is checked in f32 if a choice leads the next one by less than this, in logits (timestamps:
     * a tenth of it, with int8 four tenths). It is also checked if it was sampled, or if its mean log-probability or no-speech probability
     * is near a threshold. 0: check none, 1e9: check all; default 0.1 */
    double verify_margin;
    int32_t tags;                  /* enum steno_tags. Other than APART, a segment may consist of tags without text */
    int32_t pad;

    /* Streaming Paraformer, with FunASR's parameters. A row has 60 ms. After each CHUNK rows the network reads the newest BEFORE + CHUNK +
     * AFTER rows, and the speech in the middle part becomes text; at the end all remaining rows do. on_segment is called at once. For audio
     * that arrives in pieces, submit the request to a batch. Its source returns STENO_SOURCE_WAIT when it has no samples; call
     * steno_batch_run_as with STENO_RUN_POLL when it has. The size of the pieces does not change the results. */
    const char *chunk_size;          /* "BEFORE,CHUNK,AFTER", default "0,10,5": at most 240 rows; CHUNK at least 1, BEFORE + AFTER at
                                        least 1 */
    int32_t encoder_chunk_look_back; /* number of earlier chunks that the encoder reads, default 4; -1: all, up to 1024 rows (61 s) */
    int32_t decoder_chunk_look_back; /* number of earlier chunks that the decoder reads, default 1; at most 1024 rows. -1: none (FunASR) */
    /* Intermediate rows of each clip or window. Whisper, SenseVoice, Paraformer, Fun-ASR-Nano, Qwen3-ASR. For FunASR models the head runs
     * once more for it. A window of Whisper has its rows once, when it is encoded, however often it is decoded, also for two tasks. Clips
     * that begin at the same place and end elsewhere have rows each, from `first` 0 on. With `verify` the rows are those of the fast
     * arithmetic. Windows in `resume`, and windows that the guards leave out before the encoder runs, have none. */
    void (*on_rows)(void *user, const steno_rows *r);
    /* Voice-activity model for models that decode clips; its spans become the segments. NULL: split at the quietest places. Nemotron's
     * models of streams decode each span as a stream, which may have several segments; NULL: all audio is one. Spans longer
     * than the longest clip, or 60 s, are split in the same way. The session allocates a detector when the first such request begins, and
     * keeps it while requests use the same model. It takes the memory of its session plus room for two longest spans (max_segment_ms). The
     * spans can be read with steno_span_get. Merged spans leave out pauses longer than the sum of 60 s, max_segment_ms and merge_ms.
     * Outside a batch, up to 16 clips that fit into the longest one go through the encoder in one run, with unchanged texts; on_window
     * is called for all of them first. A segment does not wait for a source that gives audio in real time. */
    const steno_model *vad_model;
    const struct steno_vad_params *vad; /* its parameters, copied; NULL: defaults. Its callbacks are called */
    double repetition_penalty;     /* logits of ids that the attempt already has are divided by it if positive, multiplied if negative; 0.01
                                      to 100, default 1: no effect. Whisper, Fun-ASR-Nano, Qwen3-ASR */
    int32_t draft_max;             /* maximum number of draft tokens per run, 1 to 15; 0: none; -1, the default: as many as pay. Of a draft
                                      model (steno_session_params); without one audio language models copy earlier text, and Whisper in live
                                      requests its last. Above 0 refused with beams, or a temperature. Fallback attempts have none */
    int32_t n_resume;              /* bytes of resume; 0: start at the beginning */
    /* Resume of an interrupted request. After each window on_resume_point receives bytes; append them to those of earlier calls. The bytes
     * of the first calls, any number of them, are the `resume` of a later request. That request has the results of those windows, continues
     * with the next one, and passes new bytes to append. Its results equal those of an uninterrupted request to the bit, if audio, model,
     * compute and all other parameters are the same; the caller ensures this. Bytes of another version, model or processor level are
     * refused. on_segment is not called for segments in `resume`. The bytes must stay valid until the session's next request. The audio is
     * read from its beginning. For models that decode token by token or clip by clip, except streams and language models. */
    void (*on_resume_point)(void *user, const void *data, size_t n);
    const void *resume;
    int32_t decoding;              /* enum steno_decoding */
    int32_t n_best;                /* number of hypotheses kept per window or clip, for steno_hypothesis_get: at most beam_size or best_of;
                                      0: none. A sampled window that was checked in f32 has one */
    int32_t language_per_segment;   /* 1: detect the language of each window of 30 s and decode the window in it. If no language reaches a
                                      probability of 0.5, `language` or that of the beginning is used. Earlier text is no prompt for a
                                      window in another language. Multilingual models only */
    int32_t lookahead;             /* streaming FastConformer: rows of 80 ms after a row that are read before it is decoded, or an enum
                                      steno_lookahead. A model permits a few values; more rows mean fewer errors and later words */
    /* Temperatures of the attempts after the first, each above the one before, in place of increments; at most 32. */
    const double *fallback_temperatures; /* [n_fallback_temperatures] */
    int32_t n_fallback_temperatures;     /* 0: temperature_increment_on_fallback applies */
    int32_t no_repeat_ngram_size;        /* N: no N tokens in a row occur twice in an attempt; 0, the default: they may */
    double prompt_reset_on_temperature;  /* a window whose text has a temperature above this is not conditioned upon: earlier text is
                                            forgotten after it. Default 0.5; NAN: none is */
} steno_transcribe_params;

/** Write defaults into the first `size` bytes of the struct. */
STENO_API void steno_transcribe_params_fill(steno_transcribe_params *p, uint32_t size);
STENO_INLINE void steno_transcribe_params_init(steno_transcribe_params *p) { steno_transcribe_params_fill(p, (uint32_t)sizeof *p); }

/** Transcribe PCM of any length.
 *
 * @param s     session; its model must be a speech model
 * @param pcm   [n] mono samples at 16 kHz, nominally in [-1, 1]; not modified, not kept
 * @param n     number of samples, 0 is allowed and gives no segments
 * @param p     parameters, or NULL for the defaults
 * @return STENO_OK; STENO_EARG (a parameter is out of range: steno_last_error names it), STENO_ECANCELED (segments finished so far
 *         can be read), STENO_ENOMEM
 *
 * Results are read with steno_segment_count and steno_segment_get. They are valid until the next call that begins on this session.
 * Windows follow Radford et al. 2022, section 3.8 and the reference implementation's seek rules. */
STENO_API int steno_transcribe(steno_session *s, const float *pcm, int64_t n, const steno_transcribe_params *p);

/** As steno_transcribe, from a source of any length. Memory does not depend on the length, except for the results. With chunk_ms there is
 * also one level per frame: 1.4 MB per hour, twice that while it grows.
 * @return also STENO_ESOURCE (read or rewind failed) */
STENO_API int steno_transcribe_source(steno_session *s, const steno_source *src, const steno_transcribe_params *p);

/** Probability of each language in the first 30 s.
 *
 * @param probs  [n] receives probabilities in the order of steno_model_language; may be NULL
 * @return index of the most probable language, or a negative status (STENO_EARG: the model is English-only) */
STENO_API int steno_detect_language(steno_session *s, const steno_source *src, float *probs, int n);

/** @return probability of language `i` as detected by the last call on the session; -1: nothing was detected, or unknown language */
STENO_API float steno_language_prob(const steno_session *s, int i);

/** Output of the encoder for the last window of a call with keep_audio_features.
 *
 * @param n_ctx    receives the number of positions; may be NULL
 * @param n_state  receives the width; may be NULL
 * @return [n_ctx, n_state], valid until the next call that begins on this session; NULL when there is none */
STENO_API const float *steno_audio_features(const steno_session *s, int32_t *n_ctx, int32_t *n_state);

/** After a call with STENO_TRANSCRIBE_AND_TRANSLATE: select the text that the functions below read. It is the transcript at first.
 * @param task  STENO_TRANSCRIBE or STENO_TRANSLATE
 * @return STENO_OK, STENO_EARG (there is no such text, or a call is running) */
STENO_API int steno_result_select(steno_session *s, int task);

STENO_API int steno_segment_count(const steno_session *s);

/** Copy segment `i` out, up to seg->size bytes. @return STENO_OK, STENO_EARG */
STENO_API int steno_segment_get(const steno_session *s, int i, steno_segment *seg);

/** With n_best: a hypothesis of the search for one window, or with a CTC head or a transducer for one clip. */
typedef struct steno_hypothesis {
    uint32_t size;         /* set by the caller to sizeof(steno_hypothesis) */
    int32_t place;         /* rank within its window from 0, best first. The segments are made of rank 0. It has more text than they do if
                              the window is decoded again from its last timestamp, or segments are left out */
    int64_t at_ms;         /* start of the window */
    const char *text;
    const int32_t *tokens; /* [n_tokens] including timestamps, without the end of text */
    const float *logprobs; /* [n_tokens] of each, as in steno_token */
    int32_t n_tokens;
    int32_t pad;
    double avg_logprob;    /* of all tokens, including the end of text; with a CTC head or a transducer as in a segment */
    double score;          /* ranking score: of beams and candidates as in steno_attempt, otherwise the log-probability of the text over all
                              alignments */
} steno_hypothesis;

/** @return number of hypotheses, of all windows in order */
STENO_API int steno_hypothesis_count(const steno_session *s);

/** Copy hypothesis `i` out, up to out->size bytes; pointers live as long as the segments. @return STENO_OK, STENO_EARG */
STENO_API int steno_hypothesis_get(const steno_session *s, int i, steno_hypothesis *out);

/** A text that the guards removed from the result because they found no speech. Never with STENO_GUARDS_OFF. */
typedef struct steno_left_out {
    uint32_t size;         /* set by the caller to sizeof(steno_left_out) */
    uint32_t flags;        /* enum steno_flag of its attempt, including STENO_FLAG_NO_SPEECH */
    int64_t t0_ms, t1_ms;
    const char *text;      /* UTF-8 */
    double avg_logprob, no_speech_prob;
    int32_t is_window;     /* 1: a window or clip judged to be silence or music; 0: a segment, or words, with a steady level */
    int32_t pad;
    const char *language;  /* language code of its window, if it seems to differ from the result's; else NULL */
} steno_left_out;

/** @return number of texts that were left out, in order */
STENO_API int steno_left_out_count(const steno_session *s);

/** Copy text `i` that was left out, up to out->size bytes; pointers live as long as the segments. @return STENO_OK, STENO_EARG */
STENO_API int steno_left_out_get(const steno_session *s, int i, steno_left_out *out);

/** Copy token `j` of segment `i` out, up to tok->size bytes. @return STENO_OK, STENO_EARG */
STENO_API int steno_token_get(const steno_session *s, int i, int j, steno_token *tok);

/** Copy word `j` of segment `i` out, up to word->size bytes. @return STENO_OK, STENO_EARG */
STENO_API int steno_word_get(const steno_session *s, int i, int j, steno_word *word);

/** @return the whole text, "" when there is none. Texts of segments include their spaces. Models that decode clips join them with a space,
 * except between two Chinese characters. Within on_segment: the text so far, with which the whole text begins,
 * or "" with STENO_TAGS_RICH */
STENO_API const char *steno_text(const steno_session *s);
STENO_API const char *steno_language(const steno_session *s); /**< @return code of the language used or detected, "" before a run */
STENO_API int64_t steno_duration_ms(const steno_session *s);  /**< @return length of the audio of the last run */

/** Find the times of the words of a known text.
 *
 * @param text  UTF-8; each line becomes a segment
 * @param p     parameters, or NULL for the defaults; parameters for the choice of text are refused
 * @return as steno_transcribe_source; STENO_EARG also for a text without words
 *
 * Segments and words are read as those of a transcription. Words that were not found in the audio have NAN and -1 as times. For Whisper
 * and for forced aligners (Qwen3-ForcedAligner): these align the text in clips of up to 300 s, of which two are held at most. */
STENO_API int steno_align(steno_session *s, const steno_source *src, const char *text, const steno_transcribe_params *p);

/** Find the times of the words of a transcript, by a forced aligner. The words of all segments are replaced.
 *
 * @param s    session of a forced aligner (Qwen3-ForcedAligner); its steno_last_error has the reason of a failure
 * @param of   idle session that has transcribed, with any model; on_done may pass its own session. It stays the caller's. NULL: only the
 *             model of s and p are checked
 * @param src  the audio of that transcription from its first sample; it is read once, and again from its beginning if segments overlap
 * @param p    parameters, or NULL for the defaults: language, should_abort, on_progress
 * @return as steno_align; STENO_EARG also for a model that is no forced aligner, a translation, a transcript that
 *         steno_punctuate_result has changed, and a segment whose text does not fit its audio. After a failure the transcript is
 *         unchanged
 *
 * Each segment is aligned with its own audio. Its words are its text in parts; their word_source is "aligner". A segment with words takes
 * its start and end from them. A segment without spoken words, or without audio, has no words. Pointers to texts of the transcript are
 * invalid afterwards. */
STENO_API int steno_align_result(steno_session *s, steno_session *of, const steno_source *src, const steno_transcribe_params *p);

/** A transcript for steno_align_results: the parameters of steno_align_result. */
typedef struct steno_align_item {
    uint32_t size;              /* set by the caller to sizeof(steno_align_item) */
    int32_t status;             /* set by the call: STENO_OK, or why the transcript is unchanged */
    steno_session *of;
    const steno_source *src;
    const steno_transcribe_params *params; /* may be NULL */
    steno_error *error;         /* receives the reason of a failure; may be NULL */
} steno_align_item;

/** Find the times of the words of several transcripts. Segments of different transcripts share runs of the networks; each gets the words
 * that steno_align_result gives, to the bit.
 *
 * @param items  [n] transcripts, each of another session. A failure of one does not change the others. A should_abort ends the alignment of
 *               its own transcript, but within a run only if those of all its transcripts ask for it
 * @return STENO_OK; or the status of the first transcript that failed, whose reason steno_last_error(s) has. STENO_EARG and STENO_ENOMEM
 *         may also be returned without setting items */
STENO_API int steno_align_results(steno_session *s, steno_align_item *const *items, int n);

/* ---- token by token -----------------------------------------------------------------------------------------------------------
 *
 * For language models, and for decoding loops of your own: encode a Whisper window, then ids go in and ids come out, without prompts or
 * rules. */

typedef struct steno_generate_params {
    uint32_t size;       /* set by steno_generate_params_init */
    int32_t max_tokens;  /* maximum number of new ids; 0: as many as fit the context */
    double temperature;  /* 0: most probable id, the lowest among equals; 1e-6 to 100: sampling */
    uint64_t seed;       /* of sampling: a sample is a function of seed, position and logits */
    /* Samplers, in the order of `samplers`. Among equal logits the lower id comes first. */
    int32_t top_k;           /* keep this number of the most probable ids; 0: all */
    int32_t repeat_last_n;   /* number of last ids that penalties apply to, including the prompt; 64; -1: all, 0: none */
    double top_p;            /* keep the fewest most probable ids whose probabilities sum up to this; 1: all */
    double min_p;            /* keep ids with at least this fraction of the highest probability; 0: all */
    double repeat_penalty;   /* logits of earlier ids are divided by it if positive, multiplied if negative; 1: no effect */
    double frequency_penalty; /* subtracted for each earlier occurrence of the id; 0 */
    double presence_penalty;  /* subtracted once if the id occurred; 0 */
    const char *samplers;    /* names separated by ;, each at most once; omitted ones have no effect. The default
                                "penalties;top_k;top_p;min_p;temperature" is llama.cpp's; other programs apply temperature first */
    /* Constraints. */
    const char *grammar;      /* GBNF; NULL: any text */
    const char *grammar_rule; /* its start rule; NULL: "root" */
    const char *json_schema;  /* JSON schema that the text must satisfy; NULL: none. With a grammar: JSON of the schema is its rule
                                 json-schema, which it uses. It must then not define any, array, boolean, char, date, fraction, hex, member,
                                 more, null, number, object, string, time, unit, whole, ws, nor s and a number, alone or before - */
    const char *const *stop; /* [n_stop] texts that end the result and are not part of it; UTF-8 */
    int32_t n_stop;
    int32_t ignore_eos;      /* 1: never choose an end of text */
    void *user;
    /* Called after each id, on the calling thread, with the characters that are complete: none, or those of several ids. A possible
     * beginning of a stop text is held back, and U+0000 becomes U+FFFD. If text remains after the last id, one more call has tok NULL.
     * Results can be read, and steno_cancel may be called. A non-zero return ends the text with STENO_FINISH_CALLER. */
    int (*on_token)(void *user, const struct steno_token *tok, const char *text, size_t n_text);
    int (*should_abort)(void *user); /* called regularly, also while a prompt is read; non-zero: STENO_ECANCELED */
    int32_t draft_max; /* maximum number of draft tokens that are checked in one run, 0 to 15. With a draft model: its proposals; -1, the
                          default, chooses the number by measured gain, other values are used each time. Without one: repetitions of
                          earlier text are proposed, as many as are expected to pay, and -1 means 0. Ids and probabilities do not change
                          by a bit */
    int32_t top_logprobs; /* number of the most probable ids at each place that can be read (steno_generated_top), 0 to 20; default 0 */
} steno_generate_params;

/** Why a text ended. */
enum steno_finish {
    STENO_FINISH_NONE,    /* there is no text, or the call failed */
    STENO_FINISH_END,     /* an end of text was chosen, or the grammar allowed nothing else */
    STENO_FINISH_STOP,    /* a stop text occurred */
    STENO_FINISH_LENGTH,  /* max_tokens is reached, or the context is full */
    STENO_FINISH_CALLER,  /* on_token ended it */
    STENO_FINISH_CANCELED /* steno_cancel, should_abort */
};

/** Write defaults into the first `size` bytes of the struct. */
STENO_API void steno_generate_params_fill(steno_generate_params *p, uint32_t size);
STENO_INLINE void steno_generate_params_init(steno_generate_params *p) { steno_generate_params_fill(p, (uint32_t)sizeof *p); }

/** Encode one window: log-mel of pcm[n] only, padded with silence or cut to the window's length (30 s).
 * @return STENO_OK, STENO_EARG (the model does not decode token by token), STENO_ECANCELED, STENO_ENOMEM */
STENO_API int steno_encode(steno_session *s, const float *pcm, int64_t n);

/** Generate ids after ids[n], up to an end of text (steno_token_ends), which is not one of the new ids.
 *
 * @param ids  [n] at least one: for Whisper start of transcript, language, task, …
 * @param p    parameters, or NULL for the defaults
 * @return number of new ids, see steno_generated; STENO_EARG (no window was encoded, or an id or a length is out of range; nothing was
 *         computed), STENO_ECANCELED (earlier ids can be read, but not continued), STENO_ENOMEM
 *
 * A common beginning with the session's last text is not computed again (steno_timings.n_reused). A conversation whose prompts each contain
 * the earlier ones, or prompts with a fixed beginning, cost only their new ids. The chosen ids are the same to the bit. */
STENO_API int steno_generate(steno_session *s, const int32_t *ids, int n, const steno_generate_params *p);

/** Continue after everything that was read and chosen since steno_generate, including an end of text. Equal to one steno_generate over all
 * of it. n may be 0. */
STENO_API int steno_generate_continue(steno_session *s, const int32_t *ids, int n, const steno_generate_params *p);

/** Read ids[n] into a session of a language model, from the beginning. steno_logits then has the logits of the next id, and
 * steno_generate_continue continues from there.
 * @return STENO_OK, STENO_EARG (not a language model, or an id or a length is out of range), STENO_ECANCELED */
STENO_API int steno_prefill(steno_session *s, const int32_t *ids, int n);
/** The same, after everything that was read and chosen before. */
STENO_API int steno_prefill_continue(steno_session *s, const int32_t *ids, int n);
/** @return [n_vocab] logits after the last id of steno_prefill or steno_prefill_continue, before any rule, valid until the next call on
 * the session; NULL when there are none */
STENO_API const float *steno_logits(const steno_session *s, int *n);

/** @return [n] the new ids of the last steno_generate or steno_generate_continue, valid until the next call on the session; NULL when there
 * are none */
STENO_API const int32_t *steno_generated(const steno_session *s, int *n);

/** Text of those ids, up to a stop text. It is a C string, so U+0000 becomes U+FFFD; steno_detokenizer keeps it.
 * @return UTF-8, valid until the next call on the session */
STENO_API const char *steno_generated_text(const steno_session *s);
/** Copy new id `i` out, up to tok->size bytes. p and logprob are the model's own, before any penalty, filter or temperature.
 * @return STENO_OK, STENO_EARG */
STENO_API int steno_generated_get(const steno_session *s, int i, struct steno_token *tok);
/** One of the most probable ids at the place of new id `i`, by the model's logits before any rule; k from 0, the most probable one first,
 * the lower id first among equals. Also in on_token.
 * @return STENO_OK; STENO_EARG: i is out of range, or k is not below top_logprobs */
STENO_API int steno_generated_top(const steno_session *s, int i, int k, struct steno_token *tok);
/** @return enum steno_finish of the last steno_generate or steno_generate_continue */
STENO_API int steno_generate_finish(const steno_session *s);

/* ---- voice activity ---------------------------------------------------------------------------------------------------------- */

/** A span of speech. */
typedef struct steno_span {
    uint32_t size;         /* set by the caller to sizeof(steno_span); callbacks receive it set */
    int32_t pad;
    int64_t t0_ms, t1_ms;
} steno_span;

/** Length of the silence that ends a span, if max_end_silence_ms is -1. */
enum steno_vad_schedule {
    STENO_VAD_SCHEDULE_FILE = 0, /* FunASR's detector: 2 s at first, less for each chunk without a pause (chunk_size_ms), at least 100 ms */
    STENO_VAD_SCHEDULE_LIVE = 1  /* FunASR's DynamicStreamingVAD, by seconds of a span: 2 s below 5, 1.5 s below 10, 1 s below 15, 800 ms
                                    below 30, 400 ms below 45, then 100 ms */
};

/** Rules that make spans from the probabilities of Silero VAD. */
enum steno_vad_rules {
    STENO_VAD_RULES_OWN = 0,        /* the model's own, get_speech_timestamps */
    STENO_VAD_RULES_CPP = 1 /* whisper.cpp's: gaps of less than 200 ms are closed, and long spans are cut at their last pause. A frame is
                                       padded with mirror images of its two ends instead of the samples before it */
};

typedef struct steno_vad_params {
    uint32_t size;              /* set by steno_vad_params_init */
    int32_t pad;
    double threshold;           /* FSMN-VAD: a frame is speech if P(speech) - P(silence) is at least this; NAN: 0.5 with a schedule, else
                                   the model's own (0.6). Silero: if P(speech) is at least this; NAN: 0.5 */
    int64_t max_end_silence_ms; /* silence that ends a span; -1: by schedule, long at first and shorter in long spans; Silero: 100 */
    int64_t max_segment_ms;     /* a longer span is cut; -1: the model's own limit; Silero has none */
    /* Callbacks run on the thread that runs the call or the request; any may be NULL. */
    void *user;
    void (*on_frame)(void *user, int64_t t_ms, float p_speech); /* every 10 ms, Silero: 32 ms; in order */
    void (*on_span)(void *user, const steno_span *span);        /* as soon as a span is closed, in order */
    int (*should_abort)(void *user);

    /* Later additions start here. */
    int32_t schedule;           /* enum steno_vad_schedule; refused with max_end_silence_ms */
    int32_t streaming;          /* 1: on_event is called, and an opening counts as a pause for the schedule: FunASR's is_streaming_input */
    int32_t chunk_size_ms;      /* FunASR's chunk_size: interval at which the schedule is applied and openings are reported; 1..3600000, in
                                   live mode at most 1000. 0: 60000, of a stream 200, live 60 */
    int32_t pad2;
    int64_t min_speech_ms;      /* shorter spans are left out; -1, the default: 0, Silero: 250 */
    int64_t merge_ms;           /* FunASR's merge_vad: merge spans, with their pauses, up to this length. A merged span begins where the
                                   previous one ended, the first at 0. It ends at the last start or end of speech that fits. 0: do not
                                   merge */
    /* Reports an opening (t1_ms is -1) at the end of its chunk, a closing (t0_ms is -1), or both in one chunk. Short spans are not yet left
     * out, nor others merged. A span that opens with the very last frame has no closing. */
    void (*on_event)(void *user, const steno_span *event);
    /* Silero VAD only; it has no schedule and no chunk_size_ms. An opening is reported with its frame. */
    double neg_threshold;       /* a silence begins with a frame below it; NAN: threshold less 0.15, at least 0.01 */
    int64_t speech_pad_ms;      /* added to both ends of a span; -1: 30 */
    int32_t rules;              /* enum steno_vad_rules */
    int32_t pad3;
} steno_vad_params;

/** Write defaults into the first `size` bytes of the struct. */
STENO_API void steno_vad_params_fill(steno_vad_params *p, uint32_t size);
STENO_INLINE void steno_vad_params_init(steno_vad_params *p) { steno_vad_params_fill(p, (uint32_t)sizeof *p); }

/** Find spans of speech. The session's model must be a voice-activity model (FSMN-VAD, Silero VAD).
 *
 * @param p  parameters, or NULL for the defaults
 * @return STENO_OK, STENO_EARG, STENO_ESOURCE, STENO_ECANCELED (spans closed so far can be read), STENO_ENOMEM
 *
 * Audio is read once; memory does not depend on its length, except for the spans. Spans are valid until the next call that begins on this
 * session. They equal those of FunASR's offline detector, or of Silero's get_speech_timestamps. */
STENO_API int steno_find_speech(steno_session *s, const steno_source *src, const steno_vad_params *p);
STENO_API int steno_span_count(const steno_session *s);
STENO_API int steno_span_get(const steno_session *s, int i, steno_span *span); /**< up to span->size bytes; STENO_OK, STENO_EARG */

/* ---- punctuation ------------------------------------------------------------------------------------------------------------- */

/** A word of a punctuated text: a run of ASCII characters without a space, or any other single character. */
typedef struct steno_mark {
    uint32_t size;    /* set by the caller to sizeof(steno_mark) */
    int32_t id;       /* index of the mark after it in the model's list, FunASR's punc_array */
    int64_t at, end;  /* its bytes in the given text; 0, 0: the last word of the previous call, whose mark is now known */
    const char *text; /* the mark after it: "，", after ASCII ","; "": none. Lives as long as the model */
} steno_mark;

typedef struct steno_punctuate_params {
    uint32_t size;       /* set by steno_punctuate_params_init */
    int32_t go_on;       /* 1: the text continues that of the last call, after a pause of the speaker. For models that punctuate incoming
                            text (CTTransformerStreaming) */
    int32_t block_words; /* number of words added at a time, 2..512; default 20, the reference's split_size */
    int32_t pad;
    void *user;
    int (*should_abort)(void *user); /* called regularly; non-zero cancels; may be NULL */
} steno_punctuate_params;

/** Write defaults into the first `size` bytes of the struct. */
STENO_API void steno_punctuate_params_fill(steno_punctuate_params *p, uint32_t size);
STENO_INLINE void steno_punctuate_params_init(steno_punctuate_params *p) { steno_punctuate_params_fill(p, (uint32_t)sizeof *p); }

/** Punctuate a text. The session's model must be one for punctuation (CT-Transformer).
 *
 * @param text  UTF-8 of any length; spaces matter only between ASCII words
 * @param p     parameters, or NULL for the defaults
 * @return STENO_OK, STENO_EARG (also: a text that is not UTF-8), STENO_ECANCELED, STENO_ENOMEM
 *
 * steno_text returns the text in FunASR's form. Marks have full width, after ASCII half width. Spaces stand between ASCII words, and before
 * a sentence that begins with one, which gets a capital letter. The whole text ends with an end of a sentence. A model that punctuates
 * incoming text returns the new part: from the mark of the previous last word to the last word, whose mark the next call returns, without
 * capital letters and half-width marks. In a text without any end of a sentence, the network reads the newest 500 words at once. */
STENO_API int steno_punctuate(steno_session *s, const char *text, const steno_punctuate_params *p);
STENO_API int steno_mark_count(const steno_session *s); /**< of the last steno_punctuate: its words, and the previous last word */
STENO_API int steno_mark_get(const steno_session *s, int i, steno_mark *mark); /**< up to mark->size bytes; STENO_OK, STENO_EARG */

/** Punctuate a transcript: the texts of its segments and words, and the whole text.
 *
 * @param s   session of a model for punctuation; its steno_last_error has the reason of a failure
 * @param of  idle session that has transcribed; steno_result_select selects the text. on_done may pass its own session
 * @param p   parameters, or NULL for the defaults; go_on is ignored
 * @return as steno_punctuate; after a failure the transcript is unchanged
 *
 * All segments are read as one text; a model that punctuates incoming text reads them one after the other. Times and tokens do not change.
 * Texts of Paraformer, and of SenseVoice without itn, word times and tags in the text, get the form of steno_punctuate, as in FunASR. In
 * other texts, and with a model for incoming text, spaces and letters do not change, and a mark is not added where one exists. */
STENO_API int steno_punctuate_result(steno_session *s, steno_session *of, const steno_punctuate_params *p);

/* A sentence as in FunASR's sentence_info: text up to a mark, commas included. Pointers live as long as the transcript. */
typedef struct steno_sentence {
    uint32_t size;       /* set by the caller to sizeof(steno_sentence) */
    int32_t n_words;
    int64_t t0_ms, t1_ms;
    const char *text;    /* with its mark. Of Paraformer it is built from the words, with spaces around words of letters */
    const int64_t *times_ms; /* [n_words, 2] start and end of each word */
    int64_t first_word;  /* index of its first word among the words of all segments; -1: the punctuation model splits words in another way,
                            and times are distributed over their characters */
} steno_sentence;

/** Sentences of a transcript, from steno_punctuate_result if words have times (word_timestamps). If the two models split words in different
 * ways, each segment is a sentence, without marks. */
STENO_API int steno_sentence_count(const steno_session *of);
STENO_API int steno_sentence_get(const steno_session *of, int i, steno_sentence *sentence); /**< up to its size; STENO_OK, STENO_EARG */

/* ---- texts as vectors -------------------------------------------------------------------------------------------------------- */

/** How the rows of a text, one per token, become one vector. */
enum steno_pooling {
    STENO_POOLING_MODEL = 0, /* as in the model's files; default: the mean for BERT, the last row for language models */
    STENO_POOLING_MEAN = 1,  /* the mean, including special tokens */
    STENO_POOLING_CLS = 2,   /* the first row, BERT's [CLS] */
    STENO_POOLING_LAST = 3   /* the last row */
};

typedef struct steno_embed_params {
    uint32_t size;     /* set by steno_embed_params_init */
    int32_t pooling;   /* enum steno_pooling; default STENO_POOLING_MODEL */
    int32_t normalize; /* 1, the default: vectors have length 1, so the product of two is their cosine; 0: unchanged */
    int32_t truncate;  /* 1: of a text with too many tokens, read the first ones and the end token; 0, the default: refuse it */
    void *user;
    int (*should_abort)(void *user); /* called regularly; non-zero cancels; may be NULL */
} steno_embed_params;

/** Write defaults into the first `size` bytes of the struct. */
STENO_API void steno_embed_params_fill(steno_embed_params *p, uint32_t size);
STENO_INLINE void steno_embed_params_init(steno_embed_params *p) { steno_embed_params_fill(p, (uint32_t)sizeof *p); }

/** The vector of a text. */
typedef struct steno_embedding {
    uint32_t size;        /* set by the caller to sizeof(steno_embedding) */
    int32_t n;            /* width of the vector */
    const float *vector;  /* [n] until the next steno_embed */
    int32_t n_tokens;     /* number of tokens read, including special ones */
    int32_t is_truncated; /* 1: the text had more */
    int32_t pooling;      /* enum steno_pooling, never STENO_POOLING_MODEL */
    int32_t pad;
} steno_embedding;

/** Compute vectors of texts: similar meanings give near vectors. The session's model must be BERT or a language model.
 *
 * @param texts  [n] of any bytes; the model's tokenizer defines how invalid UTF-8 is read. Markers of special tokens are text
 * @param n      0 or more
 * @param p      parameters, or NULL for the defaults
 * @return STENO_OK; STENO_EARG: also a text without tokens (an empty one), or with too many unless truncate is set: the reason has its
 *         number, from 1; STENO_ENOVOCAB; STENO_ECANCELED; STENO_ENOMEM. After a failure there are no vectors
 *
 * Several texts are read together if they fit, by a language model in the decode slots of the session's batch
 * (steno_batch_params.max_windows). That changes no bit of any vector, and neither does the number of threads. */
STENO_API int steno_embed(steno_session *s, const char *const *texts, int n, const steno_embed_params *p);
STENO_API int steno_embedding_count(const steno_session *s); /**< of the last steno_embed */
/** @return STENO_OK, or STENO_EARG if there is no such text; writes up to out->size bytes */
STENO_API int steno_embedding_get(const steno_session *s, int i, steno_embedding *out);

/* ---- batches ------------------------------------------------------------------------------------------------------------------
 *
 * Windows of several sessions decode as lanes of one plan: each step reads the weights once for all of them. Independent windows of one
 * call do so, too: clips with independent_clips or chunk_ms. So do all windows with without_timestamps, if there is no
 * condition_on_previous_text, word time or initial prompt. A session's results are its text, ids, times and probabilities. They do not
 * depend on the other requests of the batch, on max_windows, on the order or on the number of threads.
 *
 * Every kind of audio model serves requests. The shared unit differs. Models that decode clips share encoder runs. A run has up to
 * max_windows clips, together no longer than the longest clip (SenseVoice: 30 s, Paraformer: 60 s). Voice-activity models take turns in
 * pieces of at most 5 s; their request is a steno_find_speech.
 *
 * Language models: each decode slot holds one text, and each step has a row for every text in progress. Prompts are read in pieces between
 * steps, so no text waits for long. A slot keeps the keys and values of its last text. A common beginning with it, such as a conversation
 * or a system prompt, is not computed again (steno_timings.n_reused). A beginning that several requests share is computed by one while the
 * others wait; slots share whole blocks of 32 ids. steno_generate_continue can continue a text until another one takes its slot.
 *
 * max_windows is the number of decode slots. A free slot goes to the request with the lowest class (enum steno_priority); within a class to
 * the one that has had the fewest windows; then to the oldest. A new request gets a free slot after the current step, and no later than
 * steps_between_encodes after the last encoder run.
 *
 * Threads: steno_batch_submit, steno_batch_add, steno_batch_wake, steno_batch_stop and steno_cancel may be called from any thread at any
 * time, also while another thread is in steno_batch_run. From its submission until on_done, a session belongs to the thread that runs the
 * batch; other threads may only cancel it. All other calls on a batch are for one thread at a time. */

typedef struct steno_batch_params {
    uint32_t size;       /* set by steno_batch_params_init */
    int32_t max_windows; /* number of windows that decode together, 1..128; default 8 */
    int32_t max_lanes;   /* maximum number of sequences per window, 1..32; max_windows * max_lanes is at most 256; default 1. Models that do
                            not decode token by token always have one */
    int32_t pad;
    /* Called on the thread that runs the batch when a request has ended, with the status that steno_transcribe_source, steno_find_speech or
     * steno_generate would return. It may do what every callback may, submit requests, select and read results, and close sessions: this
     * one and others of the batch. Their requests then end without on_done. A session whose own call runs the queue cannot be closed. */
    void *user;
    void (*on_done)(void *user, steno_session *s, int status);
    /* Models that decode token by token: minimum number of decoder steps between two encoder runs while windows are decoding. With a large
     * model, running texts then continue while new windows are encoded. 0: fill free slots at once, slightly faster when text is not
     * streamed. Default 8 */
    int32_t steps_between_encodes;
    int32_t pad2;
    const steno_model *draft_model; /* as in steno_session_params; not used while more than 8 windows or texts are running */
} steno_batch_params;

/** Write defaults into the first `size` bytes of the struct. */
STENO_API void steno_batch_params_fill(steno_batch_params *p, uint32_t size);
STENO_INLINE void steno_batch_params_init(steno_batch_params *p) { steno_batch_params_fill(p, (uint32_t)sizeof *p); }

/** Memory of a batch in bytes, counted as in steno_session_memory; each session adds its own. Negative: a status. */
STENO_API int64_t steno_batch_memory(const steno_model *m, const steno_team *team, const steno_batch_params *p);

/** Make a batch; arguments as for steno_session_open. */
STENO_API int steno_batch_open(steno_batch **out, const steno_model *m, steno_team *team, const steno_batch_params *p, steno_error *e);
/** Free; NULL is allowed. Open sessions of the batch keep it until the last of them is closed. From a callback of its calls it does
 * nothing. */
STENO_API void steno_batch_close(steno_batch *b);

/** Class of a request; lower classes go first. */
enum steno_priority {
    STENO_PRIORITY_AUTO = -1,       /* the request's first window has class FIRST, the others class LATER */
    STENO_PRIORITY_END_OF_TURN = 0, /* a speaker has finished, and the text is awaited */
    STENO_PRIORITY_LIVE = 1,        /* update of a text during speech; Whisper drafts from the session's last text, see draft_max */
    STENO_PRIORITY_FIRST = 2,
    STENO_PRIORITY_LATER = 3        /* gets at least every fourth window while a request of this class waits */
};

/** Result of the first pass over audio, which Whisper needs before the first window. */
typedef struct steno_heard {
    uint32_t size;   /* set by the caller to sizeof(steno_heard) */
    int32_t pad;
    int64_t samples; /* length of the whole audio */
    double loudest;  /* log10 of the loudest bin of its mel spectrogram */
} steno_heard;

/** Run the first pass over audio ahead of its request. Needs no session; any number of threads may call it at once.
 *
 * @param m    a model that reads audio twice (Whisper)
 * @param src  read once, from its first sample to its end
 * @param out  receives the result; out->size is set
 * @param e    receives the reason of a failure; may be NULL
 * @return STENO_OK, STENO_EARG, STENO_ESOURCE, STENO_ENOMEM */
STENO_API int steno_listen(const steno_model *m, const steno_source *src, steno_heard *out, steno_error *e);

typedef struct steno_request_params {
    uint32_t size;    /* set by steno_request_params_init */
    int32_t priority; /* enum steno_priority, of all its windows; default STENO_PRIORITY_AUTO */
    const steno_transcribe_params *transcribe; /* NULL: the defaults. Copied; the data it points to is kept until the request has ended */
    const steno_heard *heard; /* result of steno_listen for the same audio, copied; the source is at its first sample. NULL: the batch runs
                                 the first pass itself, in slices of 60 s between other steps. Refused with chunk_ms, and by models that
                                 read audio once */
    const steno_vad_params *find_speech; /* for voice-activity models, copied like transcribe. They refuse transcribe; others refuse this */
    /* For language models, instead of a source; other models refuse these. Generates ids after ids[n_ids] as steno_generate does, with the
     * parameters `generate` (copied like transcribe; NULL: the defaults). ids stay valid until the request has ended. */
    const int32_t *ids;
    const steno_generate_params *generate;
    int32_t n_ids;
    int32_t pad;
} steno_request_params;

/** Write defaults into the first `size` bytes of the struct. */
STENO_API void steno_request_params_fill(steno_request_params *p, uint32_t size);
STENO_INLINE void steno_request_params_init(steno_request_params *p) { steno_request_params_fill(p, (uint32_t)sizeof *p); }

/** Queue a request, from any thread, also while the batch is running.
 *
 * @param s    session opened with this batch, without a queued request; other calls on it are refused until this one has ended
 * @param src  copied; its user data is kept until the request has ended. It is read on the thread that runs the batch. NULL for language
 *             models
 * @param r    parameters, or NULL for the defaults
 * @return STENO_OK, STENO_EARG (also: a parameter; steno_last_error(s) names it) */
STENO_API int steno_batch_submit(steno_batch *b, steno_session *s, const steno_source *src, const steno_request_params *r);

/** The same with transcription parameters only.
 * @param p  parameters, or NULL for the defaults, which every model accepts; kept as steno_request_params.transcribe is */
STENO_API int steno_batch_add(steno_batch *b, steno_session *s, const steno_source *src, const steno_transcribe_params *p);

enum steno_run_mode {
    STENO_RUN_DRAIN = 0, /* until no request is left; sleeps while all remaining requests wait for their sources */
    STENO_RUN_SERVE = 1, /* until steno_batch_stop was called and no request is left; sleeps when idle */
    STENO_RUN_POLL = 2   /* until no request can continue: none is left, or all wait for their sources */
};

/** Run requests on the calling thread: queued ones, and those submitted meanwhile.
 *
 * @return number of requests that are left (waiting for their sources; STENO_RUN_POLL only), or STENO_EARG (another thread runs the batch,
 *         the call comes from one of its callbacks, or an unknown mode)
 *
 * steno_batch_submit, steno_batch_add, steno_batch_wake, steno_batch_stop and steno_cancel wake a thread that sleeps in this call.
 * should_abort is not called while it sleeps. */
STENO_API int steno_batch_run_as(steno_batch *b, enum steno_run_mode mode);

/** Read all sources again that had no samples. From any thread, at any time; NULL is allowed. */
STENO_API void steno_batch_wake(steno_batch *b);

/** Let the running STENO_RUN_SERVE, or else the next one, return when no request is left. From any thread, at any time; NULL is allowed.
 * To drop requests, cancel them one by one. Requests submitted after the return wait for the next run. */
STENO_API void steno_batch_stop(steno_batch *b);

/** steno_batch_run_as(b, STENO_RUN_DRAIN). @return STENO_OK when all requests have ended, successfully or not; STENO_EARG */
STENO_API int steno_batch_run(steno_batch *b);

/* ---- parameters as a table -----------------------------------------------------------------------------------------------------
 *
 * For programs and bindings: the list of parameters, their ranges, and whether a model supports them. A call refuses (STENO_EARG) a
 * parameter that differs from its default in three cases: the model does not support it, it needs another parameter, or another one makes
 * it useless. No parameter is ignored. */

/** Calls that have parameters. */
enum steno_call {
    STENO_CALL_TRANSCRIBE = 0,  /* steno_transcribe, steno_transcribe_source, steno_batch_add, and steno_batch_submit with the field
                                   transcribe: steno_transcribe_params */
    STENO_CALL_ALIGN = 1,       /* steno_align, steno_align_result: the same struct */
    STENO_CALL_FIND_SPEECH = 2, /* steno_find_speech, and steno_batch_submit with the field of that name: steno_vad_params */
    STENO_CALL_OPEN = 3,        /* steno_model_open and its variants: steno_model_params */
    STENO_CALL_PUNCTUATE = 4,   /* steno_punctuate, steno_punctuate_result: steno_punctuate_params */
    STENO_CALL_EMBED = 5,       /* steno_embed: steno_embed_params */
    STENO_CALL_GENERATE = 6     /* steno_generate, steno_generate_continue, and steno_batch_submit with the field of that name:
                                   steno_generate_params */
};

enum steno_param_kind {
    STENO_PARAM_FLAG,   /* int32_t: 0, or on */
    STENO_PARAM_CHOICE, /* int32_t of an enum */
    STENO_PARAM_INT32,
    STENO_PARAM_INT64,
    STENO_PARAM_UINT64,
    STENO_PARAM_NUMBER, /* double */
    STENO_PARAM_TEXT,   /* const char * */
    STENO_PARAM_LIST,   /* a pointer; its length is the field n_NAME */
    STENO_PARAM_CALL    /* a callback, its user pointer, or an object of the library */
};

/** A parameter. */
typedef struct steno_param {
    uint32_t size;      /* set by the caller to sizeof(steno_param) */
    int32_t kind;       /* enum steno_param_kind */
    const char *name;   /* of the field; static */
    double min, max;     /* range of a number: the model's, or without a model the widest */
    double value;       /* default of a number or flag */
    double none;        /* if has_none is 1: an additional value, which means none */
    int32_t has_none;
    int32_t served;     /* 1: the model supports it in this call; without a model: some model does */
    const char *text;   /* default of a text; static, NULL: none */
    const char *reason; /* why it is not supported, "" if it is; static */
    uint32_t offset;    /* of the field, bytes */
    uint32_t pad;
} steno_param;

/** Copy parameter `i` out, up to out->size bytes.
 * @param m  a model, or NULL for any model
 * @return STENO_OK, STENO_EARG past the last one */
STENO_API int steno_param_get(const steno_model *m, enum steno_call call, int i, steno_param *out);

/** Whether a model supports a parameter, or a call.
 * @param m     a model, or NULL for any model
 * @param name  of a field of the call's parameters; NULL: the call itself, which is supported if any of its parameters is
 * @return 1 or 0; 0 also for an unknown call or name */
STENO_API int steno_serves(const steno_model *m, enum steno_call call, const char *name);

/** A program's own names of parameters, and which of them its user gave. */
typedef struct steno_param_names {
    uint32_t size; /* set by the caller to sizeof(steno_param_names) */
    int32_t pad;
    void *user;
    /* @param with_value  1: with the given value ("--beam-size is 33"), 0: the name only
     * @return valid until the next call; NULL: the field's own name */
    const char *(*name)(void *user, const char *field, int with_value);
    /* @return 1: the user gave it, even if it equals the default. The pointer may be NULL: values that differ from the default count */
    int (*asked)(void *user, const char *field);
} steno_param_names;

/** Check parameters as a call would before it reads audio: model support, ranges, requirements and conflicts. Values that only the call can
 * check (ids of suppress_tokens, patterns, grammars, languages, the session's lanes) are checked there.
 *
 * @param m       a model, or NULL for any model
 * @param params  the struct of the call; NULL: the defaults
 * @param names   names for the reason, NULL: names of the fields
 * @return STENO_OK, or STENO_EARG with the reason in *e */
STENO_API int steno_params_check(const steno_model *m, enum steno_call call, const void *params, const steno_param_names *names,
                                 steno_error *e);

/* ---- measurements ------------------------------------------------------------------------------------------------------------ */

typedef struct steno_timings {
    uint32_t size;          /* set by the caller to sizeof(steno_timings) */
    int32_t n_windows, n_encodes, n_prompts, n_steps; /* runs since the session was opened or steno_timings_reset */
    int64_t n_prompt_tokens;
    int64_t n_wakes;        /* times the team was woken for a plan: one for encoder and cross keys, one per chain of steps */
    int64_t load_us, source_us, mel_us, encode_us, cross_us, prompt_us, decode_us;
    int32_t n_verified, n_corrected; /* attempts checked in f32, and those of them that f32 decoded differently */
    int64_t verify_us;               /* additional time of these checks */
    int64_t n_drafted, n_accepted;   /* draft tokens proposed (draft_max), and those of them that were chosen */
    int64_t n_vad, vad_us;           /* pieces of audio that vad_model read, and their time: features, network and callbacks */
    int64_t n_reused;                /* prompt ids whose keys and values existed; n_prompt_tokens does not count them */
    int64_t draft_us;                /* time of the draft model: its encoder and its proposals */
} steno_timings;

/** Runs and times of this session only. A run shared by sessions of a batch counts by its share of rows.
 * @return STENO_OK, STENO_EARG */
STENO_API int steno_timings_get(const steno_session *s, steno_timings *t);
STENO_API void steno_timings_reset(steno_session *s);

/** Times of one request. */
typedef struct steno_request_timings {
    uint32_t size;           /* set by the caller to sizeof(steno_request_timings) */
    int32_t n_windows;       /* number of windows so far */
    int64_t queued_us;       /* from steno_batch_submit until the batch took it up; -1: it did not */
    int64_t first_window_us; /* from steno_batch_submit until its first window had a decode slot; -1: it had none */
    int64_t encode_us;       /* encoder and cross keys; of shared runs its share by rows */
    int64_t decode_us;       /* prompts and steps, or the choice of ids; of shared runs its share by rows */
    int64_t total_us;        /* from steno_batch_submit until it had ended */
    int64_t vad_us;          /* in vad_model */
} steno_request_timings;

/** Times of the session's last ended request, including direct calls that transcribe or find speech. Writes up to t->size bytes; on_done
 * may call it.
 * @return STENO_OK, STENO_EARG (none has ended yet, or another one is queued) */
STENO_API int steno_request_timings_get(const steno_session *s, steno_request_timings *t);

/** Switch time per operation on or off for this session; off at first. Shared runs of a batch are divided as in steno_timings_get. */
STENO_API void steno_profile_enable(steno_session *s, int on);

/** Time of operation `i` of the plans, in the order of steno_plan_dump.
 *
 * @param label  receives the operation's label, valid as long as the model
 * @param ns     receives the time spent in it; a fused operation counts in the one that contains it, and has 0 itself
 * @param calls  receives the number of runs
 * @return STENO_OK, STENO_EARG past the last one */
STENO_API int steno_profile_get(const steno_session *s, int i, const char **label, int64_t *ns, int64_t *calls);

/** Run one phase of a model alone and measure it.
 *
 * @param phase  Models that decode windows of 30 s:
 *                 "mel", "encode", "cross"   one window
 *                 "features"   log-mel of n seconds, without the source's time
 *                 "prompt"     n tokens in one run
 *                 "decode"     n single steps from position 0
 *                 "check"      one run of n rows, 1 to 32, all of which are chosen from: a step with draft tokens
 *                 "beam5"      n steps of a beam search of five; the session needs max_lanes >= 5
 *                 "batch"      n steps of one row per window of the session's batch
 *                 "total"      a whole window with n tokens: log-mel, encoder, cross keys, steps
 *               Models that decode clips:
 *                 "features", "encode"   n seconds, in clips of the model's longest length
 *                 "ctc"        the CTC head, n seconds
 *                 "cif"        integrate-and-fire, n seconds
 *                 "decode"     integrate-and-fire models and transducers: n tokens over 30 s
 *               Audio language models also have the phases of language models, and
 *                 "adapt"      the adaptor, n seconds
 *                 "clip"       a whole clip of n seconds: features, encoder, prompt, four tokens a second
 *                 "clips"      such a clip for each window of the session's batch
 *               Models of streams (chunks of a FastConformer):
 *                 "stream"     56 rows of a stream in chunks of n rows, with their tokens
 *                 "streams"    the same, a stream for each window of the session's batch
 *               Language models:
 *                 "prompt"     n tokens
 *                 "decode"     n single steps after 64 tokens
 *                 "check"      as above, after 64 tokens
 *                 "batch"      n steps, one row per decode slot of the session's batch
 *               Embedding models:
 *                 "encode"     a text of n tokens
 *                 "batch"      eight of them
 *               Voice-activity models:
 *                 "features", "encode"   n seconds
 *               Punctuation models:
 *                 "mark"       n words in one run
 * @param n      see above; must be 1 for "mel", "encode" and "cross" of one window
 * @return microseconds, or a negative status */
STENO_API int64_t steno_bench_phase(steno_session *s, const char *phase, int n);

/** Let a language model produce text[n_text] after prompt[n_prompt], whatever it would choose. Measures the gain of drafts when an answer
 * repeats its prompt. Everything is computed and chosen as in steno_generate; steno_timings counts runs and drafts.
 *
 * @param draft_max  as in steno_generate_params
 * @return microseconds for all ids after the first one, or a negative status */
STENO_API int64_t steno_bench_text(steno_session *s, const int32_t *prompt, int n_prompt, const int32_t *text, int n_text,
                                   int32_t draft_max);

#ifdef __cplusplus
}
#endif
#endif
