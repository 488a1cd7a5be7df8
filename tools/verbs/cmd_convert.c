/* steno: the verbs convert and quantize: change the form of a model. SPDX-License-Identifier: MIT
 *
 * Both verbs use the same code; convert selects a form, quantize a type. */
#include "cli/message.h"
#include "cli/option_names.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cmd.h"
#include "models/engine.h"
#include "verbs/model_out.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TYPES "auto|f32|f16|bf16|q8_0|q5_1|q5_0|q4_1|q4_0|q6_k|q5_k_m|q5_k_s|q4_k_m|q4_k_s|iq4_nl|iq4_xs|q3_k_l|q3_k_m|q3_k_s|q2_k" \
              "|q5_k|q4_k|q3_k"
enum { AUTO, N_TYPES = 23 };
#define FORMS "auto|gguf|bin|pt|hf"

struct opts {
    struct engine_opts engine;
    const char *imatrix;
    int type, form, again, pure;
};

#define MODEL_ROWS \
    ARG_HEADING("Model"), \
    { .name = "vocab", .kind = ARG_TEXT, .at = offsetof(struct opts, engine.vocab), .value = "PATH", \
      .help = "vocabulary for a model without one: SentencePiece model, tokens.json, tiktoken file, tokenizer.json, another " \
              "model, or a folder with one" }, \
    ENGINE_LLM_ROW(struct opts)

#define FORM_ROW \
    { .name = "to", .kind = ARG_WORD, .at = offsetof(struct opts, form), .value = FORMS, .dflt = "auto", \
      .help = "format of OUT; auto: by its name: whisper.cpp's file for .bin, OpenAI's for .pt, a Hugging Face folder for NAME/, " \
              "else a GGUF file" }

#define ROUNDING_ROWS \
    ARG_HEADING("Quantisation"), \
    { .name = "imatrix", .kind = ARG_TEXT, .at = offsetof(struct opts, imatrix), .value = "FILE", \
      .help = "importance of each column of a language model's matrices, as llama-imatrix measures it: a GGUF file, or the older " \
              "format" }, \
    { .name = "allow-requantize", .kind = ARG_FLAG, .at = offsetof(struct opts, again), \
      .help = "quantise weights that are quantised already, which loses more than quantising once" }, \
    { .name = "pure", .kind = ARG_FLAG, .at = offsetof(struct opts, pure), \
      .help = "one type for all matrices of a language model, including sensitive ones" }, \
    { .name = "threads", .letter = 't', .kind = ARG_INT, .at = offsetof(struct opts, engine.threads), .value = "N", .dflt = "0", \
      .hi = 256, .help = "number of threads; 0: the physical cores this process may use" }

static const struct arg convert_rows[] = {
    MODEL_ROWS,
    ARG_HEADING("Output"),
    { .name = "type", .kind = ARG_WORD, .at = offsetof(struct opts, type), .value = TYPES, .dflt = "auto",
      .help = "type of the matrices, as for quantize; auto: f32 in a GGUF file, as stored in other formats" },
    FORM_ROW,
    ROUNDING_ROWS,
    ARG_HEADING("Messages"),
    ENGINE_QUIET_ROW(struct opts),
    { 0 },
};

static const struct arg quantize_rows[] = {
    MODEL_ROWS,
    ARG_HEADING("Output"),
    FORM_ROW,
    ROUNDING_ROWS,
    ARG_HEADING("Messages"),
    ENGINE_QUIET_ROW(struct opts),
    { 0 },
};

const struct args convert_args = { "convert", "[OPTION]... MODEL OUT",
                                   "Convert MODEL to another format. OUT.gguf: a FunASR folder (SenseVoiceSmall,\n"
                                   "Paraformer, Fun-ASR-Nano, FSMN-VAD or CT-Transformer) as one GGUF file in the\n"
                                   "form of FunASR's runtime; a Parakeet or Nemotron model of any format in\n"
                                   "NVIDIA's form; a Qwen3-ASR folder as one file; a language model or BERT (a\n"
                                   "Hugging Face or MLX folder) as the GGUF file that llama.cpp reads. OUT.bin,\n"
                                   "OUT.pt and OUT/: a Whisper model of any format as whisper.cpp's file, OpenAI's,\n"
                                   "or a Hugging Face folder; OUT.bin also from a Parakeet TDT model.", convert_rows };
const struct args quantize_args = { "quantize", "[OPTION]... MODEL OUT TYPE",
                                    "Convert MODEL, of any format, with matrices of TYPE. OUT.gguf: f32, f16, bf16,\n"
                                    "q8_0, q5_1, q5_0, q4_1, q4_0; for language models, BERT and Qwen3-ASR q6_k,\n"
                                    "q5_k_m, q5_k_s, q4_k_m, q4_k_s, iq4_nl, iq4_xs, q3_k_l, q3_k_m, q3_k_s, q2_k,\n"
                                    "which are llama-quantize's mixtures; for Parakeet and Nemotron q6_k, q5_k,\n"
                                    "q4_k, q3_k, q2_k. OUT.bin, of Whisper models: f32, f16, q8_0, q5_1, q5_0, q4_1,\n"
                                    "q4_0, and, if all rows are multiples of 256, q6_k, q5_k, q4_k, q3_k, q2_k, as\n"
                                    "whisper.cpp's quantizer does. Biases, norms, filters and queries keep their\n"
                                    "type. A matrix whose rows are not whole blocks of TYPE gets a type of smaller\n"
                                    "blocks in a language model, f16 in Parakeet, f32 in others; OUT.bin refuses it.",
                                    quantize_rows };

/* The output being written. */
struct out {
    struct model_out to;
    int shows;           /* 1: print each tensor, on a terminal */
    int others, tensors; /* others: tensors whose rows are not a whole number of blocks of the type; tensors: all */
    char other[160];     /* name of the first of them */
};

static int out_write(void *user, const void *data, size_t n)
{
    struct out *o = user;
    return model_out_write(&o->to, data, n);
}

static int out_file(void *user, const char *name)
{
    struct out *o = user;
    return model_out_file(&o->to, name);
}

static int out_tensor(void *user, const steno_convert_tensor *t)
{
    struct out *o = user;
    o->tensors = t->n;
    if (t->wanted && !o->others++)
        snprintf(o->other, sizeof o->other, "%s is %s, not %s", t->name, t->to, t->wanted);
    if (o->shows) fprintf(stderr, "\r\033[K%d/%d %.60s %s -> %s", (int)t->i + 1, (int)t->n, t->name, t->from, t->to);
    return 0;
}

static int cannot_write(const char *path, const char *reason)
{
    message("%s: cannot write: %s", path, reason);
    return EXIT_OUTPUT;
}

/* The form selected by --to, or by the ending of a name. */
static const char *form_of(const struct opts *o, const char *to)
{
    static const char *const form[] = { "gguf", "gguf", "bin", "pt", "hf" };
    const char *end = strrchr(to, '.');
    if (o->form != AUTO) return form[o->form];
    return end && !strcmp(end, ".bin") ? "bin" : end && !strcmp(end, ".pt") ? "pt" : *to && to[strlen(to) - 1] == '/' ? "hf" : "gguf";
}

static int is_folder(const struct opts *o, const char *to)
{
    return !strcmp(form_of(o, to), "hf");
}

/* The input model. */
struct origin {
    char *path, *vocab;
    char format[32];
    int has_decoder;
    int64_t size; /* total size of its files, without an external vocabulary */
};

static void origin_free(struct origin *from)
{
    free(from->path);
    free(from->vocab);
}

/* Open the model to check it, and to register the files it is read from, because no output may replace them. */
static int look(struct path_guard *l, struct origin *from, const struct opts *o, const char *model, const char *to)
{
    struct engine_opts how = o->engine;
    struct engine e;
    struct stat st;
    const char *file, *fault;
    how.model = model;
    how.index_only = 1;
    how.threads = 1;
    how.cpu = NULL;
    how.path_guard = l;
    int code = engine_open(&e, &how, 0);
    if (code != EXIT_OK) return code;
    const char *vocab = e.vocab ? e.vocab : o->engine.vocab;
    for (int i = 0; (file = steno_model_file(e.model, i)) != NULL; i++)
        if (stat(file, &st) == 0 && !(vocab && !strncmp(file, vocab, strlen(vocab)))) from->size += st.st_size;
    steno_model_info info = { .size = sizeof info };
    if (steno_model_info_get(e.model, &info) == STENO_OK) {
        snprintf(from->format, sizeof from->format, "%s", info.format);
        from->has_decoder = info.n_text_layer > 0;
    }
    from->path = strdup(e.path);
    from->vocab = vocab ? strdup(vocab) : NULL;
    const int is_short = !from->path || (vocab && !from->vocab);
    engine_close(&e);
    if (is_short) {
        message("out of memory for a path");
        return EXIT_MEMORY;
    }
    if (o->imatrix && (code = path_guard_code_read(l, "the importance file", o->imatrix)) != EXIT_OK) return code;
    const int status = path_guard_plan(l, to);
    if (status == LEDGER_READ) return message_usage("%s is %s and would be overwritten; choose another name", to, l->refused.what);
    if (status != LEDGER_OK) return path_guard_code(l, status);
    return !is_folder(o, to) && (fault = atomic_file_fault(to)) ? cannot_write(to, fault) : EXIT_OK;
}

/* Names parts of the model that the form cannot store. */
static const char *left_out(const char *form, const struct origin *from)
{
    if (!strcmp(form, "pt")) return "; vocabulary, mel filters and alignment heads are not in it: a .pt file has no place for them";
    if (!strcmp(form, "bin") && from->has_decoder && (strstr(from->format, "safetensors") || strstr(from->format, "npz")))
        return "; alignment heads and settings of generation are not in it: a .bin file has no place for them";
    return "";
}

static int refused(const struct opts *o, const char *model, const char *type, int rc, const steno_error *err)
{
    if (rc != STENO_EARG) return message_model_error(model, rc, err->text);
    char name[OPTION_TEXT_SZ];
    if (o->pure && strstr(err->text, ": pure, ")) return message_usage("%s: %s", option_name(name, o->engine.given, "pure"), err->text);
    if (o->imatrix && strstr(err->text, "imatrix"))
        return message_usage("%s %s: %s", option_name(name, o->engine.given, "imatrix"), o->imatrix, err->text);
    if (!option_was_given(o->engine.given, "type")) return message_usage("%s", err->text);
    return message_usage("%s %s: %s", option_name(name, o->engine.given, "type"), type, err->text);
}

static int write_file(const struct origin *from, const char *to, const char *type, const struct opts *o)
{
    struct out out = { 0 };
    steno_convert_params p;
    steno_error err = { 0 };
    steno_convert_params_init(&p);
    p.type = type;
    p.form = form_of(o, to);
    p.vocab = from->vocab;
    p.llm = o->engine.llm;
    p.imatrix = o->imatrix;
    p.allow_requantize = o->again;
    p.pure = o->pure;
    p.n_threads = (int32_t)o->engine.threads;
    p.write = out_write;
    p.file = out_file;
    p.tensor = out_tensor;
    p.user = &out;
    out.shows = !o->engine.quiet && progress_can_redraw();
    if (model_out_open(&out.to, to, is_folder(o, to))) {
        if (errno == ENOTEMPTY) return cannot_write(to, "the folder is not empty; name a new one");
        return message_not_written(to, errno);
    }
    const int rc = steno_model_convert(from->path, &p, &err);
    if (out.shows && out.tensors) fputs("\r\033[K", stderr);
    if (rc) {
        model_out_end(&out.to, 0);
        if (out.to.failed) return message_not_written(to, out.to.failed);
        return refused(o, from->path, type, rc, &err);
    }
    if (model_out_end(&out.to, 1)) return message_not_written(to, errno);
    if (signals_pending()) return EXIT_SIGNAL + signals_pending(); /* the signal arrived when the model was almost complete */
    if (!o->engine.quiet && out.others)
        message("%d of %d tensors have rows that are not whole blocks, and get another type: %s", out.others, out.tensors, out.other);
    if (!o->engine.quiet)
        message("%s: %lld bytes; %s had %lld (%.0f %% of that)%s", to, (long long)out.to.n, from->path, (long long)from->size,
                from->size ? 100.0 * (double)out.to.n / (double)from->size : 0, left_out(p.form, from));
    return EXIT_OK;
}

static int convert(const struct opts *o, const char *model, const char *to, const char *type)
{
    struct path_guard path_guard = { 0 };
    struct origin from = { 0 };
    if (strcmp(to, "-") == 0) return message_usage("a model is not written to standard output: name a file");
    int code = look(&path_guard, &from, o, model, to);
    if (code == EXIT_OK) code = write_file(&from, to, type, o);
    origin_free(&from);
    path_guard_free(&path_guard);
    return code;
}

/* Word i of TYPES, into out. */
static const char *type_name(char out[8], int i)
{
    const char *p = TYPES;
    while (i-- > 0) p = strchr(p, '|') + 1;
    snprintf(out, 8, "%.*s", (int)strcspn(p, "|"), p);
    return out;
}

/* Capitals are accepted, too, as in llama-quantize. */
static int is_type(const char *typed, const char *name)
{
    for (; *typed && *name; typed++, name++)
        if ((*typed >= 'A' && *typed <= 'Z' ? *typed - 'A' + 'a' : *typed) != *name) return 0;
    return !*typed && !*name;
}

int cmd_convert(int argc, char **argv)
{
    struct args_given given;
    struct opts o = { .engine.given = &given };
    char type[8];
    int n;
    const int code = args_parse(&convert_args, &o, &given, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    if (n != 2) return message_usage("convert takes a model and an output file, not %d operands", n);
    return convert(&o, argv[0], argv[1], o.type == AUTO ? NULL : type_name(type, o.type));
}

int cmd_quantize(int argc, char **argv)
{
    struct args_given given;
    struct opts o = { .engine.given = &given };
    char type[8];
    int n, i = AUTO + 1;
    const int code = args_parse(&quantize_args, &o, &given, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    if (n != 3) return message_usage("quantize takes a model, an output file and a type, not %d operands", n);
    while (i < N_TYPES && !is_type(argv[2], type_name(type, i))) i++;
    if (i == N_TYPES)
        return message_usage("unknown type %s; types are f32, f16, bf16, q8_0, q5_1, q5_0, q4_1, q4_0, for language models also q6_k, "
                             "q5_k_m, q5_k_s, q4_k_m, q4_k_s, iq4_nl, iq4_xs, q3_k_l, q3_k_m, q3_k_s and q2_k, for Whisper and Parakeet "
                             "also q6_k, q5_k, q4_k, q3_k and q2_k", argv[2]);
    return convert(&o, argv[0], argv[1], type);
}
