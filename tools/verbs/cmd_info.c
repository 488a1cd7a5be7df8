/* steno: the verb info: contents of a model file. SPDX-License-Identifier: MIT
 *
 * One list of facts is printed either as "key: value" lines or as an object. */
#include "cli/message.h"
#include "cli/option_names.h"
#include "cmd.h"
#include "models/engine.h"
#include "utf8.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct opts {
    struct engine_opts engine;
    int plan, tensors, json;
};

static const struct arg rows[] = {
    ENGINE_MODEL_ROW(struct opts),
    ENGINE_VOCAB_ROW(struct opts),
    ENGINE_LLM_ROW(struct opts),
    ENGINE_HEADS_ROW(struct opts),
    ENGINE_DECODER_ROW(struct opts),
    ENGINE_DEMO_ROW(struct opts),
    ARG_HEADING("Output"),
    { .name = "plan", .kind = ARG_FLAG, .at = offsetof(struct opts, plan),
      .help = "also print the command lists: operations, shapes, flops and bytes" },
    { .name = "tensors", .kind = ARG_FLAG, .at = offsetof(struct opts, tensors),
      .help = "also print the weights: NAME, TYPE, SHAPE, BYTES, OFFSET and FILE of each, separated by tabs" },
    { .name = "json", .kind = ARG_FLAG, .at = offsetof(struct opts, json), .help = "print an object instead of lines" },
    ENGINE_MACHINE_ROWS(struct opts),
    ARG_HEADING("Messages"),
    ENGINE_QUIET_ROW(struct opts),
    { 0 },
};

const struct args info_args = { "info", "[OPTION]... [MODEL]",
                                "Print contents and memory of a model file or folder, or the fault of a damaged\n"
                                "one.", rows };

static void fact_key(int json, int first, const char *key)
{
    if (json) printf("%s\"%s\": ", first ? "{" : ", ", key);
    else printf("%s: ", key);
}

static void fact_text(int json, const char *key, const char *value)
{
    char clean[4096];
    fact_key(json, strcmp(key, "file") == 0, key);
    utf8_printable(clean, sizeof clean, value);
    if (json) print_json(stdout, value);
    else printf("%s\n", clean);
}

static void fact_int(int json, const char *key, int64_t value)
{
    fact_key(json, 0, key);
    printf("%" PRId64 "%s", value, json ? "" : "\n");
}

static void print_languages(int json, const steno_model *m)
{
    const char *code;
    fact_key(json, 0, "languages");
    if (json) putchar('[');
    for (int i = 0; (code = steno_model_language(m, i)) != NULL; i++) {
        if (i) fputs(json ? ", " : " ", stdout);
        if (json) print_json(stdout, code);
        else print_stripped(stdout, code);
    }
    if (json) putchar(']');
    else if (!steno_model_language(m, 0)) printf("en only\n");
    else putchar('\n');
}

static void plan_line(void *user, const char *line)
{
    int *n = user;
    if (*n < 0) { /* below 0: print text lines; else the number of JSON lines so far */
        puts(line);
        return;
    }
    if ((*n)++) fputs(", ", stdout);
    print_json(stdout, line);
}

struct tensors { int json, n; };

static void tensor_line(void *user, const steno_tensor *t)
{
    struct tensors *all = user;
    char name[1024], file[4096];
    if (all->json) {
        printf("%s{\"name\": ", all->n++ ? ", " : "");
        print_json(stdout, t->name);
        printf(", \"type\": \"%s\", \"shape\": [", t->type);
    } else {
        utf8_printable(name, sizeof name, t->name);
        printf("%s\t%s\t", name, t->type);
    }
    for (int i = 0; i < t->n_dims; i++) printf("%s%" PRIu64, i ? all->json ? ", " : "x" : "", t->dim[i]);
    if (all->json) {
        printf("], \"bytes\": %" PRIu64 ", \"offset\": %" PRIu64 ", \"file\": ", t->bytes, t->offset);
        print_json(stdout, t->file);
        putchar('}');
    } else {
        utf8_printable(file, sizeof file, t->file);
        printf("\t%" PRIu64 "\t%" PRIu64 "\t%s\n", t->bytes, t->offset, file);
    }
}

static int print_tensors(int json, const struct engine *e)
{
    struct tensors all = { json, 0 };
    steno_error err;
    if (!e->path) return message_usage("--tensors is for model files: the built-in model is not one");
    if (json) printf(", \"tensors\": [");
    const int rc = steno_tensors_list(e->path, tensor_line, &all, &err);
    if (json) putchar(']');
    if (!rc) return EXIT_OK;
    message("%s", err.text);
    return rc == STENO_ENOMEM ? EXIT_MEMORY : EXIT_MODEL;
}

/* given: the argument of --vocab */
static void print_facts(int json, const struct engine *e, const char *given)
{
    steno_model_info i = { .size = sizeof i };
    steno_model_info_get(e->model, &i);
    const int64_t session = steno_session_memory(e->model, e->team, NULL);
    const struct { const char *key; int64_t value; } number[] = {
        { "parameters", i.parameters }, { "n_mels", i.n_mels }, { "n_audio_ctx", i.n_audio_ctx }, { "n_audio_state", i.n_audio_state },
        { "n_audio_head", i.n_audio_head }, { "n_audio_layer", i.n_audio_layer }, { "n_vocab", i.n_vocab },
        { "n_text_ctx", i.n_text_ctx }, { "n_text_state", i.n_text_state }, { "n_text_head", i.n_text_head },
        { "n_text_layer", i.n_text_layer }, { "n_languages", i.n_languages },
        { "kv_bytes_per_layer", i.n_text_layer ? i.token_bytes * i.n_text_ctx / i.n_text_layer : 0 }, { "kv_bytes", i.kv_bytes },
        { "weight_bytes", i.weight_bytes }, { "session_bytes", session }, { "memory_bytes", i.weight_bytes + session },
        { "threads", steno_team_threads(e->team) },
    };
    fact_text(json, "file", e->path ? e->path : "");
    fact_text(json, "format", i.format);
    fact_text(json, "vocabulary", given ? given : e->vocab ? e->vocab : "with the model");
    fact_text(json, "family", i.family);
    fact_text(json, "name", i.name);
    fact_text(json, "weights", i.weight_type);
    fact_text(json, "compute", i.compute);
    fact_text(json, "attention", i.attention);
    fact_text(json, "decoder_weights", i.decoder_weights);
    fact_text(json, "device", i.device);
    fact_text(json, "cpu_level", i.cpu_level);
    if (i.chat[0]) fact_text(json, "chat_template", i.chat);
    /* whether the model generates text token by token, in a language that can be requested */
    const int decodes = i.n_text_ctx > 0 && option_served(e->model, "prompt_tokens");
    for (size_t k = 0; k < sizeof number / sizeof *number; k++)
        if (number[k].value || decodes) fact_int(json, number[k].key, number[k].value);
    if (i.decoder_types[0]) fact_text(json, "decoder_types", i.decoder_types);
    if (i.durations[0]) fact_text(json, "durations", i.durations);
    if (i.attention_before >= 0) fact_int(json, "attention_before", i.attention_before);
    if (i.attention_after >= 0) fact_int(json, "attention_after", i.attention_after);
    if (!decodes) return;
    fact_text(json, "alignment_heads", i.alignment_heads ? i.alignment_heads : "");
    fact_key(json, 0, "multilingual");
    printf(json ? "%s" : "%s\n", json ? (i.is_multilingual ? "true" : "false") : i.is_multilingual ? "yes" : "no");
    print_languages(json, e->model);
}

int cmd_info(int argc, char **argv)
{
    struct args_given given;
    struct opts o = { .engine = { .given = &given, .measured = 1 } };
    struct engine e;
    int n;
    int code = args_parse(&info_args, &o, &given, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    if (n > 1) return message_usage("info takes one model, not %d", n);
    if (n == 1 && o.engine.model) return message_usage("the model is given twice: %s and %s", o.engine.model, argv[0]);
    if (n == 1) o.engine.model = argv[0];
    o.engine.index_only = !o.plan; /* the plan depends on the weights, because it uses fewer bits for some matrices */
    code = engine_open(&e, &o.engine, 0);
    if (code != EXIT_OK) return code;
    int lines = o.json ? 0 : -1;
    print_facts(o.json, &e, o.engine.vocab);
    if (o.plan && o.json) printf(", \"plan\": [");
    if (o.plan) steno_plan_dump(e.model, plan_line, &lines);
    if (o.plan && o.json) putchar(']');
    if (o.tensors) code = print_tensors(o.json, &e);
    if (o.json) puts("}");
    engine_close(&e);
    return code == EXIT_OK ? message_flush() : code;
}
