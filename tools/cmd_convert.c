/* steno: the verbs convert and quantize: a model as one GGUF file. SPDX-License-Identifier: MIT
 *
 * Both are the same work; one is asked for a form, the other for a type. */
#include "cmd.h"
#include "engine.h"
#include "ledger_code.h"
#include "option_names.h"
#include "progress.h"
#include "signals.h"
#include "atomic_file.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TYPES "f32|f16|bf16|q8_0|q5_1|q5_0|q4_1|q4_0|q6_k|q5_k_m|q5_k_s|q4_k_m|q4_k_s|iq4_nl|iq4_xs|q3_k_l|q3_k_m|q3_k_s|q2_k"
enum { N_TYPES = 19 };

struct opts {
    struct engine_opts engine;
    const char *imatrix;
    int type, again, pure;
};

#define MODEL_ROWS \
    ARG_HEADING("Model"), \
    { .name = "vocab", .kind = ARG_TEXT, .at = offsetof(struct opts, engine.vocab), .value = "PATH", \
      .help = "vocabulary of a model that carries none: SentencePiece model, tokens.json, or a folder with one" }, \
    ENGINE_LLM_ROW(struct opts)

#define ROUNDING_ROWS \
    ARG_HEADING("Rounding"), \
    { .name = "imatrix", .kind = ARG_TEXT, .at = offsetof(struct opts, imatrix), .value = "FILE", \
      .help = "how much errors in each column of a language model count, as llama-imatrix measures it: GGUF, or the older form" }, \
    { .name = "allow-requantize", .kind = ARG_FLAG, .at = offsetof(struct opts, again), \
      .help = "round weights in blocks again, to others, which loses more than rounding once" }, \
    { .name = "pure", .kind = ARG_FLAG, .at = offsetof(struct opts, pure), \
      .help = "one type for all matrices of a language model, those too that lose most by it" }, \
    { .name = "threads", .letter = 't', .kind = ARG_INT, .at = offsetof(struct opts, engine.threads), .value = "N", .dflt = "0", \
      .hi = 256, \
      .help = "threads that round; 0: the physical cores this process may use" }

static const struct arg convert_rows[] = {
    MODEL_ROWS,
    ARG_HEADING("Output"),
    { .name = "type", .kind = ARG_WORD, .at = offsetof(struct opts, type), .value = TYPES, .dflt = "f32",
      .help = "of the matrices, as quantize takes it; all else is f32" },
    ROUNDING_ROWS,
    ARG_HEADING("Messages"),
    ENGINE_QUIET_ROW(struct opts),
    { 0 },
};

static const struct arg quantize_rows[] = {
    MODEL_ROWS,
    ROUNDING_ROWS,
    ARG_HEADING("Messages"),
    ENGINE_QUIET_ROW(struct opts),
    { 0 },
};

static const struct args convert_args = { "convert", "[OPTION]... MODEL OUT.gguf",
                                          "Write MODEL as one GGUF file with all that belongs to it inside: a FunASR folder\n"
                                          "(SenseVoiceSmall, Paraformer, Fun-ASR-Nano, FSMN-VAD or CT-Transformer) as\n"
                                          "FunASR's runtime names things, a language model or BERT (a Hugging Face or MLX\n"
                                          "folder) as llama.cpp does.", convert_rows };
static const struct args quantize_args = { "quantize", "[OPTION]... MODEL OUT.gguf TYPE",
                                           "Write MODEL, in any form, as a GGUF file with matrices of TYPE: f32, f16, bf16,\n"
                                           "q8_0, q5_1, q5_0, q4_1, q4_0; of language models and BERT also q6_k, q5_k_m,\n"
                                           "q5_k_s, q4_k_m, q4_k_s, iq4_nl, iq4_xs, q3_k_l, q3_k_m, q3_k_s, q2_k, which mix\n"
                                           "types as llama-quantize does. All else stays: biases, norms, filters, queries.\n"
                                           "A matrix whose rows are no whole blocks of TYPE gets a type of smaller blocks\n"
                                           "in a language model, and is f32 elsewhere.",
                                           quantize_rows };

/* The file on its way. */
struct out {
    struct atomic_file file;
    int64_t n;
    int failed;          /* errno of a write */
    int shows;           /* each tensor, on a terminal */
    int others, tensors; /* those whose rows are no whole blocks of what they should be; all */
    char other[160];     /* the first of them */
};

static int out_write(void *user, const void *data, size_t n)
{
    struct out *o = user;
    errno = 0;
    if (fwrite(data, 1, n, o->file.f) != n) o->failed = errno ? errno : EIO;
    o->n += (int64_t)n;
    return o->failed;
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

/* The model is opened to see that it is one, and what it is read from: none of that may be the output. */
static int look(struct ledger *l, char **path, int64_t *size, const struct opts *o, const char *model, const char *to)
{
    struct engine_opts how = o->engine;
    struct engine e;
    struct stat st;
    const char *file, *fault;
    how.model = model;
    how.index_only = 1;
    how.threads = 1;
    how.cpu = NULL;
    how.ledger = l;
    int code = engine_open(&e, &how, 0);
    if (code != EXIT_OK) return code;
    for (int i = 0; (file = steno_model_file(e.model, i)) != NULL; i++)
        if (stat(file, &st) == 0) *size += st.st_size;
    *path = strdup(e.path);
    engine_close(&e);
    if (!*path) {
        message("out of memory for a path");
        return EXIT_MEMORY;
    }
    if (o->imatrix && (code = ledger_code_read(l, "the file of importance", o->imatrix)) != EXIT_OK) return code;
    const int status = ledger_plan(l, to);
    if (status == LEDGER_READ) return message_usage("%s is %s and would be overwritten; choose another name", to, l->refused.what);
    if (status != LEDGER_OK) return ledger_code(l, status);
    return (fault = atomic_file_fault(to)) ? cannot_write(to, fault) : EXIT_OK;
}

/* What a process that was killed has left beside the file. */
static void sweep_beside(const char *to)
{
    const char *slash = strrchr(to, '/');
    char *dir = slash ? strndup(to, (size_t)(slash - to) + 1) : strdup(".");
    if (dir) atomic_file_sweep(dir);
    free(dir);
}

static int write_file(const char *model, const char *to, const char *type, const struct opts *o, int64_t before)
{
    struct out out = { 0 };
    steno_convert_params p;
    steno_error err = { 0 };
    steno_convert_params_init(&p);
    p.type = type;
    p.vocab = o->engine.vocab;
    p.llm = o->engine.llm;
    p.imatrix = o->imatrix;
    p.allow_requantize = o->again;
    p.pure = o->pure;
    p.n_threads = (int32_t)o->engine.threads;
    p.write = out_write;
    p.tensor = out_tensor;
    p.user = &out;
    out.shows = !o->engine.quiet && progress_can_redraw();
    sweep_beside(to);
    if (atomic_file_open(&out.file, to, signals_temp)) return errno == ENOMEM ? message_model_error(to, STENO_ENOMEM, "out of memory")
                                                                              : cannot_write(to, strerror(errno));
    const int rc = steno_model_convert(model, &p, &err);
    if (out.shows && out.tensors) fputs("\r\033[K", stderr);
    if (rc) {
        atomic_file_abort(&out.file);
        if (out.failed) return cannot_write(to, strerror(out.failed));
        if (rc != STENO_EARG) return message_model_error(model, rc, err.text);
        char name[OPTION_TEXT_SZ];
        if (o->pure && strstr(err.text, ": pure, "))
            return message_usage("%s: %s", option_name(name, o->engine.given, "pure"), err.text);
        if (o->imatrix && strstr(err.text, "imatrix"))
            return message_usage("%s %s: %s", option_name(name, o->engine.given, "imatrix"), o->imatrix, err.text);
        if (!option_was_given(o->engine.given, "type")) return message_usage("%s", err.text);
        return message_usage("%s %s: %s", option_name(name, o->engine.given, "type"), type, err.text);
    }
    if (atomic_file_commit(&out.file)) return cannot_write(to, strerror(errno));
    if (!o->engine.quiet && out.others)
        message("%d of %d tensors have rows that are no whole blocks, and are of another type: %s", out.others, out.tensors, out.other);
    if (!o->engine.quiet)
        message("%s: %lld bytes; %s had %lld (%.0f %% of that)", to, (long long)out.n, model, (long long)before,
                before ? 100.0 * (double)out.n / (double)before : 0);
    return EXIT_OK;
}

static int convert(const struct opts *o, const char *model, const char *to, const char *type)
{
    struct ledger ledger = { 0 };
    char *path = NULL;
    int64_t before = 0;
    if (strcmp(to, "-") == 0) return message_usage("a model is not written to standard output: name a file");
    int code = look(&ledger, &path, &before, o, model, to);
    if (code == EXIT_OK) code = write_file(path, to, type, o, before);
    free(path);
    ledger_free(&ledger);
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

/* In capitals, too, as llama-quantize has them. */
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
    if (n != 2) return message_usage("convert takes a model and the name of the file that is made of it, not %d operands", n);
    return convert(&o, argv[0], argv[1], type_name(type, o.type));
}

int cmd_quantize(int argc, char **argv)
{
    struct args_given given;
    struct opts o = { .engine.given = &given };
    char type[8];
    int n, i = 0;
    const int code = args_parse(&quantize_args, &o, &given, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    if (n != 3) return message_usage("quantize takes a model, the name of the file that is made of it, and a type, not %d operands", n);
    while (i < N_TYPES && !is_type(argv[2], type_name(type, i))) i++;
    if (i == N_TYPES)
        return message_usage("%s is no type that is written; f32, f16, bf16, q8_0, q5_1, q5_0, q4_1, q4_0 are, and of language models "
                             "q6_k, q5_k_m, q5_k_s, q4_k_m, q4_k_s, iq4_nl, iq4_xs, q3_k_l, q3_k_m, q3_k_s and q2_k", argv[2]);
    return convert(&o, argv[0], argv[1], type);
}
