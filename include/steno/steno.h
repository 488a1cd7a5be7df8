/* steno: speech recognition on the CPU. SPDX-License-Identifier: MIT
 *
 * The library turns a model file into a fixed list of commands once and replays that list on the fastest kernels the machine has.
 * Opaque objects carry everything:
 *
 *   steno_model    weights, vocabulary and plans; immutable after open, shared by any number of threads
 *   steno_team     worker threads; one team serves any number of sessions, one run at a time
 *   steno_session  scratch, key/value state and results of one conversation with a model; one thread at a time
 *   steno_batch    several sessions whose windows are decoded together; one thread carries out what any thread submits
 *
 * Calls return 0 (STENO_OK) or a negative enum steno_status. The text of an error goes to the caller's steno_error, or is read with
 * steno_last_error(session). The library never prints, exits, reads the environment, opens the network or keeps global state.
 * Parameter structs begin with `uint32_t size` and are filled by their `_init` function, which passes on how much of them the caller's
 * header knows, so that they can grow without breaking callers; languages without this header call `_fill`. Sizes of theirs count in
 * words of 8 bytes: a field that a size cuts in two counts as absent. Times are int64_t milliseconds; -1 stands for "not known". Text is
 * UTF-8, NUL-terminated, owned by the library.
 *
 * Callbacks run in the middle of the call they belong to, on its thread (those of a steno_reader on any thread of the team). From each of
 * them, a source's read and rewind and logits_filter included,
 *   - steno_cancel and whatever reads results (steno_segment_get, steno_text, steno_timings_get, steno_last_error and so on) may be called:
 *     what is finished can be read, and stays where it is until the callback returns;
 *   - other sessions may be opened, used and closed, those of the same batch excepted; on the same team they compute on this thread alone;
 *   - what would change the call at work is refused with STENO_EARG and changes nothing: another call on its session or on one of the same
 *     batch, steno_batch_run, steno_result_select. steno_session_close on a session that is at work or queued, steno_batch_close,
 *     steno_timings_reset and steno_profile_enable do nothing then.
 *   - requests may be submitted on other sessions of the batch: they are carried out by the steno_batch_run, or the call, that is at work.
 * on_done alone may do more, see steno_batch_params. No callback may wait for another thread that uses the same team.
 *
 * A thread that calls the library needs 64 KiB of stack, beside what the caller's own callbacks and source take; that is what tests run
 * every call with. Workers of a team have stacks of their own. */
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
    STENO_ENOMEM = -2,       /* memory could not be had */
    STENO_EIO = -3,          /* a file could not be opened or read */
    STENO_EFORMAT = -4,      /* a model file is damaged or is not what it says */
    STENO_EUNSUPPORTED = -5, /* a sound file or request that this version cannot serve */
    STENO_ECANCELED = -6,    /* steno_cancel, or a callback, ended the call; finished segments can be read */
    STENO_ESOURCE = -7,      /* the audio source reported a failure */
    STENO_ENOVOCAB = -8      /* the model carries no vocabulary: name one in steno_model_params.vocab */
};

/** Where a failing call leaves its reason. The caller owns it; `text` is always NUL-terminated. */
typedef struct steno_error {
    int32_t status;  /* enum steno_status of the failing call */
    char text[1020]; /* what, where, and what to do; one line without a newline */
} steno_error;

/** @return the short name of a status, "no error" for 0, "unknown status" for others; static. */
STENO_API const char *steno_status_text(int status);

/** @return the library's version, "MAJOR.MINOR.PATCH"; static. */
STENO_API const char *steno_version(void);

/* ---- processor levels -------------------------------------------------------------------------------------------------------- */

/** Name of processor level `i` (on x86 "c", "sse41", "avx2", "avxvnni", "avx512", "avx512vnni", "avx512bf16", "amx"; on ARM "c", "neon",
 * "dotprod", "i8mm", "neonbf16"), in rising order.
 * @return static text, or NULL when i is past the last level */
STENO_API const char *steno_cpu_level_name(int i);

/** @return 1 when this machine and its operating system can run level `i`, else 0. */
STENO_API int steno_cpu_level_usable(int i);

/* ---- teams ------------------------------------------------------------------------------------------------------------------- */

typedef struct steno_team steno_team;

/** Start worker threads.
 *
 * @param out        receives the team; NULL on failure
 * @param n_threads  threads that compute, the caller's included (1..256), or 0 for the default: physical cores that the affinity mask
 *                   and the cgroup's quota allow
 * @param e          receives the reason of a failure, may be NULL
 * @return STENO_OK, STENO_EARG, STENO_ENOMEM (also: a thread could not be started)
 *
 * Results never depend on the number of threads. Idle teams sleep. A team may serve several sessions from several threads: their runs
 * take turns. */
STENO_API int steno_team_open(steno_team **out, int n_threads, steno_error *e);
STENO_API int steno_team_threads(const steno_team *team); /**< @return number of threads, the caller's included */
/** Stop and free; NULL is allowed. Sessions and batches that use it keep it until they are closed. */
STENO_API void steno_team_close(steno_team *team);

/* ---- models ------------------------------------------------------------------------------------------------------------------ */

typedef struct steno_model steno_model;

enum steno_compute {
    /* Of 328 texts that the reference is sure of (28 recordings of spoken digits under many sets of options) bf16 changes 5, int16 0 and
     * int8 12 (level amx: 17), all in recordings of more than one window; with the reference's usual options (greedy, five beams) int8
     * alone changes any: 3 of 56 (level amx: 4). With verify (steno_model_params) none changes. Of recordings of meetings, whose choices
     * are closer, doc/performance.md shows. */
    STENO_COMPUTE_AUTO = 0, /* the fastest arithmetic that changes none of those texts: see steno_compute_auto */
    STENO_COMPUTE_F32 = 1,  /* every product and sum in f32 */
    STENO_COMPUTE_BF16 = 2, /* Whisper: most products of the encoder's layers in bf16, its keys and values too, sums in f32. The
                               decoder's matrices as they are stored: numbers times f32, q8_0 times activations of 16 bits, q4_0 times
                               8 bits. Its keys and values are f16; those of a window have 12 and 8 bits at levels that multiply bytes
                               (avxvnni, avx512vnni and above, dotprod and above). None of them are bf16.
                               Where only the most probable tokens are wanted they and their logits are those of the stored matrix, but
                               the sum behind their probabilities is of logits in int8 (off by 1e-3 at most in the recordings tried) */
    STENO_COMPUTE_INT8 = 3, /* the same, but the encoder's feed-forward matrices in int8, with a scale per row and per output and exact
                               sums, where the weights bear it, and the decoder's in int8 by blocks of 32 (q8_0). A few words in a
                               thousand become others, where speech is hard to hear more. steno_plan_dump tells which matrix is
                               multiplied in what */
    STENO_COMPUTE_INT16 = 4 /* as STENO_COMPUTE_BF16, but the encoder's matrices in int16, with a scale per output and per 128 values of
                               a row, and its attention in int16 too where scores are small, else in f32: a tenth of the error */
};

/** @return what STENO_COMPUTE_AUTO stands for in the encoder at a processor level: STENO_COMPUTE_INT16 where products of int16 are faster
 *          than f32, else STENO_COMPUTE_F32. FunASR's recognisers compute so, too: their encoders, and decoders
 *          that are given all tokens at once; of their 135 texts int8 changes two, the others none. FSMN-VAD and streaming models compute
 *          in f32, and a call that asks for anything does not open them. */
STENO_API int steno_compute_auto(int level);

/* Keys and values of a language model's sessions, two numbers of each layer's keys and values for each position. */
enum steno_kv_type {
    STENO_KV_AUTO = 0, /* f16, also with STENO_COMPUTE_BF16; f32 with STENO_COMPUTE_F32, and with STENO_COMPUTE_AUTO at levels c and neon */
    STENO_KV_F32 = 1,
    STENO_KV_F16 = 2,
    STENO_KV_Q8_0 = 3  /* int8 and a scale for each 32 numbers: a little more than half of f16. Heads that are no multiple of 32 numbers
                          are refused (STENO_EUNSUPPORTED) */
};

/** The activation in Whisper's convolutions and feed-forward networks: at 1 it is 0.841345, or 0.841192. */
enum steno_gelu {
    STENO_GELU_ERF = 0, /* x times the normal distribution's function, as the models were trained */
    STENO_GELU_TANH = 1 /* an approximation by tanh, off by 5e-4 at most, as whisper.cpp computes it. It does so in f16 */
};

typedef struct steno_model_params {
    uint32_t size;         /* set by steno_model_params_init */
    int32_t compute;       /* enum steno_compute */
    const char *cpu_level; /* highest processor level to use, a name from steno_cpu_level_name, or NULL for the best usable one */
    steno_team *team;      /* team that packs the weights while loading, or NULL for the calling thread alone; not kept */
    const char *vocab;     /* where the vocabulary is when the model carries none (OpenAI .pt, MLX): a tiktoken file, a Hugging Face
                              tokenizer folder or its tokenizer.json or vocab.json, or any Whisper model with one; NULL: beside the model */
    int32_t no_cmvn;       /* 1: do not shift and scale filter banks by the model's am.mvn (for comparisons) */
    int32_t index_only;    /* 1: read headers and check shapes, leave the weights: the model can be described, but has no sessions */
    /* Cross-attention heads that follow the words, for word times. NULL or "": the model's own list (generation_config.json), else the
     * official one of its shape (of large-v1 and large-v2, which share one, if the path names it), else "half": all of the upper layers. Or
     * the name of a model with an official list ("base.en"), "half", "top:N" (all of the last N layers), "LAYER,HEAD ...". */
    const char *alignment_heads;
    /* 1: a second copy of the weights that compute, as they are stored, is kept beside the fast ones. A window whose choices were near-ties
     * (see verify_margin) is encoded again in f32; its tokens are checked in one run, and decoded again from the first that f32 would not
     * have chosen. Refused with STENO_COMPUTE_F32 and by families that compute in f32. */
    int32_t verify;
    int32_t text_ctx;      /* positions that a session of a language model has room for, prompt and answer; 0: 4096 (of one that hears: 1024
                              for each window), or as many as it was trained for, when they are less. More than that are refused */
    const char *llm;       /* of Fun-ASR-Nano as its runtime has it, in two GGUF files: the language model's, where it is not the only one
                              beside the encoder's; NULL: look there */
    int32_t kv_type;       /* enum steno_kv_type: how sessions of a language model keep what they have read */
    int32_t pad;           /* 0 */
    /* Another model, that is open: matrices that are the same number for number in both are there once, and it stays until this one is
     * closed. For a draft model beside the model that it was distilled from, with whose encoder it hears: of such two, opened with the same
     * compute, the encoder is run once for both (steno_session_params.draft_model), shared or not. NULL: none */
    const steno_model *share_with;
    /* Where the dictionary of jieba is (its dict.txt, cppjieba's jieba.dict.utf8; lines of a word, a count, a kind), for a model of
     * punctuation that sees words of Chinese: one with a file jieba_usr_dict, as FunASR's large ct-punc has. NULL: jieba.c.dict or
     * dict.txt in its folder. Without it each character is a word there (steno_model_info.jieba), and marks can differ from FunASR's.
     * Others do not read it */
    const char *jieba_dict;
    int32_t gelu;          /* enum steno_gelu: of Whisper models */
    int32_t pad_gelu;      /* 0 */
} steno_model_params;

/** Defaults, as far as a struct of `size` bytes has them. */
STENO_API void steno_model_params_fill(steno_model_params *p, uint32_t size);
STENO_INLINE void steno_model_params_init(steno_model_params *p) { steno_model_params_fill(p, (uint32_t)sizeof *p); }

/** Open a model, whatever its spelling; detected by content, not by name.
 *
 * @param out   receives the model; NULL on failure
 * @param path  UTF-8; a whisper.cpp .bin file (f32, f16, all quantised types), an OpenAI .pt file, a Hugging Face folder (config.json and
 *              safetensors, in one file or in shards, or pytorch_model.bin) or the .safetensors file in it, an MLX folder (config.json and
 *              weights.safetensors or weights.npz), a FunASR folder (config.yaml, model.pt), a GGUF file of FunASR's runtime (the first one
 *              of several)
 * @param p     parameters, or NULL for the defaults
 * @param e     receives the reason of a failure, may be NULL
 * @return STENO_OK; STENO_EARG (p), STENO_EIO (path cannot be read), STENO_EFORMAT (damaged), STENO_EUNSUPPORTED, STENO_ENOVOCAB,
 *         STENO_ENOMEM
 *
 * Weights are read straight into the packed form the kernels want: once in f32; fast arithmetic looks at some of them, the embedding above
 * all, twice. Files are closed before the call returns. */
STENO_API int steno_model_open(steno_model **out, const char *path, const steno_model_params *p, steno_error *e);

/** As steno_model_open, from a whole file in memory. A model that needs files beside it cannot be opened so.
 * @param data  [n] bytes, read during the call only */
STENO_API int steno_model_open_memory(steno_model **out, const void *data, size_t n, const steno_model_params *p, steno_error *e);

/** A model file that the caller reads. */
typedef struct steno_reader {
    uint64_t size; /* of the file, bytes */
    /** Fill dst with bytes [off, off + n), which lie inside the file. Called from every thread of the team at once.
     * @return 0, or < 0 on failure */
    int (*read)(void *user, uint64_t off, void *dst, size_t n);
    void (*close)(void *user); /* called once before steno_model_open_reader returns, whatever it returns; may be NULL */
    void *user;
} steno_reader;

/** As steno_model_open_memory, through callbacks. */
STENO_API int steno_model_open_reader(steno_model **out, const steno_reader *r, const steno_model_params *p, steno_error *e);

/** Make a model of a named shape with random weights, for measuring speed and memory; its text means nothing.
 *
 * @param shape  "tiny", "base", "small" or "medium", each also with ".en"; "large-v2", "large-v3", "turbo"; "distil-small.en",
 *               "distil-medium.en", "distil-large-v2", "distil-large-v3"; "sensevoice", "paraformer"; "qwen3-0.6b", "llama-3.2-1b",
 *               "gemma-3-1b", which have no tokenizer
 * @param type   storage of the matrices: "f32", "f16", "q8_0", "q5_0", "q5_1", "q4_0", "q4_1"; where rows divide into blocks of 256
 *               also "q2_k", "q3_k", "q4_k", "q5_k", "q6_k", "iq4_xs"
 * @param seed   same seed, same weights
 * @return as steno_model_open; STENO_EARG names an unknown shape or type */
STENO_API int steno_model_open_random(steno_model **out, const char *shape, const char *type, uint64_t seed,
                                      const steno_model_params *p, steno_error *e);

/** A tensor that is about to be written. */
typedef struct steno_convert_tensor {
    uint32_t size;
    int32_t i, n;                 /* which, from 0, of how many */
    const char *name, *from, *to; /* as the file calls it; its type where it is read, and in the file */
    const char *wanted;           /* the type that it would have if its rows were whole blocks of it; NULL: that is `to` */
    int64_t from_bytes, to_bytes;
} steno_convert_tensor;

/** What steno_model_convert writes, and where. */
typedef struct steno_convert_params {
    uint32_t size;     /* set by steno_convert_params_init */
    int32_t pad;
    /** Take n bytes, the next ones of the file. @return 0; anything else ends the call with STENO_ECANCELED */
    int (*write)(void *user, const void *data, size_t n);
    void *user;
    const char *type;  /* of the matrices that are multiplied. NULL: "f32" in a GGUF file, as they are stored in other forms. "f32", "f16",
                          "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0"; of language models also "q6_k", "q5_k_m", "q5_k_s", "q4_k_m",
                          "q4_k_s", "iq4_nl", "iq4_xs", "q3_k_l", "q3_k_m", "q3_k_s" and "q2_k", which are mixtures as llama-quantize
                          makes them; of the form "bin" see below. All else - biases, norms, filters, the rows that ask for a language,
                          mean and variance - is f32, or, of a language model's GGUF file, as it was. A matrix with rows of another
                          length than whole blocks has the type that llama.cpp falls back to in language models, and is f32 in others */
    const char *vocab; /* as in steno_model_params */
    const char *llm;   /* as in steno_model_params */
    const char *imatrix;      /* how much errors in each column count: a file of llama-imatrix, of either form; NULL: all alike. Language
                                 models alone */
    int32_t allow_requantize; /* 1: weights in blocks may be rounded again, to others, which loses more than one rounding does */
    int32_t n_threads;        /* that round; 0: the default of steno_team_open. The bytes are the same */
    int (*tensor)(void *user, const steno_convert_tensor *t); /* hears of each tensor of a language model; as write. NULL: nobody */
    int32_t pure;             /* 1: no mixture: matrices of a language model have one type, those too that lose most by it */
    int32_t pad_pure;
    const char *form;         /* NULL: "gguf". Of Whisper models, which are not written so, "bin": whisper.cpp's file. All its matrices
                                 have one type: "f32", "f16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", or, where rows are multiples of
                                 256, "q6_k", "q5_k", "q4_k", "q3_k", "q2_k". Blocks are rounded from f16, as its quantizer does it. Also
                                 "pt": OpenAI's file, weights and sizes alone; and "hf": a folder of transformers (Hugging Face), see
                                 `file`. Of these "f32", "f16" and "bf16" are of the matrices and filters */
    int (*file)(void *user, const char *name); /* of a form that is a folder: what `write` takes from here on are the bytes of this file
                                                  in it; as write. Weights come last */
} steno_convert_params;

/** Defaults, as far as a struct of `size` bytes has them. */
STENO_API void steno_convert_params_fill(steno_convert_params *p, uint32_t size);
STENO_INLINE void steno_convert_params_init(steno_convert_params *p) { steno_convert_params_fill(p, (uint32_t)sizeof *p); }

/** Write a model in another form.
 *
 * GGUF files, with all inside that belongs to the model, are made of SenseVoiceSmall, Paraformer, CT-Transformer and, in f32, FSMN-VAD, in
 * the form of FunASR's runtime; of Fun-ASR-Nano, encoder and language model together; and of language models and BERT in the form of
 * llama.cpp; from whatever steno_model_open reads. A GGUF file of a language model keeps its keys; of a folder names, keys, tokenizer and
 * order of rows become llama.cpp's. Whisper models are written in other forms, see `form`.
 *
 * The model is opened and checked first; only then is the first byte given. Weights go through a small buffer, so that little memory is
 * taken whatever the size. The file is the same whenever it is made.
 *
 * @param path  as of steno_model_open
 * @param p     filled by steno_convert_params_init, with `write`
 * @return STENO_OK; STENO_EARG (p; a type that is not written; weights in blocks that would be rounded again to other blocks; importance of
 *         another model), STENO_EUNSUPPORTED (another family; a value is too large for the type), STENO_ECANCELED (`write` did not take
 *         what it was given), else as steno_model_open. After a failure what was written is of no use */
STENO_API int steno_model_convert(const char *path, const steno_convert_params *p, steno_error *e);

/** Free a model; NULL is allowed. Sessions and batches on it keep it until the last of them is closed. */
STENO_API void steno_model_close(steno_model *m);

/** What a file or a folder is, by its content. */
typedef struct steno_kind {
    uint32_t size;    /* set by the caller to sizeof(steno_kind) */
    int32_t readable; /* 1: a form that steno_model_open reads; what is in it may still be damaged, or of a family that is not known */
    char what[160];   /* "whisper.cpp .bin", "a GGUF file of the architecture llama", "a web page", … */
    char advice[320]; /* what to get instead; "" where it is readable */
    char file[208];   /* of a folder: the file in it that the others speak of; "" where they speak of the whole */
} steno_kind;

/** Look at the first bytes of a file, or the names in a folder, as steno_model_open does before it reads.
 *
 * @return STENO_OK, also for what is no model; STENO_EARG, STENO_EIO (path cannot be read), STENO_ENOMEM */
STENO_API int steno_kind_get(const char *path, steno_kind *kind, steno_error *e);

typedef struct steno_model_info {
    uint32_t size;          /* set by the caller to sizeof(steno_model_info) */
    char family[16];        /* "whisper" */
    char name[24];          /* "tiny", "base", …, "large-v3", "turbo", or "custom" */
    char weight_type[8];    /* stored type of the matrices: "f16", "q8_0", … */
    char compute[8];        /* arithmetic in use, in the encoder: "f32", "bf16", "int8", "int16" */
    char cpu_level[16];     /* kernels in use: "avx512" */
    int32_t n_mels, n_audio_ctx, n_audio_state, n_audio_head, n_audio_layer;
    int32_t n_vocab, n_text_ctx, n_text_state, n_text_head, n_text_layer;
    int32_t n_languages;    /* 0 for English-only models */
    int32_t is_multilingual;
    int64_t weight_bytes;   /* memory held by packed weights, vocabulary and plans */
    int64_t session_bytes;  /* steno_session_memory with a team of one thread and the defaults */
    int64_t parameters;     /* number of weights */
    char format[24];        /* of the file: "whisper.cpp .bin", "PyTorch .pt", … */
    const char *alignment_heads; /* "3,1 4,2 …": LAYER,HEAD that word times are read from; lives as long as the model; NULL: none */
    char device[8];         /* what computes: "cpu" */
    char attention[8];      /* products of the encoder's attention: "f32", or "bf16", "int16" or "int8" but in layers with large scores */
    char decoder_weights[8]; /* "stored": as the file has them, or "int8" */
    int32_t verify;         /* 1: near-ties are checked in f32 */
    int32_t itn;            /* 1: a GGUF file of FunASR's runtime that asks for digits and punctuation: there is no other way to ask that
                               runtime. 2: FunASR asks such a model for them unless told otherwise. A call of this library does as its
                               parameter itn says */
    int32_t bare_text;      /* 1: its text has no punctuation, 2: unless itn asks for it: see steno_punctuate_result */
    int32_t jieba;          /* of a model of punctuation that was trained on words of Chinese: 1: they are found with jieba's dictionary,
                               2: it is not there, so that each character is a word; 0: no such model */
    int64_t token_bytes;    /* keys and values of a token in all layers, of what decodes token by token; else 0 */
    int64_t kv_bytes;       /* of that, what one text of n_text_ctx tokens takes: layers that look back a window keep no more than that and
                               the rows that are read together */
    char chat[16];          /* how the model's chat template writes turns: "chatml", "llama2", "llama3", "gemma", "mistral"; "unknown": it
                               has a template of another form; "": it has none */
} steno_model_info;

/** Fill `info` up to info->size bytes. @return STENO_OK, STENO_EARG */
STENO_API int steno_model_info_get(const steno_model *m, steno_model_info *info);

/** Code of language `i` in token order ("en", "zh", …). @return static text, or NULL past the last one or for English-only models */
STENO_API const char *steno_model_language(const steno_model *m, int i);

/** Path of file `i` that was read when the model was opened: weights, settings, vocabulary, in the order of reading, each perhaps more than
 * once. A program that writes files can keep away from them.
 * @return text that belongs to the model, or NULL past the last one and for models that were not opened by their path */
STENO_API const char *steno_model_file(const steno_model *m, int i);

/** @return index of a language given by code ("de", ISO 639-2 and -3: "ger", "deu"), BCP 47 tag ("de-AT", "zh_Hant": its language
 *          counts) or English name ("German"), any case; -1: not known to this model */
STENO_API int steno_language_id(const steno_model *m, const char *name);

/** @return English name of a language given by code ("de": "german"); static text, NULL for a code that is not known */
STENO_API const char *steno_language_name(const char *code);

/** Write the command lists of a model, a line per command: number, operation, shapes, slots, weights, flops and bytes.
 *
 * @param write  called with each line, NUL-terminated without newline
 * @return STENO_OK, STENO_EARG */
STENO_API int steno_plan_dump(const steno_model *m, void (*write)(void *user, const char *line), void *user);

/** A tensor of a model's files. */
typedef struct steno_tensor {
    uint32_t size;   /* sizeof(steno_tensor) */
    int32_t n_dims;  /* 1..4 */
    const char *name; /* as the file has it */
    const char *type; /* "f16", "q5_0", "mlx4": as its bytes are read */
    const char *file; /* the one that holds it */
    uint64_t dim[4]; /* slowest first, as PyTorch prints a shape; 1 past n_dims */
    uint64_t offset; /* of its bytes in the file: of the first ones, where they lie in several places */
    uint64_t bytes;
} steno_tensor;

/** List the tensors of a model's file or folder, in the order of the files. The network need not be one that steno runs.
 *
 * @param take  called with each; what it points to is valid during the call
 * @return as steno_model_open */
STENO_API int steno_tensors_list(const char *path, void (*take)(void *user, const steno_tensor *t), void *user, steno_error *e);

/* ---- text -------------------------------------------------------------------------------------------------------------------- */

/** Text to token ids, as the model's training did (byte-level BPE; special tokens in the text are not recognised).
 *
 * @param ids    [n] receives the ids; may be NULL when n is 0
 * @return number of ids, which may exceed n (only n are written then), or a negative status */
STENO_API int steno_tokenize(const steno_model *m, const char *text, int32_t *ids, int n);

/** Which markers are read in a text. */
enum steno_tokenize_flags {
    STENO_TOKENIZE_SPECIAL = 1, /* special tokens written in the text become their ids: for prompts that the program has written, never for
                                   what a user has */
    STENO_TOKENIZE_WHOLE = 2    /* with the tokens that the model puts before and behind a whole text */
};

/** Text of any bytes to token ids. Language models alone know flags; they open with index_only, which reads their tokenizer.
 *
 * @param text   [n_text] need not be UTF-8: bytes that are no character have tokens of their own
 * @param flags  enum steno_tokenize_flags
 * @return as steno_tokenize; STENO_EUNSUPPORTED: the model has no tokenizer, or does not know the flags */
STENO_API int steno_tokenize_text(const steno_model *m, const char *text, size_t n_text, uint32_t flags, int32_t *ids, int n);

/** A part of a text: flags is 0 for what a user has written, STENO_TOKENIZE_SPECIAL for what the program has. */
typedef struct steno_text_part {
    const char *text;      /* [n] need not be UTF-8 */
    size_t n;
    uint32_t flags;
} steno_text_part;

/** A text in parts, such as a prompt, to token ids: those of the whole text. Text between special tokens is encoded as one, so a part that
 * begins inside of it gets no space of its own before it, as it would by steno_tokenize_text.
 *
 * @param flags  0 or STENO_TOKENIZE_WHOLE
 * @return as steno_tokenize; STENO_EUNSUPPORTED: the model has no tokenizer of a language model */
STENO_API int steno_tokenize_parts(const steno_model *m, const steno_text_part *parts, int n_parts, uint32_t flags, int32_t *ids, int n);

/** A turn of a conversation. */
typedef struct steno_message {
    const char *role;      /* "system", "user" or "assistant" */
    const char *content;   /* UTF-8 */
} steno_message;

enum steno_chat_flags {
    STENO_CHAT_ANSWER = 1,      /* the assistant's turn begins: what a model goes on from */
    STENO_CHAT_NO_THINKING = 2, /* and has nothing to think about, where its format knows such a thing */
    /* Turns are written so, whatever the model's file says of them; one of these at most. */
    STENO_CHAT_AS_CHATML = 0x100,
    STENO_CHAT_AS_LLAMA2 = 0x200,
    STENO_CHAT_AS_LLAMA3 = 0x300,
    STENO_CHAT_AS_GEMMA = 0x400
};

/** A conversation to the ids that a chat model was trained on. The program that its file has for that (Jinja) is recognised by its whole
 * form and not run: ChatML, Llama 2 and 3, Gemma, Mistral (steno_model_info.chat). Where it writes a system message of its own before a
 * conversation that has none, so does this. Markers in the messages stay text.
 *
 * @return as steno_tokenize; STENO_EUNSUPPORTED: the model has no such program, or one that is not known; STENO_EARG: e says what is wrong
 *         with the messages */
STENO_API int steno_chat_tokenize(const steno_model *m, const steno_message *messages, int n_messages, uint32_t flags, int32_t *ids, int n,
                                  steno_error *e);

/** The bytes that a token stands for, which may be a part of a character; of a special one its text.
 *
 * @param buf    [n] receives the bytes, as many as there is room for
 * @return their number, or STENO_EARG */
STENO_API int64_t steno_token_bytes(const steno_model *m, int32_t id, char *buf, size_t n);

/** Does a text end with the token? 1 or 0. Chat models have several such. */
STENO_API int steno_token_ends(const steno_model *m, int32_t id);

/** Token ids to text. Ids of timestamps are dropped; other special ids give their literal text.
 *
 * @param buf    [n] receives the text, always NUL-terminated when n > 0; invalid UTF-8 becomes U+FFFD
 * @return length of the whole text in bytes without the NUL, which may exceed n - 1, or a negative status (STENO_EARG: bad id) */
STENO_API int64_t steno_detokenize(const steno_model *m, const int32_t *ids, int n_ids, char *buf, size_t n);

/** Ids to text, one after the other, in whole characters: bytes of one that is not complete wait for the next id. */
typedef struct steno_detokenizer steno_detokenizer;
/** @param special  1: control tokens are shown as text
 * @return STENO_OK, STENO_EARG, STENO_ENOMEM. The model lives on until steno_detokenizer_close */
STENO_API int steno_detokenizer_open(steno_detokenizer **out, const steno_model *m, int special, steno_error *e);
/** @param n  receives the length in bytes, may be NULL
 * @return the characters that are complete with the id, NUL-terminated, "" for none; valid until the next call. NULL: no such id, or no
 *         memory */
STENO_API const char *steno_detokenizer_push(steno_detokenizer *d, int32_t id, size_t *n);
/** What is held at the end is no character: U+FFFD. The next id begins another text. @return as above */
STENO_API const char *steno_detokenizer_end(steno_detokenizer *d, size_t *n);
STENO_API void steno_detokenizer_close(steno_detokenizer *d); /**< NULL is allowed */

/** Tokens that are no text. A language's token is steno_token_id(m, STENO_TOKEN_LANGUAGE) + its index. */
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

/** @return id of a special token, -1: this model has none such */
STENO_API int32_t steno_token_id(const steno_model *m, enum steno_special which);

/** Spectrogram as the model's front end makes it, 100 frames a second: of Whisper the log-mel that the encoder is given, scaled against the
 * loudest bin of all of pcm; of FunASR's models the logarithms of filter banks, before they are stacked and normalised.
 *
 * @param pcm       [n] mono samples at 16 kHz
 * @param out       [n_frames, n_mels] receives the frames that fit, one after the other; may be NULL when n_frames is 0
 * @return number of frames (n / 160; of filter banks whole frames of 400 samples), which may exceed n_frames, or a negative status */
STENO_API int64_t steno_mel(const steno_model *m, const float *pcm, int64_t n, float *out, int64_t n_frames);

/* ---- sessions ---------------------------------------------------------------------------------------------------------------- */

typedef struct steno_session steno_session;
typedef struct steno_batch steno_batch;

typedef struct steno_session_params {
    uint32_t size;      /* set by steno_session_params_init */
    int32_t max_lanes;  /* most sequences of a window that decode together (beams, or candidates of best_of), 1..32; default 1 */
    steno_batch *batch; /* the session's calls run in this batch and take its scratch; max_lanes is the batch's then. NULL: its own */
    /* A small model with the same vocabulary, which guesses ids ahead; the session's model checks several of them in one run. Texts,
     * times and probabilities are the same to the bit with any draft model, or none; a good one spares time where the model's weights are
     * much more than its own (see draft_max of steno_transcribe_params and steno_generate_params). For Whisper: it hears the windows
     * itself, with as many mel bands; greedy searches are drafted, beams and draws are not. For language models: steno_generate, and texts
     * of a batch; one of the vocabularies may go on with entries that stand for nothing in the other, which are never guessed. The session
     * holds it until it is closed. Of a session in a batch it is the batch's. NULL: none */
    const steno_model *draft_model;
} steno_session_params;

/** Defaults, as far as a struct of `size` bytes has them. */
STENO_API void steno_session_params_fill(steno_session_params *p, uint32_t size);
STENO_INLINE void steno_session_params_init(steno_session_params *p) { steno_session_params_fill(p, (uint32_t)sizeof *p); }

/** Bytes that a session of this model, team (NULL: one thread) and parameters (NULL: the defaults) takes, results apart: what becomes
 * resident when all its sequences have come to the end of the text context, or a stream's chunks are as large as any. Pages that are never
 * written cost nothing; what belongs to a thread of the team is resident from the start, for any number of threads. Stacks of threads are
 * the team's and are not counted. What streams look back on beyond the defaults is taken besides, when one asks for it. */
STENO_API int64_t steno_session_memory(const steno_model *m, const steno_team *team, const steno_session_params *p);

/** Make a session.
 *
 * @param out   receives the session; NULL on failure
 * @param m     model; must outlive the session
 * @param team  worker threads, or NULL to compute on the calling thread; must outlive the session
 * @param p     parameters, or NULL for the defaults
 * @return STENO_OK, STENO_EARG, STENO_ENOMEM
 *
 * Scratch and state are allocated here. Calls take memory besides for results, for what parameters hold (prompts, patterns, grammars) and
 * for judging an attempt; calls of one kind take no more after the first, and nothing is allocated between the steps of a window. */
STENO_API int steno_session_open(steno_session **out, const steno_model *m, steno_team *team, const steno_session_params *p,
                                 steno_error *e);
/** NULL is allowed. From a callback of a call that it is at work in or queued for, on_done excepted, it does nothing. */
STENO_API void steno_session_close(steno_session *s);

/** @return the reason of the last failing call on this session, "" when there was none; valid until the next call on it */
STENO_API const char *steno_last_error(const steno_session *s);

/** End the running call of this session within one decoder step. May be called from any thread or a signal handler. The request is
 * cleared when the next call on the session begins. */
STENO_API void steno_cancel(steno_session *s);

/* ---- speech ------------------------------------------------------------------------------------------------------------------ */

/** What a source's read returns when it has nothing yet: ask again later. Its request waits without a decode slot, and others go on. It is
 * asked again when windows of others have ended and after steno_batch_wake. For requests that were submitted to a batch alone: every other
 * call takes it for a failure. */
#define STENO_SOURCE_WAIT ((int64_t)-1000000)

/** Audio that is pulled, never held whole. */
typedef struct steno_source {
    /** Fill pcm[n] with mono samples at 16 kHz, nominally in [-1, 1]. @return samples given (1..n), 0 at the end, STENO_SOURCE_WAIT, any
     * other number < 0 on failure */
    int64_t (*read)(void *user, float *pcm, int64_t n);
    /** Go back to the first sample. @return 0, or < 0 when that cannot be done. May be NULL for audio of at most 30 s.
     *
     * Whisper's log-mel is clamped against the loudest bin of the whole file, so longer audio is read twice. */
    int (*rewind)(void *user);
    void *user;
} steno_source;

enum steno_task {
    STENO_TRANSCRIBE = 0,
    STENO_TRANSLATE = 1,
    STENO_TRANSCRIBE_AND_TRANSLATE = 2 /* both; windows at the same place are encoded once; see steno_result_select */
};

/** A finished stretch of text. */
typedef struct steno_segment {
    uint32_t size;            /* set by the caller to sizeof(steno_segment); callbacks receive it set */
    int32_t id;               /* 0, 1, … over the whole file */
    int32_t n_tokens;
    int64_t seek_frames;      /* where the window began, in frames of 10 ms */
    int64_t t0_ms, t1_ms;     /* start and end in the file; not behind the end of the sound, but with STENO_GUARDS_OFF */
    const char *text;         /* UTF-8, usually begins with a space */
    const int32_t *tokens;    /* [n_tokens] ids, timestamps included */
    double temperature;       /* of the attempt that was kept */
    double avg_logprob;       /* sum of log-probabilities / (tokens + 1), over the window */
    double compression_ratio; /* bytes of the window's text / bytes deflated */
    double no_speech_prob;    /* of the window */
    uint32_t flags;           /* enum steno_flag, what the guards think of it */
    int32_t attempt;          /* number of the attempt that was kept, from 0 */
    /* What a model with tags heard; static text, NULL where it does not say. With language_per_segment, language is that of the window;
     * else, of Whisper, that of a window whose text is doubtful and which seems to be in another language than the result's. */
    const char *language, *emotion, *event, *itn; /* "zh", "HAPPY", "BGM", "withitn" */
    double start, end;        /* t0_ms and t1_ms in seconds, unrounded: the reference's own numbers; NAN: not known */
    int32_t n_words;          /* with word_timestamps; see steno_word_get */
    int32_t speaker_turn;     /* 1: another speaker goes on after it (tinydiarize) */
    const char *word_source;  /* what times of its words were found by: "dtw", warping over attention, or "ctc", rows of a CTC head; static,
                                 NULL: it has none */
} steno_segment;

/** A word of a segment: text between spaces, or a character where a language has none, with the punctuation that belongs to it. */
typedef struct steno_word {
    uint32_t size;            /* set by the caller to sizeof(steno_word) */
    int32_t n_tokens;
    double start, end;        /* seconds */
    int64_t t0_ms, t1_ms;     /* the same, rounded */
    const char *text;         /* UTF-8, begins with a space where the language has them */
    double probability;       /* mean over its tokens */
    const char *spoken;       /* text as the recogniser wrote it, before steno_punctuate_result put marks into it */
} steno_word;

/** What speaks against a text. A threshold that is switched off counts as its default here. */
enum steno_flag {
    STENO_FLAG_REPETITION = 1,     /* compression ratio above its threshold, entropy below its own (when one is set), or the same one to
                                      eight text tokens at least four times in a row over eight tokens or more */
    STENO_FLAG_NO_SPEECH = 2,      /* no-speech probability above its threshold, or a level that stays within 4 dB from half a second
                                      before the segment to half a second after it: silence, tones, steady noise. Of text that was left
                                      out: a sound that stands, too, as that of music does */
    STENO_FLAG_LOW_CONFIDENCE = 4, /* avg_logprob below its threshold */
    STENO_FLAG_RETRIED = 8,        /* the text is not that of the first attempt */
    STENO_FLAG_UNFINISHED = 16     /* of an attempt: it held no sentence of the grammar and gives no text */
};

/** What to do about such texts. */
enum steno_guards {
    STENO_GUARDS_OFF = 0,  /* as the reference does; no flags */
    STENO_GUARDS_FLAG = 1, /* the default: the reference's text with flags, but for four rules. A segment where the level is steady is left
                              out (steno_left_out). Where every attempt fails the best is kept, not the last: an attempt that ends by
                              itself goes before a loop that was cut off, one whose avg_logprob is not below its threshold before one
                              below, one that does not repeat itself before one that does, then the higher avg_logprob goes first.
                              Whether a window is silence is decided by its first attempt, not by a draw at a higher temperature; where
                              the level is not steady, by another one without the text before. It is silence, too, where the no-speech
                              probability is above its threshold, every attempt fails and none of two or more draws has an avg_logprob
                              that is not below its own, or two or more have not and that of the best attempt is below it, too: of a
                              sound without speech the text falls apart. A window is no speech where
                              its first text has a flag and its spectra stand, as those of notes, chords and hum do: for more than half
                              of the time their shape changes by less than 3 dB in 60 ms, and in no half second does it change by more
                              than 5 dB in half of the frames */
    STENO_GUARDS_RETRY = 2 /* windows flagged for repetition or low confidence are decoded again: without the text before them, then
                              up the temperatures; if every attempt is flagged the best is kept, by the same rules. Where the level is
                              steady there is no text: such windows are not decoded, such segments left out. Of Fun-ASR-Nano: a window
                              that repeats itself ends there and is decoded again, with the repetition penalty 1.1 times as high (at least
                              1.1), then 1.3 times; nothing else is. */
};

/** What becomes of the tags that a model puts into its text (SenseVoice). */
enum steno_tags {
    STENO_TAGS_APART = 0, /* they are fields of the segment alone (the default) */
    STENO_TAGS_KEEP = 1,  /* and stand in the text as the model chose them: "<|en|><|HAPPY|><|Speech|><|woitn|>good morning" */
    STENO_TAGS_RICH = 2   /* the text is as FunASR's rich_transcription_postprocess makes it of that: signs for emotions and events. Each
                             segment's is made of its own tags, steno_text of all: a sign is not repeated from segment to segment there */
};

/** Whose rules a window is decoded by. whisper.cpp's are openai-whisper's but for these: a window that ends with the audio is filled up
 * with silence, not with the middle of the scale; its first token may be text; a time may come twice; probabilities are not made to sum
 * up to one where only times may be chosen; segments begin at the first time that is chosen, and nothing is kept behind the last one;
 * the audio has 1 + (samples - 200) / 160 frames, and no window begins in its last ten; windows that begin in its last 500 have no text
 * before them. Prompts are cut into tokens by the longest match. Beams draw, at any temperature, from generators of their own that begin
 * alike in every request: patience and seed count for nothing. A text that ends without a time has failed, and so has one that is
 * improbable while somebody may speak; from temperature 0.5 on nothing stands before it. */
enum steno_decoding {
    STENO_DECODING_OPENAI = 0,
    STENO_DECODING_GGML = 1    /* whisper.cpp's */
};

/** One decoding of a window and how it came out. */
typedef struct steno_attempt {
    uint32_t size;            /* set by the library */
    int32_t index;            /* 0, 1, … */
    int64_t at_ms;            /* where the window begins */
    double temperature, avg_logprob, compression_ratio, no_speech_prob;
    double entropy;           /* nats, of the ids among the last 32 tokens */
    int32_t n_tokens;
    uint32_t flags;           /* enum steno_flag that apply, whatever params.guards says */
    int32_t with_previous;    /* 1: the text of earlier windows was its prompt */
    int32_t kept;             /* 1: the window's result */
    const double *score;      /* [n_candidates] what its candidates, or finished beams, were ranked by; valid during the callback */
    int32_t n_candidates;
    int32_t chosen;           /* the first of the highest */
    /* Of a model opened with verify: the least by which its choices were ahead of what would have been chosen next, in the fast
     * arithmetic. INFINITY: there was nothing else, or nothing is verified. */
    double margin;            /* of logits, where the text depends on it; with beams of sums of log-probabilities */
    double margin_timestamps; /* of logits, of one timestamp before another */
    int32_t verified;         /* 1: checked in f32, all else here is f32's */
    int32_t corrected;        /* 1: which chose other tokens */
    /* The record that whisper.cpp keeps of a sequence, of the chosen one. Its result_len is n_tokens, the sum of its log-probabilities
     * avg_logprob * (n_tokens + 1), as the end of text counts. */
    int32_t failed;           /* 1: a threshold or a guard that is on asks for another attempt; kept: there was none better */
    int32_t completed;        /* 1: it ended by itself; 0: it was cut at sample_len, or where the text context ends */
    int32_t has_ts;           /* 1: among its tokens is a timestamp other than <|0.00|> */
    int32_t seek_delta_ms;    /* how far behind at_ms its tokens have the next window begin; words and a grammar may move that */
} steno_attempt;

/** The place in a decoding that a logits filter is asked about. */
typedef struct steno_step {
    uint32_t size;            /* set by the library */
    int32_t lane;             /* which of the sequences that decode together */
    int64_t at_ms;            /* where the window begins */
    double temperature;
    int32_t attempt;          /* of the window */
    int32_t n_vocab;
} steno_step;

/** Rows of numbers that a network has made of a clip, for comparing with another implementation. */
typedef struct steno_rows {
    uint32_t size;            /* set by the library */
    int32_t first;            /* which row of the clip the first one is: some come in pieces, in order */
    int32_t n_rows, width;
    const char *name;         /* "features": what the encoder is given, stacked and normalised; "encoder": its output, rows that ask for
                                 language and numbers included; "adaptor": of Fun-ASR-Nano, what its language model reads; "logits" (but
                                 of Fun-ASR-Nano): of each row of a CTC head, or of each token, but where hot words
                                 are attended to; "cif_alphas": weights of frames, one of silence behind the last; "cif_fine_alphas": those
                                 that times are told by; static */
    int64_t at_ms;            /* where the clip begins */
    const float *rows;        /* [n_rows, width], rows `stride` floats apart; valid during the callback */
    int64_t stride;
} steno_rows;

/** One sampled token. */
typedef struct steno_token {
    uint32_t size;         /* set by the caller to sizeof(steno_token) */
    int32_t id;
    int32_t ts_id;         /* most probable timestamp at this place */
    float p, logprob;      /* probability and log-probability among what the logit rules allow; p = exp(logprob) */
    float ts_prob, ts_prob_sum; /* share of `ts_id` among timestamps; summed probability of all timestamps */
    int64_t t0_ms, t1_ms;  /* -1: not known */
    int64_t t_dtw_ms;      /* where the alignment of word_timestamps has the text begin, within its segment; -1: not known */
    float vlen;            /* voice length, 0: not known */
} steno_token;

typedef struct steno_transcribe_params {
    uint32_t size;                 /* set by steno_transcribe_params_init */
    int32_t task;                  /* enum steno_task */
    const char *language;          /* as for steno_language_id, NULL or "auto": detect from the first 30 s. English-only models take no
                                      language but English */
    const char *initial_prompt;    /* text put before the first window, NULL: none */
    const char *suppress_tokens;   /* ids separated by commas, blanks beside them or not; "-1": the non-speech set, "": no suppression
                                      at all */
    int32_t condition_on_previous_text; /* 1: the text of earlier windows is the prompt of the next */
    int32_t without_timestamps;    /* 1: text only; one segment a window */
    int32_t suppress_blank;        /* 1: no space and no end of text at the first position */
    int32_t sample_len;            /* most tokens sampled per window, 0: half the text context (224) */
    double max_initial_timestamp;  /* seconds, default 1.0; 0: no limit */
    double temperature;            /* 0: most probable token; 1e-6 to 100: sampling */
    uint64_t seed;                 /* of sampling; default 0. The same seed gives the same text, whatever runs beside it. Refused where no
                                      attempt has a temperature above 0 */
    double no_speech_threshold;    /* 0.6; NAN: none */
    double logprob_threshold;      /* -1.0; NAN: none */
    int64_t offset_ms;             /* where to begin */
    int64_t duration_ms;           /* how much to transcribe, 0: to the end */
    /* Callbacks run on the calling thread; any may be NULL. */
    void *user;
    void (*on_segment)(void *user, const steno_segment *seg);       /* once per segment, in order */
    void (*on_progress)(void *user, int64_t done_ms, int64_t total_ms); /* non-decreasing; last call has done_ms == total_ms; total_ms
                                                                            is 0 while a source that is heard once has not ended */
    int (*on_window)(void *user, int64_t at_ms);                    /* before a window is encoded; 0 ends cleanly, others go on */
    int (*should_abort)(void *user);                                /* asked at least once per decoder step; non-zero cancels */

    /* From here on: later additions. A caller whose struct ends earlier (see size) gets their defaults. */

    /* A window is decoded at `temperature`, then at that plus one, two, … increments up to 1.0, until an attempt passes: compression
     * ratio not above its threshold, avg_logprob not below its own, entropy not below its own. Silence - no_speech_prob above and
     * avg_logprob below their thresholds - passes whatever the rest says. The last attempt is kept in any case. */
    double temperature_increment_on_fallback; /* 0.2; 0 or NAN: one attempt */
    double compression_ratio_threshold;       /* 2.4; NAN: none */
    double entropy_threshold;      /* nats over the last 32 of more than 32 tokens; NAN, the default: none */
    const int32_t *prompt_tokens;  /* [n_prompt_tokens] ids in place of initial_prompt; the last half context minus one (223) count */
    int32_t n_prompt_tokens;       /* 0: none */
    int32_t carry_initial_prompt;  /* 1: the initial prompt (or prompt_tokens) stands before every window, and earlier text takes the room
                                      it leaves; 0, the default: it is there until earlier text pushes it out */
    int32_t guards;                /* enum steno_guards */
    int32_t keep_audio_features;   /* 1: for steno_audio_features */
    void (*on_attempt)(void *user, const steno_attempt *a); /* after each decoding of a window */
    /* Before each choice: logits[n_vocab] may be changed; -INFINITY bars an id. tokens[n] of this attempt came before. The logit rules
     * follow. May be called many times a second. */
    void (*logits_filter)(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n);
    /* Models with tags. */
    int32_t itn;                   /* 1: inverse text normalisation: digits and punctuation instead of words. The program asks
                                      Fun-ASR-Nano for it, as FunASR does */
    int32_t ban_unknown_emotion;   /* 1: the tag "emotion unknown" may not be chosen */

    /* Search. At temperature 0: greedy, or with beam_size a beam search. Above: one draw, or the best of `best_of`. A ladder uses each
     * at its temperatures. The defaults are those of the reference's function transcribe(): greedy, one draw. The program's are those of
     * the reference's command line: with Whisper beam_size 5 and best_of 5, which need a session of max_lanes 5. */
    int32_t beam_size;             /* 0: greedy; 1..32, at most the session's max_lanes. With a CTC head the width of a search over texts,
                                      each with all ways to say it; max_lanes does not matter, and 0 and 1 are the same */
    int32_t best_of;               /* 0: one; 1..32, at most max_lanes; refused where no attempt has a temperature above 0 */
    double patience;               /* a beam search ends with round(beam_size * patience) finished sequences; NAN, the default: 1 */
    double length_penalty;         /* candidates rank by sum of log-probabilities / ((5 + n) / 6) ^ this, 0..1; NAN, the default: / n */

    /* Text that is given. */
    const char *prefix;            /* first words of every window's text, NULL: none. The text goes on behind them and holds them: their
                                    * tokens are given with probability 1 and count in no figure. The time 0.00 stands before them.
                                    * With STENO_GUARDS_OFF, as in the reference, a time must come behind them, at which most models end
                                    * the text, and what was chosen is given alone */
    const int32_t *prefix_tokens;  /* [n_prefix_tokens] the same as ids */
    int32_t n_prefix_tokens;
    int32_t max_context;           /* most tokens of earlier text before a window, -1: what fits (223); 0: none */

    /* Text that is wanted or unwanted, on top of suppress_tokens. */
    const char *suppress_regex;    /* ids whose text this Perl-compatible pattern (at most 32 brackets within each
                                    * other) matches as a whole are barred, NULL: none */
    /* GBNF, the notation of llama.cpp and whisper.cpp; NULL: anything may be said. The text of every window is a sentence of it (the
     * segments with the same seek_frames, one behind the other), or nothing; steno_text is these sentences in a row, with nothing between
     * them but what the grammar says. Times stand between characters and between words, where the sentence can go on or end; a window is
     * cut only where a sentence ends. A window whose room (sample_len, the context) or tokens (suppress_tokens bars brackets and other
     * signs) do not suffice for a sentence is decoded again as far as the ladder goes, then has no text: STENO_FLAG_UNFINISHED tells
     * on_attempt. A prefix stands before the sentence and is no part of it. Refused are grammars that are empty or accept the empty text
     * alone. */
    const char *grammar;
    const char *grammar_rule;      /* its start, NULL: "root" */
    double grammar_penalty;        /* what other ids, and times and ends elsewhere, lose from their logits. INFINITY, the default: they are
                                      barred. Else a wish: the text may be any, and is cut by its times alone (whisper.cpp: 100) */
    const char *hotwords;          /* words or phrases to favour, one a line, NULL: none; times do not end a phrase. SeACo and Contextual
                                      Paraformer were trained with them, and take 999 phrases: those know by themselves how much */
    double hotwords_boost;         /* added to the logits of ids that go on a hot word, and half of it to those that begin one: odds times
                                      7.4 and 2.7 at the default of 2. 0 to 100; needs hotwords. With a CTC head they are favoured in a
                                      search, whose width is 1 where beam_size does not say more */

    /* Which audio. */
    const double *clip_timestamps; /* [n_clip_timestamps] seconds: start, end, start, end, …; an odd last one ends with the audio */
    int32_t n_clip_timestamps;
    int32_t independent_clips;     /* 1: nothing passes from clip to clip, so that they decode together in a batch; a clip is cut after
                                      each window's length. Needs condition_on_previous_text 0 */
    int32_t chunk_ms;              /* 1000..30000: the audio is cut at its quietest places into independent clips of at most this; 0: not.
                                      Fun-ASR-Nano: 1000..15000, clips of just this, as its runtime cuts; 0: of at most 15 s, at quiet
                                      places */
    int32_t audio_ctx;             /* positions of 20 ms that the encoder sees, 0: the model's (1500); a window is as long */

    /* Language detection, where `language` does not say which it is, listens to this many windows of 30 s, one after the other, until one
     * language reaches the threshold; if none does, the one most often found counts, the more probable on ties. */
    int32_t language_detection_segments;    /* 1 or more, default 1 */
    double language_detection_threshold;    /* 0 to 1, default 0.5; needs 2 segments or more */

    /* Times of words, by dynamic time warping over the cross-attention of some heads (Radford et al. 2022; openai-whisper, timing.py), or
     * by the rows of a CTC head that the text lies in. Segments begin and end with their words then, and windows of the former where the
     * last word ended. */
    int32_t word_timestamps;
    const char *prepend_punctuations;       /* belongs to the word after it; NULL, the default: "'“¿([{- */
    const char *append_punctuations;        /* belongs to the word before it; NULL, the default: "'.。,，!！?？:：”)]}、 */
    double hallucination_silence_threshold; /* seconds: words that look invented beside silence as long are left out; NAN: none */
    double token_threshold;        /* a timestamp counts when its share and the share of all timestamps are above; 0.01 */
    int32_t token_timestamps;      /* 1: times of tokens from what is known anyway, after whisper.cpp: timestamps that were likely, and
                                      between them the lengths of texts */
    int32_t tinydiarize;           /* 1: the token "start of LM" may be chosen and means that another speaker goes on */
    /* With a model opened with verify: a window is checked in f32 when a choice was ahead of the next by less than this (of logits; a tenth
     * of it, with int8 four tenths, where one timestamp was ahead of another), when its mean log-probability or no-speech probability is
     * near a threshold, and when tokens were drawn. 0: no window is, 1e9: every one; default 0.1 */
    double verify_margin;
    int32_t tags;                  /* enum steno_tags. Other than APART, a segment may consist of tags without text */
    int32_t pad;

    /* Streaming Paraformer, in FunASR's words. Rows are of 60 ms. After every CHUNK rows that were heard the network sees BEFORE + CHUNK +
     * AFTER of them, the newest, and what is spoken in those between becomes text; at the end all that is left does. on_segment is told
     * of it at once. Whoever gets audio bit by bit submits the request to a batch with a source that says STENO_SOURCE_WAIT while it has
     * nothing, and calls steno_batch_run_as with STENO_RUN_POLL whenever it has; pieces of any sizes give the same results. */
    const char *chunk_size;          /* "BEFORE,CHUNK,AFTER", default "0,10,5": at most 240 rows, a chunk of 1 or more, and 1 or more
                                        beside it */
    int32_t encoder_chunk_look_back; /* chunks that the encoder looks back on, default 4; -1: all, that is 61 s; at most 1024 rows */
    int32_t decoder_chunk_look_back; /* chunks that the decoder looks back on, default 1; at most 1024 rows. -1, as in FunASR: none */
    void (*on_rows)(void *user, const steno_rows *r); /* what the network makes of each clip; its head is run once more. Models that hear
                                      clips of their own length: SenseVoice, Paraformer, Fun-ASR-Nano */
    /* Of models that go clip by clip: a voice-activity model, whose spans become the segments; NULL: audio is cut where it is quietest.
     * Spans longer than a clip may be, of 60 s, are cut so, too. The session opens what it needs for it when the first request begins, and
     * keeps it as long as requests have the same one: at most what a session of it takes, and room for its longest span (max_segment_ms)
     * twice. The spans can be read with steno_span_get. Merged spans leave out pauses longer than 60 s, max_segment_ms and merge_ms
     * together. In a session by itself up to 16 segments, together no longer than the longest clip that is cut, go through the encoder in
     * one run, and what they say does not depend on it: on_window is asked about all of them first. A segment does not wait for a source
     * that gives audio as it is spoken. */
    const steno_model *vad_model;
    const struct steno_vad_params *vad; /* how it finds them, copied; NULL: the defaults. Its callbacks are told */
    double repetition_penalty;     /* of Fun-ASR-Nano: logits of ids that a segment has already are divided by it where they are above 0,
                                      and multiplied where they are below; 0.01 to 100, default 1: nothing changes */
    int32_t draft_max;             /* with a draft model (steno_session_params): ids that are guessed ahead and checked in one run, 1 to 15,
                                      as far as there is room; -1, the default: as many as should pay, by how often they were right and by
                                      what they took; 0: none. More than 0 is refused where nothing is drafted: with beams,
                                      and at a temperature above 0. Attempts at higher temperatures are decoded without guesses */
    int32_t n_resume;              /* bytes of resume, 0: the request begins at the beginning */
    /* Requests that were ended can go on. After each window on_resume_point is given bytes to be kept behind those of earlier calls of this
     * request. All bytes of some calls, from the first on, are the `resume` of a later request, which then has the results that those had,
     * and goes on with the window behind them; what it gives to on_resume_point goes behind those bytes. Its results are those of a request
     * that was never ended, to the bit, if audio, model, compute and all other parameters are the same, which the caller has to see to:
     * bytes of another version, model or processor level are refused. on_segment is not told again of segments in `resume`; these bytes
     * stay where they are until the session's next request. The audio is heard from its beginning. Models that decode token by token and
     * those that go clip by clip, but for streams and language models. */
    void (*on_resume_point)(void *user, const void *data, size_t n);
    const void *resume;
    int32_t decoding;              /* enum steno_decoding */
    int32_t n_best;                /* texts of each window, or clip, that are kept besides the results, for steno_hypothesis_get: at most
                                      beam_size or best_of, 0: none. Of a window that was drawn and checked in f32 there is one */
    int32_t language_per_segment;   /* 1: the language of each window of 30 s is detected, and the window decoded in it; where none has a
                                      probability of 0.5, it is `language`, or what the audio begins with. Needs a model of many
                                      languages */
} steno_transcribe_params;

/** Defaults, as far as a struct of `size` bytes has them. */
STENO_API void steno_transcribe_params_fill(steno_transcribe_params *p, uint32_t size);
STENO_INLINE void steno_transcribe_params_init(steno_transcribe_params *p) { steno_transcribe_params_fill(p, (uint32_t)sizeof *p); }

/** Transcribe PCM of any length.
 *
 * @param s     session; its model must be a speech model
 * @param pcm   [n] mono samples at 16 kHz, nominally in [-1, 1]; not modified, not kept
 * @param n     number of samples, 0 is allowed and gives no segments
 * @param p     parameters, or NULL for the defaults
 * @return STENO_OK; STENO_EARG (a parameter is out of range: steno_last_error says which), STENO_ECANCELED (segments finished so far
 *         can be read), STENO_ENOMEM
 *
 * Results are read with steno_segment_count and steno_segment_get and stay valid until the next call that begins on this session.
 * Windows follow Radford et al. 2022, section 3.8 and the reference implementation's seek rules. */
STENO_API int steno_transcribe(steno_session *s, const float *pcm, int64_t n, const steno_transcribe_params *p);

/** As steno_transcribe, from a source of any length; memory does not grow with it, apart from the results and, with
 * chunk_ms, a level for every frame: 1.4 MB an hour, or twice that while it grows.
 * @return also STENO_ESOURCE (read or rewind failed) */
STENO_API int steno_transcribe_source(steno_session *s, const steno_source *src, const steno_transcribe_params *p);

/** Probability of each language in the first 30 s.
 *
 * @param probs  [n] receives probabilities in the order of steno_model_language; may be NULL
 * @return index of the most probable language, or a negative status (STENO_EARG: the model is English-only) */
STENO_API int steno_detect_language(steno_session *s, const steno_source *src, float *probs, int n);

/** @return probability of language `i` as the last call on the session detected it, -1: that call detected none, or no such language */
STENO_API float steno_language_prob(const steno_session *s, int i);

/** Output of the encoder for the last window of a call with keep_audio_features.
 *
 * @param n_ctx    receives the number of positions, may be NULL
 * @param n_state  receives the width, may be NULL
 * @return [n_ctx, n_state], valid until the next call that begins on this session; NULL when there is none */
STENO_API const float *steno_audio_features(const steno_session *s, int32_t *n_ctx, int32_t *n_state);

/** After a call with STENO_TRANSCRIBE_AND_TRANSLATE: which of the two texts the functions below read (the transcript at first).
 * @param task  STENO_TRANSCRIBE or STENO_TRANSLATE
 * @return STENO_OK, STENO_EARG (there is no such text, or a call is at work) */
STENO_API int steno_result_select(steno_session *s, int task);

STENO_API int steno_segment_count(const steno_session *s);

/** Copy segment `i` out, up to seg->size bytes. @return STENO_OK, STENO_EARG */
STENO_API int steno_segment_get(const steno_session *s, int i, steno_segment *seg);

/** With n_best: what a search has found for a window, or of a CTC head for a clip. */
typedef struct steno_hypothesis {
    uint32_t size;         /* set by the caller to sizeof(steno_hypothesis) */
    int32_t place;         /* 0, 1, ... of those of its window, the best first: place 0 is what the segments are made of. Where a window is
                              decoded again from its last time on, or segments are left out, it says more than they do */
    int64_t at_ms;         /* where the window begins */
    const char *text;
    const int32_t *tokens; /* [n_tokens] times among them, the end of text not */
    const float *logprobs; /* [n_tokens] of each, as of steno_token */
    int32_t n_tokens;
    int32_t pad;
    double avg_logprob;    /* of all tokens, the end of text counted; of a CTC head as of a segment */
    double score;          /* what they are ranked by: of beams and candidates as in steno_attempt, of a CTC head the log-probability of the
                              text in all ways to say it */
} steno_hypothesis;

/** @return how many there are, of all windows in order */
STENO_API int steno_hypothesis_count(const steno_session *s);

/** Copy hypothesis `i` out, up to out->size bytes; pointers live as long as the segments. @return STENO_OK, STENO_EARG */
STENO_API int steno_hypothesis_get(const steno_session *s, int i, steno_hypothesis *out);

/** Text that the result does not have, because the guards found no speech where it stands. Not with STENO_GUARDS_OFF. */
typedef struct steno_left_out {
    uint32_t size;         /* set by the caller to sizeof(steno_left_out) */
    uint32_t flags;        /* enum steno_flag of its attempt; STENO_FLAG_NO_SPEECH is among them */
    int64_t t0_ms, t1_ms;
    const char *text;      /* UTF-8 */
    double avg_logprob, no_speech_prob;
    int32_t is_window;     /* 1: a window that was taken for silence or music; 0: a segment where the level is steady */
    int32_t pad;
    const char *language;  /* code of the language that its window seems to be in, where that is another one than the result's; or NULL */
} steno_left_out;

/** @return the number of texts that were left out, in order */
STENO_API int steno_left_out_count(const steno_session *s);

/** Copy text `i` that was left out, up to out->size bytes; pointers live as long as the segments. @return STENO_OK, STENO_EARG */
STENO_API int steno_left_out_get(const steno_session *s, int i, steno_left_out *out);

/** Copy token `j` of segment `i` out, up to tok->size bytes. @return STENO_OK, STENO_EARG */
STENO_API int steno_token_get(const steno_session *s, int i, int j, steno_token *tok);

/** Copy word `j` of segment `i` out, up to word->size bytes. @return STENO_OK, STENO_EARG */
STENO_API int steno_word_get(const steno_session *s, int i, int j, steno_word *word);

/** @return the whole text, "" when there is none. Texts of segments carry their spaces themselves; of models that go clip by clip a space
 * lies between two of them, but not between two Chinese characters */
STENO_API const char *steno_text(const steno_session *s);
STENO_API const char *steno_language(const steno_session *s); /**< @return code of the language used or detected, "" before a run */
STENO_API int64_t steno_duration_ms(const steno_session *s);  /**< @return length of the audio of the last run */

/** Find when the words of a known text are said.
 *
 * @param text  UTF-8; each line becomes a segment
 * @param p     parameters, or NULL for the defaults; what is about choosing text is refused
 * @return as steno_transcribe_source; STENO_EARG also for a text without words
 *
 * Segments and words are read as those of a transcription; words that the audio seems to lack have NAN and -1 for times. */
STENO_API int steno_align(steno_session *s, const steno_source *src, const char *text, const steno_transcribe_params *p);

/* ---- token by token -----------------------------------------------------------------------------------------------------------
 *
 * For those who build loops of their own: one window is encoded, then ids go in and ids come out, without prompts or rules. */

typedef struct steno_generate_params {
    uint32_t size;       /* set by steno_generate_params_init */
    int32_t max_tokens;  /* most new ids, 0: as many as there is room for in the context */
    double temperature;  /* 0: most probable id, the lowest among equals; 1e-6 to 100: sampling */
    uint64_t seed;       /* of sampling: what is drawn at a place is a function of it, the place and the logits */
    /* What is left to draw from, in the order of `samplers`. Equal logits go by id, lower ones first. */
    int32_t top_k;           /* so many of the most probable ids; 0: all */
    int32_t repeat_last_n;   /* ids that penalties look back on, those of the prompt included; 64; -1: all, 0: none */
    double top_p;            /* the fewest of the most probable ids whose probabilities sum up to so much; 1: all */
    double min_p;            /* ids that are at least so probable, as a part of the most probable one's; 0: all */
    double repeat_penalty;   /* logits of ids there were are divided by it, where they are negative multiplied; 1: nothing */
    double frequency_penalty; /* taken off for each time that the id was there; 0 */
    double presence_penalty;  /* taken off once; 0 */
    const char *samplers;    /* names with ; between them, each at most once; those left out do nothing. The default,
                                "penalties;top_k;top_p;min_p;temperature", is llama.cpp's; others have the temperature first */
    /* What may be said. */
    const char *grammar;      /* GBNF; NULL: anything */
    const char *grammar_rule; /* where a text begins; NULL: "root" */
    const char *json_schema;  /* a JSON schema that the text, JSON, holds to, in place of a grammar; NULL: none */
    const char *const *stop; /* [n_stop] texts that end it, which are not part of it; UTF-8 */
    int32_t n_stop;
    int32_t ignore_eos;      /* 1: no end of text is chosen */
    void *user;
    /* Behind each id, on the calling thread: the characters that are certain with it, which may be none, or those of several ids. What
     * may be the beginning of a stop is held back. After the last id it comes once more, with tok NULL, when something was. Results can
     * be read, and steno_cancel called. Other than 0: the text ends here, as STENO_FINISH_CALLER. */
    int (*on_token)(void *user, const struct steno_token *tok, const char *text, size_t n_text);
    int (*should_abort)(void *user); /* asked now and then, also while a prompt is read; other than 0: STENO_ECANCELED */
    int32_t draft_max; /* most ids that are guessed ahead and checked in one run, 0 to 15. In a session with a draft model they are its
                          guesses, -1, the default, stands for as many as should pay, and other numbers for so many each time. Without one
                          guesses are what stands in the text where it is said again, as many as should pay, and -1 stands for 0. Ids
                          and probabilities are the same to the bit with any number */
    int32_t pad;
} steno_generate_params;

/** Why a text ended. */
enum steno_finish {
    STENO_FINISH_NONE,    /* there is none, or the call failed */
    STENO_FINISH_END,     /* an end of text was chosen, or a grammar allowed nothing else */
    STENO_FINISH_STOP,    /* one of the stops was said */
    STENO_FINISH_LENGTH,  /* max_tokens, or the context is full */
    STENO_FINISH_CALLER,  /* on_token said so */
    STENO_FINISH_CANCELED /* steno_cancel, should_abort */
};

/** Defaults, as far as a struct of `size` bytes has them. */
STENO_API void steno_generate_params_fill(steno_generate_params *p, uint32_t size);
STENO_INLINE void steno_generate_params_init(steno_generate_params *p) { steno_generate_params_fill(p, (uint32_t)sizeof *p); }

/** Hear one window: log-mel of pcm[n] alone, padded with silence or cut to the window's length (30 s), through the encoder.
 * @return STENO_OK, STENO_EARG (the model does not decode token by token), STENO_ECANCELED, STENO_ENOMEM */
STENO_API int steno_encode(steno_session *s, const float *pcm, int64_t n);

/** Choose what follows ids[n], up to an end of text (steno_token_ends), which is not among the new ids.
 *
 * @param ids  [n] at least one: for Whisper start of transcript, language, task, …
 * @param p    parameters, or NULL for the defaults
 * @return number of new ids, see steno_generated; STENO_EARG (no window was encoded, an id or a length is out of range: nothing was
 *         computed then), STENO_ECANCELED (what was chosen before can be read, but not gone on with), STENO_ENOMEM
 *
 * Ids that the text begins with as the session's last text did are not computed again (steno_timings.n_reused): a conversation whose
 * prompts each hold the ones before, or a fixed beginning of many prompts, costs what is new. Nothing else tells: what is chosen is the
 * same to the bit. */
STENO_API int steno_generate(steno_session *s, const int32_t *ids, int n, const steno_generate_params *p);

/** The same behind all that was read and chosen since steno_generate, an end of text included: equal to one steno_generate over all of
 * it. n may be 0. */
STENO_API int steno_generate_continue(steno_session *s, const int32_t *ids, int n, const steno_generate_params *p);

/** Read ids[n] into a session of a language model, from the beginning; steno_logits then has what the model expects behind them, and
 * steno_generate_continue goes on from there.
 * @return STENO_OK, STENO_EARG (not a language model, an id or a length is out of range), STENO_ECANCELED */
STENO_API int steno_prefill(steno_session *s, const int32_t *ids, int n);
/** The same behind all that was read and chosen before. */
STENO_API int steno_prefill_continue(steno_session *s, const int32_t *ids, int n);
/** @return [n_vocab] logits behind the last id of steno_prefill or steno_prefill_continue, before any rule, valid until the next call on
 * the session; NULL when there are none */
STENO_API const float *steno_logits(const steno_session *s, int *n);

/** @return [n] the new ids of the last of these two calls, valid until the next call on the session; NULL when there are none */
STENO_API const int32_t *steno_generated(const steno_session *s, int *n);

/** The new text of the last of these two calls: of the new ids, up to a stop. An id that stands for a zero byte ends it here, as in any
 * C string: steno_detokenizer makes text of ids with its length. @return UTF-8, valid until the next call on the session */
STENO_API const char *steno_generated_text(const steno_session *s);
/** Copy new id `i` out, up to tok->size bytes: p and logprob are the model's own, before any penalty, filter or temperature.
 * @return STENO_OK, STENO_EARG */
STENO_API int steno_generated_get(const steno_session *s, int i, struct steno_token *tok);
/** @return enum steno_finish of the last of these two calls */
STENO_API int steno_generate_finish(const steno_session *s);

/* ---- voice activity ---------------------------------------------------------------------------------------------------------- */

/** A stretch of speech. */
typedef struct steno_span {
    uint32_t size;         /* set by the caller to sizeof(steno_span); callbacks receive it set */
    int32_t pad;
    int64_t t0_ms, t1_ms;
} steno_span;

/** How long a silence ends a span, where max_end_silence_ms does not say it. */
enum steno_vad_schedule {
    STENO_VAD_SCHEDULE_FILE = 0, /* 2 s at first, less for every chunk without a pause (chunk_size_ms), at last 100 ms: of FunASR's
                                    detector */
    STENO_VAD_SCHEDULE_LIVE = 1  /* 2 s in the first 5 s of a span, 1.5 s up to 10, 1 s up to 15, 800 ms up to 30, 400 ms up to 45, then
                                    100 ms: of its DynamicStreamingVAD */
};

/** By whose rules spans are made of the probabilities of Silero VAD. */
enum steno_vad_rules {
    STENO_VAD_RULES_OWN = 0,        /* the model's own: of its get_speech_timestamps */
    STENO_VAD_RULES_CPP = 1 /* whisper.cpp's: gaps of less than 200 ms are closed, long spans are cut at their last pause, and a
                                       frame is heard between mirror images of its two ends, not behind the samples before it */
};

typedef struct steno_vad_params {
    uint32_t size;              /* set by steno_vad_params_init */
    int32_t pad;
    double threshold;           /* a frame is speech when P(speech) - P(silence) is at least this; NAN: 0.5 with a schedule, else the
                                   model's own (0.6). Silero: when P(speech) is; NAN: 0.5 */
    int64_t max_end_silence_ms; /* silence that ends a span; -1: long at first and shorter the longer nobody pauses (schedule), Silero:
                                   100 */
    int64_t max_segment_ms;     /* a longer span is cut; -1: the model's own; Silero's has none */
    /* Callbacks run on the thread that carries out the call, or the request; any may be NULL. */
    void *user;
    void (*on_frame)(void *user, int64_t t_ms, float p_speech); /* every 10 ms, Silero: 32 ms; in order */
    void (*on_span)(void *user, const steno_span *span);        /* as soon as a span is closed, in order */
    int (*should_abort)(void *user);

    /* From here on: later additions. */
    int32_t schedule;           /* enum steno_vad_schedule; refused with max_end_silence_ms */
    int32_t streaming;          /* 1: on_event is told, and an opening counts as a pause for the schedule: FunASR's is_streaming_input */
    int32_t chunk_size_ms;      /* FunASR's chunk_size: how often the schedule is looked up, and openings are told; 1..3600000, live at
                                   most 1000. 0: 60000, of a stream 200, live 60 */
    int32_t pad2;
    int64_t min_speech_ms;      /* shorter spans are left out; -1, the default: 0, Silero: 250 */
    int64_t merge_ms;           /* FunASR's merge_vad: a span begins where the one before has ended, or with the audio, pauses and all, and
                                   ends at the last beginning or end of speech before it would be longer. 0: they are not merged */
    /* A span has opened (t1_ms is -1), at the end of the chunk it did in, or closed (t0_ms is -1), or both in one chunk; as it was found,
     * before short ones are left out and others are merged. One that opens with the very last frame is not told to close. */
    void (*on_event)(void *user, const steno_span *event);
    /* Of Silero VAD; schedule and chunk_size_ms are not. An opening is told with the frame that it is of. */
    double neg_threshold;       /* a silence begins with a frame below it; NAN: threshold less 0.15, at least 0.01 */
    int64_t speech_pad_ms;      /* added to both ends of a span; -1: 30 */
    int32_t rules;              /* enum steno_vad_rules */
    int32_t pad3;
} steno_vad_params;

/** Defaults, as far as a struct of `size` bytes has them. */
STENO_API void steno_vad_params_fill(steno_vad_params *p, uint32_t size);
STENO_INLINE void steno_vad_params_init(steno_vad_params *p) { steno_vad_params_fill(p, (uint32_t)sizeof *p); }

/** Find the spans in which somebody speaks. The session's model must be a voice-activity model (FSMN-VAD, Silero VAD).
 *
 * @param p  parameters, or NULL for the defaults
 * @return STENO_OK, STENO_EARG, STENO_ESOURCE, STENO_ECANCELED (spans closed so far can be read), STENO_ENOMEM
 *
 * Audio is heard once; memory does not grow with it, apart from the spans. They are valid until the next call that begins on this
 * session. Spans equal those of FunASR's offline detector, those of Silero VAD its get_speech_timestamps'. */
STENO_API int steno_find_speech(steno_session *s, const steno_source *src, const steno_vad_params *p);
STENO_API int steno_span_count(const steno_session *s);
STENO_API int steno_span_get(const steno_session *s, int i, steno_span *span); /**< up to span->size bytes; STENO_OK, STENO_EARG */

/* ---- punctuation ------------------------------------------------------------------------------------------------------------- */

/** A word of a text that was punctuated: characters of ASCII without a space between them, or any one other character. */
typedef struct steno_mark {
    uint32_t size;    /* set by the caller to sizeof(steno_mark) */
    int32_t id;       /* of what stands behind it, in the model's list: FunASR's punc_array */
    int64_t at, end;  /* its bytes in the text that was given; 0, 0: the last word of the call before, whose mark is known now */
    const char *text; /* what stands behind it: "，", behind ASCII ","; "": nothing. Lives as long as the model */
} steno_mark;

typedef struct steno_punctuate_params {
    uint32_t size;       /* set by steno_punctuate_params_init */
    int32_t go_on;       /* 1: the text goes on behind that of the last call, from where the speaker paused. For models that mark text as
                            it comes (CTTransformerStreaming) */
    int32_t block_words; /* words that are added at a time, 2..512; default 20, the reference's split_size */
    int32_t pad;
    void *user;
    int (*should_abort)(void *user); /* asked from time to time; non-zero cancels; may be NULL */
} steno_punctuate_params;

/** Defaults, as far as a struct of `size` bytes has them. */
STENO_API void steno_punctuate_params_fill(steno_punctuate_params *p, uint32_t size);
STENO_INLINE void steno_punctuate_params_init(steno_punctuate_params *p) { steno_punctuate_params_fill(p, (uint32_t)sizeof *p); }

/** Put marks into a text. The session's model must be one for punctuation (CT-Transformer).
 *
 * @param text  UTF-8 of any length; spaces only part words of ASCII
 * @param p     parameters, or NULL for the defaults
 * @return STENO_OK, STENO_EARG (also: a text that is not UTF-8), STENO_ECANCELED, STENO_ENOMEM
 *
 * steno_text is the text as FunASR writes it: marks have full width, behind ASCII half; spaces stand between words of ASCII alone, and
 * before a sentence that begins with one, which gets a capital letter. The whole text ends with the end of a sentence. Of a model that
 * marks text as it comes it is what is new: behind the mark of the word before, up to the last word, whose mark the next call tells; it
 * has no capital letters and no half-width marks. Of a text in which no sentence ends the newest 500 words are seen at once. */
STENO_API int steno_punctuate(steno_session *s, const char *text, const steno_punctuate_params *p);
STENO_API int steno_mark_count(const steno_session *s); /**< of the last steno_punctuate: words, and the one before */
STENO_API int steno_mark_get(const steno_session *s, int i, steno_mark *mark); /**< up to mark->size bytes; STENO_OK, STENO_EARG */

/** Put marks into a transcript: into the texts of its segments and words, and the whole.
 *
 * @param s   session of a model for punctuation; the reason of a failure is its steno_last_error
 * @param of  session that has transcribed, at rest; what steno_result_select says. on_done may name its own
 * @param p   parameters, or NULL for the defaults; go_on does not count
 * @return as steno_punctuate; after a failure the transcript is as it was
 *
 * All segments are one text, of a model that marks text as it comes one after the other. Times and tokens stay. Texts of Paraformer, and
 * of SenseVoice without itn, word times and tags in the text, are written as steno_punctuate writes them, as FunASR does; of others, and
 * with a model that marks text as it comes, nothing else changes, neither spaces nor letters, and where a mark stands already there comes
 * no other. */
STENO_API int steno_punctuate_result(steno_session *s, steno_session *of, const steno_punctuate_params *p);

/* A sentence, as FunASR's sentence_info has it: text up to a mark, a comma included. Pointers live as long as the transcript. */
typedef struct steno_sentence {
    uint32_t size;       /* set by the caller: how much of it is known there */
    int32_t n_words;
    int64_t t0_ms, t1_ms;
    const char *text;    /* with its mark. Of Paraformer it is made of the words, a space before and behind those of letters */
    const int64_t *times_ms; /* [n_words, 2] when each word begins and ends */
    int64_t first_word;  /* its words are those from this number on, of all segments one after the other; -1: the model for punctuation
                            cuts words otherwise, and times are shared out among their characters */
} steno_sentence;

/** Sentences of a transcript, made by steno_punctuate_result where words have times (word_timestamps). Where the two models do not find the
 * same words, each segment is a sentence, without marks. */
STENO_API int steno_sentence_count(const steno_session *of);
STENO_API int steno_sentence_get(const steno_session *of, int i, steno_sentence *sentence); /**< up to its size; STENO_OK, STENO_EARG */

/* ---- texts as vectors -------------------------------------------------------------------------------------------------------- */

/** How the rows of a text, one for each token, become one. */
enum steno_pooling {
    STENO_POOLING_MODEL = 0, /* as the model's files say; where they say nothing, the mean for BERT, the last row for language models */
    STENO_POOLING_MEAN = 1,  /* their mean, special tokens included */
    STENO_POOLING_CLS = 2,   /* the first one, BERT's [CLS] */
    STENO_POOLING_LAST = 3   /* the last one */
};

typedef struct steno_embed_params {
    uint32_t size;     /* set by steno_embed_params_init */
    int32_t pooling;   /* enum steno_pooling; default STENO_POOLING_MODEL */
    int32_t normalize; /* 1, the default: vectors have length 1, so that a product of two is their cosine; 0: they are as they come */
    int32_t truncate;  /* 1: of a text that has more tokens than the model takes the first ones are read, and the one that ends it;
                          0, the default: such a text is refused */
    void *user;
    int (*should_abort)(void *user); /* asked from time to time; non-zero cancels; may be NULL */
} steno_embed_params;

/** Defaults, as far as a struct of `size` bytes has them. */
STENO_API void steno_embed_params_fill(steno_embed_params *p, uint32_t size);
STENO_INLINE void steno_embed_params_init(steno_embed_params *p) { steno_embed_params_fill(p, (uint32_t)sizeof *p); }

/** The vector of a text. */
typedef struct steno_embedding {
    uint32_t size;        /* set by the caller to sizeof(steno_embedding) */
    int32_t n;            /* numbers of the vector */
    const float *vector;  /* [n] until the next steno_embed */
    int32_t n_tokens;     /* that were read, special ones included */
    int32_t is_truncated; /* 1: the text had more */
    int32_t pooling;      /* enum steno_pooling, never STENO_POOLING_MODEL */
    int32_t pad;
} steno_embedding;

/** Texts as vectors: those of like meaning are near each other, as far as the model has learnt that. The session's model must be BERT or a
 * language model.
 *
 * @param texts  [n] of any bytes; what is no UTF-8 is read as the model's tokenizer reads it. Markers of special tokens are text
 * @param n      0 or more
 * @param p      parameters, or NULL for the defaults
 * @return STENO_OK; STENO_EARG: also a text without tokens, as an empty one, and one with too many, unless truncate is set: the reason
 *         names it by its number, from 1; STENO_ENOVOCAB; STENO_ECANCELED; STENO_ENOMEM. After a failure there are no vectors
 *
 * Several texts are read together as far as they have room, by a language model in the decode slots of the session's batch
 * (steno_batch_params.max_windows); that changes no bit of any vector. Vectors do not depend on threads. */
STENO_API int steno_embed(steno_session *s, const char *const *texts, int n, const steno_embed_params *p);
STENO_API int steno_embedding_count(const steno_session *s); /**< of the last steno_embed */
/** @return STENO_OK, or STENO_EARG where there is no such text; up to out->size bytes are written */
STENO_API int steno_embedding_get(const steno_session *s, int i, steno_embedding *out);

/* ---- batches ------------------------------------------------------------------------------------------------------------------
 *
 * Windows of several sessions decode as lanes of one plan: each step reads the weights once for all of them. So do windows of one call
 * that know nothing of each other: those of clips with independent_clips or chunk_ms, and all of them with without_timestamps and without
 * condition_on_previous_text, word times or a first prompt. What a session's call gives - text, ids, times, probabilities - does not
 * depend on what else is in the batch, on max_windows, on the order or on threads.
 *
 * Models of every kind that hears serve requests so. What is shared differs, and what counts as a window: of models that go clip by clip a
 * clip (SenseVoice: at most 30 s, Paraformer: 60 s); up to max_windows of them, together no longer than the longest, go through the
 * encoder in one run. Of voice-activity models a piece of at most 5 s; pieces take turns, and a request is a steno_find_speech.
 *
 * A language model goes on with texts so: each decode slot has room for one, and each step has a row for every text that is being made.
 * Prompts are read beside them in pieces, so that none of them stands still for long. A slot keeps the keys and values of the last text
 * that it held: what another begins with in the same way, a conversation or a system prompt, is not computed again, and what several
 * requests of a batch begin with is computed by one of them, while the others wait for it (steno_timings.n_reused; whole blocks of 32 ids
 * are shared between slots). What was made can be gone on with by steno_generate_continue until another text has taken the slot.
 *
 * max_windows is the number of decode slots. A free slot goes to the request of the lowest class (enum steno_priority), among those of one
 * class to the one that has had the fewest windows, among those to the oldest. A request that comes while a slot is free has it after the
 * step at hand, and no later than steps_between_encodes after the encoder last ran.
 *
 * steno_batch_submit, steno_batch_add, steno_batch_wake, steno_batch_stop and steno_cancel may be called from any thread at any time, also
 * while steno_batch_run is at work in another. A session with a queued request belongs to the thread that carries it out, from the call
 * that submits it until on_done: other threads may do no more than cancel it. Everything else about a batch is for one thread at a time. */

typedef struct steno_batch_params {
    uint32_t size;       /* set by steno_batch_params_init */
    int32_t max_windows; /* windows that decode together, 1..128; default 8 */
    int32_t max_lanes;   /* most sequences of a window, 1..32; max_windows * max_lanes is at most 256; default 1. Models that do not decode
                            token by token have one in any case */
    int32_t pad;
    /* Called on the thread that carries them out when a request has ended, with what steno_transcribe_source, steno_find_speech or
     * steno_generate would have returned. May do what every callback may, submit requests, select and read results, and close sessions:
     * this one, and others of the batch whose requests then end untold (not one whose own call carries out the queue: it is still in
     * use). */
    void *user;
    void (*on_done)(void *user, steno_session *s, int status);
    /* Token by token: while windows are being decoded the encoder runs at most once in so many steps of the decoder, so that with a large
     * model the texts at work go on while new windows are encoded. 0: free slots are filled at once, which is a little faster where nobody
     * waits for text that comes as it is decoded. Default 8 */
    int32_t steps_between_encodes;
    int32_t pad2;
    const steno_model *draft_model; /* as of steno_session_params; while more than 8 windows, or texts, are at work none is drafted */
} steno_batch_params;

/** Defaults, as far as a struct of `size` bytes has them. */
STENO_API void steno_batch_params_fill(steno_batch_params *p, uint32_t size);
STENO_INLINE void steno_batch_params_init(steno_batch_params *p) { steno_batch_params_fill(p, (uint32_t)sizeof *p); }

/** Bytes that a batch takes, counted likewise; its sessions take steno_session_memory each on top. Negative: a status. */
STENO_API int64_t steno_batch_memory(const steno_model *m, const steno_team *team, const steno_batch_params *p);

/** Make a batch; arguments as for steno_session_open. */
STENO_API int steno_batch_open(steno_batch **out, const steno_model *m, steno_team *team, const steno_batch_params *p, steno_error *e);
/** NULL is allowed. Sessions that are open in it keep it until the last of them is closed. From a callback of its calls it does nothing. */
STENO_API void steno_batch_close(steno_batch *b);

/** Whose windows go first. */
enum steno_priority {
    STENO_PRIORITY_AUTO = -1,       /* the first window of the request is of class FIRST, the others of class LATER */
    STENO_PRIORITY_END_OF_TURN = 0, /* somebody has finished speaking and waits for the text */
    STENO_PRIORITY_LIVE = 1,        /* an update of a text while somebody speaks */
    STENO_PRIORITY_FIRST = 2,
    STENO_PRIORITY_LATER = 3        /* gets at least every fourth window while a request of this class waits */
};

/** What the first pass over audio finds: Whisper needs it before the first window. */
typedef struct steno_heard {
    uint32_t size;   /* set by the caller to sizeof(steno_heard) */
    int32_t pad;
    int64_t samples; /* of the whole audio */
    double loudest;  /* log10 of the loudest bin of its mel spectrogram */
} steno_heard;

/** Listen to audio to its end, ahead of its request: on any thread, as many at a time as there are threads, without a session.
 *
 * @param m    a model that hears audio twice (Whisper)
 * @param src  read once, from its first sample to its end
 * @param out  receives what was found; out->size is set
 * @param e    receives the reason of a failure, may be NULL
 * @return STENO_OK, STENO_EARG, STENO_ESOURCE, STENO_ENOMEM */
STENO_API int steno_listen(const steno_model *m, const steno_source *src, steno_heard *out, steno_error *e);

typedef struct steno_request_params {
    uint32_t size;    /* set by steno_request_params_init */
    int32_t priority; /* enum steno_priority, of all its windows; default STENO_PRIORITY_AUTO */
    const steno_transcribe_params *transcribe; /* NULL: the defaults. Copied, what it points at is kept until the request has ended */
    const steno_heard *heard; /* of the same audio, copied: its source is at the first sample and is not listened to first. NULL: it is, in
                                 slices of 60 s between the steps of others. Refused with chunk_ms, and by models that hear audio once */
    const steno_vad_params *find_speech; /* of voice-activity models, likewise; they refuse transcribe, as others refuse this */
    /* Of language models, which take these in place of a source and refuse the others: what follows ids[n_ids] is chosen as steno_generate
     * does it, with the parameters `generate` (likewise; NULL: the defaults). The ids are kept until the request has ended. */
    const int32_t *ids;
    const steno_generate_params *generate;
    int32_t n_ids;
    int32_t pad;
} steno_request_params;

/** Defaults, as far as a struct of `size` bytes has them. */
STENO_API void steno_request_params_fill(steno_request_params *p, uint32_t size);
STENO_INLINE void steno_request_params_init(steno_request_params *p) { steno_request_params_fill(p, (uint32_t)sizeof *p); }

/** Queue a request, from any thread, also while the batch is at work.
 *
 * @param s    session opened with this batch, without a queued request; other calls on it are refused until this one has ended
 * @param src  copied; what its user points at is kept until the request has ended. It is read on the thread that carries out the batch.
 *             NULL for language models
 * @param r    parameters, or NULL for the defaults
 * @return STENO_OK, STENO_EARG (also: a parameter; steno_last_error(s) says which) */
STENO_API int steno_batch_submit(steno_batch *b, steno_session *s, const steno_source *src, const steno_request_params *r);

/** The same with a transcription's parameters alone.
 * @param p  parameters, or NULL for the defaults, which every model takes; kept as steno_request_params.transcribe is */
STENO_API int steno_batch_add(steno_batch *b, steno_session *s, const steno_source *src, const steno_transcribe_params *p);

enum steno_run_mode {
    STENO_RUN_DRAIN = 0, /* until no request is left; sleeps while all that are left wait for their sources */
    STENO_RUN_SERVE = 1, /* until steno_batch_stop was called and no request is left; sleeps while there is nothing to do */
    STENO_RUN_POLL = 2   /* until nothing can go on: no request is left, or all wait for their sources */
};

/** Carry out requests on the calling thread: those that wait, and those that are submitted meanwhile.
 *
 * @return number of requests that are left (they wait for their sources: STENO_RUN_POLL alone), or STENO_EARG (another thread is
 *         at work on the batch, or a callback of its own calls; an unknown mode)
 *
 * A thread that sleeps in here is woken by steno_batch_submit, steno_batch_add, steno_batch_wake, steno_batch_stop and steno_cancel.
 * should_abort is not asked while it sleeps. */
STENO_API int steno_batch_run_as(steno_batch *b, enum steno_run_mode mode);

/** Something may go on: all sources that had nothing are asked again. From any thread, at any time; NULL is allowed. */
STENO_API void steno_batch_wake(steno_batch *b);

/** Let the STENO_RUN_SERVE at work, or else the next one, return when no request is left. From any thread, at any time; NULL is allowed.
 * Requests that are not wanted any more are canceled one by one. What is submitted after it has returned waits for the next run. */
STENO_API void steno_batch_stop(steno_batch *b);

/** steno_batch_run_as(b, STENO_RUN_DRAIN). @return STENO_OK when all requests have ended, however each did; STENO_EARG */
STENO_API int steno_batch_run(steno_batch *b);

/* ---- parameters as a table -----------------------------------------------------------------------------------------------------
 *
 * For programs and bindings: which parameters there are, what they take, and whether a model serves them. A call refuses (STENO_EARG) a
 * parameter that differs from its default and that the model does not serve, that needs another one, or that another one makes useless:
 * nothing that is asked for is ignored. */

/** Calls that have parameters. */
enum steno_call {
    STENO_CALL_TRANSCRIBE = 0,  /* steno_transcribe, steno_transcribe_source, steno_batch_add, and steno_batch_submit with the field
                                   transcribe: steno_transcribe_params */
    STENO_CALL_ALIGN = 1,       /* steno_align: the same struct */
    STENO_CALL_FIND_SPEECH = 2, /* steno_find_speech, and steno_batch_submit with the field of that name: steno_vad_params */
    STENO_CALL_OPEN = 3,        /* steno_model_open and its like: steno_model_params */
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
    double min, max;     /* of a number: with a model its own, else the widest */
    double value;       /* default of a number or flag */
    double none;        /* taken, too, and means none, when has_none is 1 */
    int32_t has_none;
    int32_t served;     /* 1: the model serves it in this call; without a model: some model does */
    const char *text;   /* default of a text; static, NULL: none */
    const char *reason; /* why it is not served, "" when it is; static */
    uint32_t offset;    /* of the field, bytes */
    uint32_t pad;
} steno_param;

/** Copy parameter `i` out, up to out->size bytes.
 * @param m  a model, or NULL for what is so with any
 * @return STENO_OK, STENO_EARG past the last one */
STENO_API int steno_param_get(const steno_model *m, enum steno_call call, int i, steno_param *out);

/** What the user of a program calls parameters, and which of them were asked for. */
typedef struct steno_param_names {
    uint32_t size; /* set by the caller to sizeof(steno_param_names) */
    int32_t pad;
    void *user;
    /* @param with_value  1: with the value that was given ("--beam-size is 33"), 0: the name alone
     * @return valid until the next call; NULL: the field's own name */
    const char *(*name)(void *user, const char *field, int with_value);
    /* @return 1: it counts as asked for, though it has its default's value; NULL: only what differs does */
    int (*asked)(void *user, const char *field);
} steno_param_names;

/** Judge parameters as a call would before it hears anything: who serves them, their ranges, what they need and exclude. What only the
 * call knows (ids of suppress_tokens, patterns, grammars, languages, the session's lanes) is judged there.
 *
 * @param m       a model, or NULL for what is so with any
 * @param params  the struct that the call takes; NULL: the defaults
 * @param names   how the reason calls them, NULL: by their fields
 * @return STENO_OK, or STENO_EARG with the reason in *e */
STENO_API int steno_params_check(const steno_model *m, enum steno_call call, const void *params, const steno_param_names *names,
                                 steno_error *e);

/* ---- self-knowledge ---------------------------------------------------------------------------------------------------------- */

typedef struct steno_timings {
    uint32_t size;          /* set by the caller to sizeof(steno_timings) */
    int32_t n_windows, n_encodes, n_prompts, n_steps; /* what ran, since the session was opened or steno_timings_reset */
    int64_t n_prompt_tokens;
    int64_t n_wakes;        /* times the team was woken for a plan: one for encoder and cross keys, one per chain of steps */
    int64_t load_us, source_us, mel_us, encode_us, cross_us, prompt_us, decode_us;
    int32_t n_verified, n_corrected; /* attempts at windows that were checked in f32, and those of them that f32 decoded otherwise */
    int64_t verify_us;               /* what that took, on top of all else */
    int64_t n_drafted, n_accepted;   /* ids that were guessed ahead (draft_max), and those of them that were chosen */
    int64_t n_vad, vad_us;           /* pieces of audio that went through vad_model, and what that took: features, network and callbacks */
    int64_t n_reused;                /* ids of prompts whose keys and values were there: n_prompt_tokens does not count them */
    int64_t draft_us;                /* in the draft model: its encoder, and guessing */
} steno_timings;

/** What ran for this session alone, and of runs that sessions of a batch share its part of the time, by rows.
 * @return STENO_OK, STENO_EARG */
STENO_API int steno_timings_get(const steno_session *s, steno_timings *t);
STENO_API void steno_timings_reset(steno_session *s);

/** Where the time of one request went. */
typedef struct steno_request_timings {
    uint32_t size;           /* set by the caller to sizeof(steno_request_timings) */
    int32_t n_windows;       /* that it has had */
    int64_t queued_us;       /* from steno_batch_submit until somebody looked after it; -1: nobody did */
    int64_t first_window_us; /* from steno_batch_submit until its first window had a decode slot; -1: it had none */
    int64_t encode_us;       /* in the encoder, and making cross keys; of runs that it shares with others its part by rows */
    int64_t decode_us;       /* in prompts and steps, or in choosing ids; likewise */
    int64_t total_us;        /* from steno_batch_submit until it had ended */
    int64_t vad_us;          /* in vad_model */
} steno_request_timings;

/** Times of the last request of the session that has ended, a call that transcribes or finds speech included. Up to t->size bytes; on_done
 * may ask.
 * @return STENO_OK, STENO_EARG (none has ended yet, or another one is queued) */
STENO_API int steno_request_timings_get(const steno_session *s, steno_request_timings *t);

/** Switch time per operation on or off (off at first) for this session; what sessions of a batch share is shared out as timings are. */
STENO_API void steno_profile_enable(steno_session *s, int on);

/** Time of operation `i` of the plans, in the order of steno_plan_dump.
 *
 * @param label  receives the operation's label, static as long as the model lives
 * @param ns     receives the time spent in it; operations that are made within another one count there, and have 0 themselves
 * @param calls  receives how often it ran
 * @return STENO_OK, STENO_EARG past the last one */
STENO_API int steno_profile_get(const steno_session *s, int i, const char **label, int64_t *ns, int64_t *calls);

/** Parts of the speech path one at a time, for measuring them.
 *
 * @param phase  of a model that decodes windows of 30 s: "mel", "encode", "cross", "features" (log-mel of n seconds, without the source's
 *               time), "prompt" (n tokens in one run), "decode" (n single steps from position 0), "check" (one run of n rows, 1 to 32,
 *               all of which are chosen from: a step, and guesses behind it),
 *               "beam5" (n steps of a beam search of five; the session needs max_lanes >= 5), "batch" (n steps of one row for each window
 *               of the session's batch), "total" (all of a window that has n tokens: log-mel, encoder, cross
 *               keys, steps). Of a model that hears clips: "features" and "encode" (of n seconds, in clips as long as the model takes
 *               them); with a CTC head "ctc" (that head, of n seconds); by integrate-and-fire "cif" (tokens are found in n seconds),
 *               "decode" (n tokens over 30 s). Of a language model "prompt" (n tokens are read), "decode" (n single steps behind 64
 *               tokens), "check" (as above, behind 64 tokens), "batch" (steps, a row for each decode slot of the session's batch). Of a
 *               model that makes vectors of texts alone "encode" (a text of n tokens), "batch" (eight of them). Of a model that finds
 *               speech "features" and "encode" (of n seconds), of one that puts marks into text "mark" (n words in one run)
 * @param n      see above; must be 1 for the first three
 * @return microseconds, or a negative status */
STENO_API int64_t steno_bench_phase(steno_session *s, const char *phase, int n);

/** Have a language model say text[n_text] behind prompt[n_prompt], whatever it would choose: to measure what guesses spare, where an answer
 * repeats its prompt. All is computed and chosen as steno_generate does; steno_timings count runs and guesses.
 *
 * @param draft_max  as of steno_generate_params
 * @return microseconds that the ids behind the first one took, or a negative status */
STENO_API int64_t steno_bench_text(steno_session *s, const int32_t *prompt, int n_prompt, const int32_t *text, int n_text,
                                   int32_t draft_max);

#ifdef __cplusplus
}
#endif
#endif
